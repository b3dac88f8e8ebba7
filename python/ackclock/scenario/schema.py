"""The user's form of a scenario: its tables, their fields, units, ranges and defaults.

Only this module and its parts `schema_*` know a default. The messages of faults, the JSON Schema and docs/scenario.md
are all made from them.
"""

from typing import Annotated

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import AmountShorthand, Count, Kind, LinkNames, Number, Shorthand, Text
from ackclock.scenario.machines import DEFAULT_PRESET
from ackclock.scenario.percent import Percent
from ackclock.scenario.presets import preset_names
from ackclock.scenario.schema_atm import AtmLink, Channel, CrossTraffic
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.schema_kinds import LONGEST_RUN_S, PACKET, PACKET_SIZE, SOME_BYTES, TIME, Switch, most, name_of
from ackclock.scenario.schema_links import Link
from ackclock.scenario.schema_queues import MOST_LEVELS
from ackclock.scenario.schema_tcp import Tcp
from ackclock.scenario.schema_traffic import Traffic, Writes
from ackclock.scenario.until import Duration
from ackclock.units import Quantity

MOST_LINKS = 100_000
"""Largest number of simplex links of a scenario; each [[link]] is two."""
MOST_CROSSINGS = 100_000_000
"""Largest number of links on the paths of all flows, each counted as often as flows cross it."""
MOST_FLOWS = most("flows[].count")
"""Largest number of flows of a scenario, counted ones included."""
MOST_REPLICATIONS = 1_000_000
"""Largest number of replications of a run."""
MOST_CAPTURED = 100
"""Largest number of names of captured links: each capture reads the packets of all of them."""

PING_BYTES = 84
"""Length of an echo request of `ping` without options: 56 bytes of data, 8 of ICMP and 20 of IPv4 [B]."""

_PATH = LinkNames('["access", "satellite"]')
_RETURN_PATH = LinkNames('["satellite.reverse", "access.reverse"]')
_DURATION = Span("s", 1e-12, LONGEST_RUN_S, "1 ps to 1e7 s")
RunTime = Annotated[float, Amount("200 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))]


class Flow(Table):
    """One TCP connection, or one source of other traffic, that sends data over a path; or several identical ones."""

    name: Annotated[str | None, name_of("download")] = entry(
        "name of the flow", None, words="flow; numbered flow1, flow2, ... if there are several"
    )
    path: Annotated[tuple[str, ...], _PATH] = entry("links that the data cross, in order")
    return_path: Annotated[tuple[str, ...] | None, _RETURN_PATH] = entry(
        "links that the ACKs, or the echoes of a ping, cross, in order", None, words="the path mirrored"
    )
    rtt: Annotated[float | None, Amount("560 ms", (TIME,))] = entry(
        "least round trip, the service times of a packet and of an ACK included; what the links do not need of it is "
        "propagation delay of the flow's own, half each way",
        None,
        words="what the links need",
    )
    two_way_propagation: Annotated[float | None, Amount("560 ms", (TIME,))] = entry(
        "propagation delay of the path and the return path together, service times excluded; instead of `rtt`",
        None,
        words="what the links have",
    )
    sender: Annotated[str | None, name_of("client")] = entry(
        "host that sends the data; its process handles the ACKs", None, words="a host with zero processing time"
    )
    receiver: Annotated[str | None, name_of("server")] = entry(
        "host that receives them; its process handles the data", None, words="a host with zero processing time"
    )
    packet: Annotated[int, PACKET_SIZE] = entry(
        "size of a data packet, headers included; a ping without it has 84 B, as `ping` sends", 1500, toml="1500 B"
    )
    ack: Annotated[int, Amount("40 B", (PACKET,))] = entry("size of an ACK without SACK blocks", 40, toml="40 B")
    count: Annotated[int, Count(1, MOST_FLOWS, 10)] = entry(
        "number of identical flows, called name[0], name[1], ...", 1
    )
    start: RunTime = entry("when the flow starts", 0.0, toml="0 s")
    start_spread: RunTime = entry("a random time up to this is added to each start", 0.0, toml="0 s")
    size: Annotated[
        Quantity | None,
        Amount("10 MB", (Span("pkt", 1, 1e12, "1 to 1e12 pkt", whole=True), SOME_BYTES), ("unlimited",)),
    ] = entry("data to transfer; bytes are rounded up to whole packets", None, toml="unlimited")
    priority: Annotated[int, Count(0, MOST_LEVELS - 1, 1)] = entry(
        "level of the data at links with the discipline priority; 0 is the highest", 0
    )
    ack_priority: Annotated[int | None, Count(0, MOST_LEVELS - 1, 0)] = entry(
        "level of the ACKs there", None, words="as `priority`"
    )
    host: Annotated[str | None, name_of("laptop")] = entry(
        "host of the flow, for links with the discipline cake: flows that name one host share its part of the rate",
        None,
        words="a host that only this entry's flows are of",
    )
    weight: Annotated[int, Count(1, int(most("flows[].weight")), 3)] = entry(
        'share of each flow at links with fair queueing and separation = "perfect", in proportion to those of others; '
        'of all flows of the table together where it is "group"',
        1,
    )
    traffic: Traffic | None = entry(
        "what the flow sends and when", None, words="all of `size` at once, as fast as TCP lets it go"
    )
    writes: Writes | None = entry(
        'recovery = "sack": the bursts in which the application writes', None, words="all data at the start"
    )
    tcp: Annotated[Tcp, Shorthand("preset", "preset", preset_names)] = entry(
        "TCP, by the name of a preset or as a table", Tcp(), toml=DEFAULT_PRESET
    )

    @property
    def is_ping(self) -> bool:
        """Return whether it sends echo requests."""
        return self.traffic is not None and self.traffic.kind == "ping"

    @property
    def packet_bytes(self) -> int:
        """Size of a data packet or an echo request [B]."""
        return PING_BYTES if self.is_ping and not self.gives("packet") else self.packet

    @property
    def answer_bytes(self) -> int:
        """Size of what answers a packet: an ACK, or an echo as long as its request [B]."""
        return self.packet_bytes if self.is_ping else self.ack

    @property
    def answer_level(self) -> int:
        """Level of what answers a packet at links with priority."""
        return self.priority if self.is_ping else self.ack_level

    @property
    def ack_level(self) -> int:
        """Level of the ACKs at links with priority."""
        return self.priority if self.ack_priority is None else self.ack_priority


class Precision(Table):
    """Run until the interval of a quantity is narrow enough: more replications, or one longer run."""

    quantity: Annotated[str, Text(200, "flow.web.goodput")] = entry(
        "what is to be known: flow.NAME or link.NAME and a quantity of the result, with its unit or without; the name "
        "of counted flows stands for their mean, and * for each flow without end; completion.NAME and ping.NAME for "
        "completion times and pings",
        "flow.*.throughput",
    )
    within: Annotated[float, Percent("2%")] = entry("target half-width of the interval, relative to the mean")
    most: Annotated[int, Count(2, MOST_REPLICATIONS, 100)] = entry("replications at most", 1000)
    batch: Annotated[int, Count(2, 100_000, 8)] = entry(
        "replications that are added at a time, whatever the number of threads; the first time it is `replications`, "
        "where that is more",
        10,
    )
    longest: Annotated[float | None, Amount("20000 s", (_DURATION,))] = entry(
        "instead of more replications, one run is made longer: from `duration` on, which is doubled until the interval "
        "by batch means is narrow enough, up to this",
        None,
        words="replications are added",
    )


class Run(Table):
    """Duration, replications and seed of a run."""

    duration: Annotated[float, Duration(Amount("2000 s", (_DURATION,)), Percent("2%"))] = entry(
        'simulated time; "until 2%" makes the run longer until the throughput of each flow is known to that, which is '
        'short for duration = "100 s" and precision = { within = "2%", longest = "6400 s" }'
    )
    warmup: RunTime = entry("time before the measurement", 0.0, toml="0 s")
    replications: Annotated[int, Count(1, MOST_REPLICATIONS, 10)] = entry("independent runs", 1)
    seed: Annotated[int, Count(0, 2**63 - 1, 7)] = entry("seed of all random streams", 1)
    confidence: Annotated[float, Number(0, 1, 0.99)] = entry(
        "confidence level of the intervals over replications", 0.95
    )
    precision: Precision | None = entry(
        "replications are added, or the run is made longer, until the interval of a quantity is narrow enough",
        None,
        words="`replications` are run",
    )
    delays: Switch = entry(
        "measure the distributions of round trips, one-way delays and queueing delays, within 0.8%; without them a "
        "packet costs about a tenth less",
        default=True,
    )


class Trace(Table):
    """Selection of what is recorded; what is not asked for costs nothing."""

    cwnd: Switch = entry(
        "each change of cwnd of each flow, with ssthresh, packets in flight and RTO at that instant", default=False
    )
    rtt: Switch = entry("round-trip times as measured", default=False)
    sequence: Switch = entry("packets sent and acknowledged", default=False)
    queue: Switch = entry("queue length at each change", default=False)
    queue_distribution: Switch = entry("time at each queue length, and arrivals that saw it", default=False)
    drops: Switch = entry("each drop; a packet of a handshake has the number 2^64 - 1", default=False)
    delay: Switch = entry("one-way propagation delays that change, at each change", default=False)
    acr: Switch = entry("allowed cell rate of each end of a channel, at each change", default=False)
    ip_queue: Switch = entry(
        "packets at each end of a channel, at each change: data packets, and all with ACKs", default=False
    )
    cell_queue: Switch = entry("cells in each port of the ATM network, as each arriving cell finds them", default=False)
    losses: Switch = entry(
        "each detection of a loss, and whether it was spurious: whether the packet's last copy had not been dropped",
        default=False,
    )
    recovery: Switch = entry(
        "each timeout by its kind, with the time stalled, and each fast recovery that succeeds, with what it sent",
        default=False,
    )
    rounds: Switch = entry(
        "round trips that tile the time axis: a round ends when all that was outstanding at its start is acknowledged",
        default=False,
    )
    state: Switch = entry(
        "what happens to each sender with selective acknowledgment, with its state of congestion, its congestion "
        "control's phase, window, pipe and rates, and these once a round trip",
        default=False,
    )
    rate: Switch = entry(
        "rates of links that change, at each change; of opportunities their mean in each 100 ms", default=False
    )
    aqm: Switch = entry(
        "state of the AQM of each queue at each change: count and next drop of codel and cobalt, probability of pie, "
        "dualpi2, red and cobalt (that of BLUE), average queue of red",
        default=False,
    )
    overview_interval: Annotated[float | None, Amount("1 s", (Span("s", 1e-9, LONGEST_RUN_S, "1 ns to 1e7 s"),))] = (
        entry(
            "cwnd and queues for the picture: least and largest value of each interval, and what holds through a pause",
            None,
            words="none",
        )
    )
    overview_detail: Annotated[float | None, Amount("200 ms", (Span("s", 1e-9, LONGEST_RUN_S, "1 ns to 1e7 s"),))] = (
        entry(
            "length of the last part of the run that the picture magnifies, with what is acknowledged",
            None,
            words="a few round trips where data meet the ACKs of others, else nothing",
        )
    )
    capture: Annotated[tuple[str, ...] | None, LinkNames('["satellite"]', MOST_CAPTURED)] = entry(
        "links whose packets are captured (pcapng); a link stands for its two directions", None, words="none"
    )


class Form(Table):
    """A scenario for ackclock: links, flows over them, and how to run it."""

    title: Annotated[str, Text(200, "GEO satellite path")] = entry(
        "what the scenario shows, in a few words", "untitled"
    )
    link: list[Link] = entry("the links", [], words="none, if there are channels")
    flow: list[Flow] = entry("the flows")
    run: Run = entry("how long, how often, from which seed")
    trace: Trace = entry("what is recorded", Trace(), words="nothing is recorded")
    host: list[Host] = entry("hosts with a processing time, at the ends of flows", [], words="none")
    atm_link: list[AtmLink] = entry("links of the ATM network", [], words="none")
    channel: list[Channel] = entry("channels of the ATM network, which flows cross like links", [], words="none")
    cross_traffic: list[CrossTraffic] = entry(
        "cells that cross the ATM network in addition to the channels", [], words="none"
    )


def kind_of(model: type[Table], name: str) -> Kind | Shorthand | AmountShorthand | None:
    """Give the kind of a field's value; None for the tables in a scenario."""
    metadata = model.model_fields[name].metadata
    return next((part for part in metadata if isinstance(part, Kind | Shorthand | AmountShorthand)), None)
