"""Measures of a queue's simulations: throughput of both directions, delays, transfers, losses and fairness."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan
from typing import Any

from ackclock.advice.bench import mean_slowdown, of_longest_round_trip
from ackclock.advice.knobs import Knob, crossing
from ackclock.advice.queue_records import QueueAlternative
from ackclock.fairness import sums_of_hosts
from ackclock.findings import Row
from ackclock.paths import empty_one_way_s, empty_round_trip_s
from ackclock.result import Result
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.scenario.resolved_traffic import OnOffTraffic, PingTraffic, SteadyTraffic
from ackclock.stats import Estimate, estimate, jain_index

ROUNDS = 100
"""Empty round trips that a run must measure before the throughputs of its flows say how fair the queue is."""


def lasting_flows(runs: Iterable[Sequence[Result]]) -> frozenset[str]:
    """Find the flows of one transfer that each queue leaves unfinished: they count as endless ones.

    Parameters
    ----------
    runs : iterable of sequence of Result
        The runs of each queue that is compared.
    """
    unfinished = [
        {row["name"] for result in part for row in result.summary["flows"] if _is_unfinished(row)} for part in runs
    ]
    return frozenset.intersection(*map(frozenset, unfinished))


def _is_unfinished(row: Row) -> bool:
    return row["finish_s"] is not None and row["finish_s"]["mean"] is None


def measure_queue(  # noqa: PLR0913  by keyword
    name: str,
    changes: Mapping[str, Any],
    runs: Sequence[Result],
    knobs: Sequence[Knob],
    lasting: frozenset[str],
    *,
    hosts: Mapping[str, int] | None = None,
) -> QueueAlternative:
    """Measure a queue over runs with seeds of their own.

    Parameters
    ----------
    name : str
        The queue's, for people.
    changes : mapping of str to object
        The fields that make it.
    runs : sequence of Result
        Its runs.
    knobs : sequence of Knob
        The buffers of the links with long queues, the bottleneck's first.
    lasting : frozenset of str
        The flows of one transfer that count as endless ones.
    hosts : mapping of str to int, optional
        The host of each [[flow]], where fairness is that between hosts.
    """
    measured = [_Run(result, knobs, lasting, hosts) for result in runs]

    def of(measure: Callable[[_Run], float]) -> Estimate:
        resolved = runs[0].resolved
        return estimate([measure(one) for one in measured], resolved.run.confidence, exact=resolved.is_deterministic)

    return QueueAlternative(
        name,
        changes,
        throughput_bps=of(lambda run: run.throughput_bps(run.forward)),
        reverse_throughput_bps=of(lambda run: run.throughput_bps(run.backward)),
        carried_bps=of(lambda run: run.carried_bps(run.forward)),
        reverse_carried_bps=of(lambda run: run.carried_bps(run.backward)),
        utilisation_fraction=of(lambda run: run.of_links(knobs[0], "utilisation_fraction")),
        wait_mean_s=of(lambda run: run.largest("queueing_mean_s")),
        wait_p95_s=of(lambda run: run.largest("queueing_p95_s")),
        wait_p99_s=of(lambda run: run.largest("queueing_p99_s")),
        light_p95_s=of(lambda run: _longest(wait for wait, _ in run.light)),
        light_loss_fraction=of(lambda run: max((loss for _, loss in run.light), default=nan)),
        l4s_p95_s=of(lambda run: _longest(run.l4s)),
        slowdown_mean=of(_Run.slowdown),
        unfinished_transfers=of(_Run.unfinished),
        rtt_p95_s=of(lambda run: _value(of_longest_round_trip(run.result))),
        loss_fraction=of(lambda run: run.largest("loss_fraction")),
        marked_fraction=of(_Run.marked),
        fairness_index=of(_Run.fairness),
    )


Rates = list[tuple[ResolvedFlow, float]]
"""Flows with their throughput [bit/s]."""


@dataclass(frozen=True)
class _Run:
    """One run, and what it measured of the flows that meet at some links."""

    result: Result
    knobs: Sequence[Knob]
    lasting: frozenset[str]
    hosts: Mapping[str, int] | None

    @property
    def _resolved(self) -> Resolved:
        return self.result.resolved

    @cached_property
    def _places(self) -> frozenset[int]:
        """The links with long queues, by index."""
        return frozenset(self._resolved.element_indices[name] for knob in self.knobs for name in knob.names)

    @cached_property
    def _rows(self) -> list[tuple[ResolvedFlow, Row]]:
        """The flows that cross these links, and their rows; of very many flows each [[flow]] with one row."""
        rows: Sequence[Row] = self.result.summary["flows"]
        if self._is_whole:
            found = list(zip(self._resolved.rows, rows, strict=True))
        else:
            flows = {described_name(flow.name): flow for flow in self._resolved.flows}
            found = [(flows[row["name"]], row) for row in rows]
        return [(flow, row) for flow, row in found if not self._places.isdisjoint(flow.crossed)]

    @cached_property
    def _crossing(self) -> dict[str, ResolvedFlow]:
        """The [[flow]] that cross these links, by name."""
        return {flow.name: flow for flow in self._resolved.flows if not self._places.isdisjoint(flow.crossed)}

    @property
    def _is_whole(self) -> bool:
        return len(self.result.summary["flows"]) == len(self._resolved.rows)

    @cached_property
    def _rates(self) -> Rates:
        return [(flow, _value(row["throughput_bps"])) for flow, row in self._rows if self._lasts(flow, row)]

    def _lasts(self, flow: ResolvedFlow, row: Row) -> bool:
        """Return whether a flow sends all the time, and more than a light one."""
        if flow.kind == "tcp":
            return flow.is_endless or row["name"] in self.lasting
        return flow.kind == "web" or (flow.kind == "datagrams" and not self._is_light(flow))

    @cached_property
    def forward(self) -> Rates:
        """The flows that send all the time without those of the other direction."""
        return [(flow, rate) for flow, rate in self._rates if not self._sends_acks_only(flow)]

    @cached_property
    def backward(self) -> Rates:
        """Those of the other direction: only their ACKs cross the bottleneck."""
        return [(flow, rate) for flow, rate in self._rates if self._sends_acks_only(flow)]

    def _sends_acks_only(self, flow: ResolvedFlow) -> bool:
        bottleneck = {self._resolved.element_indices[name] for name in self.knobs[0].names}
        return bottleneck.isdisjoint(flow.path) and not bottleneck.isdisjoint(flow.return_path)

    def throughput_bps(self, rates: Rates) -> float:
        """Sum what flows send; nan of no flows."""
        return sum(rate for _, rate in rates) if rates else nan

    def carried_bps(self, rates: Rates) -> float:
        """Sum what flows send over each of these links; nan of no flows."""
        crossed = [max(1, sum(index in self._places for index in flow.path)) for flow, _ in rates]
        return sum(rate * links for (_, rate), links in zip(rates, crossed, strict=True)) if rates else nan

    def of_links(self, knob: Knob, key: str) -> float:
        """Compute the mean of a quantity over equal links."""
        values = [_value(row.get(key)) for row in self.result.summary["links"] if row["name"] in knob.links]
        return sum(values) / len(values)

    def largest(self, key: str) -> float:
        """Find the largest of a quantity over the places with long queues."""
        found = [value for knob in self.knobs if isfinite(value := self.of_links(knob, key))]
        return max(found, default=nan)

    @cached_property
    def light(self) -> list[tuple[float, float]]:
        """Delay that 95% of the packets of each light flow have at most [s], and its loss [1]."""
        found = []
        for ping in self.result.summary.get("pings", ()):
            flow = self._crossing.get(ping["name"])
            if flow is not None and self._is_light(flow):
                least = empty_round_trip_s(self._resolved, flow)
                wait = _value(ping["rtt_p95_s"]) - least
                found.append((max(wait, 0.0) if isfinite(wait) else nan, _value(ping["loss_fraction"])))
        for flow, row in self._rows:
            if flow.kind == "datagrams" and self._is_light(flow):
                found.append((self._wait_p95_s(flow, row), _value(row.get("loss_fraction"))))
        return found

    def _wait_p95_s(self, flow: ResolvedFlow, row: Row) -> float:
        """Give the queueing delay that 95% of a flow's packets have at most [s]; with what a changing path adds."""
        known = _value(row.get("queueing_p95_s"))
        if isfinite(known):
            return known
        delay = _value(row.get("delay_p95_s"))
        return max(0.0, delay - empty_one_way_s(self._resolved, flow)) if isfinite(delay) else nan

    @property
    def l4s(self) -> list[float]:
        """Queueing delay that 95% of the packets of each L4S flow have at most [s]."""
        return [self._wait_p95_s(flow, row) for flow, row in self._rows if flow.is_l4s]

    def _is_light(self, flow: ResolvedFlow) -> bool:
        """Return whether a flow without a congestion control offers less than an equal share of each of these links."""
        elements = [self._resolved.elements[index] for index in flow.crossed if index in self._places]
        users = [sum(one.count for one, _ in crossing(self._resolved, element)) for element in elements]
        shares = [(element.rate_bps or 0.0) / number for element, number in zip(elements, users, strict=True)]
        return _offered_bps(flow) <= min(shares, default=0.0)

    def _transfers(self) -> Iterator[tuple[ResolvedFlow, Row]]:
        """Give the [[flow]] of transfers that cross the places, with their completion times."""
        rows = self.result.summary.get("completions", ())
        return ((self._crossing[row["name"]], row) for row in rows if row["name"] in self._crossing)

    def slowdown(self) -> float:
        """Compute the mean slowdown of the transfers that finished; nan of none."""
        return mean_slowdown(row for _, row in self._transfers())

    def unfinished(self) -> float:
        """Count the flows of one transfer that had not finished at the end; nan if there is no such flow."""
        found = [_value(row["unfinished"]) for flow, row in self._transfers() if flow.size_packets is not None]
        return sum(found) if found else nan

    def marked(self) -> float:
        """Compute the fraction of the packets that arrive marked, of all flows."""
        rows = [(_value(row.get("marked_fraction")), _value(row["throughput_bps"])) for _, row in self._rows]
        known = [(marked, rate) for marked, rate in rows if isfinite(marked) and rate > 0.0]
        return sum(marked * rate for marked, rate in known) / sum(rate for _, rate in known) if known else 0.0

    def fairness(self) -> float:
        """Compute Jain's index of the throughputs over the weights, in the direction where it is smaller.

        Of the hosts' sums where fairness is that between hosts. It is nan where flows are counted together, and for a
        run of too few round trips.
        """
        trips = (empty_round_trip_s(self._resolved, flow) for flow, _ in self._rows if flow.connection)
        longest = max(trips, default=0.0)
        known = self._is_whole and not any(flow.is_large_group for flow in self._resolved.flows)
        if not known or self._resolved.run.measured_s < ROUNDS * longest:
            return nan
        tcp = [[(flow, rate) for flow, rate in rates if flow.kind == "tcp"] for rates in (self.forward, self.backward)]
        hosts = self.hosts
        shares = [
            [rate / flow.weight for flow, rate in rates]
            if hosts is None
            else sums_of_hosts((hosts[described_name(flow.name)], rate) for flow, rate in rates)
            for rates in tcp
        ]
        return min((jain_index(one) for one in shares if len(one) > 1), default=nan)


def _longest(waits: Iterable[float]) -> float:
    """Find the longest of some waits; nan of none, or where one is not known as nothing arrived."""
    found = list(waits)
    return max(found) if found and all(map(isfinite, found)) else nan


def _offered_bps(flow: ResolvedFlow) -> float:
    """Compute the rate at which a flow without a congestion control sends [bit/s], of on-off traffic the mean."""
    match flow.traffic:
        case PingTraffic(interval_s=interval_s):
            return flow.packet_bits / interval_s
        case SteadyTraffic(rate_bps=rate_bps):
            return rate_bps
        case OnOffTraffic(rate_bps=rate_bps, on=on, off=off):
            return rate_bps * on.mean_s / (on.mean_s + off.mean_s)
        case _:
            return inf


def _value(found: Any) -> float:
    return nan if found is None or found["mean"] is None else float(found["mean"])
