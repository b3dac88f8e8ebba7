"""What advice consists of: a question, an answer in words, the rules behind it, and what a simulation made of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ackclock.stats import Estimate


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's answer.

    Parameters
    ----------
    name : str
        The rule, with its formula.
    source : str
        Where it comes from.
    value : float
        What it says.
    unit : str
        Of the value.
    valid : bool
        Whether it was made for such a case.
    reason : str
        Why it is or is not.
    chosen : bool
        Whether the recommendation follows it.
    """

    name: str
    source: str
    value: float
    unit: str
    valid: bool
    reason: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A quantity in the simulations before and after a change.

    Parameters
    ----------
    text : str
        The quantity.
    unit : str
        "bit/s", "pkt", "s", "1" or "" for counts.
    before, after : Estimate
        Means over replications, with intervals.
    """

    text: str
    unit: str
    before: Estimate
    after: Estimate


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One piece of advice.

    Parameters
    ----------
    topic : str
        Its name for programs.
    question : str
        What it answers.
    answer : str
        In words that need no paper.
    changes : mapping of str to str or int
        What to change, by dotted path, as `run --set` takes it; empty where all is well.
    rules : tuple of Rule
        The rule that decided, and the others beside it.
    check : tuple of BeforeAfter
        The simulations of before and after; empty where nothing was simulated.
    remarks : tuple of str
        What the check showed, and what to know.
    """

    topic: str
    question: str
    answer: str
    changes: Mapping[str, str | int] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    check: tuple[BeforeAfter, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """All advice on a scenario.

    Parameters
    ----------
    title : str
        The scenario's.
    recommendations : tuple of Recommendation
        One a question that the scenario raises.
    """

    title: str
    recommendations: tuple[Recommendation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from ackclock.advice.tables import advice_html  # noqa: PLC0415  only notebooks need it

        return advice_html(self)
