"""Verdicts: whether what was found agrees with what the paper says, by a criterion that was written down before."""

import re
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from ackclock.errors import Fault, SweepError
from ackclock.experiments.frame import Finding, Measure

Verdict = Literal["agrees", "partly", "differs", "not shown"]

_NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
_FORMS = re.compile(
    rf"(?P<within>within (?P<tolerance>{_NUMBER})(?P<percent>%?))"
    rf"|(?P<between>between (?P<low>{_NUMBER}) and (?P<high>{_NUMBER}))"
    rf"|(?P<least>at least (?P<floor>{_NUMBER}))|(?P<most>at most (?P<ceiling>{_NUMBER}))|(?P<holds>holds)"
)
ALLOWED = "within 2%, within 0.5, between 4 and 6, at least 90, at most 20, holds"


@dataclass(frozen=True)
class Expected:
    """A number or a claim of a paper.

    Parameters
    ----------
    item, key : str
        Where the finding is.
    claim : str
        What the paper says.
    where : str
        Section, figure, page.
    kind : str
        "printed" (a number that the paper prints), "formula" (one that its formula gives), "read" (one that its text
        bounds), "words" (a claim without a number), "none" (nothing to compare with).
    paper : float
        The number; nan for a claim without one.
    unit : str
        Its unit.
    judged : str
        What is compared: "simulation" or "model".
    criterion : str
        When it agrees.
    reason : str
        Why that criterion.
    """

    item: str
    key: str
    claim: str
    where: str
    kind: str
    paper: float
    unit: str
    judged: str
    criterion: str
    reason: str


def check_criterion(text: str) -> None:
    """Refuse a criterion that cannot be read."""
    if _FORMS.fullmatch(text) is None:
        raise SweepError(Fault("criterion", "cannot be read", text, ALLOWED))


def verdict(expected: Expected, finding: Finding) -> Verdict:
    """Judge a finding.

    Parameters
    ----------
    expected : Expected
        What the paper says, and the criterion.
    finding : Finding
        What was found.

    Returns
    -------
    str
        "agrees" where the interval of what was found meets what the criterion allows; of a claim in words "agrees"
        where it holds in all cases, "partly" in some, "differs" in none; "not shown" where nothing was found.

    Examples
    --------
    >>> row = Expected("figure-2", "x", "", "", "printed", 1.371, "Mbit/s", "simulation", "within 2%", "")
    >>> verdict(row, Finding(1.38)), verdict(row, Finding(1.45)), verdict(row, Finding(Measure(1.45, 1.30, 1.60)))
    ('agrees', 'differs', 'agrees')
    """
    judged = Measure(finding.model) if expected.judged == "model" else finding.measure
    if not isfinite(judged.value):
        return "not shown"
    matched = _FORMS.fullmatch(expected.criterion)
    if matched is None:
        raise SweepError(Fault("criterion", "cannot be read", expected.criterion, ALLOWED))
    if matched["holds"]:
        return "agrees" if judged.value >= 1.0 else "partly" if judged.value > 0.0 else "differs"
    low, high = _allowed(matched, expected.paper)
    # The allowed range, a little widened: 1.02 is within 2% of 1, whatever its last bit.
    slack = 1e-9 * max(abs(judged.value), abs(low) if isfinite(low) else 0.0)
    lowest, highest = _end(judged.low, judged.value), _end(judged.high, judged.value)
    return "agrees" if lowest <= high + slack and highest >= low - slack else "differs"


def item_verdict(verdicts: list[Verdict]) -> Verdict:
    """Judge an item by its numbers and claims: agrees where all do, differs where none does even partly.

    Examples
    --------
    >>> item_verdict(["agrees", "differs"]), item_verdict(["agrees", "agrees"]), item_verdict(["differs"])
    ('partly', 'agrees', 'differs')
    """
    shown = [one for one in verdicts if one != "not shown"]
    if not shown:
        return "not shown"
    if len(set(shown)) == 1 and len(shown) == len(verdicts):
        return shown[0]
    return "differs" if set(shown) == {"differs"} else "partly"


def _allowed(matched: "re.Match[str]", paper: float) -> tuple[float, float]:
    if matched["within"]:
        width = float(matched["tolerance"]) * (abs(paper) / 100.0 if matched["percent"] else 1.0)
        return paper - width, paper + width
    if matched["between"]:
        return float(matched["low"]), float(matched["high"])
    if matched["least"]:
        return float(matched["floor"]), float("inf")
    return -float("inf"), float(matched["ceiling"])


def _end(end: float, value: float) -> float:
    return end if isfinite(end) else value
