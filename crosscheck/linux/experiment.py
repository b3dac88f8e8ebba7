"""Runs of the kernel as data: a path with one bottleneck, its flows, and the settings of both hosts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from crosscheck.linux.path import payload_of

BOOT_S = 0.1011
"""Time on the kernel's clock at a run's beginning [s] (kit/lab.c: BASE)."""
TICKS_S = BOOT_S - 300.0 + 2**19 * 0.001
"""Time that the kernel's ticks show then, modulo the coarsest interval of its timers that matters [s].

They begin 300 s before they overflow (`INITIAL_JIFFIES`), and timers expire at multiples of 64 ms and more of them.
"""
JITTER_S = 5e-6
"""Time by which delays of ACKs are shorter or longer in realisations [s].

The kernel serves timers that expire within some two microseconds together, and the flows of the first delay first: the
variation is larger than that, so that chance decides.
"""


@dataclass(frozen=True, slots=True)
class KernelFlow:
    """A connection of the kernel's.

    Parameters
    ----------
    name : str
        Name of the flow.
    control : str
        Congestion control, by the kernel's name.
    connect_s : float
        Instant of its first SYN [s].
    payload_bytes : int or None
        Data to send [B]; None without end.
    forward_s, return_s : float
        Delay from the bottleneck to the receiver, and from there to the sender [s].
    """

    name: str
    control: str
    connect_s: float
    payload_bytes: int | None
    forward_s: float
    return_s: float

    @property
    def delays(self) -> tuple[float, float]:
        """Both delays; flows with the same ones are a group."""
        return self.forward_s, self.return_s


@dataclass(frozen=True, slots=True)
class Experiment:
    """A run of the kernel.

    Parameters
    ----------
    name : str
        Name of the run.
    flows : tuple of KernelFlow
        The connections.
    rate_bps : int
        Rate of the bottleneck [bit/s], headers included.
    buffer_packets : int
        Packets that it holds, the one in transmission included.
    packet_bytes : int
        Size of data packets [B].
    duration_s, warmup_s : float
        End of the run, and of the part that rates and queues leave out [s].
    offset_s : float
        Time of the kernel's at the scenario's 0 s [s]: connections begin before their first data.
    options : mapping of str to str
        Further settings of the guest.
    forward_steps : tuple of (float, float)
        Instants at which the forward delay of all flows becomes another one [s].
    shift_us : float
        Time by which everything is later than the kernel's ticks [us].
    """

    name: str
    flows: tuple[KernelFlow, ...]
    rate_bps: int
    buffer_packets: int
    packet_bytes: int
    duration_s: float
    warmup_s: float
    offset_s: float = 0.0
    options: Mapping[str, str] = field(default_factory=dict)
    forward_steps: tuple[tuple[float, float], ...] = ()
    shift_us: float = 0.0

    @property
    def payload_bytes(self) -> int:
        """Payload of a full packet [B]."""
        return payload_of(self.packet_bytes, timestamps=self.options.get("ts", "1") == "1")

    @property
    def groups(self) -> list[tuple[float, float]]:
        """The different pairs of delays, in the order of their first flows."""
        return list(dict.fromkeys(flow.delays for flow in self.flows))

    def arguments(self) -> dict[str, str]:
        """Write the experiment as the guest's settings (kit/guest.sh), in which "+" is a space."""
        forward, back = zip(*self.groups, strict=True)
        return {
            "rate": str(self.rate_bps),
            "buf": str(self.buffer_packets),
            "mtu": str(self.packet_bytes),
            "fwd": ",".join(map(_delay, forward)),
            "rev": ",".join(map(_delay, back)),
            **self.options,
            "run": "+".join(f"{key}={value}" for key, value in self._run().items()),
        }

    def _run(self) -> dict[str, str]:
        """Write the part that the guest program reads (kit/lab.c)."""
        groups, flows = self.groups, self.flows
        run = {
            "cc": ",".join(flow.control for flow in flows),
            "flows": str(len(flows)),
            "secs": _number(self.duration_s),
            "start": ",".join(_number(flow.connect_s) for flow in flows),
            "bytes": ",".join(str(flow.payload_bytes or 0) for flow in flows),
            "group": ",".join(str(groups.index(flow.delays)) for flow in flows),
            "shift": _number(self.shift_us),
        }
        if self.forward_steps:
            run["ev"] = ";".join(one for step in self.forward_steps for one in self._step(*step))
        return run

    def _step(self, at_s: float, delay_s: float) -> Iterator[str]:
        """Write the changes of the delay, one for each group's: at the root a change would throw all of them away."""
        # A change sets all parameters. The link is behind the box that loses packets by number, if there is one.
        space, loss = "R3" if "wire" in self.options else "R2", self.options.get("loss", "")
        groups = len(self.groups)
        for place in ["root"] if groups == 1 else [f"parent 1:{group:x}" for group in range(1, groups + 1)]:
            change = f"tc -n {space} qdisc change dev r2b {place} netem delay {_delay(delay_s)} {loss} limit 100000"
            yield f"{_number(at_s)},{'|'.join(change.replace('+', ' ').split())}"


def _delay(seconds: float) -> str:
    """Write a delay for `tc`, whose netem has nanoseconds."""
    return f"{seconds * 1e3:.6f}".rstrip("0").rstrip(".") + "ms"


def _number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
