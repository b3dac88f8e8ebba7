"""The buffers of the bottlenecks: the smallest that meet the targets, searched by simulation."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from ackclock.advice.backstops import Backstop
from ackclock.advice.bench import (
    MOST_RUNS,
    Bench,
    before_after,
    has_percentiles,
    loss_cycles,
    of_flows,
    of_link,
    of_source,
    round_trips,
    round_trips_of,
    round_trips_s,
)
from ackclock.advice.buffer_rules import buffer_rules
from ackclock.advice.judge import LOSS_OF, MORE_LOSS, SHARE, has_transfers, losses_without_control
from ackclock.advice.knobs import Knob, buffer_knobs, static_knob
from ackclock.advice.lengths import Length, length_for
from ackclock.advice.records import BeforeAfter, Recommendation, Rule
from ackclock.advice.search import neighbour
from ackclock.advice.size_table import in_packets
from ackclock.advice.sizes import Answer, largest_within, search_sizes
from ackclock.advice.trials import Sizes, elsewhere, in_words
from ackclock.result import Result
from ackclock.wording import amount, number, percent, plural, seconds

TOPIC = "bottleneck-buffer"
QUESTION = "How large should the buffer of the bottleneck be?"
LESS = 0.98
"""Ratio of the utilisation to the present one below which it is worth a word."""
OF_BACKSTOPS = "a smaller buffer would drop the bursts that the AQM lets through"
MOST_KNOBS = 2
"""Number of buffers that are searched; those of other links stay as they are."""


def advise_buffers(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend the least buffers that meet the targets; None if no buffer matters, or no flow reacts to its losses."""
    resolved = bench.resolved
    expected = static_knob(resolved)
    if expected is None or not any(flow.connection for flow in resolved.flows):
        return None
    expected = _with_rules(bench, expected)
    if not simulate:
        return _by_rule(expected)
    present = expected.present if expected.present < inf else 0.0
    length = length_for(resolved, float(expected.start), max(present, float(expected.ample)), bench.targets)
    base = bench.run({}, "the scenario as it is", length)
    found = [_with_rules(bench, knob) for knob in buffer_knobs(resolved, base.summary["links"])]
    return _searched(bench, found, base, length) if found else None


def _searched(bench: Bench, found: list[Knob], base: Result, length: Length) -> Recommendation:
    """Search the buffers but those whose AQM bounds the wait: one that drops more than it may grow, and not shrink."""
    resolved, links = bench.resolved, base.summary["links"]
    backstops = [Backstop(resolved, knob, links) for knob in found]
    bounded = [one.knob for one in backstops if one.is_bounded()]
    kept = [one.knob for one in backstops if one.knob in bounded and not one.overflows()]
    for leave in (kept, bounded):
        kept, knobs = leave, [knob for knob in found if knob not in leave]
        answer = search_sizes(bench, knobs[:MOST_KNOBS], length) if knobs else None
        if answer is None or all((answer.sizes or {}).get(knob, inf) >= knob.present for knob in bounded):
            break
    jobs = [f"{_at(one.knob, one.knob.present)}: {one.job()}" for one in backstops if one.knob in kept]
    if answer is None:
        return Recommendation(TOPIC, QUESTION, f"Keep {'; '.join(jobs)}", remarks=(OF_BACKSTOPS,))
    advised = _recommendation(bench, answer, knobs[MOST_KNOBS:])
    return replace(advised, remarks=(*advised.remarks, *(f"keep {job}" for job in jobs)))


def _with_rules(bench: Bench, knob: Knob) -> Knob:
    """Let the rule that applies say where the search begins."""
    rules = buffer_rules(bench.resolved, knob, bench.targets)
    start = next((rule.value for rule in rules if rule.valid), knob.start)
    return replace(knob, rules=rules, start=max(2, min(int(start), knob.longest)))


def _by_rule(knob: Knob) -> Recommendation | None:
    rule = next((rule for rule in knob.rules if rule.valid), None)
    if rule is None:
        return None
    answer = (
        f"{rule.name} says {number(rule.value)} packets at {knob.place}; without a simulation that is not a "
        "recommendation: leave --no-simulate out"
    )
    return Recommendation(TOPIC, QUESTION, answer, rules=knob.rules)


def _recommendation(bench: Bench, found: Answer, others: list[Knob]) -> Recommendation:
    """Word the outcome of a search."""
    limit = _limit(found) if found.sizes is not None and found.confirming.too_late(found.after) else None
    changes = found.changes
    tables = tuple(found.table(knob) for knob in found.knobs if knob in found.brackets)
    return Recommendation(
        TOPIC,
        QUESTION,
        limit or _answer(bench, found),
        changes,
        tuple(rule for knob in found.knobs for rule in _compared(knob, found)),
        _check(found.before, found.after, found.knobs) if changes else (),
        tuple(_remarks(bench, found, others)),
        tables,
    )


def _answer(bench: Bench, found: Answer) -> str:
    if found.sizes is None:
        return _nothing_meets(bench, found)
    texts = [_size(knob, size) for knob, size in found.sizes.items()]
    least = "the least of each, with the other, that gives" if len(texts) > 1 else "the least that gives"
    least = f"{least if found.is_settled else 'sizes that together give'} {_targets(bench, found)}"
    if found.is_bought_too_dear:
        asked = "" if found.is_enough else "; --target loss=1% asks for them all the same"
        return (
            f"Keep {_present(found)}: {' and '.join(texts)} are {least}, but transfers take "
            f"{number(found.times_slower)} times as long with them{asked}"
        )
    fewer = " and ".join(map(in_packets, found.sizes.values()))
    if found.is_luck:
        cycles = plural(round(loss_cycles(found.after)), "loss cycle")
        return (
            f"Keep {_present(found)}: the targets are met. With {fewer}, the least that meet them in this run, it had "
            f"{cycles}: too few to advise a size by, as transfers with other losses may be slower"
        )
    if not found.is_worth_it:
        return (
            f"Keep {_present(found)}: the targets are met, and {fewer}, the least that meet them, save next to no delay"
        )
    if found.is_enough:
        return f"{' and '.join(texts)}: {least}. {_waiting(found)}"
    missed = [*found.confirming.missed(found.before), *found.confirming.too_late(found.before)]
    missed = missed or [*found.judge.missed(found.base), *found.judge.too_late(found.base)]
    return f"{' and '.join(texts)}: {least}. Now {'; '.join(missed)}"


def _present(found: Answer) -> str:
    return " and ".join(_at(knob, knob.present) for knob in found.knobs)


def _waiting(found: Answer) -> str:
    """Say what the queue of the present size costs the flow that it costs most."""
    before, after = found.before, found.after
    old, new = round_trips_s(before), round_trips_s(after)
    name = _slowed_most(before, after)
    whose = "" if len(old) == 1 else f" of {name}"
    of_all = "95% of the round trips" if has_percentiles(before) else "mean round trips"
    only = "" if _spared(found) else "only "
    return (
        f"More {only}make packets wait: {of_all}{whose} are {'up to ' * has_percentiles(before)}{seconds(old[name])} "
        f"instead of {seconds(new[name])}"
    )


def _slowed_most(before: Result, after: Result) -> str:
    """Name the [[flow]] whose round trips the queue of the present size makes longest in proportion."""
    old, new = round_trips_s(before), round_trips_s(after)
    return max((name for name in old if name in new), key=lambda name: old[name] / new[name])


def _size(knob: Knob, size: float) -> str:
    queue = seconds(size / knob.packet_rate)
    return f"{_at(knob, size)}, {queue} of queue (now {in_packets(knob.present)})"


def _nothing_meets(bench: Bench, found: Answer) -> str:
    """Say that no size meets the targets, and what the largest does."""
    failed = next((knob for knob in found.knobs if found.brackets[knob].size is None), None)
    if failed is None:
        sizes = " and ".join(_at(knob, found.brackets[knob].size or 0) for knob in found.knobs)
        return (
            f"Keep {_present(found)}: {sizes} are the least that give {_targets(bench, found)} in the search, but "
            f"neither these nor larger ones next to them do {found.confirmation.words}"
        )
    if found.is_enough:
        return f"Keep {_present(found)}: the targets are met, and no smaller sizes are known to meet them"
    most = {knob: float(found.judge.most(knob)) for knob in found.knobs}
    (run,) = found.trials.run([most], "")
    missed, sizes = found.judge.missed(run), " and ".join(_at(knob, size) for knob, size in most.items())
    if not missed:
        return _too_much(bench, found, sizes, {knob: float(neighbour(int(size))) for knob, size in most.items()})
    offers = any(flow.kind in {"web", "datagrams"} for flow in bench.resolved.flows)
    is_lossy = bench.targets.loss is not None and found.judge.worst_loss(run) > bench.targets.loss
    remedy = ". The load has to fall, or the rate to rise" if offers and is_lossy else ""
    return (
        f"No buffer of up to {sizes} gives {_targets(bench, found)}: with {'that' if len(most) == 1 else 'so'} many "
        f"{'; '.join(missed)}{remedy}"
    )


def _too_much(bench: Bench, found: Answer, sizes: str, above: Sizes) -> str:
    """Say that the largest size meets the targets, and its neighbour above does not, so that the search trusts none."""
    (run,) = found.trials.run([above], "the size above the largest")
    missed = "; ".join(found.judge.missed(run)) or f"the search was over after {MOST_RUNS} simulations"
    larger = " and ".join(_at(knob, size) for knob, size in above.items())
    return (
        f"Keep {_present(found)}: {sizes}, the most that was tried, meet the targets ({_targets(bench, found)}), but "
        f"with {larger} {missed}, so that no size is known to meet them"
    )


def _at(knob: Knob, size: float) -> str:
    return f"{in_packets(size)} at {knob.place}"


def _targets(bench: Bench, found: Answer) -> str:
    """Write the targets, of links and of flows; of links that ACKs alone cross the throughput counts."""
    if has_transfers(found.base):
        return bench.targets.text_of_transfers + _spared(found)
    of_data = [knob.place for knob in found.knobs if knob.links not in found.judge.of_acks]
    what = "throughput" if not of_data else "utilisation"
    where = f" of {of_data[0]}" if 0 < len(of_data) < len(found.knobs) else ""
    first = f"at least {percent(bench.targets.utilisation)} of the {what}{where} that an ample one gives"
    return bench.targets.text_of(first) + _spared(found)


def _spared(found: Answer) -> str:
    """Name what smaller sizes would do to flows, where nothing else speaks against them."""
    sizes = found.sizes or {}
    below = [{**sizes, knob: float(found.brackets[knob].below)} for knob in sizes if found.brackets[knob].below > 0]
    missed = [found.judge.names_of_missed(found.trials.run([one], "")[0]) for one in below]
    names = [name for one in missed for name in one if all(other.startswith((SHARE, LOSS_OF)) for other in one)]
    texts = [
        f"a share for each flow of {name.removeprefix(SHARE)}"
        if name.startswith(SHARE)
        else f"no more loss of {name.removeprefix(LOSS_OF)}"
        for name in dict.fromkeys(names)
    ]
    return f", and {' and '.join(texts)}" if texts else ""


def _limit(found: Answer) -> str:
    """Say that delay and utilisation cannot both be had, and what each costs."""
    knob = found.knobs[0]
    size = (found.sizes or {})[knob]
    within = largest_within(found, knob)
    late = found.confirming.too_late(found.after)[0]
    text = (
        f"No buffer at {knob.place} meets all targets: {number(size)} packets are the least for the others, and with "
        f"them {late}"
    )
    if within is None:
        return f"{text}; the search was over before it had tried smaller ones"
    if within < 1.0:
        return f"{text}; no smaller one makes the round trips short enough"
    others = elsewhere(found.sizes or {}, knob)
    run = found.trials.run([{**others, knob: within}], "")[0]
    return f"{text}; {number(within)} packets keep the round trips short, but {'; '.join(found.judge.missed(run))}"


def _compared(knob: Knob, found: Answer) -> Iterator[Rule]:
    """Give the search's answer and what the rules say."""
    is_late = found.sizes is not None and bool(found.confirming.too_late(found.after))
    if found.sizes is not None:
        yield Rule(
            f"the search at {knob.place}",
            "simulations of this scenario",
            found.sizes[knob],
            "pkt",
            valid=True,
            reason=f"the least that meets the targets{' but the round trip' if is_late else ''}",
            chosen=found.is_worth_it,
            outcome="too slow" if is_late else "slows transfers" if found.is_bought_too_dear else "",
        )
    yield from (_judged(rule, knob, found) for rule in knob.rules)


def _judged(rule: Rule, knob: Knob, found: Answer) -> Rule:
    """Say of a rule that is made for such a case what the simulation makes of it."""
    if not rule.valid or found.sizes is None or rule.value == found.sizes[knob]:
        return rule
    return replace(rule, outcome="too few here" if rule.value < found.sizes[knob] else "enough, not least")


def _remarks(bench: Bench, found: Answer, others: list[Knob]) -> Iterator[str]:
    trials, after = found.trials, found.after
    same = "" if bench.resolved.is_deterministic else ", with the same random numbers"
    yield f"each size was simulated for {in_words(trials.length, found.base)} as it is{same}"
    if found.sizes is not None:
        used = " and ".join(
            percent(float(of_link(knob.links[0], "utilisation_fraction")(after)["mean"] or 0.0)) for knob in found.knobs
        )
        loss = amount(found.confirming.worst_loss(after), "1")
        what = "the sizes found were tried for" if found.confirming.too_late(after) else "the answer holds for"
        if found.confirmation.is_missing:
            yield f"{found.confirmation.why_missing}: utilisation {used}, loss {loss}"
        else:
            confirmed = f"{what} {in_words(trials.length.other, after)}"
            yield f"{confirmed}, {found.confirmation.words}: utilisation {used}, loss {loss}"
    if not found.is_settled:
        yield "the least of each depends on the other: smaller ones may do, which the search did not settle"
    yield from _refuted(found)
    yield from _by_luck(found)
    for knob in found.knobs:
        yield from _of_rule(knob, found)
        yield from _less_busy(knob, found)
    yield from _of_no_buffer(found)
    if others:
        yield f"the buffers of {' and '.join(knob.place for knob in others)} were left as they are"


def _refuted(found: Answer) -> Iterator[str]:
    """Name the sizes that meet the targets in the runs of the search alone."""
    refuted = found.trials.refuted
    if not refuted:
        return
    if len(found.knobs) == 1:
        (knob,) = found.knobs
        sizes = f"{' and '.join(map(number, sorted(one[knob] for one in refuted)))} packets at {knob.place}"
    else:
        sizes = "; ".join(" with ".join(_at(knob, size) for knob, size in one.items()) for one in refuted)
    yield f"{sizes} meet the targets in the runs of the search alone: they do not {found.confirmation.words}"


def _by_luck(found: Answer) -> Iterator[str]:
    """Name the sizes above the answer that miss a target in the runs of the search."""
    for knob, size in (found.sizes or {}).items():
        others = elsewhere(found.sizes or {}, knob)
        tried = [one for one in found.trials.tried.get(knob, {}).values() if elsewhere(one, knob) == others]
        larger = [one[knob] for one in tried if one[knob] > size and found.judge.missed(found.trials.run([one], "")[0])]
        if larger:
            yield (
                f"{' and '.join(map(number, sorted(larger)))} packets at {knob.place} are more and miss a target in "
                "these runs: near the answer a small change decides"
            )


def _less_busy(knob: Knob, found: Answer) -> Iterator[str]:
    """Say where a link carries less than with its present buffer, which is larger than an ample one."""
    use = of_link(knob.links[0], "utilisation_fraction")
    before, after = (use(result)["mean"] or 0.0 for result in (found.before, found.after))
    if found.changes and knob.links not in found.judge.of_acks and after < LESS * before:
        yield (
            f"{knob.links[0]} is busy {percent(after)} instead of {percent(before)}: its present buffer is larger than "
            "an ample one, with which the answer is compared"
        )


def _of_no_buffer(found: Answer) -> Iterator[str]:
    """Say what no buffer changes: unequal shares, losses before a queue, losses of light flows behind full buffers."""
    kinds = {one.kind: one for one in found.base.findings}
    if "unequal-shares" in kinds and "shortest_round_trip_s" in kinds["unequal-shares"].numbers:
        yield "flows with longer round trips get less: no buffer makes their shares equal"
    if "lost-before-queue" in kinds:
        yield f"{kinds['lost-before-queue'].element} loses packets before its queue: no buffer changes that"
    runs = (found.before, found.after, found.confirming.reference)
    before, after, ample = (losses_without_control(result) for result in runs)
    for name in after if found.changes else ():
        if after[name] > before[name] + MORE_LOSS:
            losses = f"{percent(after[name])} of its packets instead of {percent(before[name])}"
            is_any_buffer = ample[name] > before[name] + MORE_LOSS
            remedy = ": only a queue that serves flows in turn spares it" if is_any_buffer else ""
            yield f"{name} loses {losses}, and with ample buffers {percent(ample[name])}{remedy}"


def _of_rule(knob: Knob, found: Answer) -> Iterator[str]:
    """Say what the simulation makes of the rule."""
    rule = next((rule for rule in knob.rules if rule.valid), None)
    if rule is None:
        yield f"no closed form is made for the traffic at {knob.place}: the search alone decided"
    elif found.sizes is not None and found.sizes[knob] < rule.value:
        yield f"{rule.name} asks for {number(rule.value)} packets; in the simulation fewer are enough"
    elif found.sizes is not None and found.sizes[knob] > rule.value:
        yield f"{rule.name} asks for {number(rule.value)} packets; in the simulation these are too few"


def _check(before: Result, after: Result, knobs: tuple[Knob, ...]) -> tuple[BeforeAfter, ...]:
    rows = [before_after("throughput", "bit/s", before, after, of_flows("throughput_bps"))]
    sources = before.summary.get("sources", [])
    for name in [source["name"] for source in sources] if len(sources) == 1 else []:
        rows += [
            before_after("rate of a transfer", "bit/s", before, after, of_source(name, "rate_bps")),
            before_after("duration of a transfer", "s", before, after, of_source(name, "on_mean_s")),
            before_after("of that waiting for timeouts", "1", before, after, of_source(name, "stalled_fraction")),
        ]
    for knob in knobs:
        name = knob.links[0]
        rows += [
            before_after(f"{name} is busy", "1", before, after, of_link(name, "utilisation_fraction")),
            before_after(f"loss at {name}", "1", before, after, of_link(name, "loss_fraction")),
            before_after(f"queue of {name}", "pkt", before, after, of_link(name, "queue_mean_packets")),
        ]
    longest = round_trips(before, after)
    named = round_trips_of(_slowed_most(before, after), before, after)
    is_named = (named.before, named.after) != (longest.before, longest.after)
    return (*rows, longest, named) if is_named else (*rows, longest)
