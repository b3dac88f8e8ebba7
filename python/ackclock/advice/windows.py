"""The receivers' windows where they limit flows: the smallest that meet the targets, searched by simulation."""

from math import inf

from ackclock.advice.bench import Bench, before_after, of_flows, of_link, round_trips
from ackclock.advice.knobs import Knob, window_knob
from ackclock.advice.lengths import length_for
from ackclock.advice.records import Recommendation, Rule
from ackclock.advice.sizes import Answer, search_sizes
from ackclock.advice.trials import in_words
from ackclock.paths import meets_acks
from ackclock.wording import number

TOPIC = "window"
QUESTION = "How large should the receivers' windows be?"


def advise_windows(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend the least windows that meet the targets; None if no window limits a flow.

    None too if data and ACKs share links: no window makes up for that without a long queue (two_way, theorem 1).
    """
    windows = [flow.tcp.sender.window_packets for flow in bench.resolved.flows if flow.connection is not None]
    if not simulate or min(windows, default=inf) == inf or meets_acks(bench.resolved):
        return None
    length = length_for(bench.resolved, 0.0, 0.0, bench.targets)
    base = bench.run({}, "the scenario as it is", length)
    limited = [one for one in base.findings if one.kind == "window-limit"]
    knob = window_knob(bench.resolved, limited) if limited else None
    if knob is None:
        return None
    return _recommendation(bench, knob, search_sizes(bench, [knob], length))


def _recommendation(bench: Bench, knob: Knob, found: Answer) -> Recommendation:
    changes = found.changes
    rules = [
        Rule(
            "mu T / n, the bandwidth-delay product of a flow",
            "RFC 7323, section 1.1",
            float(knob.start),
            "pkt",
            valid=True,
            reason="a window a round trip fills the path",
        )
    ]
    check = (
        before_after("throughput", "bit/s", found.before, found.after, of_flows("throughput_bps")),
        before_after(
            f"{knob.links[0]} is busy", "1", found.before, found.after, of_link(knob.links[0], "utilisation_fraction")
        ),
        round_trips(found.before, found.after),
    )
    return Recommendation(
        TOPIC,
        QUESTION,
        _answer(bench, knob, found),
        changes,
        tuple(rules),
        check if changes else (),
        (f"each size was simulated for {in_words(found.trials.length, found.base)} as it is",),
        (found.table(knob),),
    )


def _answer(bench: Bench, knob: Knob, found: Answer) -> str:
    names = knob.place
    if found.sizes is None:
        return f"No window of up to {number(knob.ample)} packets for {names} gives {bench.targets.text}"
    if not found.changes:
        return f"As they are: the {number(knob.present)} packets of {names} meet the targets"
    return (
        f"{number(found.sizes[knob])} packets for {names} (now {number(knob.present)}): the least that gives "
        f"{bench.targets.text}. Now {'; '.join(found.confirming.missed(found.before))}"
    )
