"""The socket buffers that limit flows: sizes that fill the path, tried by simulation."""

from collections.abc import Mapping

from ackclock.advice.bench import Bench, before_after, of_link, rate_of, round_trips
from ackclock.advice.records import Recommendation, Rule
from ackclock.findings import Finding
from ackclock.result import Result
from ackclock.scenario.copies import described_name
from ackclock.socket_buffers import has_short_buffers, limiting_buffer
from ackclock.wording import megabytes, percent

TOPIC = "socket-buffer"
QUESTION = "How large should the hosts' socket buffers be?"
ROUNDS = 4
"""Largest number of changes in turn: the receive buffer may limit a flow whose send buffer has grown."""
GAIN = 0.01
"""Least relative gain of throughput for which a change is advised."""


def advise_sockets(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend socket buffers that fill the path where one limits a flow; None if none does."""
    if not simulate or not has_short_buffers(bench.resolved):
        return None
    before = bench.run({}, "the scenario as it is")
    limits = _limits(before)
    if not limits:
        return None
    raised: dict[str, Finding] = {}
    after, further = before, limits
    for _ in range(ROUNDS):
        if not further:
            break
        raised |= further
        after = bench.run(_changes(raised), "larger socket buffers")
        further = {field: limit for field, limit in _limits(after).items() if field not in raised}
    return _recommendation(before, after, raised)


def _limits(result: Result) -> Mapping[str, Finding]:
    """Find the buffers that limit flows, by field: of flows with a common field the one that needs most."""
    found = [one for one in result.findings if one.kind == "buffer-limit"]
    found = [one for one in found if one.numbers["enough_bytes"] > one.numbers["bytes"]]
    return {buffer_field(one): one for one in sorted(found, key=lambda one: one.numbers["enough_bytes"])}


def _changes(raised: Mapping[str, Finding]) -> dict[str, str]:
    """Give the sizes that fill the paths, as overrides."""
    return {field: megabytes(limit.numbers["enough_bytes"]) for field, limit in raised.items()}


def buffer_field(found: Finding) -> str:
    """Give the field of the socket buffer that a "buffer-limit" is about, by dotted path."""
    return f"flow.{described_name(found.element)}.tcp.{limiting_buffer(found.numbers)}_buffer_max"


def _recommendation(before: Result, after: Result, raised: Mapping[str, Finding]) -> Recommendation:
    changes = _changes(raised)
    rules = tuple(
        Rule(
            f"bandwidth-delay product of {one.element}, as the {limiting_buffer(one.numbers)} buffer holds it",
            "RFC 7323, section 1.1; Linux tcp_adv_win_scale, sk_buff overhead",
            one.numbers["enough_bytes"],
            "B",
            valid=True,
            reason="as many packets as fill the path, and as wait behind lost ones, with the kernel's memory",
        )
        for one in raised.values()
    )
    rates = rate_of([one.element for one in before.findings if one.kind == "buffer-limit"])
    old, new = (rates(result)["mean"] or 0.0 for result in (before, after))
    gained = new > (1.0 + GAIN) * old
    sizes = ", ".join(f'{field} = "{size}"' for field, size in changes.items())
    answer = (
        f"{sizes}: {percent(new / old - 1.0, 2)} more throughput"
        if gained and old
        else f"As they are: {sizes} gives no more throughput"
    )
    link = max(before.summary["links"], key=lambda row: row["utilisation_fraction"]["mean"] or 0.0)["name"]
    check = (
        before_after("throughput", "bit/s", before, after, rates),
        before_after(f"{link} is busy", "1", before, after, of_link(link, "utilisation_fraction")),
        round_trips(before, after),
    )
    remarks = (
        "the third number of the hosts' net.ipv4.tcp_wmem (send) and net.ipv4.tcp_rmem (receive) sets them; an "
        "application that sets SO_SNDBUF or SO_RCVBUF is bound by net.core.wmem_max and rmem_max instead",
    )
    return Recommendation(TOPIC, QUESTION, answer, changes if gained else {}, rules, check, remarks)
