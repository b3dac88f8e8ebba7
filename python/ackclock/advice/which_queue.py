"""The queue of the bottleneck: a smaller buffer, or a discipline that controls the delay, compared by simulation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from ackclock.advice.bench import Bench
from ackclock.advice.confirmation import Confirmation, confirmation
from ackclock.advice.knobs import Knob, buffer_knobs, by_direction, shortest_trip_s, static_knob
from ackclock.advice.lengths import REPLICATIONS, Length, length_for
from ackclock.advice.queue_choice import QueueChoice, mean, short
from ackclock.advice.queue_records import QueueAlternative, QueuesCompared
from ackclock.advice.queue_trials import (
    Queue,
    cycles_of,
    hosts_of,
    model_buffer,
    one_run,
    other_places,
    queues_to_try,
    resolved_with,
    try_queues,
)
from ackclock.advice.records import BeforeAfter, Recommendation, Rule
from ackclock.findings import Row
from ackclock.prediction import predict_resolved
from ackclock.prediction.pie import PIE
from ackclock.scenario import Resolved
from ackclock.stats import Estimate
from ackclock.wording import amount, percent, plural, seconds

TOPIC = "which-queue"
QUESTION = "Which queue should the bottleneck have?"
LONG = 0.5
"""Queueing delay of 95% of the packets, in round trips of the shortest path, from which the question is raised."""
UNFAIR_KINDS: Final = frozenset({"starved", "unequal-shares"})
"""Findings that raise the question where no queue is long."""
UNFAIR = 0.05
"""Difference of fairness indices that is worth a word."""
LONGER = 0.1
"""Relative difference of delays that is worth a word."""
NEAR = 0.06
"""Difference in worth up to which two queues with overlapping intervals are called equal."""
MOST_MOVES = 2
"""Number of times that a search goes on with further links, to which the answer has moved the long queue."""
SAME = 0.005
"""Relative difference up to which two throughputs are called the same."""


def advise_which_queue(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Compare queues at the bottleneck; None if no link has a queue.

    None too if none has a long one and no flow has much less than others, unless the topic is asked for.
    """
    resolved = bench.resolved
    expected = static_knob(resolved)
    if expected is None:
        return None
    is_asked = TOPIC in bench.asked
    if not simulate:
        return (
            Recommendation(TOPIC, QUESTION, "Needs simulation: run again without --no-simulate") if is_asked else None
        )
    base = bench.base or bench.run({}, "the scenario as it is")
    knobs = _long_queues(resolved, base.summary["links"])
    is_unfair = any(one.kind in UNFAIR_KINDS for one in base.findings)
    if not knobs and (is_asked or is_unfair):
        knobs = by_direction(next(iter(buffer_knobs(resolved, base.summary["links"])), expected))[:1]
    if not knobs or _has_levels(resolved, knobs[0]):
        return None
    tried = queues_to_try(bench, knobs)
    return _recommendation(_followed(bench, knobs, tried)) if len(tried) > 1 else None


@dataclass(frozen=True)
class _Found:
    """Outcome of the simulations: the queues, and the present and the best one with other random numbers."""

    bench: Bench
    knobs: tuple[Knob, ...]
    length: Length
    tried: tuple[Queue, ...]
    choice: QueueChoice
    before: QueueAlternative
    after: QueueAlternative

    @property
    def rows(self) -> Sequence[QueueAlternative]:
        """The queues with their measures."""
        return self.choice.rows

    @property
    def place(self) -> str:
        """The links, for people."""
        first = self.knobs[0].place
        return f"{first} and {other_places(self.knobs)}" if len(self.knobs) > 1 else first

    @property
    def chosen(self) -> int:
        """The answer: the best one if it is better with other random numbers too, else the present one."""
        return self.choice.best if self.choice.best and self.choice.is_better(self.after, self.before) else 0

    @property
    def compared(self) -> QueuesCompared:
        """The queues with what speaks against each that is not the answer."""
        answer = self.rows[self.chosen]
        refuted = self.rows[self.choice.best] if self.choice.best != self.chosen else None
        how = self.confirmation.words
        judged = (
            replace(row, is_chosen=row is answer, reason=self.choice.reason(row, answer, refuted, how))
            for row in self.rows
        )
        return QueuesCompared(self.place, tuple(judged))

    @property
    def confirmation(self) -> Confirmation:
        """The second runs of the present and the best queue, next to the first."""
        return _confirmation(self.bench, (self.tried[0], self.tried[self.choice.best]), self.length)


def _confirmation(bench: Bench, pair: Sequence[Queue], length: Length) -> Confirmation:
    compared = (resolved_with(bench, queue) or bench.resolved for queue in pair)
    return confirmation(length, compared, [one_run(bench, queue, length) for queue in pair])


def _long_queues(resolved: Resolved, links: Sequence[Row]) -> list[Knob]:
    """Find the places where packets wait long, the one with the longest wait first."""
    knobs = (part for knob in buffer_knobs(resolved, links) for part in by_direction(knob))
    waits = [(_longest_wait_s(knob, links), knob) for knob in knobs]
    long = [
        (wait, knob)
        for wait, knob in waits
        if wait > LONG * shortest_trip_s(resolved, knob) > 0.0 and not _has_levels(resolved, knob)
    ]
    return [knob for _, knob in sorted(long, key=lambda one: -one[0])]


def _longest_wait_s(knob: Knob, links: Sequence[Row]) -> float:
    found = next(row.get("queueing_p95_s") for row in links if row["name"] == knob.links[0])
    return 0.0 if found is None else found["mean"] or 0.0


def _has_levels(resolved: Resolved, knob: Knob) -> bool:
    return resolved.elements_by_name[knob.names[0]].queue.scheduler.kind == "priority"


def _length(bench: Bench, knob: Knob, tried: Sequence[Queue]) -> Length:
    """Choose the length of the runs: for several seeds, if one of the queues draws random numbers."""
    found = [one for one in (resolved_with(bench, queue) for queue in tried) if one is not None]
    drawing = next((one for one in found if not one.is_deterministic), bench.resolved)
    present = knob.present if knob.present < inf else 0.0
    near = float(model_buffer(bench.resolved, knob))
    length = length_for(drawing, near, max(present, near), bench.targets)
    return replace(length, replications=max(length.replications, REPLICATIONS)) if length.replications > 1 else length


def _followed(bench: Bench, knobs: list[Knob], tried: Sequence[Queue]) -> _Found:
    """Compare queues, and go on with the links to which the answer moves the long queue, as long as there are any."""
    found = _compared(bench, knobs, tried)
    for _ in range(MOST_MOVES):
        if not found.choice.best:
            break
        links = one_run(bench, found.tried[found.choice.best], found.length).summary["links"]
        moved = [knob for knob in _long_queues(bench.resolved, links) if not _is_among(knob, knobs)]
        if not moved:
            break
        knobs = [*knobs, *moved]
        found = _compared(bench, knobs, queues_to_try(bench, knobs))
    return found


def _is_among(knob: Knob, knobs: Sequence[Knob]) -> bool:
    return any(set(knob.names) & set(other.names) for other in knobs)


def _compared(bench: Bench, knobs: Sequence[Knob], tried: Sequence[Queue]) -> _Found:
    length = _length(bench, knobs[0], tried)
    rows = tuple(try_queues(bench, knobs, tried, length, f"{plural(len(tried), 'queue')} at {knobs[0].place}"))
    choice = QueueChoice(rows, bench.targets, shortest_trip_s(bench.resolved, knobs[0]))
    pair = [tried[0], tried[choice.best]]
    how = _confirmation(bench, pair, length).words
    before, after = try_queues(bench, knobs, pair, length.other, f"the answer once more, {how}")
    return _Found(bench, tuple(knobs), length, tuple(tried), choice, before, after)


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
    own, row, place = found.rows[0], found.rows[found.chosen], found.knobs[0].place
    if not found.chosen:
        return f"Keep {own.name} at {place}: {_why_kept(found)}{_relation(found)}"
    there = "there" if len(found.knobs) == 1 else f"at {found.place}"
    parts = [
        f"95% of the packets wait at most {seconds(short(row.wait_p95_s))} {there} instead of "
        f"{seconds(short(own.wait_p95_s))}"
    ]
    if None not in (row.light_p95_s["mean"], own.light_p95_s["mean"]):
        parts.append(
            f"those of light flows {seconds(short(row.light_p95_s))} instead of {seconds(short(own.light_p95_s))}"
        )
    elif row.light_p95_s["mean"] is not None:
        parts.append("packets of light flows arrive, of which none did")
    if None not in (row.l4s_p95_s["mean"], own.l4s_p95_s["mean"]):
        parts.append(f"those of L4S flows {seconds(short(row.l4s_p95_s))} instead of {seconds(short(own.l4s_p95_s))}")
    parts += _costs(found, row, own)
    return f"{found.tried[found.chosen].at(place)}: {', '.join(parts)}{_relation(found)}"


def _relation(found: _Found) -> str:
    """Say how the answer goes together with the buffers that a search has found before."""
    sized, changes = found.bench.sized, found.rows[found.chosen].changes
    links = [{field.rpartition(".")[0] for field in fields} for fields in (sized, changes)]
    if not sized:
        return ""
    if changes == sized:
        return ". This is the change that the search of buffers found: both answers are one"
    if found.chosen and links[0].isdisjoint(links[1]):
        return ". It is another link's than the buffer that the search found: make that change first, then this one"
    tried = any(queue.changes == sized for queue in found.tried)
    compared = ", which was compared here too" * tried
    if found.chosen:
        return f". It is an alternative to the buffer that the search found{compared}: make one change, this one first"
    return (
        f". It is an alternative to the buffer that the search found{compared}: that one is the least that meets the "
        "targets, and not better by all that counts here"
    )


def _why_kept(found: _Found) -> str:
    if found.choice.best:
        return (
            f"{found.rows[found.choice.best].name} was the best of those that were tried, but is not better "
            f"{found.confirmation.words}"
        )
    if against := found.choice.excluded(found.rows[0]):
        return f"something speaks against each queue that was tried, against this one {against}"
    loss = found.bench.targets.queue_loss
    if loss is not None and mean(found.rows[0].loss_fraction) > loss:
        return f"no queue that was tried has a loss of at most {amount(loss, '1')}, and the others lose more"
    return "none of the others that were tried is better"


def _costs(found: _Found, row: QueueAlternative, own: QueueAlternative) -> Iterator[str]:
    """Say what becomes of the throughput, of transfers and of the fairness."""
    if row.throughput_bps["mean"] is not None:
        yield _change(row.throughput_bps, own.throughput_bps, "throughput")
    if row.reverse_throughput_bps["mean"] is not None:
        other = "" if row.throughput_bps["mean"] is None else " in the other direction"
        yield f"{_change(row.reverse_throughput_bps, own.reverse_throughput_bps, 'throughput')}{other}"
    more = (own.unfinished_transfers["mean"] or 0.0) - (row.unfinished_transfers["mean"] or 0.0)
    if more > 0.0:
        yield f"{plural(more, 'transfer')} more finished"
    ratio = mean(row.slowdown_mean) / mean(own.slowdown_mean)
    if 0.0 < ratio < inf and abs(ratio - 1.0) >= SAME:
        yield f"transfers take {percent(abs(ratio - 1.0), 2)} {'more' if ratio > 1.0 else 'less'} time"
    fair = row.fairness_index["mean"], own.fairness_index["mean"]
    if fair[0] is not None and fair[1] is not None and abs(fair[0] - fair[1]) > UNFAIR:
        whom = "flows" if hosts_of(found.bench.resolved, found.knobs[0]) is None else "hosts"
        yield f"and the fairness between {whom} is {fair[0]:.2f} instead of {fair[1]:.2f}"


def _change(new: Estimate, old: Estimate, what: str) -> str:
    if not mean(old):
        return f"with {amount(mean(new), 'bit/s')} of {what} instead of none"
    ratio = mean(new) / mean(old)
    if abs(ratio - 1.0) < SAME:
        return f"at the same {what}"
    return f"at {percent(abs(ratio - 1.0), 2)} {'more' if ratio > 1.0 else 'less'} {what}"


def _rule(found: _Found) -> Rule:
    """Give the model's buffer, and what the simulation makes of it."""
    size = model_buffer(found.bench.resolved, found.knobs[0])
    # A buffer that was searched is tried too, and is not the model's.
    place = next((place for place, queue in enumerate(found.tried) if _is_buffer(queue, found.bench.sized)), None)
    outcome = "about as now" if place is None else _inshort(found, place)
    return Rule(
        "buffer that keeps the link busy",
        "Appenzeller, Keslassy, McKeown 2004; Spang, Arslan, McKeown 2021",
        size,
        "pkt",
        valid=True,
        reason="for one flow, or flows in step; from 500 flows on by the square root of their number",
        outcome=outcome,
    )


def _is_buffer(queue: Queue, sized: Mapping[str, str]) -> bool:
    return queue.changes != sized and any(field.endswith(".buffer") for field in queue.changes)


def _inshort(found: _Found, place: int) -> str:
    if place == found.chosen:
        return "chosen"
    row, answer = found.rows[place], found.rows[found.chosen]
    if found.choice.excluded(row):
        return "costs too much"
    if mean(row.wait_p95_s) > (1.0 + LONGER) * mean(answer.wait_p95_s):
        return "longer delay"
    return "as good" if found.choice.worth(row) >= found.choice.worth(answer) - NEAR else "worth less"


def _check(found: _Found) -> tuple[BeforeAfter, ...]:
    other = "" if found.before.throughput_bps["mean"] is None else " in the other direction"
    pairs = (
        ("throughput", "bit/s", "throughput_bps"),
        (f"throughput{other}", "bit/s", "reverse_throughput_bps"),
        ("slowdown of transfers", "", "slowdown_mean"),
        ("mean queueing delay", "s", "wait_mean_s"),
        ("queueing delay, p95", "s", "wait_p95_s"),
        ("that of light flows, p95", "s", "light_p95_s"),
        ("loss of light flows", "1", "light_loss_fraction"),
        ("that of L4S flows, p95", "s", "l4s_p95_s"),
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
    if found.chosen and found.confirmation.is_missing:
        yield found.confirmation.why_missing
    elif found.chosen:
        yield f"before and after were simulated once more, {found.confirmation.words}: the answer holds there"
    yield from _unstable(found)
    yield from _lossy(found)
    if close := _close(found):
        name = found.rows[found.chosen].name
        yield f"the intervals of the delays with {close} and with {name} overlap: either will do"
    if mean(found.rows[0].light_p95_s) == inf and any("fq-" in str(queue.changes) for queue in found.tried):
        yield "fair queueing also keeps flows that send little from waiting behind others; p95 is of all packets"
    yield "a buffer is right for these flows and round trips only; the disciplines follow both"


def _lossy(found: _Found) -> Iterator[str]:
    """Say that the default loss, for which buffers are searched, is not asked of queues, if the answer loses more."""
    targets, row = found.bench.targets, found.rows[found.chosen]
    if targets.loss is not None and targets.queue_loss is None and mean(row.loss_fraction) > targets.loss:
        lost, most = amount(mean(row.loss_fraction), "1"), percent(targets.loss)
        yield (
            f"{row.name} loses {lost}, more than the {most} for which buffers are searched unless another is named: "
            f"what transfers take shows what a queue's loss costs; --target loss={most} asks it of queues too"
        )


def _unstable(found: _Found) -> Iterator[str]:
    """Say where the model has PIE's loop unstable, which explains a queue that runs empty."""
    for queue in found.tried:
        resolved = resolved_with(found.bench, queue)
        for one in () if resolved is None else predict_resolved(resolved).applicable:
            if one.model == PIE[0]:
                yield from (sentence for sentence in one.sentences if "unstable" in sentence)


def _close(found: _Found) -> str:
    """Name the first queue that may be the answer too, as the intervals of its delay and of the answer's overlap."""
    answer, choice = found.rows[found.chosen], found.choice
    chosen = answer.wait_p95_s
    for place, row in enumerate(found.rows):
        other = row.wait_p95_s
        differs = not choice.is_as_good(row, answer)
        if place == found.chosen or differs or None in (other["low"], chosen["low"]):
            continue
        low, high = max(other["low"] or 0.0, chosen["low"] or 0.0), min(other["high"] or 0.0, chosen["high"] or 0.0)
        if low < high:
            return row.name
    return ""
