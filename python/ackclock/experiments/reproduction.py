"""Records of reproduced items, with their findings and verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.experiments.criteria import Counts, Judgement, Verdict, count, item_verdict
from ackclock.experiments.frame import Finding, Outcome
from ackclock.experiments.papers import STATES, Item


@dataclass(frozen=True)
class ReproducedItem:
    """A reproduced item.

    Parameters
    ----------
    item : Item
        The item.
    outcome : Outcome
        Its findings; empty for a diagram.
    judgements : mapping of str to Judgement
        Verdicts by the key of the paper's number or claim.
    packets, points : int
        Packets and points that were simulated for it.
    made_by : str
        Version of ackclock of the earlier call that made it; empty if this call did.
    """

    item: Item
    outcome: Outcome
    judgements: Mapping[str, Judgement]
    packets: int = 0
    points: int = 0
    made_by: str = ""

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdicts by key."""
        return {key: one.verdict for key, one in self.judgements.items()}

    @property
    def rows(self) -> list[tuple[str, Verdict]]:
        """Kind and verdict of each row."""
        return [
            (row.kind, self.judgements[row.key].verdict) for row in self.item.expected if row.key in self.judgements
        ]

    @property
    def counts(self) -> Counts:
        """Number of rows with each verdict."""
        return count(self.rows)

    @property
    def verdict(self) -> str:
        """Verdict on the item; "diagram" if there is nothing to compute."""
        return item_verdict(self.rows) if self.item.module else "diagram"

    @property
    def state(self) -> str:
        """Verdict on the item, as a word for readers."""
        return STATES[self.verdict]

    def finding(self, key: str) -> Finding:
        """Return what was found; an empty finding if the item's module has none."""
        return self.outcome.findings.get(key, Finding())


def item_folder(out: Path, item: Item) -> Path:
    """Return the folder of an item's files."""
    return out / item.paper / item.name
