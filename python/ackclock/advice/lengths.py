"""Lengths of the runs of a search: as many loss cycles as it takes to decide, and not more."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import ceil, floor, log10
from typing import Any

from ackclock.advice.targets import Targets
from ackclock.paths import Node
from ackclock.prediction.cubic import cubic_numbers
from ackclock.prediction.scene import Scene
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_rates import RateProcessSettings
from ackclock.scenario.resolved_traffic import WebTraffic
from ackclock.scenario.schema_kinds import LONGEST_RUN_S

LONE_CYCLES = 6
"""Loss cycles of a lone flow of Reno's kind without randomness: all are nearly the same."""
CYCLES = 20
"""Loss cycles of the slowest of several flows, over all replications; and of a lone one with another control."""
DETECTION_ROUNDS = 3.0
"""Round trips in which a loss of CUBIC's is detected and repaired, before its window grows."""
WARMUP_CYCLES = 2
DEFAULT_CYCLE_S = 10.0
"""A cycle where no flow has a congestion control [s]."""
REPLICATIONS = 5
"""Number of replications of a scenario that draws random numbers."""
FEW_REPLICATIONS = 2
"""Their number if the scenario is so large that they would be too short."""
ROUNDING = 1.1
"""Largest factor by which a length is rounded up to two digits."""
LONGEST_S = 1e4
"""Longest run where no link has a rate [s]."""
DROPS = 2000.0
"""Packets that web sources lose in a run at the wanted loss; they are lost in bursts, so that fewer would not do."""
WEB_CYCLES = 2.0
"""Transfers and silences of a web source that count as a cycle."""
MOST_BULK_PACKETS = 20e6
MOST_WEB_PACKETS = 4e6
"""Packets over all links and replications of one simulation, which bound what an answer costs: about a second."""
CHEAP = 0.1
"""Part of that for which sizes far from the answer, such as the present one, are measured over whole cycles too."""


@dataclass(frozen=True, slots=True)
class Length:
    """Duration and random numbers of a run.

    Parameters
    ----------
    duration_s, warmup_s : float
        Of the run [s].
    replications : int
        Their number, where anything is random.
    further_seed : int
        What is added to the scenario's seed; runs of a search have the same, for common random numbers.
    is_fixed : bool
        Whether another duration would be another scenario, as rates change at given instants.
    """

    duration_s: float
    warmup_s: float
    replications: int
    further_seed: int = 0
    is_fixed: bool = False

    def applied(self, resolved: Resolved) -> Resolved:
        """Give a scenario this length; it records no traces."""
        run = replace(
            resolved.run,
            duration_s=self.duration_s,
            warmup_s=self.warmup_s,
            replications=self.replications,
            seed=resolved.run.seed + self.further_seed,
            precision=None,
        )
        none: dict[str, Any] = dict.fromkeys((one.name for one in fields(resolved.trace)), False)
        none |= dict.fromkeys(("overview_interval_s", "overview_detail_s", "capture"))
        return replace(resolved, run=run, trace=replace(resolved.trace, **none))

    @property
    def other(self) -> "Length":
        """A run of twice the measured time with other random numbers, to confirm what a search found."""
        duration_s = self.duration_s if self.is_fixed else 2.0 * self.duration_s - self.warmup_s
        return replace(self, duration_s=duration_s, further_seed=self.further_seed + 1)


def length_for(resolved: Resolved, near: float, far: float, targets: Targets) -> Length:
    """Choose the length of a search's runs.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    near : float
        A buffer at the bottleneck [pkt] about which the search will end.
    far : float
        The largest buffer that will be simulated [pkt], whose cycles are longer.
    targets : Targets
        A loss to be measured takes many packets.

    Returns
    -------
    Length
        The scenario's own if its traffic, its rates or its delays change with time.
    """
    if not _is_stationary(resolved):
        fixed = any(rate is not None and not rate.law.is_random for rate in _rates(resolved))
        return Length(resolved.run.duration_s, resolved.run.warmup_s, _replications(resolved), is_fixed=fixed)
    traffic = _Traffic(resolved)
    start = max(flow.start_s + flow.start_spread_s for flow in resolved.flows)
    replications, longest = _replications(resolved), traffic.affordable_s
    warmup, measured = traffic.wanted_s(near, replications)
    if warmup + measured > longest / replications and replications > FEW_REPLICATIONS:
        replications = FEW_REPLICATIONS
        warmup, measured = traffic.wanted_s(near, replications)
    # Its confirmation measures twice as long, and is within what a run may last too.
    longest = min(longest / replications, max((LONGEST_RUN_S / ROUNDING**2 - start) / 2.0, resolved.run.measured_s))
    measured = max(measured, traffic.for_loss_s(targets) / replications)
    if any(element.is_random for element in resolved.elements):
        # Delays and losses have time scales of their own; the scenario's run was made for them.
        measured = max(measured, min(resolved.run.measured_s, longest / 2.0))
    for_far = [min(wanted, CHEAP * longest) for wanted in traffic.wanted_s(far, replications)]
    # The scenario's own warm-up is as long as its author takes its beginning to be.
    warmup, measured = max(warmup, for_far[0], resolved.run.warmup_s - start), max(measured, for_far[1])
    if warmup + measured > longest:
        warmup = min(warmup, longest / 3.0)
        measured = min(measured, longest - warmup)
    warmup, duration = _rounded_up(warmup + start), _rounded_up(warmup + start + measured)
    if duration - warmup < measured:
        duration = warmup + _rounded_up(measured)
    return Length(duration, warmup, replications)


def _replications(resolved: Resolved) -> int:
    return 1 if resolved.is_deterministic else REPLICATIONS


def _rates(resolved: Resolved) -> Iterator[RateProcessSettings | None]:
    return (element.rate_process for element in resolved.elements)


def _is_stationary(resolved: Resolved) -> bool:
    """Return whether a longer run shows more of the same."""
    processes = (element.delay_process for element in resolved.elements)
    losses = (element.loss for element in resolved.elements)
    return (
        all(flow.size_packets is None for flow in resolved.flows)
        and all(process is None or process.law.is_random for process in processes)
        and all(rate is None or rate.law.is_random for rate in _rates(resolved))
        and all(loss is None or loss.law.is_random for loss in losses)
    )


class _Traffic:
    """The flows of a scenario, and what each can send at most."""

    def __init__(self, resolved: Resolved) -> None:
        self._resolved = resolved
        self._scenes = [Scene(resolved, flow) for flow in resolved.flows]
        self._crossing: Counter[str] = Counter()
        for scene in self._scenes:
            self._crossing.update({node.name: scene.count for node in scene.forward})

    @property
    def affordable_s(self) -> float:
        """The longest time that one simulation may take, over all replications [s]."""
        is_web = any(scene.flow.kind == "web" for scene in self._scenes)
        hops = sum(self._carried(scene) * len(scene.forward) for scene in self._scenes)
        return (MOST_WEB_PACKETS if is_web else MOST_BULK_PACKETS) / hops if hops > 0.0 else LONGEST_S

    def wanted_s(self, buffer: float, replications: int) -> tuple[float, float]:
        """Compute how long a run should warm up, and measure [s], for a buffer."""
        cycle = max((self._cycle_s(scene, buffer) for scene in self._scenes), default=DEFAULT_CYCLE_S)
        is_lone = sum(scene.count for scene in self._scenes) == 1 and self._resolved.is_deterministic
        is_lone &= all(scene.flow.connection is None or scene.flow.tcp.sender.is_aimd for scene in self._scenes)
        return WARMUP_CYCLES * cycle, cycle * (LONE_CYCLES if is_lone else CYCLES) / replications

    def for_loss_s(self, targets: Targets) -> float:
        """Compute the time for enough drops at the wanted loss [s]."""
        carried = sum(map(self._carried, self._scenes))
        return 0.0 if targets.loss is None or carried == 0.0 else DROPS / (targets.loss * carried)

    def _cycle_s(self, scene: Scene, buffer: float) -> float:
        """Compute the time between two losses of a flow [s]: its window grows from what a loss leaves to all of it."""
        if scene.flow.connection is None or not scene.forward:
            return DEFAULT_CYCLE_S
        round_trip = scene.round_trip_s
        if isinstance(scene.flow.traffic, WebTraffic):
            return WEB_CYCLES * (scene.flow.traffic.off.mean_s + 10.0 * round_trip)
        node = self._narrowest(scene)
        sharing = 1 if node.private else self._crossing[node.name]
        window = min((node.packet_rate * round_trip + buffer) / sharing, scene.max_window)
        longest = round_trip + buffer / node.packet_rate
        additive = max(window / 2.0, 4.0) * scene.flow.tcp.packets_per_ack * longest
        if not scene.flow.tcp.sender.is_cubic:
            return additive
        steepness, remainder = cubic_numbers(scene)
        cubic: float = ((1.0 - remainder) * window / steepness) ** (1.0 / 3.0)
        return min(additive, cubic + DETECTION_ROUNDS * longest)

    def _carried(self, scene: Scene) -> float:
        """Compute the packets a second that the identical flows of an entry send together, at most."""
        return scene.count * self._share(self._narrowest(scene)) if scene.forward else 0.0

    def _narrowest(self, scene: Scene) -> Node:
        """Give the link of which a flow has least."""
        return min(scene.forward, key=self._share)

    def _share(self, node: Node) -> float:
        """Compute a flow's equal share of a link [pkt/s]."""
        return node.packet_rate if node.private else node.packet_rate / self._crossing[node.name]


def _rounded_up(time_s: float) -> float:
    """Round a time up to two digits [s], so that it reads well."""
    step = 10.0 ** (floor(log10(time_s)) - 1) if time_s > 0.0 else 1.0
    return ceil(round(time_s / step, 6)) * step
