"""Compare the cost of a packet with that of another build, run by run: `make bench BASE=path-of-its-checkout`.

The two builds take turns, and the one that goes first changes from round to round, so that a slow hour of the machine
meets both. Each checkout resolves its own form of a scenario, so that the form may differ.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benches.checkout import HERE, Checkout, shortened
from benches.cost import Cost, Spread

ROUNDS = 15
SHARE = 0.2
"""The part of a scenario's duration that a run takes: many short runs agree better than a few long ones."""


@dataclass(frozen=True)
class Pair:
    """The costs of the two builds in one round."""

    base: Cost
    new: Cost

    @property
    def ratio(self) -> float:
        """The cost of a packet in the new build over that in the base."""
        return self.new.ns_per_packet / self.base.ns_per_packet

    @property
    def differs(self) -> bool:
        """Return whether the builds delivered different numbers of packets, or handled different numbers of events."""
        return (self.base.packets, self.base.events) != (self.new.packets, self.new.events)


def take_turns(base: Checkout, new: Checkout, name: str, share: float) -> Iterator[Pair]:
    """Run a scenario in both builds in turn, round after round without end."""
    old_form = shortened(base.resolve(base.scenarios()[name]), share)
    new_form = shortened(new.resolve(new.scenarios()[name]), share)
    while True:
        yield Pair(base=base.run(old_form), new=new.run(new_form))
        later = new.run(new_form)
        yield Pair(new=later, base=base.run(old_form))


def table(pairs: dict[str, list[Pair]]) -> Table:
    """Lay out the ratios, a row a scenario."""
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    rows.add_column("scenario")
    for title in ("base\nns", "new\nns", "new/base\nmedian", "\nmin", "\nmax", "of the\nfastest", "packets,\nevents"):
        rows.add_column(title, justify="right", no_wrap=True)
    for name, of_scenario in pairs.items():
        base = Spread.of(pair.base.ns_per_packet for pair in of_scenario)
        new = Spread.of(pair.new.ns_per_packet for pair in of_scenario)
        ratio = Spread.of(pair.ratio for pair in of_scenario)
        rows.add_row(
            name,
            f"{base.median:.1f}",
            f"{new.median:.1f}",
            f"{ratio.median:.3f}",
            f"{ratio.min:.3f}",
            f"{ratio.max:.3f}",
            f"{new.min / base.min:.3f}",
            "differ" if of_scenario[0].differs else "same",
        )
    return rows


def main() -> None:
    """Run both builds in turn and print the ratios of their costs."""
    parser = argparse.ArgumentParser(prog="python -m benches.compare", description=__doc__)
    parser.add_argument("base", type=Path, help="the other checkout, its engine built in place (`make build`)")
    parser.add_argument("scenario", nargs="*", help="names of scenarios (default: all that both have)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each build (default: %(default)s)")
    parser.add_argument(
        "--share", type=float, default=SHARE, help="part of the durations to run (default: %(default)s)"
    )
    arguments = parser.parse_intermixed_args()
    base = Checkout(arguments.base)
    for checkout in (base, HERE):
        if not checkout.has_engine():
            parser.error(f"{checkout.root} has no engine: build it there with `make build`")
    console = Console(width=None if sys.stdout.isatty() else 110)
    names = arguments.scenario or [name for name in HERE.scenarios() if name in base.scenarios()]
    turns = {name: take_turns(base, HERE, name, arguments.share) for name in names}
    pairs: dict[str, list[Pair]] = {name: [] for name in names}
    for number in range(1, arguments.rounds + 1):
        console.print(f"round {number} of {arguments.rounds}", highlight=False)
        for name in names:
            pairs[name].append(next(turns[name]))
    console.print(table(pairs))


if __name__ == "__main__":
    main()
