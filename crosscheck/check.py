"""Play one scenario in ns-2 and in our engine and say whether every change of the congestion window is the same."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from crosscheck import engine, ns2, ties
from crosscheck.compare import Verdict
from crosscheck.outcome import Outcome, compare_outcomes
from crosscheck.subset import ExcludedError, Scenario


class Mark(Enum):
    """The result of the comparison of one scenario."""

    PASS = "PASS"
    FAIL = "FAIL"
    TIE = "TIE"
    UNDECIDED = "UNDECIDED"
    EXCLUDED = "EXCLUDED"


@dataclass(frozen=True, slots=True)
class Report:
    """Result for one scenario.

    Parameters
    ----------
    name : str
        Title of the scenario.
    mark : Mark
        PASS where all changes of all flows are the same. TIE where they are not, but are the same as in a run of ns-2
        whose delays are shaken by as much as the clocks differ. UNDECIDED where such a run gets beyond many ties, and
        not to the end within the runs that are allowed. EXCLUDED where a difference that is left out by name
        is met.
    compared : int
        Changes that agree, over all flows.
    worst_time_s : float
        Largest difference of their times [s].
    detail : str
        The first difference, or the reason.
    """

    name: str
    mark: Mark
    compared: int = 0
    worst_time_s: float = 0.0
    detail: str = ""

    def line(self) -> str:
        """Write the report as a line, with the detail below it."""
        said = f"{self.mark.value:<8} {self.name:<76} {self.compared:>8} changes  {self.worst_time_s:8.1e} s"
        return "\n".join([said, *(f"    {line}" for line in self.detail.splitlines())])


def check(scenario: Scenario, play: Callable[[Scenario], Outcome] = engine.run) -> Report:
    """Compare ns-2 with our engine in one scenario.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    play : callable
        What is compared with ns-2.

    Returns
    -------
    Report
        The result; what goes wrong in ns-2 or in the engine is a FAIL with its message.
    """
    name = str(scenario["title"])
    try:
        theirs = ns2.run(scenario)
    except ExcludedError as reason:
        return Report(name, Mark.EXCLUDED, detail=str(reason))
    except (ValueError, ns2.Ns2Error) as fault:
        return Report(name, Mark.FAIL, detail=f"ns-2: {fault}")
    try:
        ours = play(scenario)
    except Exception as fault:  # noqa: BLE001 - one scenario that the engine cannot run must not end the others
        return Report(name, Mark.FAIL, detail=f"ackclock: {type(fault).__name__}: {fault}")
    verdicts = compare_outcomes(scenario, theirs, ours)
    compared = sum(verdict.compared for verdict in verdicts)
    worst = max(verdict.worst_time_s for verdict in verdicts)
    if all(verdict.passed for verdict in verdicts):
        return Report(name, Mark.PASS, compared, worst)
    shaken = ties.agreement(scenario, ours, verdicts)
    mark = Mark.TIE if shaken.found else Mark.UNDECIDED if shaken.undecided else Mark.FAIL
    return Report(name, mark, compared, worst, _detail(scenario, verdicts, shaken))


def _detail(scenario: Scenario, verdicts: list[Verdict], shaken: ties.Agreement) -> str:
    """Say how shaken runs agree and where the flow that differs first does; where none agrees, where each flow does."""
    pairs = zip(scenario["flows"], verdicts, strict=True)
    lines = [
        (verdict.differs_s, f"{flow['name']}: {verdict.difference}") for flow, verdict in pairs if not verdict.passed
    ]
    lines.sort(key=lambda line: line[0])
    shown = lines[:1] if shaken.found else lines
    return "\n".join([*(text for _, text in shown), shaken.line()])
