"""The buffer of a link that web sources share, for a wanted loss: the rule of the TCP-modified Engset model."""

from dataclasses import replace
from math import ceil, inf

from ackclock.advice.bench import Bench, before_after, of_link, of_source
from ackclock.advice.records import BeforeAfter, Recommendation, Rule
from ackclock.errors import ModelError
from ackclock.models import engset
from ackclock.prediction.web import WebSources, web_sources
from ackclock.result import Result
from ackclock.wording import amount, number, seconds

TOPIC = "web-buffer"
QUESTION = "How large a buffer do the web sources need at the link that they share?"
SOURCE = "Zaragoza 2014, section 5.4.1"
NEAR = 0.25
"""Relative distance from the rule's buffer within which a buffer is left as it is."""
HALVINGS = 5
"""Number of times that the check halves the rule's buffer, as long as the loss stays below the wanted one."""


def advise_web(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend a buffer for a wanted loss; None if no web sources share a link."""
    web = web_sources(bench.resolved)
    if isinstance(web, str):
        return None
    try:
        found = web.predict()
    except ModelError:
        return None
    if not bool(found.shared):
        return Recommendation(
            TOPIC, QUESTION, "Hardly any: the link carries all sources at once, each as fast as it can go"
        )
    wanted = float(
        max(2, ceil(float(engset.buffer_for_loss(bench.wanted_loss, found.utilisation_2, found.mean_queue))))
    )
    plan = Recommendation(
        TOPIC,
        QUESTION,
        _answer(bench, web, wanted, float(found.offered_load)),
        _changes(web, wanted),
        _rules(bench, web, found, wanted),
    )
    if not simulate:
        return plan
    return _checked(bench, web, wanted, plan)


def _changes(web: WebSources, buffer: float) -> dict[str, str | int]:
    return {f"link.{web.shared.name}.buffer": f"{buffer:g} pkt"}


def _answer(bench: Bench, web: WebSources, buffer: float, load: float) -> str:
    present = "without limit" if web.shared.buffer == inf else f"{number(web.shared.buffer)} packets"
    return (
        f"{number(buffer)} packets at {web.shared.name} (now {present}), {seconds(buffer / web.shared.packet_rate)} of "
        f"queue, for a loss below {amount(bench.wanted_loss, '1')} at the load of {amount(load, '1')} that "
        f"{number(web.scene.count)} sources offer"
    )


def _rules(bench: Bench, web: WebSources, found: engset.Prediction, wanted: float) -> tuple[Rule, ...]:
    rate, size = web.shared.rate_bps, float(web.scene.flow.packet_bytes)
    load = float(found.offered_load)
    return (
        Rule(
            f"eta ln(rho / L) for L = {amount(bench.wanted_loss, '1')}",
            SOURCE,
            wanted,
            "pkt",
            valid=load <= 1.1,
            reason="made for a load of about 100%"
            + ("" if load <= 1.1 else f"; at {amount(load, '1')} it asks for too much"),
            chosen=True,
        ),
        Rule(
            "600 ms of queue",
            SOURCE,
            float(ceil(float(engset.delay_buffer(rate, size)))),
            "pkt",
            valid=True,
            reason="an upper limit: with a longer queue first timers of one second expire",
        ),
        Rule(
            "mu T for T = 300 ms",
            SOURCE,
            float(ceil(float(engset.bandwidth_delay_buffer(rate, packet_size=size)))),
            "pkt",
            valid=False,
            reason="made for connections without end that halve their windows together",
        ),
    )


def _checked(bench: Bench, web: WebSources, wanted: float, plan: Recommendation) -> Recommendation:
    """Simulate before and after; halve the rule's buffer as long as the loss stays below the wanted one."""
    link = web.shared.name
    before, buffer = bench.run({}, "the sources as they are"), wanted
    after = bench.run(_changes(web, buffer), f"{buffer:g} packets of buffer")
    for _ in range(HALVINGS):
        smaller = float(ceil(buffer / 2.0))
        if smaller < 2.0:
            break
        tried = bench.run(_changes(web, smaller), f"{smaller:g} packets of buffer")
        if _loss(tried, link) > bench.wanted_loss:
            break
        buffer, after = smaller, tried
    remarks = [f"the simulated loss with these {number(buffer)} packets is {amount(_loss(after, link), '1')}"]
    if buffer != wanted:
        remarks.insert(
            0, f"the formula asks for {number(wanted)} packets; in the simulation half of that, or less, is enough"
        )
    if _loss(after, link) > bench.wanted_loss:
        remarks.append("that is more than wanted: do not rely on this advice")
    near = web.shared.buffer < inf and abs(web.shared.buffer - buffer) <= NEAR * buffer
    return replace(
        plan,
        answer=f"About the {number(web.shared.buffer)} packets that it has"
        if near
        else _answer(bench, web, buffer, float(web.predict().offered_load)),
        changes={} if near else _changes(web, buffer),
        check=_check(web, before, after),
        remarks=tuple(remarks),
    )


def _check(web: WebSources, before: Result, after: Result) -> tuple[BeforeAfter, ...]:
    name, link = web.scene.name, web.shared.name
    return (
        before_after(f"loss at {link}", "1", before, after, of_link(link, "loss_fraction")),
        before_after("rate of a transfer", "bit/s", before, after, of_source(name, "rate_bps")),
        before_after("duration of a transfer", "s", before, after, of_source(name, "on_mean_s")),
        before_after("of that waiting for timeouts", "1", before, after, of_source(name, "stalled_fraction")),
        before_after(f"queue of {link}", "pkt", before, after, of_link(link, "queue_mean_packets")),
    )


def _loss(result: Result, link: str) -> float:
    return float(of_link(link, "loss_fraction")(result)["mean"] or 0.0)
