"""Records of reproduced items, with their findings and verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.experiments.criteria import Verdict, item_verdict
from ackclock.experiments.frame import Finding, Outcome
from ackclock.experiments.papers import Item


@dataclass(frozen=True)
class ReproducedItem:
    """A reproduced item.

    Parameters
    ----------
    item : Item
        The item.
    outcome : Outcome
        Its findings; empty for a diagram.
    verdicts : mapping of str to str
        Verdicts by the key of the paper's number or claim.
    packets, points : int
        Packets and points that were simulated for it.
    """

    item: Item
    outcome: Outcome
    verdicts: Mapping[str, Verdict]
    packets: int = 0
    points: int = 0

    @property
    def verdict(self) -> str:
        """Verdict on the item; "diagram" if there is nothing to compute."""
        return item_verdict(list(self.verdicts.values())) if self.item.module else "diagram"

    def finding(self, key: str) -> Finding:
        """Return what was found; an empty finding if the item's module has none."""
        return self.outcome.findings.get(key, Finding())


def item_folder(out: Path, item: Item) -> Path:
    """Return the folder of an item's files."""
    return out / item.paper / item.name
