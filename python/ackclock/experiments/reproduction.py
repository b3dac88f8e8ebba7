"""Records of a reproduction: the items with their findings and verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.experiments.criteria import Verdict, item_verdict
from ackclock.experiments.frame import Finding, Outcome, Setting
from ackclock.experiments.papers import Item, Paper


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


@dataclass(frozen=True)
class Reproduction:
    """The items that one command reproduced.

    Parameters
    ----------
    setting : Setting
        Quick or full.
    papers : tuple of (Paper, tuple of ReproducedItem)
        The items, by paper.
    points, computed, packets : int
        Number of different points, of those simulated now, and of the packets of all points.
    wall_s, cpu_s : float
        Time that simulating took now.
    """

    setting: Setting
    papers: tuple[tuple[Paper, tuple[ReproducedItem, ...]], ...]
    points: int
    computed: int
    packets: int
    wall_s: float
    cpu_s: float

    @property
    def items(self) -> list[ReproducedItem]:
        """The items of all papers."""
        return [item for _, items in self.papers for item in items]


def item_folder(out: Path, item: Item) -> Path:
    """Return the folder of an item's files."""
    return out / item.paper / item.name
