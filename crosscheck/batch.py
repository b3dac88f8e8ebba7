"""The scenarios that a seed and five counts choose, and the command that plays them again."""

import secrets
from dataclasses import dataclass

from crosscheck.draw import draw
from crosscheck.draw_ecn import draw_ecn
from crosscheck.draw_elements import draw_elements
from crosscheck.draw_sack import draw_sack
from crosscheck.draw_wide import draw_wide
from crosscheck.subset import Scenario

MOST_SEEDS = 10**9
"""Fresh seeds are below this."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Scenarios that are drawn from one seed.

    Parameters
    ----------
    seed : int
        Chooses the scenarios.
    count, elements, wide, sack, ecn : int
        How many are drawn by `draw`, `draw_elements`, `draw_wide`, `draw_sack` and `draw_ecn`.
    """

    seed: int
    count: int
    elements: int
    wide: int
    sack: int
    ecn: int

    def scenarios(self) -> list[Scenario]:
        """Draw the scenarios."""
        return [
            *draw(self.seed, self.count),
            *draw_elements(self.seed, self.elements),
            *draw_wide(self.seed, self.wide),
            *draw_sack(self.seed, self.sack),
            *draw_ecn(self.seed, self.ecn),
        ]

    def command(self, only: str) -> str:
        """Write the command that plays those again whose name contains a text."""
        counts = f"--count {self.count} --elements {self.elements} --wide {self.wide} --sack {self.sack}"
        return f"python -m crosscheck --seed {self.seed} {counts} --ecn {self.ecn} --only {only}"


def fresh(wide: int) -> Batch:
    """Draw a seed of the system's randomness, for the wider drawing and a quarter as many of Sack1 and of ECN."""
    return Batch(secrets.randbelow(MOST_SEEDS), 0, 0, wide, wide // 4, wide // 4)
