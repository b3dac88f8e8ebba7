"""The queue of the bottleneck: a smaller buffer, or a discipline that controls the delay, compared by simulation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

from ackclock.advice.bench import Bench
from ackclock.advice.knobs import Knob, buffer_knobs, crossing, static_knob
from ackclock.advice.lengths import Length, length_for
from ackclock.advice.queue_records import QueueAlternative, QueuesCompared
from ackclock.advice.queue_trials import Queue, cycles_of, model_buffer, queues_to_try, resolved_with, try_queues
from ackclock.advice.records import BeforeAfter, Recommendation, Rule
from ackclock.findings import Row
from ackclock.paths import empty_round_trip_s
from ackclock.prediction import predict_resolved
from ackclock.prediction.pie import PIE
from ackclock.scenario import Resolved
from ackclock.stats import Estimate
from ackclock.wording import amount, number, percent, plural, seconds

TOPIC = "which-queue"
QUESTION = "Which queue should the bottleneck have?"
LONG = 0.5
"""Queueing delay of 95% of the packets, in round trips of the shortest path, from which the question is raised."""
UNFAIR = 0.05
"""Largest distance of a fairness index from the best one's."""
SAME = 0.005
"""Relative difference up to which two throughputs are called the same."""
AS_GOOD = 0.1
"""Relative difference in delay up to which the simpler queue is the answer."""


def advise_which_queue(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Compare queues at the bottleneck; None if no link has a queue, or a long one unless the topic is asked for."""
    resolved = bench.resolved
    expected = static_knob(resolved)
    if expected is None or _has_levels(resolved, expected):
        return None
    is_asked = TOPIC in bench.asked
    if not simulate:
        return (
            Recommendation(TOPIC, QUESTION, "Needs simulation: run again without --no-simulate") if is_asked else None
        )
    base = bench.base or bench.run({}, "the scenario as it is")
    knob = next(iter(buffer_knobs(resolved, base.summary["links"])), expected if is_asked else None)
    if knob is None or _has_levels(resolved, knob):
        return None
    if not is_asked and not _waits_long(resolved, knob, base.summary["links"]):
        return None
    tried = queues_to_try(bench, knob)
    return _recommendation(_compared(bench, knob, tried)) if len(tried) > 1 else None


@dataclass(frozen=True)
class _Found:
    """Outcome of the simulations: the queues, and the present and the best one with other random numbers."""

    bench: Bench
    knob: Knob
    length: Length
    tried: tuple[Queue, ...]
    rows: tuple[QueueAlternative, ...]
    best: int
    before: QueueAlternative
    after: QueueAlternative

    @property
    def chosen(self) -> int:
        """The answer: the best one if it is better with other random numbers too, else the present one."""
        again = (self.before, self.after)
        return self.best if self.best and _choice(again, self.bench) == 1 else 0

    @property
    def compared(self) -> QueuesCompared:
        """The queues with what speaks against each that is not the answer."""
        answer = self.rows[self.chosen]
        judged = (
            replace(row, is_chosen=row is answer, reason=_reason(row, self.rows, answer, self.bench))
            for row in self.rows
        )
        return QueuesCompared(self.knob.place, tuple(judged))


def _has_levels(resolved: Resolved, knob: Knob) -> bool:
    element = next(one for one in resolved.elements if one.name == knob.names[0])
    return element.queue.scheduler.kind == "priority"


def _length(bench: Bench, knob: Knob, tried: Sequence[Queue]) -> Length:
    """Choose the length of the runs: for several seeds, if one of the queues draws random numbers."""
    found = [one for one in (resolved_with(bench, queue) for queue in tried) if one is not None]
    drawing = next((one for one in found if not one.is_deterministic), bench.resolved)
    present = knob.present if knob.present < inf else 0.0
    near = float(model_buffer(bench.resolved, knob))
    return length_for(drawing, near, max(present, near), bench.targets)


def _waits_long(resolved: Resolved, knob: Knob, links: Sequence[Row]) -> bool:
    element = next(one for one in resolved.elements if one.name == knob.names[0])
    trips = [empty_round_trip_s(resolved, flow) for flow, _ in crossing(resolved, element) if flow.connection]
    wait = next(row.get("queueing_p95_s") for row in links if row["name"] == knob.links[0])
    return bool(trips) and wait is not None and (wait["mean"] or 0.0) > LONG * min(trips)


def _compared(bench: Bench, knob: Knob, tried: Sequence[Queue]) -> _Found:
    length = _length(bench, knob, tried)
    rows = try_queues(bench, knob, tried, length, f"{plural(len(tried), 'queue')} at {knob.place}")
    best = _choice(rows, bench)
    pair = [tried[0], tried[best]]
    before, after = try_queues(bench, knob, pair, length.other, "the answer once more, with other random numbers")
    return _Found(bench, knob, length, tuple(tried), tuple(rows), best, before, after)


def _mean(found: Estimate) -> float:
    return inf if found["mean"] is None else float(found["mean"])


def _missed(row: QueueAlternative, rows: Sequence[QueueAlternative], bench: Bench) -> str:
    """Say what a queue costs that another does not; empty if it may be the answer."""
    most = max(_mean(one.throughput_bps) for one in rows)
    fairest = max((_mean(one.fairness_index) for one in rows if one.fairness_index["mean"] is not None), default=0.0)
    if _mean(row.throughput_bps) < bench.targets.utilisation * most:
        return f"{percent(1.0 - _mean(row.throughput_bps) / most, 2)} less throughput than another"
    if row.fairness_index["mean"] is not None and row.fairness_index["mean"] < fairest - UNFAIR:
        return f"a fairness of {_mean(row.fairness_index):.2f}, where {fairest:.2f} can be had"
    if _mean(row.loss_fraction) > _most_loss(rows, bench):
        return f"a loss of {amount(_mean(row.loss_fraction), '1')}"
    longest = bench.targets.rtt_p95_s
    if longest is not None and _mean(row.rtt_p95_s) > longest:
        return f"round trips of {seconds(_mean(row.rtt_p95_s))}"
    return ""


def _most_loss(rows: Sequence[QueueAlternative], bench: Bench) -> float:
    """Give the largest loss that a queue may have: the target, or the present one's where none meets that."""
    target = bench.targets.loss
    if target is None:
        return inf
    return target if any(_mean(row.loss_fraction) <= target for row in rows) else _mean(rows[0].loss_fraction)


def _choice(rows: Sequence[QueueAlternative], bench: Bench) -> int:
    """Choose the shortest delay among the queues that cost nothing else; of equals the first, which is the simplest."""
    able = [place for place, row in enumerate(rows) if not _missed(row, rows, bench)]
    if not able:
        return 0
    least = min(_mean(rows[place].wait_p95_s) for place in able)
    return next(place for place in able if _mean(rows[place].wait_p95_s) <= (1.0 + AS_GOOD) * least)


def _reason(row: QueueAlternative, rows: Sequence[QueueAlternative], answer: QueueAlternative, bench: Bench) -> str:
    if row is answer:
        return ""
    if missed := _missed(row, rows, bench):
        return missed
    longer = _mean(row.wait_p95_s) / _mean(answer.wait_p95_s) if _mean(answer.wait_p95_s) else inf
    if isfinite(longer) and longer > 1.0 + AS_GOOD:
        return f"95% of the packets wait up to {seconds(_short(row.wait_p95_s))}, {number(longer)} times as long"
    return "not better with other random numbers" if longer < 1.0 - AS_GOOD else "as good, and less simple"


def _recommendation(found: _Found) -> Recommendation:
    return Recommendation(
        TOPIC,
        QUESTION,
        _answer(found),
        found.rows[found.chosen].changes,
        (_rule(found),),
        _check(found) if found.chosen else (),
        tuple(_remarks(found)),
        queues=found.compared,
    )


def _answer(found: _Found) -> str:
    own, row, place = found.rows[0], found.rows[found.chosen], found.knob.place
    if not found.chosen:
        return f"Keep {own.name} at {place}: {_why_kept(found)}"
    fair = row.fairness_index["mean"], own.fairness_index["mean"]
    shares = ""
    if fair[0] is not None and fair[1] is not None and abs(fair[0] - fair[1]) > UNFAIR:
        shares = f", and the fairness between flows is {fair[0]:.2f} instead of {fair[1]:.2f}"
    return (
        f"{row.name} at {place}: 95% of the packets wait at most {seconds(_short(row.wait_p95_s))} there instead of "
        f"{seconds(_short(own.wait_p95_s))}, {_cost(row, own)}{shares}"
    )


def _why_kept(found: _Found) -> str:
    if found.best:
        return (
            f"{found.rows[found.best].name} was the best of those that were tried, but is not better with other random "
            "numbers"
        )
    if _missed(found.rows[0], found.rows, found.bench):
        return "no queue that was tried meets the targets"
    loss = found.bench.targets.loss
    if loss is not None and _mean(found.rows[0].loss_fraction) > loss:
        return f"no queue that was tried has a loss of at most {amount(loss, '1')}, and the others lose more"
    return "no other queue that was tried has a shorter delay at no other cost"


def _cost(row: QueueAlternative, own: QueueAlternative) -> str:
    """Say what becomes of the throughput."""
    ratio = _mean(row.throughput_bps) / _mean(own.throughput_bps) if _mean(own.throughput_bps) else inf
    if abs(ratio - 1.0) < SAME:
        return "at the same throughput"
    return f"at {percent(abs(ratio - 1.0), 2)} {'more' if ratio > 1.0 else 'less'} throughput"


def _short(found: Estimate) -> float:
    return float(f"{_mean(found):.3g}")


def _rule(found: _Found) -> Rule:
    """Give the model's buffer, and what the simulation makes of it."""
    size = model_buffer(found.bench.resolved, found.knob)
    place = next((place for place, queue in enumerate(found.tried) if _is_buffer(queue)), None)
    outcome = "about as now" if place is None else _in_short(found, place)
    return Rule(
        "buffer that keeps the link busy",
        "Appenzeller, Keslassy, McKeown 2004; Spang, Arslan, McKeown 2021",
        size,
        "pkt",
        valid=True,
        reason="for one flow, or flows in step; from 500 flows on by the square root of their number",
        outcome=outcome,
    )


def _is_buffer(queue: Queue) -> bool:
    return any(field.endswith(".buffer") for field in queue.changes)


def _in_short(found: _Found, place: int) -> str:
    if place == found.chosen:
        return "chosen"
    if _missed(found.rows[place], found.rows, found.bench):
        return "costs too much"
    longer = _mean(found.rows[place].wait_p95_s) > (1.0 + AS_GOOD) * _mean(found.rows[found.chosen].wait_p95_s)
    return "longer delay" if longer else "as good"


def _check(found: _Found) -> tuple[BeforeAfter, ...]:
    pairs = (
        ("throughput", "bit/s", "throughput_bps"),
        ("mean queueing delay", "s", "wait_mean_s"),
        ("queueing delay, p95", "s", "wait_p95_s"),
        ("loss", "1", "loss_fraction"),
        ("fairness index", "", "fairness_index"),
    )
    rows = [BeforeAfter(text, unit, getattr(found.before, key), getattr(found.after, key)) for text, unit, key in pairs]
    return tuple(row for row in rows if row.before["mean"] is not None and row.after["mean"] is not None)


def _remarks(found: _Found) -> Iterator[str]:
    length, bench = found.length, found.bench
    cycles = cycles_of(bench, found.tried[found.chosen], length)
    several = length.replications > 1
    times = f", where something is random with each of the same {length.replications} seeds" if several else ""
    yield (
        f"each queue was simulated for {seconds(length.duration_s - length.warmup_s)}{times}; the chosen one had "
        f"{plural(round(cycles), 'loss cycle')}"
    )
    yield from found.compared.reasons
    if found.chosen:
        yield "before and after are of twice the time, with other random numbers: the answer holds there"
    yield from _unstable(found)
    if close := _close(found):
        name = found.rows[found.chosen].name
        yield f"{close} and {name} differ in delay by less than their intervals: either will do"
    if any("fq-" in str(queue.changes) for queue in found.tried):
        yield "fair queueing also keeps flows that send little from waiting behind others; p95 is of all packets"
    yield "a buffer is right for these flows and round trips only; the disciplines follow both"


def _unstable(found: _Found) -> Iterator[str]:
    """Say where the model has PIE's loop unstable, which explains a queue that runs empty."""
    for queue in found.tried:
        resolved = resolved_with(found.bench, queue)
        for one in () if resolved is None else predict_resolved(resolved).applicable:
            if one.model == PIE[0]:
                yield from (sentence for sentence in one.sentences if "unstable" in sentence)


def _close(found: _Found) -> str:
    """Name the first queue that may be the answer too, as the intervals of its delay and of the answer's overlap."""
    chosen = found.rows[found.chosen].wait_p95_s
    for place, row in enumerate(found.rows):
        other = row.wait_p95_s
        if place == found.chosen or _missed(row, found.rows, found.bench) or None in (other["low"], chosen["low"]):
            continue
        low, high = max(other["low"] or 0.0, chosen["low"] or 0.0), min(other["high"] or 0.0, chosen["high"] or 0.0)
        if low < high:
            return row.name
    return ""
