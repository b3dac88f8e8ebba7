"""Queue disciplines as the engine reads them: a scheduler, an AQM and an overflow rule."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ackclock.scenario.contract import CHECKED, within
from ackclock.scenario.schema_queues import AqmRulesName, RedEcnName

_SCHEDULER = "elements[].queue.scheduler"
_AQM = "elements[].queue.aqm"

OverflowName = Literal[
    "arriving", "front", "random", "lowest", "longest", "longest-lately", "fattest", "heaviest", "heaviest-in-turn"
]


@dataclass(frozen=True, slots=True)
class Fifo:
    """First in, first out."""

    __pydantic_config__ = CHECKED
    kind: Literal["fifo"] = "fifo"


@dataclass(frozen=True, slots=True)
class StrictPriority:
    """Strict priority by the levels of flows, without interruption; all levels share the buffer."""

    __pydantic_config__ = CHECKED
    kind: Literal["priority"]
    levels: Annotated[int, within(f"{_SCHEDULER}.levels")]


@dataclass(frozen=True, slots=True)
class FairQueueing:
    """Deficit round robin of queues, those that have just become active first if `sparse_first` (RFC 8290)."""

    __pydantic_config__ = CHECKED
    kind: Literal["fq"]
    quantum_bytes: Annotated[int, within(f"{_SCHEDULER}.quantum_bytes")]
    queues: Annotated[int, within(f"{_SCHEDULER}.queues")] | None
    """Number of queues that flows are hashed into; None: a queue for each flow."""
    sparse_first: bool
    by_entry: bool = False
    """Whether all flows of an entry share a queue, where none are hashed; older results lack this field."""
    emptied_becomes_old: bool = False
    """Whether a new queue that is found empty becomes an old one in any case, by RFC 8290; older results lack it."""


@dataclass(frozen=True, slots=True)
class Sfq:
    """Stochastic fairness queueing (McKenney 1990), by the rules of ns-2 or of Linux."""

    __pydantic_config__ = CHECKED
    kind: Literal["sfq"]
    rules: Literal["ns2", "linux"]
    queues: Annotated[int, within(f"{_SCHEDULER}.queues")]
    hashed: bool
    quantum_bytes: Annotated[int, within(f"{_SCHEDULER}.quantum_bytes")]
    depth_packets: Annotated[int, within(f"{_SCHEDULER}.depth_packets")]


@dataclass(frozen=True, slots=True)
class Drr:
    """Deficit round robin (Shreedhar, Varghese 1996), by the rules of ns-2."""

    __pydantic_config__ = CHECKED
    kind: Literal["drr"]
    quantum_bytes: Annotated[int, within(f"{_SCHEDULER}.quantum_bytes")]
    queues: Annotated[int, within(f"{_SCHEDULER}.queues")] | None
    """Number of queues that flows are hashed into; None: a queue for each flow."""


@dataclass(frozen=True, slots=True)
class Wfq:
    """Weighted fair queueing by virtual finish times (Parekh, Gallager 1993)."""

    __pydantic_config__ = CHECKED
    kind: Literal["wfq"]
    queues: Annotated[int, within(f"{_SCHEDULER}.queues")] | None
    """Number of queues that flows are hashed into; None: a queue for each flow."""
    by_entry: bool
    """Whether all flows of an entry share a queue, where none are hashed."""


@dataclass(frozen=True, slots=True)
class DualQueue:
    """Two queues, of L4S and of classic traffic, the latter with a share of the rate (RFC 9332)."""

    __pydantic_config__ = CHECKED
    kind: Literal["dual"]
    classic_percent: Annotated[int, within(f"{_SCHEDULER}.classic_percent")]
    mtu_bytes: Annotated[int, within(f"{_SCHEDULER}.mtu_bytes")]


@dataclass(frozen=True, slots=True)
class CakeScheduler:
    """CAKE's isolation of flows and of hosts, with a shaper of its own."""

    __pydantic_config__ = CHECKED
    kind: Literal["cake"]
    quantum_bytes: Annotated[int, within(f"{_SCHEDULER}.quantum_bytes")]
    hashed: bool
    by_host: bool
    bandwidth_bps: Annotated[float, within(f"{_SCHEDULER}.bandwidth_bps")] | None


@dataclass(frozen=True, slots=True)
class NoAqm:
    """Absence of AQM: only a full buffer drops packets."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    title: ClassVar[str] = "no AQM"
    kind: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class RedAdaptation:
    """Adaptation of RED's drop probability, by ns-2's rules."""

    __pydantic_config__ = CHECKED
    interval_s: Annotated[float, within(f"{_AQM}.adaptation.interval_s")]
    step_up: Annotated[float, within(f"{_AQM}.adaptation.step_up")]
    factor_down: Annotated[float, within(f"{_AQM}.adaptation.factor_down")]
    top: Annotated[float, within(f"{_AQM}.adaptation.top")]
    bottom: Annotated[float, within(f"{_AQM}.adaptation.bottom")] | None
    """Least probability; None: by the rate of the link."""


@dataclass(frozen=True, slots=True)
class Red:
    """Random Early Detection (Floyd, Jacobson 1993)."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "RED"
    kind: Literal["red"]
    min_threshold_packets: Annotated[float, within(f"{_AQM}.min_threshold_packets")]
    max_threshold_packets: Annotated[float, within(f"{_AQM}.max_threshold_packets")]
    weight: Annotated[float, within(f"{_AQM}.weight")]
    max_probability: Annotated[float, within(f"{_AQM}.max_probability")]
    gentle: bool
    mean_packet_bytes: Annotated[int, within(f"{_AQM}.mean_packet_bytes")]
    wait: bool = False
    """Whether 1/p packets pass after an early drop; older results lack this field and those below."""
    least_queue_packets: Annotated[float, within(f"{_AQM}.least_queue_packets")] = 0.0
    first_passes: bool = False
    overflow_restarts: bool = False
    ecn: RedEcnName = "off"
    in_bytes: bool = False
    by_size: bool = False
    adaptation: RedAdaptation | None = None


@dataclass(frozen=True, slots=True)
class RedLinux:
    """Random Early Detection of the bytes that wait, by Linux's rules."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "RED"
    kind: Literal["red-linux"]
    min_threshold_bytes: Annotated[int, within(f"{_AQM}.min_threshold_bytes")]
    max_threshold_bytes: Annotated[int, within(f"{_AQM}.max_threshold_bytes")]
    max_probability: Annotated[float, within(f"{_AQM}.max_probability")]
    weight_log: Annotated[int, within(f"{_AQM}.weight_log")]
    """Binary logarithm of 1 / weight."""
    adaptive: bool
    ecn: RedEcnName
    mean_packet_bytes: Annotated[int, within(f"{_AQM}.mean_packet_bytes")]


@dataclass(frozen=True, slots=True)
class Codel:
    """Controlled Delay (RFC 8289)."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    title: ClassVar[str] = "CoDel"
    kind: Literal["codel"]
    target_s: Annotated[float, within(f"{_AQM}.target_s")]
    interval_s: Annotated[float, within(f"{_AQM}.interval_s")]
    ecn: bool
    ce_threshold_s: Annotated[float, within(f"{_AQM}.ce_threshold_s")] | None
    mtu_bytes: Annotated[int, within(f"{_AQM}.mtu_bytes")]
    rules: AqmRulesName


@dataclass(frozen=True, slots=True)
class Cobalt:
    """CoDel and BLUE, the AQM of CAKE."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "COBALT"
    kind: Literal["cobalt"]
    target_s: Annotated[float, within(f"{_AQM}.target_s")]
    interval_s: Annotated[float, within(f"{_AQM}.interval_s")]
    mtu_s: Annotated[float, within(f"{_AQM}.mtu_s")]
    """Time that the largest packet takes; four of them may always be waited for [s]."""


@dataclass(frozen=True, slots=True)
class Pie:
    """Proportional Integral controller Enhanced (RFC 8033)."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "PIE"
    kind: Literal["pie"]
    target_s: Annotated[float, within(f"{_AQM}.target_s")]
    update_s: Annotated[float, within(f"{_AQM}.update_s")]
    first_update_s: Annotated[float, within(f"{_AQM}.first_update_s")]
    alpha: Annotated[float, within(f"{_AQM}.alpha")]
    beta: Annotated[float, within(f"{_AQM}.beta")]
    burst_s: Annotated[float, within(f"{_AQM}.burst_s")]
    ecn: bool
    mtu_bytes: Annotated[int, within(f"{_AQM}.mtu_bytes")]


@dataclass(frozen=True, slots=True)
class Pi:
    """Proportional Integral controller of the queue (Hollot, Misra, Towsley, Gong 2001), by ns-2's rules."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "PI"
    kind: Literal["pi"]
    target_packets: Annotated[float, within(f"{_AQM}.target_packets")]
    factor_new: Annotated[float, within(f"{_AQM}.factor_new")]
    factor_old: Annotated[float, within(f"{_AQM}.factor_old")]
    update_s: Annotated[float, within(f"{_AQM}.update_s")]
    in_bytes: bool
    by_size: bool
    mean_packet_bytes: Annotated[int, within(f"{_AQM}.mean_packet_bytes")]
    ecn: bool


@dataclass(frozen=True, slots=True)
class Step:
    """Marks of all packets that find more than a number of packets in the queue."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    title: ClassVar[str] = "step marking"
    kind: Literal["step"]
    threshold_packets: Annotated[float, within(f"{_AQM}.threshold_packets")]


@dataclass(frozen=True, slots=True)
class DualPi2:
    """The AQM of a coupled dual queue, by RFC 9332 or as Linux has it."""

    __pydantic_config__ = CHECKED
    title: ClassVar[str] = "DualPI2"
    kind: Literal["dualpi2"]
    target_s: Annotated[float, within(f"{_AQM}.target_s")]
    update_s: Annotated[float, within(f"{_AQM}.update_s")]
    alpha: Annotated[float, within(f"{_AQM}.alpha")]
    beta: Annotated[float, within(f"{_AQM}.beta")]
    coupling: Annotated[float, within(f"{_AQM}.coupling")]
    step_s: Annotated[float, within(f"{_AQM}.step_s")]
    mtu_bytes: Annotated[int, within(f"{_AQM}.mtu_bytes")]
    ramp_s: Annotated[float, within(f"{_AQM}.ramp_s")] = 0.0
    """Length of the RFC's ramp, which begins at `step_s` [s]; older results lack this field and the next one."""
    rules: AqmRulesName = "linux"

    @property
    def is_random(self) -> bool:
        """Return whether its marks and drops are drawn, as Linux does."""
        return self.rules == "linux"


Scheduler = Annotated[
    Fifo | StrictPriority | FairQueueing | Wfq | Sfq | Drr | DualQueue | CakeScheduler, Field(discriminator="kind")
]
Aqm = Annotated[NoAqm | Red | RedLinux | Codel | Cobalt | Pie | Pi | Step | DualPi2, Field(discriminator="kind")]
"""Every AQM answers `is_random`, whether it draws random numbers, and `title`, its name as its papers write it."""


@dataclass(frozen=True, slots=True)
class Discipline:
    """A queue discipline: a choice on each of three axes."""

    __pydantic_config__ = CHECKED
    scheduler: Scheduler = Fifo()
    aqm: Aqm = NoAqm()
    overflow: OverflowName = "arriving"

    @property
    def is_fifo(self) -> bool:
        """Return whether all packets wait in one queue that is served in the order of arrival."""
        return isinstance(self.scheduler, Fifo)

    @property
    def drops_early(self) -> bool:
        """Return whether it drops packets before the buffer is full."""
        return not isinstance(self.aqm, NoAqm)

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        hashes = isinstance(self.scheduler, FairQueueing | Drr | Wfq) and self.scheduler.queues is not None
        hashes = hashes or (isinstance(self.scheduler, Sfq) and self.scheduler.hashed)
        return hashes or self.aqm.is_random or self.overflow == "random"

    @property
    def title(self) -> str:
        """Return the name that people write, of its AQM."""
        if isinstance(self.scheduler, CakeScheduler):
            return "CAKE"
        if isinstance(self.scheduler, Sfq):
            return "SFQ"
        if isinstance(self.scheduler, Drr):
            return "DRR"
        if isinstance(self.scheduler, Wfq):
            return "WFQ"
        return f"FQ-{self.aqm.title}" if isinstance(self.scheduler, FairQueueing) else self.aqm.title

    def __str__(self) -> str:
        """Give the name that a scenario has for it."""
        match self.scheduler:
            case Fifo():
                return self.aqm.kind.removesuffix("-linux") if self.drops_early else NAMES_BY_OVERFLOW[self.overflow]
            case FairQueueing(sparse_first=False):
                return "drr"
            case FairQueueing():
                return f"fq-{self.aqm.kind}" if self.drops_early else "fq"
            case DualQueue():
                return "dualpi2"
            case Sfq() | Drr() | Wfq() | CakeScheduler() | StrictPriority():
                return self.scheduler.kind


NAMES_BY_OVERFLOW = {
    "arriving": "drop-tail",
    "front": "drop-from-front",
    "random": "random-drop",
    "lowest": "drop-lowest",
    "longest": "drop-longest",
    "longest-lately": "drop-longest",
    "fattest": "drop-fattest",
    "heaviest": "drop-heaviest",
    "heaviest-in-turn": "drop-heaviest",
}
"""Names of disciplines with one queue and no AQM, by their overflow rule."""
DROP_TAIL = Discipline()
