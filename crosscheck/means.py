"""Compare means over replications where a scenario has random elements, whose numbers ns-2 draws otherwise."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, variance

from crosscheck import build, engine, ns2
from crosscheck.check import Mark
from crosscheck.outcome import FlowCounts
from crosscheck.subset import Scenario, connection

Counts = list[FlowCounts]
"""The counters of all flows in one run."""

Each = Callable[[Callable[[int], Counts], list[int]], Iterable[Counts]]

REPLICATIONS = 40
"""Runs of each scenario, on either side."""

JOINT_CONFIDENCE = 0.99
"""Probability that all intervals of all scenarios together hold the true differences."""

DURATION_S = 110.0
WARMUP_S = 10.0

TCP_QUANTITIES = ("acked_packets", "retransmitted_packets", "timeouts", "fast_retransmits")
SOURCE_QUANTITIES = ("delivered_packets",)


@dataclass(frozen=True, slots=True)
class Mean:
    """Means of a quantity over replications, and the interval of their difference.

    Parameters
    ----------
    flow, quantity : str
        What it is.
    theirs, ours : float
        Means of ns-2 and of our engine.
    half_width : float
        Half the interval of the difference at the joint level.
    """

    flow: str
    quantity: str
    theirs: float
    ours: float
    half_width: float

    @property
    def agrees(self) -> bool:
        """Return whether zero lies in the interval of the difference."""
        return abs(self.ours - self.theirs) <= self.half_width

    def line(self) -> str:
        """Write it as a line."""
        said = f"{self.flow:<6} {self.quantity:<21} ns-2 {self.theirs:10.2f}  ackclock {self.ours:10.2f}"
        return f"{said}  difference {self.ours - self.theirs:+8.2f}  allowed {self.half_width:8.2f}"


@dataclass(frozen=True, slots=True)
class MeansReport:
    """Result for one scenario: the means of its quantities, or what went wrong."""

    name: str
    means: Sequence[Mean] = ()
    fault: str = ""

    @property
    def mark(self) -> Mark:
        """PASS where all means agree."""
        return Mark.FAIL if self.fault or not all(mean.agrees for mean in self.means) else Mark.PASS

    def line(self) -> str:
        """Write the report as lines; the means are always below it, as they show how precise the comparison is."""
        said = f"{self.mark.value:<8} {self.name:<76} {len(self.means):>8} means"
        below = [self.fault] if self.fault else [mean.line() for mean in self.means]
        return "\n".join([said, *(f"    {line}" for line in below)])


def report(scenario: Scenario, each: Each) -> MeansReport:
    """Play a scenario's replications on both sides and compare their means.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    each : callable
        Applies a function to all items of a list, some at a time, and gives the results in their order.
    """
    name = str(scenario["title"])
    try:
        ours = play_engine(scenario)
        theirs = list(each(lambda replication: play_ns2(scenario, replication), list(range(REPLICATIONS))))
    except Exception as fault:  # noqa: BLE001 - one scenario that cannot run must not end the others
        return MeansReport(name, fault=f"{type(fault).__name__}: {fault}")
    return MeansReport(name, compare_means(scenario, theirs, ours))


def scenarios() -> list[Scenario]:
    """Describe the scenarios: each random element that both have, with a TCP flow."""
    lossy = _path(loss=build.lost_randomly(0.01))
    deaf = _path(ack_loss=build.lost_randomly(0.1, "acks"))
    shared = _path()
    on_off = {
        "kind": "on-off",
        "rate_bps": 900_000.0,
        "on": {"law": "exponential", "mean_s": 0.5},
        "off": {"law": "exponential", "mean_s": 0.5},
    }
    poisson = {"kind": "poisson", "rate_bps": 450_000.0}
    return [
        _scenario("means-bernoulli-newreno", lossy, "newreno"),
        _scenario("means-bernoulli-acks-reno", deaf, "reno"),
        _scenario("means-poisson-tahoe", shared, "tahoe", poisson),
        _scenario("means-on-off-newreno", shared, "newreno", on_off),
    ]


def quantities(scenario: Scenario) -> list[tuple[int, str]]:
    """List what is compared of a scenario: the number of a flow and the name of a counter."""
    return [
        (number, name)
        for number, flow in enumerate(scenario["flows"])
        for name in (TCP_QUANTITIES if connection(flow) else SOURCE_QUANTITIES)
    ]


def confidence() -> float:
    """Give the level of each interval by itself: by Bonferroni's inequality all hold at the joint level."""
    return 1.0 - (1.0 - JOINT_CONFIDENCE) / sum(len(quantities(scenario)) for scenario in scenarios())


def play_ns2(scenario: Scenario, replication: int) -> Counts:
    """Play one replication in ns-2 and give the counters of its flows."""
    return ns2.run(scenario, replication=replication).flows


def play_engine(scenario: Scenario) -> list[Counts]:
    """Play all replications in our engine and give the counters of the flows of each."""
    run = scenario["run"] | {"replications": REPLICATIONS}
    return engine.run_counts(scenario | {"run": run})


def compare_means(scenario: Scenario, theirs: Sequence[Counts], ours: Sequence[Counts]) -> list[Mean]:
    """Compare the means of all quantities of a scenario.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    theirs, ours : sequence of list of FlowCounts
        For each replication the counters of its flows.

    Returns
    -------
    list of Mean
        One a quantity. The intervals are Welch's for two samples of unknown variances.
    """
    return [
        _mean(
            scenario["flows"][number]["name"],
            name,
            [float(getattr(flows[number], name)) for flows in theirs],
            [float(getattr(flows[number], name)) for flows in ours],
        )
        for number, name in quantities(scenario)
    ]


def _mean(flow: str, quantity: str, theirs: list[float], ours: list[float]) -> Mean:
    parts = [variance(sample) / len(sample) for sample in (theirs, ours)]
    mean = Mean(flow, quantity, fmean(theirs), fmean(ours), 0.0)
    if not any(parts):
        return mean
    # Welch's degrees of freedom.
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(sample) - 1) for part, sample in zip(parts, (theirs, ours), strict=True)
    )
    return replace(mean, half_width=_quantile(freedom) * math.sqrt(sum(parts)))


def _quantile(degrees_of_freedom: float) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415  needed here alone, and slow to load

    return float(stdtrit(degrees_of_freedom, 0.5 + confidence() / 2.0))


def _path(loss: Scenario | None = None, ack_loss: Scenario | None = None) -> list[Scenario]:
    """Describe a fast link and a slow one with a small buffer, there and back."""
    access = build.link("access", 1_900_003.0, delay_s=0.003, buffer_packets=60)
    shared = build.link("shared", 1_300_021.0, delay_s=0.037, buffer_packets=15)
    return [
        access | {"loss": loss},
        shared,
        build.link("access.reverse", 2_000_029.0, delay_s=0.003) | {"loss": ack_loss},
        build.link("shared.reverse", 1_700_017.0, delay_s=0.037),
    ]


def _scenario(title: str, links: list[Scenario], recovery: str, traffic: Scenario | None = None) -> Scenario:
    flows = [build.flow("tcp", [0, 1], [3, 2], build.sender(recovery), packet_bytes=1000)]
    if traffic:
        flows.append(build.source("source", [1], traffic, packet_bytes=500))
    scenario = build.scenario(title, links, flows, duration_s=DURATION_S, warmup_s=WARMUP_S)
    return scenario | {"trace": scenario["trace"] | {"cwnd": False}}
