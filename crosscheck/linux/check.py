"""Plays a scenario in the kernel and in our engine, over realisations where one does not decide, and compares them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from itertools import chain
from math import inf
from typing import Any, TypeVar

from crosscheck.linux import kernel, ours
from crosscheck.linux.figures import LEAST_REALISATIONS, Agreement, Compared, Figures, compare
from crosscheck.linux.packets import LATENCIES_S, Same, Sent, compare_sent, later_starts_s
from crosscheck.linux.path import Scenario, around, bottleneck_of, tcp_of
from crosscheck.linux.realisations import SHIFTS_US, phase_of_s, realise, shift_name, shifts_of, slowed
from crosscheck.linux.translate import translate

PLAYED_US = SHIFTS_US[::2]
"""Starts that are played if none were recorded [us]: eight, the least whose spreads are compared."""
DECIDING_US = tuple(range(30, 990, 60))
"""Sixteen other starts [us], which decide where those do not agree."""
PHASE_SEEDS = range(1, 201)
"""Seeds of ours among which one is looked for that draws the kernel's phases: seven are possible each time."""

Number = TypeVar("Number", int, float)


class Mark(Enum):
    """The result of the comparison of one scenario."""

    PASS = "PASS"
    SPREAD = "SPREAD"
    KNOWN = "KNOWN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Report:
    """Result for one scenario.

    Parameters
    ----------
    name : str
        Name of the scenario.
    mark : Mark
        PASS if all figures are within the tolerances, SPREAD if some are so only as the kernel's realisations spread,
        KNOWN if some differ and that is known, FAIL otherwise.
    compared : list of Compared
        The figures.
    detail : str
        What is known of a difference, or what went wrong.
    same : Same, optional
        The part of the run itself in which both send the same packets; it decides where all of them should be the same,
        and is shown elsewhere.
    """

    name: str
    mark: Mark
    compared: list[Compared] = field(default_factory=list)
    detail: str = ""
    same: Same | None = None

    def text(self) -> str:
        """Write the report: a line, and one for each figure that is not within its tolerance."""
        apart = [one.line() for one in self.compared if one.agreement is not Agreement.WITHIN]
        lines = [f"{self.mark.value:<6} {self.name}", *(f"    {line}" for line in apart)]
        same = [f"    {self.same.line()}"] if self.same is not None else []
        return "\n".join([*lines, *same, *(f"    {line}" for line in self.detail.splitlines())])


def mark_of(compared: list[Compared], known: str | None = None) -> Mark:
    """Mark a comparison, with what is known of its differences."""
    found = {one.agreement for one in compared}
    if Agreement.DIFFERS in found:
        return Mark.KNOWN if known else Mark.FAIL
    return Mark.SPREAD if Agreement.SPREAD in found else Mark.PASS


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario to compare.

    Parameters
    ----------
    name : str
        Name of the scenario.
    scenario : dict
        The scenario, resolved.
    known : str, optional
        What is known of a difference.
    spread : mapping of str to Figures
        Recorded realisations of the kernel's, by name; they need not be played.
    exact : bool
        Whether each packet should be the kernel's. If all are, the result is PASS; if one is not, SPREAD at best.
    """

    name: str
    scenario: Scenario
    known: str | None = None
    spread: Mapping[str, Figures] = field(default_factory=dict)
    exact: bool = False

    def theirs(self, shift_us: float) -> Figures:
        """Give the kernel's figures of a shifted start, which is played unless it is recorded."""
        return self.spread.get(shift_name(shift_us)) or kernel.play(translate(self.scenario, shift_us)).figures

    def ours(self, shift_us: float) -> Figures:
        """Play a shifted start in our engine."""
        return ours.play(realise(self.scenario, shift_us), bottleneck_of(self.scenario))


def check(case: Case) -> Report:
    """Compare the kernel with our engine in one scenario.

    Parameters
    ----------
    case : Case
        The scenario.

    Returns
    -------
    Report
        The result. Where a figure is not within its tolerance, shifted starts decide; where their spreads are not the
        same, as by chance they are in some of a dozen figures at one in a hundred each, sixteen others do. Where all
        packets should be the kernel's and are, they decide: ours leave out of the queue's figures what was in it as the
        warm-up ended.
    """
    try:
        played, mine = kernel.play(translate(case.scenario), packets=True), case.ours(0.0)
        compared = compare([played.figures], [mine])
        same = same_packets(case.scenario, played.sent) if case.exact else None
        if same is not None and same.until_s == inf:
            return Report(case.name, Mark.PASS, compared, same=same)
        if mark_of(compared) is not Mark.PASS:
            shifts = shifts_of(case.spread)
            shifts = [shift for shift in (shifts if len(shifts) >= LEAST_REALISATIONS else PLAYED_US) if shift]
            compared = compare([played.figures, *map(case.theirs, shifts)], [mine, *map(case.ours, shifts)])
        if mark_of(compared) is Mark.FAIL:
            compared = compare([*map(case.theirs, DECIDING_US)], [*map(case.ours, DECIDING_US)])
    except Exception as fault:  # noqa: BLE001 - a scenario that one side cannot run must not end the others
        return Report(case.name, Mark.FAIL, detail=f"{type(fault).__name__}: {fault}")
    mark = mark_of(compared, case.known)
    detail = case.known or "" if mark is Mark.KNOWN else ""
    try:
        same = same or same_packets(case.scenario, played.sent)
    except Exception as fault:  # noqa: BLE001 - packets fail no figure
        detail = f"{detail}\npackets: {type(fault).__name__}: {fault}".strip()
    if case.exact and mark is Mark.PASS:
        mark = Mark.SPREAD
    return Report(case.name, mark, compared, detail, same)


def same_packets(scenario: Scenario, theirs: Sent) -> Same:
    """Find out until when our engine sends the packets of a run of the kernel's.

    The kernel takes some microseconds for a round trip beyond the path's delays, and what a clock of milliseconds makes
    of an instant depends on them. Ours takes as long, by each of the latencies in turn until all packets are the same.
    A single flow of BBR has the seed whose phases are the kernel's for the longest time.
    """
    bottleneck, realised = bottleneck_of(scenario), realise(scenario, 0.0)
    flows = (flow for flow in scenario["flows"] for _ in range(flow["count"]))
    before_s = [around(scenario, flow, bottleneck)[0] - phase_of_s(scenario) for flow in flows]
    later_s = later_starts_s(theirs, ours.sent(realised, before_s))

    def same(latency_s: float, seed: int) -> Same:
        slow = slowed(realised, latency_s, later_s)
        mine = ours.sent({**slow, "run": {**slow["run"], "seed": seed}}, before_s)
        return compare_sent(theirs, mine, scenario["run"]["duration_s"])

    none_s, *latencies_s = LATENCIES_S
    seeds = PHASE_SEEDS if _draws_phases(scenario) else [realised["run"]["seed"]]
    seed, first = _longest((seed, same(none_s, seed)) for seed in seeds)
    _, longest = _longest(chain([(none_s, first)], ((by_s, same(by_s, seed)) for by_s in latencies_s)))
    return longest


def _longest(found: Iterable[tuple[Number, Same]]) -> tuple[Number, Same]:
    """Give the one of several results that lasts longest, or the first that has all packets, with its number."""
    return max(_until_all(found), key=lambda one: one[1].until_s)


def _until_all(found: Iterable[tuple[Number, Same]]) -> Iterator[tuple[Number, Same]]:
    """Give results up to the first that has all packets."""
    for one in found:
        yield one
        if one[1].until_s == inf:
            return


def _draws_phases(scenario: Scenario) -> bool:
    """Return whether a scenario has one flow, and that is BBR's: it draws the phase with which it begins to probe."""
    controls = [tcp_of(flow)["sender"]["congestion_control"]["name"] for flow in scenario["flows"]]
    return controls == ["bbr"] and scenario["flows"][0]["count"] == 1


def resolved(document: dict[str, Any]) -> Scenario:
    """Resolve a scenario in the users' form."""
    scenarios = import_module("ackclock.scenario")
    form: Scenario = scenarios.resolve(scenarios.load(document)).to_dict()
    return form
