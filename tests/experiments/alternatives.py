"""Wrong series in place of the simulated ones: what a criterion says of runs that are not those of its keys."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from ackclock.experiments.changing import Changes, changed
from ackclock.experiments.criteria import judge
from ackclock.experiments.frame import Finding, ItemModule, Run, Setting, item_module
from ackclock.experiments.papers import Item, papers
from ackclock.scenario import Resolved
from ackclock.sweeps import Folder, Store, point_key, run_points

REFUSALS = (LookupError, ValueError, ArithmeticError, TypeError, StopIteration, AssertionError, RuntimeWarning)
ALIKE = "-limited"
"""End of the keys of runs of which the paper says that they do not differ from those without this end."""
Order = Callable[[Sequence[Hashable]], Sequence[Hashable]]


def constant(keys: Sequence[Hashable]) -> list[Hashable]:
    """Give the middle run to all keys."""
    return [keys[len(keys) // 2]] * len(keys)


def shuffled(keys: Sequence[Hashable]) -> list[Hashable]:
    """Give the runs to the keys in an order that chance made once."""
    return [keys[number] for number in np.random.default_rng(20).permutation(len(keys))]


def mirrored(keys: Sequence[Hashable]) -> list[Hashable]:
    """Give the last run to the first key, and so on."""
    return list(keys)[::-1]


ORDERS: Mapping[str, Order] = {"constant": constant, "shuffled": shuffled, "mirrored": mirrored}


def runs_of(module: ItemModule, store: Store) -> dict[Hashable, Run]:
    """Read the runs of an item's quick form."""
    scenarios = module.scenarios(Setting())
    return {key: Run(resolved, store.read(point_key(resolved))) for key, resolved in scenarios.items()}


def exchanged(runs: Mapping[Hashable, Run], order: Order) -> dict[Hashable, Run]:
    """Exchange the runs that measure the same things: as many flows, the same traces."""
    groups: dict[Hashable, list[Hashable]] = {}
    for key, run in runs.items():
        groups.setdefault(_kind(run), []).append(key)
    return {key: runs[other] for keys in groups.values() for key, other in zip(keys, order(keys), strict=True)}


def of_other_items(item: Item, runs: Mapping[Hashable, Run], store: Store) -> dict[Hashable, Run]:
    """Give to all keys a run of the same paper's other items that measures the same things; its own if there is none.

    So a run that has no other of its kind within its item is exchanged too, and so are runs that differ in a phase.
    """
    own = {point_key(run.resolved) for run in runs.values()}
    others = [other for name in _modules(item) for other in _others(item.paper, name) if other.point not in own]
    found: dict[Hashable, Run] = {}
    for key, run in runs.items():
        mine = _Other.of(run.resolved)
        near = [one for one in others if one.form == mine.form and one.traces >= mine.traces]
        chosen = [one for one in near if _asked(one.resolved) == _asked(run.resolved)] or near
        one = chosen[len(chosen) // 2] if chosen else mine
        found[key] = Run(one.resolved, store.read(one.point))
    return found


@dataclass(frozen=True)
class _Other:
    """A scenario and what must be alike in another that takes its place: the links, as many flows and runs."""

    resolved: Resolved
    point: str
    form: Hashable
    traces: frozenset[str]

    @classmethod
    def of(cls, resolved: Resolved) -> "_Other":
        names = tuple(one.name for one in resolved.elements)
        form = (len(resolved.rows), resolved.run.replications, names)
        asked = frozenset(name for name, value in asdict(resolved.trace).items() if value)
        return cls(resolved, point_key(resolved), form, asked)


@cache
def _others(paper: str, module: str) -> tuple[_Other, ...]:
    """Resolve the scenarios of an item once, for all items that look for a run among them."""
    scenarios = item_module(paper, module).scenarios(Setting()).items()
    return tuple(_Other.of(resolved) for key, resolved in scenarios if not str(key).endswith(ALIKE))


def of_another_network(module: ItemModule, overrides: Mapping[str, str], store: Folder) -> dict[Hashable, Run]:
    """Simulate an item's runs with changes that make another network of it, and give them to its keys."""
    own = module.scenarios(Setting())
    changes = Changes(overrides)
    changes.begin()
    with changed(changes):
        wrong = module.scenarios(Setting())
    changes.check("the item")
    run_points(list(wrong.values()), store)
    return {key: Run(own[key], store.read(point_key(resolved))) for key, resolved in wrong.items()}


def _modules(item: Item) -> list[str]:
    (paper,) = (paper for paper in papers() if paper.name == item.paper)
    return [one.module for one in paper.items if one.module and one.name != item.name]


def _asked(resolved: Resolved) -> Hashable:
    return (
        len(resolved.rows),
        len(resolved.elements),
        resolved.run.replications,
        resolved.run.warmup_s,
        repr(resolved.trace),
    )


def _kind(run: Run) -> Hashable:
    traces = sorted(run.replications[0]["traces"])
    return (len(run.resolved.rows), len(run.replications), run.resolved.run.warmup_s, tuple(traces))


def agreeing(item: Item, module: ItemModule, runs: Mapping[Hashable, Run]) -> set[str] | None:
    """Find the rows that agree, intervals left out; None if the item's module refuses such runs."""
    try:
        findings = module.outcome(Setting(), runs).findings
    except REFUSALS:
        return None
    return {row.key for row in item.expected if judge(row, findings.get(row.key, Finding())).verdict == "agrees"}
