"""What one command made of the papers: items with their findings and verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.experiments.criteria import Verdict, item_verdict
from ackclock.experiments.frame import Finding, Outcome, Setting
from ackclock.experiments.papers import Item, Paper


@dataclass(frozen=True)
class Made:
    """An item as it was made.

    Parameters
    ----------
    item : Item
        Which.
    outcome : Outcome
        What was found; empty for a diagram.
    verdicts : mapping of str to str
        By the key of the paper's number or claim.
    packets, points : int
        What was simulated for it.
    """

    item: Item
    outcome: Outcome
    verdicts: Mapping[str, Verdict]
    packets: int = 0
    points: int = 0

    @property
    def verdict(self) -> str:
        """The item's; "diagram" where there is nothing to compute."""
        return item_verdict(list(self.verdicts.values())) if self.item.module else "diagram"

    def finding(self, key: str) -> Finding:
        """Give what was found; nothing where the item's module did not look."""
        return self.outcome.findings.get(key, Finding())


@dataclass(frozen=True)
class Reproduction:
    """All that one command made.

    Parameters
    ----------
    setting : Setting
        Quick or full.
    papers : tuple of (Paper, tuple of Made)
        The items, by paper.
    points, computed, packets : int
        Different points, those that were not there yet, and the packets of all of them.
    wall_s, cpu_s : float
        What simulating took, this time.
    """

    setting: Setting
    papers: tuple[tuple[Paper, tuple[Made, ...]], ...]
    points: int
    computed: int
    packets: int
    wall_s: float
    cpu_s: float

    @property
    def made(self) -> list[Made]:
        """The items of all papers."""
        return [made for _, items in self.papers for made in items]


def item_folder(out: Path, item: Item) -> Path:
    """Give the folder of an item's files."""
    return out / item.paper / item.name
