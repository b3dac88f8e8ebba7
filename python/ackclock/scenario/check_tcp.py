"""Checks that the axes of TCP fit together, those of the preset included."""

from collections.abc import Iterable, Iterator
from math import inf

from ackclock.errors import Fault
from ackclock.scenario.contract import RANGES
from ackclock.scenario.controls import number_faults
from ackclock.scenario.machines import MACHINES, ONLY, Machine
from ackclock.scenario.network import Direction
from ackclock.scenario.places import Places
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_kinds import most as most_of
from ackclock.scenario.schema_tcp import CONTROL, Rto, Tcp
from ackclock.scenario.schema_traffic import Writes
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean
from ackclock.scenario.tcp import completed, last_packet_bytes, machine_of_tcp, preset_of, window_packets
from ackclock.scenario.traffic import is_tcp, resolved_writes
from ackclock.units import show

SHORTEST_TICK_S = 1e-6
LONGEST_PACKET = most_of("flows[].traffic.connection.ack_bytes")
MOST_PACKETS = {"initial_window": 1e6, "initial_ssthresh": 1e9, "max_window": 1e9}
"""Largest windows; the initial one leaves in one burst."""
_OF_ACKS = {"delayed": ("ack_every", "ack_delay"), "linux": ("receive_buffer", "receive_buffer_max", "receive_skb")}
"""The fields that only one rule for sending ACKs uses."""


def tcp_faults(places: Places, location: Location, flow: Flow) -> Iterator[Fault]:
    """Give all faults between the axes.

    Parameters
    ----------
    places : Places
        Names the places.
    location : Location
        The TCP table of the flow.
    flow : Flow
        The flow.

    Yields
    ------
    Fault
        What does not fit.
    """
    yield from _control_faults(places, (*location, "congestion_control"), flow.tcp)
    yield from _machine_faults(places, location, flow.tcp)
    yield from _number_faults(places, location, flow)
    if flow.tcp.parameters and machine_of_tcp(flow.tcp) == "selective":
        control = completed(flow.tcp).congestion_control or ""
        yield from number_faults(places, (*location, "parameters"), control, flow.tcp.parameters)
    yield from _sack1_faults(places, location, flow.tcp)
    yield from _classic_ecn_faults(places, location, flow.tcp)
    yield from _ack_faults(places, location, flow.tcp)
    yield from _buffer_faults(places, location, flow.tcp)
    if flow.writes is not None and is_tcp(flow):
        yield from _writes_faults(places, (*location[:-1], "writes"), flow, flow.writes)


def _writes_faults(places: Places, location: Location, flow: Flow, writes: Writes) -> Iterator[Fault]:
    """Give what is wrong with the bursts in which an application writes."""
    chosen = f'recovery = "{completed(flow.tcp).recovery}"'
    if machine_of_tcp(flow.tcp) != "selective":
        hint = f'start from preset = "{MACHINES["selective"].preset}"'
        yield places.fault(location, f"is not for the sender that has {chosen}", given=None, hint=hint)
    if (writes.every is None) == (writes.rate is None):
        if writes.every is None and any(places.value((*location, name)) is not None for name in ("every", "rate")):
            return  # the one that is given has a fault of its own
        problem = "needs `every` or `rate`" if writes.every is None else "has `every` and `rate`"
        yield places.fault(location, problem, given=None, allowed="one of the two")
        return
    settings = resolved_writes(writes, flow.packet)
    limits = RANGES["flows[].traffic.connection.sender.writes.interval_s"]
    if settings is not None and not limits.low <= settings.interval_s <= limits.high:
        given = show(settings.interval_s, "s")
        problem = "makes the time between bursts too short or too long"
        yield places.fault((*location, "rate"), problem, given=given, allowed="1 us to 1e7 s")


def _ack_faults(places: Places, location: Location, own: Tcp) -> Iterator[Fault]:
    """Give the fields that the rule for sending ACKs does not use, and the window that it does not have."""
    tcp = completed(own)
    other = "delayed" if tcp.acks == "linux" else "linux"
    problem = f'is not used with acks = "{tcp.acks}"'
    for field in _OF_ACKS[other]:
        if own.gives(field):
            yield places.fault((*location, field), problem, hint=f'set acks = "{other}"')
    if tcp.receive_window == "autotuned" and tcp.acks == "delayed":
        yield places.fault((*location, "receive_window"), 'needs acks = "linux"', allowed='"fixed"')


def _buffer_faults(places: Places, location: Location, own: Tcp) -> Iterator[Fault]:
    """Give buffers that are larger than their largest size."""
    tcp = completed(own)
    for field in ("send_buffer", "receive_buffer"):
        size, most = getattr(tcp, field), getattr(tcp, f"{field}_max")
        if size is not None and most is not None and size > most:
            given = own.gives(field) and own.gives(f"{field}_max")
            yield places.fault(
                (*location, field if own.gives(field) else f"{field}_max"),
                f"{field} is above {field}_max",
                given=f"{field} = {show(size, 'B')}, {field}_max = {show(most, 'B')}",
                hint=None if given else "what is not given is the preset's",
            )


def _control_faults(places: Places, location: Location, own: Tcp) -> Iterator[Fault]:
    """Give a congestion control that is neither the engine's nor given to the run."""
    names = (*CONTROL.names, *places.source.controls)
    if own.congestion_control is not None and own.congestion_control not in names:
        allowed = " | ".join(f'"{name}"' for name in names)
        hint = did_you_mean(own.congestion_control, names) or "a class of your own is given to run() as controllers"
        yield places.fault(location, f"unknown {CONTROL.what}", allowed=allowed, hint=hint)


def _machine_faults(places: Places, location: Location, own: Tcp) -> Iterator[Fault]:
    """Give the axes, and the values of axes, that the flow's machine does not have."""
    tcp, name = completed(own), machine_of_tcp(own)
    machine, chosen = MACHINES[name], f'recovery = "{tcp.recovery}"'
    for field in ("recovery", "dialect"):
        names = getattr(machine, field)
        if own.gives(field) and getattr(own, field) not in names:
            yield _of_another_machine(places, (*location, field), field, own)
    if own.gives("recovery") and own.recovery not in machine.recovery:
        return
    for field, only in ONLY.items():
        table, _, axis = field.rpartition(".")
        if only.machine != name and (own.rto if table else own).gives(axis):
            other = f'"{MACHINES[only.machine].preset}" has {field}'
            hint = None if own.gives("recovery") else f'the preset "{preset_of(own)}" has {chosen}, {other}'
            yield places.fault((*location, *field.split(".")), f"is not an axis of {chosen}: {only.reason}", hint=hint)
    yield from _word_faults(places, location, own, machine, chosen)


def _of_another_machine(places: Places, location: Location, field: str, own: Tcp) -> Fault:
    """Say that a recovery or a dialect is not of the flow's machine."""
    allowed = " | ".join(f'"{name}"' for name in getattr(MACHINES[machine_of_tcp(own)], field))
    other = next(machine for machine in MACHINES.values() if getattr(own, field) in getattr(machine, field))
    if own.gives("preset"):
        problem, hint = f'is not for the sender of the preset "{own.preset}"', f'start from preset = "{other.preset}"'
    else:
        problem, hint = f'is not for the sender that has recovery = "{own.recovery}"', None
    return places.fault(location, problem, allowed=allowed, hint=hint)


def _sack1_faults(places: Places, location: Location, own: Tcp) -> Iterator[Fault]:
    """Give what ns-2's sender with selective acknowledgment does not go together with."""
    tcp, chosen = completed(own), 'recovery = "sack1"'
    if tcp.recovery != "sack1":
        return
    if tcp.dialect != "ns2":
        field = "dialect" if own.gives("dialect") else "recovery"
        hint = 'start from preset = "sack1-ns2"'
        yield places.fault((*location, field), f"{chosen} is ns-2's own", allowed='dialect = "ns2"', hint=hint)
    if tcp.acks == "linux":
        yield places.fault((*location, "acks"), f"is not for {chosen}", allowed='"delayed"')


def last_segment_faults(places: Places, location: Location, flow: Flow, there: Iterable[Direction]) -> Iterator[Fault]:
    """Give the faults between a last packet that is shorter and the links of the path.

    Parameters
    ----------
    places : Places
        Names the places.
    location : Location
        The flow.
    flow : Flow
        The flow.
    there : iterable of Direction
        The links that its data cross.

    Yields
    ------
    Fault
        What does not fit.
    """
    if not flow.tcp.gives("last_segment") or last_packet_bytes(flow.tcp, flow.packet, flow.size) is None:
        return
    way = next((way for way in there if way.has_one_length), None)
    if way is not None:
        problem = f'makes packets of two lengths, and the private link "{way.name}" takes data of one length'
        hint = "share the link, or give a size in whole packets"
        yield places.fault((*location, "tcp", "last_segment"), problem, allowed='"full"', hint=hint)


def _classic_ecn_faults(places: Places, location: Location, own: Tcp) -> Iterator[Fault]:
    """Give what the ECN of the sender with cumulative ACKs alone, which is ns-2's, does not go together with."""
    tcp = completed(own)
    if machine_of_tcp(own) != "classic" or tcp.ecn == "off":
        return
    chosen = f'recovery = "{tcp.recovery}"'
    if tcp.ecn != "classic":
        yield places.fault((*location, "ecn"), f"is not for {chosen}", allowed='"off" | "classic"')
    if tcp.dialect != "ns2":
        hint = 'start from a preset of ns-2, such as "newreno-ns2"'
        yield places.fault((*location, "ecn"), f"of {chosen} is ns-2's own", allowed='dialect = "ns2"', hint=hint)
    if tcp.acks == "linux":
        yield places.fault((*location, "acks"), f"is not for the ECN of {chosen}", allowed='"delayed"')


def block_faults(places: Places, location: Location, flow: Flow, back: Iterable[Direction]) -> Iterator[Fault]:
    """Give the faults between ACKs that blocks make longer and the links of the return path.

    Parameters
    ----------
    places : Places
        Names the places.
    location : Location
        The flow.
    flow : Flow
        The flow.
    back : iterable of Direction
        The links that its ACKs cross.

    Yields
    ------
    Fault
        What does not fit.
    """
    tcp = completed(flow.tcp)
    number, length = tcp.sack_blocks or 0, tcp.sack_block_bytes or 0
    if tcp.recovery != "sack1" or number * length == 0:
        return
    way = next((way for way in back if way.has_one_length), None)
    if way is not None:
        problem = f'makes ACKs of several lengths, and the private link "{way.name}" takes ACKs of one length'
        given, hint = f"SACK blocks of {length} B", "set sack_block_bytes = 0, or share the link"
        yield places.fault((*location, "tcp", "sack_block_bytes"), problem, given=given, hint=hint)
    if flow.ack + number * length > LONGEST_PACKET:
        problem = f"is too long with {number} SACK blocks of {length} B"
        allowed = f"at most {LONGEST_PACKET - number * length} B"
        yield places.fault((*location, "ack"), problem, given=f"{flow.ack} B", allowed=allowed)


def _word_faults(places: Places, location: Location, own: Tcp, machine: Machine, chosen: str) -> Iterator[Fault]:
    """Give the words that numbers can be for the other machine alone."""
    selective = machine is MACHINES["selective"]
    if selective and own.gives("dupack_threshold") and own.dupack_threshold is None:
        yield places.fault((*location, "dupack_threshold"), f"is not infinite with {chosen}", allowed="a whole number")
    threshold = own.initial_ssthresh
    if not selective and threshold is not None and threshold.value == inf:
        allowed = 'a number of packets or bytes, or "max-window"'
        yield places.fault((*location, "initial_ssthresh"), f"is not infinite with {chosen}", allowed=allowed)


def _number_faults(places: Places, location: Location, flow: Flow) -> Iterator[Fault]:
    for name, most in MOST_PACKETS.items():
        window = getattr(flow.tcp, name)
        if window is None or window.value == inf:
            continue
        if window_packets(window, flow.packet) < 1:
            problem = f"is less than one packet of {flow.packet} B"
            yield places.fault((*location, name), problem, allowed=f"{flow.packet} B or more")
        elif window_packets(window, flow.packet) > most:
            problem, allowed = f"is too many packets of {flow.packet} B", f"at most {most:g} pkt"
            yield places.fault((*location, name), problem, allowed=allowed.replace("e+0", "e"))
    rto = completed(flow.tcp).rto
    if rto.estimator == "ticks" and (rto.granularity or 0.0) < SHORTEST_TICK_S:
        field = "granularity" if flow.tcp.rto.gives("granularity") else "estimator"
        yield places.fault(
            (*location, "rto", field),
            "a coarse clock needs a tick",
            given=show(rto.granularity or 0.0, "s"),
            allowed="1 us or more",
        )
    yield from _timer_faults(places, (*location, "rto"), flow.tcp.rto, completed(flow.tcp).rto)


def _timer_faults(places: Places, location: Location, own: Rto, rto: Rto) -> Iterator[Fault]:
    for less, more in (("min", "max"), ("initial", "max")):
        low, high = getattr(rto, less), getattr(rto, more)
        if low > high:
            yield places.fault(
                (*location, less if own.gives(less) else more),
                f"{less} is above {more}",
                given=f"{less} = {show(low, 's')}, {more} = {show(high, 's')}",
                hint=None if own.gives(less) and own.gives(more) else "what is not given is the preset's",
            )
