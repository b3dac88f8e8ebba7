"""The scenarios that a seed and three counts choose, and the command that plays them again."""

import secrets
from dataclasses import dataclass

from crosscheck.draw import draw
from crosscheck.draw_elements import draw_elements
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
    count, elements, wide : int
        How many are drawn by `draw`, `draw_elements` and `draw_wide`.
    """

    seed: int
    count: int
    elements: int
    wide: int

    def scenarios(self) -> list[Scenario]:
        """Draw the scenarios."""
        return [
            *draw(self.seed, self.count),
            *draw_elements(self.seed, self.elements),
            *draw_wide(self.seed, self.wide),
        ]

    def command(self, only: str) -> str:
        """Write the command that plays those again whose name contains a text."""
        counts = f"--count {self.count} --elements {self.elements} --wide {self.wide}"
        return f"python -m crosscheck --seed {self.seed} {counts} --only {only}"


def fresh(wide: int) -> Batch:
    """Draw a seed from the randomness of the system, for scenarios of the wider drawing."""
    return Batch(secrets.randbelow(MOST_SEEDS), 0, 0, wide)
