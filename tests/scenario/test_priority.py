"""Priority queues: from the fields of links and flows to the resolved form, and what a run makes of them."""

import pytest

import ackclock
from ackclock.scenario import Resolved, load, resolve
from ackclock.scenario.resolved_queues import Discipline, StrictPriority

TEXT = """
[[link]]
name = "a"
rate = "1 Mbit/s"
buffer = "20 pkt"
queue = {0}
reverse = {{ queue = "priority" }}
[[flow]]
name = "urgent"
path = ["a"]
rtt = "100 ms"
tcp = {{ max_window = "2 pkt", ack_every = 1 }}
[[flow]]
name = "bulk"
path = ["a"]
rtt = "100 ms"
priority = 1
{1}
[run]
duration = "100 s"
warmup = "10 s"
"""


def resolved(queue: str, more: str = "") -> Resolved:
    return resolve(load(TEXT.format(queue, more)))


def test_the_name_alone_means_two_levels_that_drop_the_arriving_packet() -> None:
    assert resolved('"priority"').elements[0].queue == Discipline(scheduler=StrictPriority("priority", 2))
    table = '{ discipline = "priority", levels = 5, victim = "lowest" }'
    form = resolved(table)
    assert form.elements[0].queue == Discipline(scheduler=StrictPriority("priority", 5), overflow="lowest")
    assert Resolved.from_dict(form.to_dict()) == form


@pytest.mark.parametrize(("more", "level"), [("", 1), ("ack_priority = 0", 0)])
def test_acks_have_the_level_of_the_data_unless_they_have_their_own(more: str, level: int) -> None:
    urgent, bulk = resolved('"priority"', more).flows
    assert (urgent.priority, urgent.tcp.ack_priority) == (0, 0)
    assert (bulk.priority, bulk.tcp.ack_priority) == (1, level)


def test_urgent_packets_do_not_wait_for_bulk() -> None:
    round_trip_s = {
        queue: ackclock.run(load(TEXT.format(queue, ""))).summary["flows"][0]["rtt_mean_s"]["mean"]
        for queue in ('"priority"', '"drop-tail"')
    }
    # 12 ms for the packet in transmission, and another for the other one of the window.
    assert round_trip_s['"priority"'] < 0.1 + 0.024
    assert round_trip_s['"drop-tail"'] > 0.2
