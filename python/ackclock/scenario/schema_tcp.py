"""The tables of a flow's TCP: its preset with the axes in which it is another, and the retransmission timer."""

from typing import Annotated, Any, Literal

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.contract import CONGESTION_CONTROLS
from ackclock.scenario.controls import ControlNumbers, SlowStartExitName
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Choice, Count, Flag, Number, OpenChoice
from ackclock.scenario.machines import DEFAULT_MACHINE, DEFAULT_PRESET, MACHINES, DialectName, RecoveryName
from ackclock.scenario.presets import preset_names
from ackclock.scenario.schema_kinds import TIME, choice, most
from ackclock.units import Quantity

SlowStartName = Literal["below", "at-or-below"]
IncreaseName = Literal["reciprocal", "reciprocal-floor", "counted"]
HalfWindowName = Literal["whole-packets", "fractional"]
PartialAckTimerName = Literal["slow-but-steady", "impatient"]
EstimatorName = Literal["ticks", "rfc6298"]
LossDetectionName = Literal["rack", "dupack"]
EcnName = Literal["off", "classic", "dctcp", "accurate"]
PacingName = Literal["none", "linux"]
AcksName = Literal["delayed", "linux"]
HandshakeName = Literal["none", "tcp", "tls"]
ReceiveWindowName = Literal["fixed", "autotuned"]
ReceiveSkbName = Literal["paged", "veth", "linear"]
LastSegmentName = Literal["full", "short"]
CloseName = Literal["none", "tcp"]
TimeoutRulesName = Literal["linux", "rfc6298"]
UndoName = Literal["linux", "rfc4015", "none"]
WindowValidationName = Literal["linux", "rfc7661"]
SampleName = Literal["per-round", "per-ack", "per-ack-karn"]

_TIMEOUT = Span("s", 1e-6, 1e5, "1 us to 1e5 s")
_WINDOW = (Span("pkt", 1, 1e9, "1 to 1e9 pkt"), Span("B", 1, 1e15, "1 to 1e15 B"))
_BURST = (Span("pkt", 1, 1e6, "1 to 1e6 pkt"), Span("B", 1, 1e11, "1 to 1e11 B"))
_DUPACKS = Count(1, most("flows[].traffic.connection.sender.dupack_threshold"), 3, ("infinite",))
_MAX_BURST = Count(1, most("flows[].traffic.connection.sender.max_burst"), 2, ("unlimited",))
_BLOCKS = Count(1, most("flows[].traffic.connection.receiver.blocks.most"), 3)
_BLOCK_BYTES = Count(0, most("flows[].traffic.connection.receiver.blocks.bytes"), 8)
_ACK_EVERY = Count(1, most("flows[].traffic.connection.receiver.ack_every"), 2)
CONTROL = OpenChoice("congestion control", tuple(CONGESTION_CONTROLS))
Window = Annotated[Quantity | None, Amount("4 pkt", _BURST, ("rfc6928",))]
WindowLimit = Annotated[Quantity | None, Amount("64 KiB", _WINDOW, ("unlimited",))]
_SOCKET = Span("B", 1, 1e15, "1 to 1e15 B", whole=True)
SocketBuffer = Annotated[int | None, Amount("128 KiB", (_SOCKET,))]
HelloSize = Annotated[int | None, Amount("517 B", (Span("B", 1, 65535, "1 to 65535 B", whole=True),))]
LargestBuffer = Annotated[int | None, Amount("4 MiB", (_SOCKET,))]
WriteSize = Annotated[int | None, Amount("64 KiB", (_SOCKET,), ("unlimited",))]
SendBuffer = Annotated[int | None, Amount("16 KiB", (_SOCKET,), ("unlimited",))]
WindowThreshold = Annotated[Quantity | None, Amount("20 pkt", _WINDOW, ("max-window",), "infinite")]


def _preset(text: str) -> Any:
    """Describe a field whose default is the preset's."""
    return entry(text, None, words="the preset's")


def _default_presets() -> str:
    """Say which preset is the default, of each machine."""
    others = ", ".join(f'`"{one.preset}"`' for name, one in MACHINES.items() if name != DEFAULT_MACHINE)
    return f'`"{DEFAULT_PRESET}"`; {others} if `recovery` or `dialect` is of that sender'


class Rto(Table):
    """Settings of the retransmission timer; with recovery = "sack" its estimator is Linux's."""

    estimator: Annotated[EstimatorName | None, choice("estimator", EstimatorName)] = _preset(
        "integer arithmetic on a coarse clock (ticks, as in ns-2 and BSD) or RFC 6298"
    )
    sample: Annotated[SampleName | None, choice("way of sampling", SampleName)] = _preset(
        "round-trip times measured: one a round; or, by time stamps, one for each ACK (per-ack), or for each but those "
        "of packets sent again (per-ack-karn)"
    )
    rules: Annotated[TimeoutRulesName | None, choice("rule of the timeout", TimeoutRulesName)] = _preset(
        "sack: the mean round trip and a variation of at least `min` (linux), or SRTT + max(G, 4 RTTVAR), at least "
        "`min` (rfc6298)"
    )
    k: Annotated[int | None, Count(1, 1000, 4)] = _preset("weight of the variation: RTO = SRTT + k RTTVAR")
    granularity: Annotated[float | None, Amount("100 ms", (TIME,))] = _preset(
        "tick of the clock; 0 is an exact one. With Linux's rules a jiffy, at which its timers expire"
    )
    min: Annotated[float | None, Amount("200 ms", (TIME,))] = _preset(
        'least timeout; with estimator = "ticks" it is never below two ticks, so "0 s" means twice the granularity. '
        "With Linux's rules the least variation of the round trip, which the timeout adds to the mean one"
    )
    max: Annotated[float | None, Amount("60 s", (_TIMEOUT,))] = _preset("largest timeout")
    initial: Annotated[float | None, Amount("3 s", (_TIMEOUT,))] = _preset(
        "timeout before the first round-trip time is known"
    )
    max_backoff: Annotated[int | None, Count(1, 10**9, 64)] = _preset("largest factor of exponential backoff")
    clock_phase: Annotated[float | None, Number(0, 1, 0.5, from_low=True)] = _preset(
        "ticks and jiffies: how far the coarse clock is into a tick at time zero, as a fraction of the tick"
    )


class Tcp(Table):
    """TCP of a flow: a preset, and the axes in which it is another. What is not given is the preset's."""

    preset: Annotated[str, Choice("preset", preset_names())] = entry(
        "the combination to start from", DEFAULT_PRESET, words=_default_presets()
    )
    dialect: Annotated[DialectName | None, choice("dialect", DialectName)] = _preset(
        "whose rules hold where the axes leave room: ns-2's, the RFCs' to the letter, or the RFCs' with the choices of "
        "the paper on the TCP-modified Engset model, section 3.1. With recovery = \"sack\" Linux's or the RFCs', which "
        "also sets each field in which they differ unless it is given ([the rules](tcp.md#linux-and-the-rfcs))"
    )
    recovery: Annotated[RecoveryName | None, choice("recovery", RecoveryName)] = _preset(
        "what follows a detected loss; old-tahoe has timeouts only. With sack the sender is the one that hosts run "
        "today, which knows what arrived; sack1 is ns-2's Agent/TCP/Sack1, which knows it too and has its own rules; "
        "the others know cumulative ACKs alone"
    )
    congestion_control: Annotated[str | None, CONTROL] = _preset(
        "sack: how cwnd grows, and what a loss leaves of it; or the name of a class that is given to the run "
        "(docs/controls.md)"
    )
    parameters: Annotated[dict[str, float] | None, ControlNumbers()] = entry(
        "sack: numbers of the congestion control, see [congestion controls](#congestion-controls)",
        None,
        words="the congestion control's",
    )
    slow_start: Annotated[SlowStartExitName | None, choice("end of slow start", SlowStartExitName)] = entry(
        "sack: what ends slow start in addition to a loss and ssthresh: nothing (standard), Linux's HyStart, or "
        "HyStart++ (RFC 9406)",
        None,
        words='of Linux\'s cubic `"hystart"`, of cubic by the RFC `"hystart++"`, else `"standard"`',
    )
    sack: Annotated[bool | None, Flag()] = _preset(
        'of recovery = "sack": ACKs acknowledge selectively (RFC 2018); false is a host with `tcp_sack = 0`, which '
        "counts duplicate ACKs and repairs a loss in a round trip (RFC 6582), without RACK and probes"
    )
    loss_detection: Annotated[LossDetectionName | None, choice("way of detecting losses", LossDetectionName)] = _preset(
        "sack: by time (RACK, RFC 8985), or by the number of packets that arrived beyond a hole (RFC 6675)"
    )
    tail_loss_probe: Annotated[bool | None, Flag()] = _preset(
        "sack: a probe finds a loss at the end of what was sent, before the timer expires (RFC 8985)"
    )
    frto: Annotated[bool | None, Flag()] = _preset("sack: spurious timeouts are detected by new data (RFC 5682)")
    timestamps: Annotated[bool | None, Flag()] = _preset(
        "sack: spurious retransmissions are detected by timestamps (RFC 7323, RFC 3522)"
    )
    ecn: Annotated[EcnName | None, choice("kind of ECN", EcnName)] = _preset(
        "explicit congestion notification: queues that mark may mark data instead of dropping them, and ACKs echo a "
        'mark until cwnd is reduced (classic, RFC 3168; with dialect = "ns2" by ns-2\'s rules), or, with sack, which '
        "packets were marked (dctcp, RFC 8257), or how many (accurate, RFC 9768)"
    )
    pacing: Annotated[PacingName | None, choice("pacing", PacingName)] = _preset(
        "sack: packets leave as soon as the window allows (none), or one by one: two windows in a round trip in slow "
        "start, 1.2 else (linux). bbr, bbr3 and prague pace by their own rate in any case"
    )
    initial_window: Window = _preset(
        "cwnd at the start; bytes are turned into whole packets. rfc6928 is ten packets, or those of 14600 B, but "
        "two at least"
    )
    initial_ssthresh: WindowThreshold = _preset('ssthresh at the start; infinite with recovery = "sack" only')
    max_window: WindowLimit = _preset("the receiver's window, in whole packets")
    slow_start_while: Annotated[SlowStartName | None, choice("convention", SlowStartName)] = _preset(
        "slow start while cwnd < ssthresh, or while cwnd <= ssthresh"
    )
    increase: Annotated[IncreaseName | None, choice("increase", IncreaseName)] = _preset(
        "congestion avoidance: 1/cwnd an ACK, 1/floor(cwnd) an ACK, or 1 after a window of counted ACKs"
    )
    half_window: Annotated[HalfWindowName | None, choice("half", HalfWindowName)] = entry(
        "half of the window that a loss leaves: whole packets, rounded down, or the exact half. Of the dialect ns2 the "
        "first is the ns-2 of the papers, the second its version 2.35 (`precisionReduce_`), where Reno's and NewReno's "
        "cwnd is exact and ssthresh is not",
        None,
        words='"fractional" with `dialect = "rfc"`, else "whole-packets"',
    )
    dupack_threshold: Annotated[int | None, _DUPACKS] = _preset("duplicate ACKs that make a fast retransmit")
    limited_transmit: Annotated[bool | None, Flag()] = _preset("new data at the first duplicate ACKs (RFC 3042)")
    max_burst: Annotated[int | None, _MAX_BURST] = _preset(
        "largest number of packets that the start or one ACK releases (RFC 6582 section 3.2; `maxburst_` of ns-2's "
        "Reno and NewReno)"
    )
    partial_ack_timer: Annotated[PartialAckTimerName | None, choice("variant", PartialAckTimerName)] = _preset(
        "NewReno: timer restarted at each partial ACK, or at the first only (RFC 6582)"
    )
    acks: Annotated[AcksName | None, choice("rule", AcksName)] = _preset(
        "when the receiver sends ACKs: by `ack_every` and `ack_delay` (delayed), or as Linux does: one for each packet "
        "while its receive window grows, then one for two, delayed by 40 to 200 ms, and fewer beyond a hole; "
        "delayed where one of these two is given"
    )
    ack_every: Annotated[int | None, _ACK_EVERY] = _preset("the receiver acknowledges every n-th packet")
    ack_delay: Annotated[float | None, Amount("100 ms", (TIME,))] = _preset("longest delay of such an ACK")
    sack_blocks: Annotated[int | None, _BLOCKS] = _preset(
        "sack1: largest number of blocks in an ACK, which name what arrived (RFC 2018); ns-2 has 3 at most"
    )
    sack_block_bytes: Annotated[int | None, _BLOCK_BYTES] = _preset(
        "sack1: bytes that each block adds to an ACK; 8 in ns-2"
    )
    handshake: Annotated[HandshakeName | None, choice("handshake", HandshakeName)] = _preset(
        "what precedes the data: nothing; the SYN of the sender and its answer, sent again after 1, 2, 4 s and so on "
        "if they are lost (tcp); or these and the hellos of TLS 1.3 (RFC 8446), one round trip more (tls)"
    )
    tls_client_hello: HelloSize = _preset('handshake = "tls": what the sender sends, rounded up to whole packets')
    tls_server_hello: HelloSize = _preset(
        "what the receiver answers, certificates included, in packets as long as the data's"
    )
    close: Annotated[CloseName | None, choice("end of a connection", CloseName)] = _preset(
        "sack: what follows the data: nothing, or FINs of both ends (tcp, RFC 9293): that of the sender is in its last "
        "packet, that of the receiver in the ACK of it, and the sender acknowledges it with a packet more"
    )
    last_segment: Annotated[LastSegmentName | None, choice("length of the last segment", LastSegmentName)] = _preset(
        "sack: the last packet of a `size` in bytes is as long as all others (full), or as long as what is left of it "
        "(short), headers included; private links with a rate take packets of one length, and it is full there"
    )
    write_size: WriteSize = _preset(
        "sack: data that the application writes at once, as far as the send buffer has room. The last packet of each "
        'write has PSH, at which a receiver with acks = "linux" does not delay its ACK'
    )
    receive_window: Annotated[ReceiveWindowName | None, choice("window", ReceiveWindowName)] = _preset(
        "sack: the receiver's window is `max_window` (fixed), or what Linux announces, which grows with the segments "
        "that arrive and with what the application reads in a round trip, to `max_window` at most (autotuned, needs "
        'acks = "linux")'
    )
    receive_buffer: SocketBuffer = _preset(
        'acks = "linux": receive buffer of a new connection, the second number of `tcp_rmem`'
    )
    receive_buffer_max: LargestBuffer = _preset("largest size to which it grows, the third number")
    receive_skb: Annotated[ReceiveSkbName | None, choice("memory", ReceiveSkbName)] = _preset(
        'acks = "linux": the receiver\'s driver stores packets in pages, and up to 17 packets beyond a hole share a '
        "buffer (paged), leaves them in the pages of a sender on the same machine (veth), or copies each into memory "
        "of its own, 2304 bytes for 1500, as the tun device of a VPN does (linear)"
    )
    send_buffer: SendBuffer = _preset(
        "sack: send buffer of a new connection, the second number of `tcp_wmem`; what waits in it and what is not "
        "acknowledged fit into it, in the kernel's memory for a packet (tcp.md, socket buffers), and it grows to twice "
        "cwnd, three times with bbr"
    )
    send_buffer_max: LargestBuffer = _preset("largest size to which it grows, the third number")
    idle_restart: Annotated[bool | None, Flag()] = _preset(
        "sack: cwnd is halved for each timeout in which the application pauses, to the initial window at least (RFC "
        "2861; Linux's `tcp_slow_start_after_idle`)"
    )
    undo: Annotated[UndoName | None, choice("way of undoing", UndoName)] = _preset(
        "sack: the window after a reduction that was spurious: as it was (linux); after a timeout what is in flight "
        "and what the ACK acknowledges, with the ssthresh before (rfc4015); or left alone (none)"
    )
    cwnd_validation: Annotated[WindowValidationName | None, choice("rule", WindowValidationName)] = _preset(
        "sack: cwnd grows if all of it is used, in slow start if half of it is (linux), or always if half is (rfc7661)"
    )
    rto: Rto = entry("retransmission timer", Rto(), words="the preset's")
