"""Verdicts: whether what was found agrees with what the paper says, by a criterion that was written down before."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Final, Literal

from ackclock.errors import Fault, SweepError
from ackclock.experiments.frame import Finding, Measure

Verdict = Literal["agrees", "partly", "differs", "not decided"]
Kind = Literal["printed", "model", "words", "identity"]
VERDICTS: Final[tuple[Verdict, ...]] = ("agrees", "partly", "differs", "not decided")
KINDS: Final[dict[str, str]] = {
    "printed": "a number that the paper prints, against a measured one",
    "model": "a number of a model, against a measured one",
    "words": "a claim in words",
    "identity": "arithmetic of a model with itself or with the paper's own numbers: no evidence",
}
WEIGHTS: Final[dict[str, int]] = {"printed": 2, "model": 1, "words": 1, "identity": 0}
"""Weight of a row in the verdict on its item. Few things meet a printed number, many meet a claim in words."""

SHARES: Final[dict[str, str]] = {
    "always": "in all cases",
    "nearly always": "in nine cases of ten or more",
    "mostly": "in two thirds of the cases or more, as chance alone gives half of them",
    "sometimes": "in some cases and not in all",
}
_NEARLY: Final = 0.9
_MOST: Final = 2.0 / 3.0
_HALF: Final = 0.5
_MOST_TIMES: Final = 100.0
_NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
_FORMS = re.compile(
    rf"(?P<within>within (?P<tolerance>{_NUMBER})(?P<percent>%?))"
    rf"|(?P<between>between (?P<low>{_NUMBER}) and (?P<high>{_NUMBER}))"
    rf"|(?P<least>at least (?P<floor>{_NUMBER}))|(?P<most>at most (?P<ceiling>{_NUMBER}))"
    rf"|holds (?P<share>{'|'.join(sorted(SHARES, key=len, reverse=True))})"
)
ALLOWED = f"within 2%, within 0.5, between 4 and 6, at least 90, at most 20, holds {', holds '.join(SHARES)}"


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
        What is set against what, a key of `KINDS`.
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

    def of_share(self) -> bool:
        """Return whether the finding is the fraction of the cases in which a claim holds."""
        return self.criterion.startswith("holds")


@dataclass(frozen=True)
class Judgement:
    """The verdict on a finding.

    Parameters
    ----------
    verdict : str
        One of `VERDICTS`.
    needs : str
        For "not decided" what would decide it; else empty.
    """

    verdict: Verdict
    needs: str = ""


@dataclass(frozen=True)
class Counts:
    """Numbers of verdicts of some rows; identities are counted apart.

    Parameters
    ----------
    agrees, partly, differs, not_decided : int
        Rows that compare with something.
    identities, identities_hold : int
        Rows of arithmetic, and those of them that come out.
    """

    agrees: int = 0
    partly: int = 0
    differs: int = 0
    not_decided: int = 0
    identities: int = 0
    identities_hold: int = 0

    @property
    def rows(self) -> int:
        """Number of rows that are not identities."""
        return self.agrees + self.partly + self.differs + self.not_decided

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(one + two for one, two in zip(self.numbers(), other.numbers(), strict=True)))

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers in the order of the fields."""
        return (
            self.agrees,
            self.partly,
            self.differs,
            self.not_decided,
            self.identities,
            self.identities_hold,
        )

    def __str__(self) -> str:
        rows = f"{self.agrees} agree, {self.partly} partly, {self.differs} differ, {self.not_decided} not decided"
        return f"{rows}; of {self.identities} identities {self.identities_hold} hold"


def check_criterion(text: str) -> None:
    """Refuse a criterion that cannot be read."""
    if _FORMS.fullmatch(text) is None:
        raise SweepError(Fault("criterion", "cannot be read", text, ALLOWED))


def judge(expected: Expected, finding: Finding) -> Judgement:
    """Judge a finding.

    A number agrees if it lies in the allowed range and its interval is no wider than that range (where the range has
    one end only: if its whole interval is in it), and differs if its whole interval is outside. Else the run has not
    decided. A claim in words is judged by the fraction of its cases in which it holds, and by how much its words ask
    for; where it holds in more than half of them, though in fewer than these, it is met partly.

    Parameters
    ----------
    expected : Expected
        What the paper says, and the criterion.
    finding : Finding
        What was found.

    Returns
    -------
    Judgement
        The verdict.

    Examples
    --------
    >>> row = Expected("figure-2", "x", "", "", "printed", 10.0, "Mbit/s", "simulation", "within 2%", "")
    >>> [judge(row, Finding(found)).verdict for found in (10.1, 11.0, Measure(10.1, 9.5, 10.7))]
    ['agrees', 'differs', 'not decided']
    >>> judge(row, Finding(Measure(10.1, 9.5, 10.7))).needs
    'an interval of at most +-0.2, here +-0.6: about 9 times as many packets'
    """
    judged = finding.judged(expected.judged)
    if not isfinite(judged.value):
        return Judgement("not decided", "nothing was found")
    matched = _FORMS.fullmatch(expected.criterion)
    if matched is None:
        raise SweepError(Fault("criterion", "cannot be read", expected.criterion, ALLOWED))
    if matched["share"]:
        return _of_share(matched["share"], judged)
    low, high = _allowed(matched, expected.paper)
    # The allowed range, a little widened: 1.02 is within 2% of 1, whatever its last bit.
    slack = 1e-9 * max(abs(judged.value), *(abs(end) for end in (low, high) if isfinite(end)))
    return _of_number(judged, low - slack, high + slack)


def verdict(expected: Expected, finding: Finding) -> Verdict:
    """Judge a finding, as `judge`; the verdict alone."""
    return judge(expected, finding).verdict


def item_verdict(rows: Sequence[tuple[str, Verdict]]) -> Verdict | Literal["identity"]:
    """Judge an item by its rows, each with the weight of its kind.

    Parameters
    ----------
    rows : sequence of tuple of str
        Kind and verdict of each row.

    Returns
    -------
    str
        "differs" if the rows that differ have half of the weight of those decided or more, a row that is met partly
        counting half; "not decided" if half of all weight or more is not decided; "agrees" if every decided row agrees,
        "partly" else. An identity has no weight, but one that does not hold makes an item "partly". An item of nothing
        else is "identity" if all hold, else judged by them.

    Examples
    --------
    >>> item_verdict([("printed", "differs"), ("words", "agrees")]), item_verdict([("identity", "agrees")])
    ('differs', 'identity')
    """
    only = all(WEIGHTS[kind] == 0 for kind, _ in rows)
    if only and rows and all(one == "agrees" for _, one in rows):
        return "identity"
    weights = dict.fromkeys(VERDICTS, 0)
    for kind, one in rows:
        weights[one] += 1 if only else WEIGHTS[kind]
    decided = weights["agrees"] + weights["partly"] + weights["differs"]
    if 2 * weights["not decided"] >= decided + weights["not decided"]:
        return "not decided"
    if 2.0 * (weights["differs"] + weights["partly"] / 2.0) >= decided and weights["differs"]:
        return "differs"
    return "agrees" if all(one in {"agrees", "not decided"} for _, one in rows) else "partly"


def count(rows: Iterable[tuple[str, Verdict]]) -> Counts:
    """Count verdicts by kind.

    Examples
    --------
    >>> str(count([("printed", "agrees"), ("words", "differs"), ("identity", "agrees")]))
    '1 agree, 0 partly, 1 differ, 0 not decided; of 1 identities 1 hold'
    """
    listed = list(rows)
    evidence = [one for kind, one in listed if kind != "identity"]
    identities = [one for kind, one in listed if kind == "identity"]
    agrees, partly, differs, open_rows = (evidence.count(name) for name in VERDICTS)
    return Counts(agrees, partly, differs, open_rows, len(identities), identities.count("agrees"))


def _of_share(words: str, found: Measure) -> Judgement:
    low, high = (min(max(_end(end, found.value), 0.0), 1.0) for end in (found.low, found.high))
    ends = {_share_verdict(words, low), _share_verdict(words, high), _share_verdict(words, found.value)}
    if len(ends) == 1:
        return Judgement(ends.pop())
    return Judgement(
        "not decided",
        f"longer runs or more of them: chance decides some cases, the fraction that holds is {low:.2f} to {high:.2f}",
    )


def _share_verdict(words: str, share: float) -> Verdict:
    if words == "sometimes":
        return "agrees" if 0.0 < share < 1.0 else "differs"
    enough = {"always": share >= 1.0, "nearly always": share >= _NEARLY, "mostly": share >= _MOST}[words]
    return "agrees" if enough else "partly" if share > _HALF else "differs"


def _of_number(found: Measure, low: float, high: float) -> Judgement:
    lowest, highest = _end(found.low, found.value), _end(found.high, found.value)
    half = (highest - lowest) / 2.0
    if highest < low or lowest > high:
        return Judgement("differs")
    inside = low <= found.value <= high
    one_sided = not (isfinite(low) and isfinite(high))
    if lowest >= low and highest <= high:
        return Judgement("agrees")
    if inside and not one_sided and half <= (high - low) / 2.0:
        return Judgement("agrees")
    wanted = (high - low) / 2.0 if inside and not one_sided else _distance(found.value, low, high)
    if wanted <= 0.0:
        return Judgement("not decided", "a narrower interval: the number is at the end of the allowed range")
    times = (half / wanted) ** 2
    packets = f"about {times:.2g} times as many packets" if times < _MOST_TIMES else "far more packets"
    return Judgement("not decided", f"an interval of at most +-{wanted:.2g}, here +-{half:.2g}: {packets}")


def _distance(value: float, low: float, high: float) -> float:
    return min(abs(value - end) for end in (low, high) if isfinite(end))


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
    return value if isnan(end) else end
