"""Judgement of a run by the targets: which of them it misses, next to a run with ample sizes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

from ackclock.advice.bench import of_longest_round_trip, throughputs_of_each
from ackclock.advice.knobs import Knob
from ackclock.advice.targets import Targets
from ackclock.findings import FULL, mean
from ackclock.result import Result
from ackclock.scenario.copies import described_name
from ackclock.wording import amount, percent, seconds

SHARE, LOSS_OF = "share of ", "loss of "
"""Beginnings of the names of targets that single flows have."""
LEAST_SHARE = 0.02
"""Throughput of a flow, as a fraction of the mean of its [[flow]] with ample sizes, below which it is starved."""
MORE_STARVED = 0.05
"""Part of the flows of a [[flow]] that may be starved in addition to those that are with ample sizes."""
MORE_LOSS = 0.05
"""Part of its packets that a flow without a congestion control may lose more than with ample sizes."""


@dataclass(frozen=True)
class Judge:
    """The targets, next to what ample sizes give.

    Parameters
    ----------
    targets : Targets
        The targets.
    links : tuple of tuple of str
        The links whose utilisation and loss are judged; equal ones together.
    reference : Result
        The run with ample sizes.
    """

    targets: Targets
    links: tuple[tuple[str, ...], ...]
    reference: Result

    def most(self, knob: Knob) -> int:
        """Give the largest size that is tried [pkt]: an ample one, or for a target of the loss the longest."""
        return knob.ample if self.targets.loss is None else knob.longest

    def missed(self, result: Result) -> list[str]:
        """Say which targets a larger size could reach are missed."""
        return [text for _, text in self._misses(result)]

    def names_of_missed(self, result: Result) -> tuple[str, ...]:
        """Name all targets that are missed, as a table does."""
        late = ["round trip"] if self.too_late(result) else []
        return (*(name for name, _ in self._misses(result)), *late)

    def _misses(self, result: Result) -> Iterator[tuple[str, str]]:
        """Give the name of each target that a larger size could reach and that is missed, and the words for it."""
        if has_transfers(result):
            if text := self._late(result):
                yield "time of transfers", text
        else:
            for group in (one for one in self.links if one not in self._before_full_ones):
                yield from self._slowed(result, group) if group in self.of_acks else self._idle(result, group)
        yield from self._starved(result)
        yield from self._lossy(result)
        loss = self.worst_loss(result)
        if self.targets.loss is not None and loss > self.targets.loss:
            yield "loss", f"the loss is {amount(loss, '1')}"

    def too_late(self, result: Result) -> list[str]:
        """Say whether the round trips, which a larger size only makes longer, are too long."""
        found = of_longest_round_trip(result)["mean"]
        if self.targets.rtt_p95_s is None or found is None or found <= self.targets.rtt_p95_s:
            return []
        return [f"the round trips are {seconds(found)}"]

    def worst_loss(self, result: Result) -> float:
        """Give the largest loss at a link that is judged [1]."""
        judged = {name for group in self.links for name in group}
        return max(mean(row, "loss_fraction") for row in result.summary["links"] if row["name"] in judged)

    @cached_property
    def of_acks(self) -> dict[tuple[str, ...], frozenset[str]]:
        """The links that carry no data, whose utilisation is of no use: the flows whose ACKs cross them.

        Transfers with an end are left out, and flows whose data cross another link that is judged.
        """
        resolved, found = self.reference.resolved, dict[tuple[str, ...], frozenset[str]]()
        judged = {resolved.element_indices[name] for group in self.links for name in group}
        flows = [flow for flow in resolved.flows if flow.kind != "ping"]
        lasting = [flow for flow in flows if flow.size_packets is None and not judged & set(flow.path)]
        for group in self.links:
            indices = {resolved.element_indices[name] for name in group}
            if not any(indices & set(flow.path) for flow in flows):
                here = (flow for flow in lasting if indices & set(flow.return_path))
                found[group] = frozenset(described_name(flow.name) for flow in here)
        return found

    @cached_property
    def _before_full_ones(self) -> frozenset[tuple[str, ...]]:
        """The links that are not full with ample sizes, while all their data go on to one that is: that one counts."""
        resolved = self.reference.resolved
        full = [group for group in self.links if _utilisation(self.reference, group) >= FULL]
        later = {resolved.element_indices[name] for group in full for name in group}
        flows = [flow for flow in resolved.flows if flow.kind != "ping"]
        found = set()
        for group in (one for one in self.links if one not in full):
            indices = {resolved.element_indices[name] for name in group}
            rests = [flow.path[place + 1 :] for flow in flows for place, at in enumerate(flow.path) if at in indices]
            if rests and all(later.intersection(rest) for rest in rests):
                found.add(group)
        return frozenset(found)

    def _idle(self, result: Result, group: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        found, ample = (_utilisation(one, group) for one in (result, self.reference))
        if found < self.targets.utilisation * ample:
            used = f"utilisation of {_place(group)}"
            yield used, f"the {used} is only {percent(found)}, and {percent(ample)} with an ample one"

    def _slowed(self, result: Result, group: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Say whether the flows whose ACKs cross links get less."""
        found, ample = (
            sum(float(rates.sum()) for name, rates in throughputs_of_each(one).items() if name in self.of_acks[group])
            for one in (result, self.reference)
        )
        if found < self.targets.utilisation * ample:
            of_flows = f"throughput of the flows whose ACKs cross {_place(group)}"
            rates = " and ".join(amount(rate, "bit/s") for rate in (found, ample))
            yield of_flows, f"the {of_flows} is only {rates} with an ample one"

    def _starved(self, result: Result) -> Iterator[tuple[str, str]]:
        """Name the [[flow]] tables of which more flows get next to nothing than with ample sizes."""
        found, ample = (throughputs_of_each(one) for one in (result, self.reference))
        endless = {described_name(flow.name) for flow in self.reference.resolved.flows if flow.is_endless}
        for name in (name for name in ample if name in endless):
            least = LEAST_SHARE * float(ample[name].mean())
            starved, otherwise = (int((rates[name] < least).sum()) for rates in (found, ample))
            if starved > otherwise + MORE_STARVED * len(found[name]):
                many = len(found[name])
                who = f"{name} gets" if many == 1 else f"{starved} of the {many} flows of {name} get"
                yield f"{SHARE}{name}", f"{who} less than {percent(LEAST_SHARE)} of the mean with ample sizes"

    def _lossy(self, result: Result) -> Iterator[tuple[str, str]]:
        """Name the flows without a congestion control that lose more than with ample sizes."""
        found, ample = (losses_without_control(one) for one in (result, self.reference))
        for name, loss in ample.items():
            if found.get(name, 0.0) > loss + MORE_LOSS:
                losses = f"{amount(found[name], '1')} of its packets, and {amount(loss, '1')} with ample ones"
                yield f"{LOSS_OF}{name}", f"{name} loses {losses}"

    def _late(self, result: Result) -> str:
        found, ample = (_slowest_s(one) for one in (result, self.reference))
        return "" if found * self.targets.utilisation <= ample else _takes(found)


def _place(group: tuple[str, ...]) -> str:
    """Name links for people: the copies of one, or the first of equal ones."""
    tables = {described_name(name) for name in group}
    return f"each copy of {tables.pop()}" if len(group) > 1 and len(tables) == 1 else group[0]


def _takes(time_s: float) -> str:
    return "not all transfers finish" if time_s == inf else f"the slowest transfer takes {seconds(time_s)}"


def _utilisation(result: Result, group: tuple[str, ...]) -> float:
    links = set(group)
    used = [mean(row, "utilisation_fraction") for row in result.summary["links"] if row["name"] in links]
    return sum(used) / len(used)


def losses_without_control(result: Result) -> dict[str, float]:
    """Give the part of its packets that each [[flow]] without a congestion control loses; of pings, with the echoes."""
    kinds = {described_name(flow.name): flow.kind for flow in result.resolved.flows if flow.connection is None}
    rows = [row for row in result.summary["flows"] if kinds.get(row["name"].partition("[")[0], "ping") != "ping"]
    found: dict[str, float] = {}
    for row in (*rows, *result.summary.get("pings", ())):
        name = row["name"].partition("[")[0]
        found[name] = max(found.get(name, 0.0), mean(row, "loss_fraction"))
    return found


def has_transfers(result: Result) -> bool:
    """Return whether all flows are transfers that end: their time counts, not the links'."""
    return all(row["finish_s"] is not None for row in result.summary["flows"])


def _slowest_s(result: Result) -> float:
    """Give the time that the slowest transfer takes, in the mean over runs [s]; infinite if one has not finished."""
    if any(row["finish_s"]["mean"] is None for row in result.summary["flows"]):
        return inf
    times = result.completion_times.query("quantity == 'fct'")
    middles = ((times["low"] + times["high"]) / 2.0).groupby([times["flow"], times["replication"]], observed=True)
    of_flows = middles.max().groupby("flow", observed=True).mean()
    # A bucket's middle may be above the longest of all, which is exact.
    return max(min(float(of_flows[row["name"]]), mean(row, "fct_max_s")) for row in result.summary["completions"])
