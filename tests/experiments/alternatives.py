"""Wrong series in place of the simulated ones: what a criterion says of runs that are not those of its keys."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from ackclock.experiments.criteria import judge
from ackclock.experiments.frame import Finding, ItemModule, Run, Setting
from ackclock.experiments.papers import Item
from ackclock.sweeps import Store, point_key

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


def _kind(run: Run) -> Hashable:
    traces = sorted(run.replications[0]["traces"])
    return (len(run.resolved.rows), len(run.replications), run.resolved.run.warmup_s, tuple(traces))


def agreeing(item: Item, module: ItemModule, runs: Mapping[Hashable, Run]) -> set[str] | None:
    """Find the rows that agree, intervals left out; None if the item's module refuses such runs."""
    try:
        findings = module.outcome(Setting(), runs).findings
    except (KeyError, ValueError, IndexError, ZeroDivisionError, AssertionError, RuntimeWarning):
        return None
    return {row.key for row in item.expected if judge(row, findings.get(row.key, Finding())).verdict == "agrees"}
