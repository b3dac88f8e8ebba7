"""Delays against queueing theory, against second computations from traces, and from the engine to every output."""

import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ackclock
from ackclock.columns import Column
from ackclock.engine import run_resolved
from ackclock.histograms import merged, middles_s
from ackclock.quantities import FLOW_DELAYS, LINK_DELAYS
from ackclock.report import summary_tables
from ackclock.result import Result
from ackclock.sweeps import Memory, run_points
from ackclock.sweeps.charting import sweep_chart
from ackclock.sweeps.dataset import as_dataset, finished_points
from ackclock.sweeps.sweeping import planned_sweep
from ackclock.sweeps.tables import flow_table
from fakes import make_replication, make_resolved

WITHIN = 0.008
"""The histogram's relative error."""
SERVICE_S = 1e-3
"""A packet of 1500 bytes at 12 Mbit/s."""

ONE_LINK = """
[[link]]
name = "line"
rate = "12 Mbit/s"
{link}
{flows}
[run]
duration = "{duration}"
warmup = "{warmup}"
confidence = 0.999
"""
BULK = """
[[link]]
name = "access"
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
name = "line"
rate = "2 Mbit/s"
delay = "20 ms"
buffer = "25 pkt"
[[flow]]
name = "bulk"
path = ["access", "line"]
tcp = "newreno-rfc6582"
[run]
duration = "60 s"
warmup = "10 s"
[trace]
queue = true
rtt = true
"""


def source(name: str, traffic: str, extra: str = "") -> str:
    return f'[[flow]]\nname = "{name}"\npath = ["line"]\ntraffic = {traffic}\n{extra}\n'


def one_link(*flows: str, link: str = "", duration: str = "200 s", warmup: str = "10 s", **run: Any) -> Result:
    text = ONE_LINK.format(flows="\n".join(flows), link=link, duration=duration, warmup=warmup)
    return ackclock.run(text, picture=False, **run)


def poisson(name: str, load: float, extra: str = "") -> str:
    return source(name, f'{{ kind = "poisson", rate = "{12 * load:.9g} Mbit/s" }}', extra)


def row(result: Result, table: str, name: str) -> dict[str, Any]:
    rows = result.summary["flows"] if table == "flow" else result.summary["links"]
    return next(one for one in rows if one["name"] == name)


def value(result: Result, table: str, name: str, quantity: str) -> float:
    mean = row(result, table, name)[quantity]["mean"]
    assert mean is not None, quantity
    return float(mean)


def assert_in_interval(found: dict[str, float], theory: float) -> None:
    slack = WITHIN * theory
    assert found["low"] - slack <= theory <= found["high"] + slack, f"{found}, {theory} in theory"


def exact_percentiles(values: NDArray[np.float64]) -> dict[str, float]:
    """Take the smallest value that a share of all does not exceed."""
    ordered = np.sort(values)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: float(ordered[math.ceil(share * len(ordered)) - 1]) for name, share in shares.items()}


def md1_below(wait_s: float, load: float) -> float:
    """Compute the probability that a packet waits no longer in an M/D/1 queue (Erlang 1909)."""
    ratio, arrivals = wait_s / SERVICE_S, load / SERVICE_S
    terms = (
        (arrivals * (k * SERVICE_S - wait_s)) ** k / math.factorial(k) * math.exp(-arrivals * (k * SERVICE_S - wait_s))
        for k in range(math.floor(ratio) + 1)
    )
    return (1.0 - load) * math.fsum(terms)


@pytest.fixture(scope="module")
def md1() -> Result:
    return one_link(poisson("packets", 0.7), replications=8)


def test_waits_of_an_m_d_1_queue_are_those_of_theory(md1: Result) -> None:
    link = row(md1, "link", "line")
    assert_in_interval(link["queueing_mean_s"], 0.7 / (2.0 * 0.3) * SERVICE_S)
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        found = link[f"queueing_{name}_s"]
        low, high = found["low"] * (1.0 - WITHIN), found["high"] * (1.0 + WITHIN)
        assert found["low"] < found["mean"] < found["high"]
        assert md1_below(low, 0.7) <= share <= md1_below(high, 0.7), name


def test_packets_without_tcp_measure_one_way_delays_and_no_round_trips(md1: Result) -> None:
    flow, link = row(md1, "flow", "packets"), row(md1, "link", "line")
    for name in ("p50", "p95", "p99", "max"):
        assert flow[f"rtt_{name}_s"] is None
        wait = link[f"queueing_{name}_s"]["mean"]
        assert flow[f"queueing_{name}_s"]["mean"] == pytest.approx(wait, rel=0.01)
        assert flow[f"delay_{name}_s"]["mean"] == pytest.approx(wait + SERVICE_S, rel=0.01)


def test_waits_of_a_nearly_m_m_1_queue_are_those_of_theory() -> None:
    """Sixty kinds of packets, as many of each: sizes at the middle of the sixtieths of an exponential law."""
    load, kinds = 0.7, 60
    sizes = [max(1, round(-750.0 * math.log(1.0 - (kind + 0.5) / kinds))) for kind in range(kinds)]
    services = np.array(sizes) * 8.0 / 12e6
    rate = load / services.sum()
    flows = [
        poisson(f"kind{number}", rate * size * 8 / 12e6, f'packet = "{size} B"') for number, size in enumerate(sizes)
    ]
    result = one_link(*flows, replications=8, duration="110 s")
    link = row(result, "link", "line")
    # Pollaczek and Khinchine, exactly for these sizes.
    assert_in_interval(link["queueing_mean_s"], kinds * rate * np.mean(services**2) / (2.0 * (1.0 - load)))
    # M/M/1: a wait is longer than t with probability load exp(-(1 - load) t / mean service).
    for name, share in (("p95", 0.95), ("p99", 0.99)):
        theory = math.log(load / (1.0 - share)) * services.mean() / (1.0 - load)
        assert link[f"queueing_{name}_s"]["mean"] == pytest.approx(theory, rel=0.06), name


def test_constant_packets_wait_as_the_clock_says() -> None:
    alone = one_link(source("a", '{ kind = "constant", rate = "6 Mbit/s" }'))
    for quantity in LINK_DELAYS:
        assert value(alone, "link", "line", quantity) == 0.0, quantity
    assert value(alone, "flow", "a", "delay_p50_s") == value(alone, "flow", "a", "delay_max_s") == SERVICE_S
    # Three at the same instants: waits of 0, 1 and 2 services, in turn.
    together = one_link(*(source(name, '{ kind = "constant", rate = "3 Mbit/s" }') for name in "abc"))
    assert value(together, "link", "line", "queueing_mean_s") == pytest.approx(SERVICE_S, rel=WITHIN)
    assert value(together, "link", "line", "queueing_p50_s") == pytest.approx(SERVICE_S, rel=WITHIN)
    assert value(together, "link", "line", "queueing_p95_s") == pytest.approx(2.0 * SERVICE_S, rel=WITHIN)
    assert value(together, "link", "line", "queueing_max_s") == pytest.approx(2.0 * SERVICE_S, rel=1e-9)
    means = sorted(value(together, "flow", name, "queueing_p50_s") for name in "abc")
    assert means == pytest.approx([0.0, SERVICE_S, 2.0 * SERVICE_S], rel=WITHIN)


def test_priority_shortens_the_waits_of_the_higher_level_as_cobham_says() -> None:
    """Cobham 1954: a packet of level k waits R / ((1 - s_(k-1)) (1 - s_k)); R is half the load times the service."""
    result = one_link(
        poisson("first", 0.3, "priority = 0"),
        poisson("second", 0.5, "priority = 1"),
        link='queue = { discipline = "priority", levels = 2 }',
        duration="1000 s",
    )
    table = result.delay_distribution
    for name, theory in (("first", 0.4 / 0.7), ("second", 0.4 / (0.7 * 0.2))):
        own = table[(table["kind"] == "queueing") & (table["name"] == name)]
        mean = np.average(own["delay_s"], weights=own["packets"])
        assert mean == pytest.approx(theory * SERVICE_S, rel=0.05), name


@pytest.fixture(scope="module")
def bulk() -> Result:
    return ackclock.run(BULK, picture=False)


def test_a_bulk_flows_waits_are_those_that_its_queue_trace_shows(bulk: Result) -> None:
    """In and out in order: the packet that arrives n-th departs n-th, one service after its transmission began."""
    queue = bulk.traces["queue"]
    own = queue[queue["link"] == "line"]
    steps = np.diff(own["packets"].to_numpy(), prepend=0)
    times = own["time_s"].to_numpy()
    arrivals, departures = times[steps > 0], times[steps < 0]
    waits = departures - 1500 * 8 / 2e6 - arrivals[: len(departures)]
    # The last packets of the run have not departed.
    waits = waits[arrivals[: len(departures)] >= 10.0]
    assert len(waits) > 5000
    assert bulk.summary["links"][2]["dropped_packets"]["mean"] > 0.0
    for name, exact in exact_percentiles(waits).items():
        assert value(bulk, "link", "line", f"queueing_{name}_s") == pytest.approx(exact, rel=0.01, abs=1e-9), name


def test_a_bulk_flows_round_trips_are_those_of_its_trace(bulk: Result) -> None:
    trace = bulk.traces["rtt"]
    exact = exact_percentiles(trace["rtt_s"][trace["time_s"] >= 10.0].to_numpy())
    for name, expected in exact.items():
        assert value(bulk, "flow", "bulk", f"rtt_{name}_s") == pytest.approx(expected, rel=0.01), name
    longest = value(bulk, "flow", "bulk", "rtt_max_s")
    assert longest == pytest.approx(exact["max"], rel=1e-12)


def test_a_one_way_delay_is_the_waits_at_ten_links_and_a_constant() -> None:
    rates = [20.0, 18.0, 16.0, 14.0, 12.0, 10.0, 9.0, 8.0, 7.0, 6.0]
    links = "".join(
        f'[[link]]\nname = "n{number}"\nrate = "{rate} Mbit/s"\ndelay = "{number + 1} ms"\n'
        for number, rate in enumerate(rates)
    )
    path = ", ".join(f'"n{number}"' for number in range(10))
    flow = f'[[flow]]\nname = "a"\npath = [{path}]\ntwo_way_propagation = "200 ms"\n'
    result = ackclock.run(
        f'{links}{flow}traffic = {{ kind = "poisson", rate = "5 Mbit/s" }}\n[run]\nduration = "200 s"\n', picture=False
    )
    # Half of the propagation of 200 ms is the data's.
    constant = sum(12000 / (rate * 1e6) for rate in rates) + 0.1
    waits = [value(result, "link", f"n{number}", "queueing_mean_s") for number in range(10)]
    assert sum(wait > 0.0 for wait in waits) == 10
    table = result.delay_distribution
    delays, queueing = table[table["kind"] == "delay"], table[table["kind"] == "queueing"]
    assert delays["delay_s"].min() == pytest.approx(constant, rel=1e-9)
    assert np.average(queueing["delay_s"], weights=queueing["packets"]) == pytest.approx(sum(waits), rel=0.01)
    assert np.average(delays["delay_s"], weights=delays["packets"]) == pytest.approx(constant + sum(waits), rel=0.001)
    assert value(result, "flow", "a", "delay_p95_s") - value(result, "flow", "a", "queueing_p95_s") == pytest.approx(
        constant, rel=1e-9
    )


def test_where_the_delay_changes_by_itself_the_queueing_delay_is_not_given() -> None:
    link = 'delay = "10 ms"\ndelay_process = { kind = "steps", steps = [["0 s", "0 ms"], ["50 s", "40 ms"]] }'
    result = one_link(source("a", '{ kind = "constant", rate = "6 Mbit/s" }'), link=link, duration="110 s")
    flow = row(result, "flow", "a")
    assert flow["queueing_p50_s"] is None
    assert flow["delay_p50_s"]["mean"] == pytest.approx(0.051, rel=WITHIN)
    assert flow["delay_max_s"]["mean"] == pytest.approx(0.051, rel=1e-9)
    assert value(result, "link", "line", "queueing_max_s") == 0.0
    assert set(result.delay_distribution["kind"]) == {"delay", "wait"}


def test_where_the_rate_changes_by_itself_neither_the_queueing_delay_nor_the_time_to_drain_is_given() -> None:
    process = 'rate_process = { kind = "steps", steps = [["0 s", "10 Mbit/s"], ["5 s", "2 Mbit/s"]] }'
    text = BULK.replace('rate = "2 Mbit/s"', process)
    result = ackclock.run(text, picture=False, duration="20 s")
    (flow,), link = result.summary["flows"], row(result, "link", "line")
    assert flow["queueing_p95_s"] is None
    assert link["drain_s"] is None
    assert flow["delay_p95_s"] is not None
    assert link["queueing_p95_s"] is not None


def test_switched_off_nothing_else_changes() -> None:
    on, off = (ackclock.run(BULK, picture=False, delays=delays, duration="20 s") for delays in (True, False))
    for table, names in (("flows", FLOW_DELAYS), ("links", LINK_DELAYS)):
        for with_delays, without in zip(on.summary[table], off.summary[table], strict=True):  # type: ignore[literal-required]
            assert all(without[name] is None for name in names)
            assert {key: found for key, found in with_delays.items() if key not in names} == {
                key: found for key, found in without.items() if key not in names
            }
    with pytest.raises(ackclock.ResultError, match=r"run\.delays was off"):
        _ = off.delay_distribution


def test_a_result_without_delays_says_so_in_every_form(tmp_path: Path) -> None:
    """As results of before had none."""
    resolved = make_resolved()
    result = Result.from_replications(resolved, [make_replication(resolved, 0)], version="0")
    result.save(tmp_path)
    loaded = Result.load(tmp_path)
    assert loaded.flows["rtt_p95_s"].isna().all()
    assert loaded.links["queueing_max_s"].isna().all()
    summary = deepcopy(loaded.summary)
    for flow in summary["flows"]:
        for name in FLOW_DELAYS:
            del flow[name]
    for link in summary["links"]:
        for name in (*LINK_DELAYS, "drain_s"):
            del link[name]
    older = Result(summary, loaded.resolved, loaded.version)
    assert older.flows["rtt_p95_s"].isna().all()
    assert "RTT" in older._repr_html_()


def test_percentiles_are_means_over_replications_and_the_distribution_holds_all_packets(md1: Result) -> None:
    assert row(md1, "link", "line")["queueing_p95_s"]["n"] == 8
    table = md1.delay_distribution
    waits = table[(table["kind"] == "wait") & (table["name"] == "line")]
    assert waits["delay_s"].is_monotonic_increasing
    assert waits["delay_s"].is_unique
    assert waits["packets"].sum() == pytest.approx(8 * 700 * 190, rel=0.01)
    share = waits["packets"].cumsum() / waits["packets"].sum()
    p95 = float(waits["delay_s"][share >= 0.95].iloc[0])
    assert p95 == pytest.approx(value(md1, "link", "line", "queueing_p95_s"), rel=0.03)


def test_the_distribution_is_saved_with_the_result(md1: Result, tmp_path: Path) -> None:
    md1.save(tmp_path, picture=False)
    loaded = Result.load(tmp_path)
    assert loaded.delay_distribution.equals(md1.delay_distribution)
    assert loaded.summary == md1.summary


def test_histograms_add_up_by_row_and_bucket() -> None:
    one = {"row": np.array([0, 0, 2]), "bucket": np.array([1, 5, 5]), "count": np.array([1, 2, 3])}
    one |= {"low_s": 1e-6 * one["bucket"], "high_s": 1e-6 * (one["bucket"] + 1)}
    other = {"row": np.array([0, 1]), "bucket": np.array([5, 5]), "count": np.array([10, 20])}
    other |= {"low_s": 1e-6 * other["bucket"], "high_s": 1e-6 * (other["bucket"] + 1)}
    found = merged([one, other])
    assert [found[name].tolist() for name in ("row", "bucket", "count")] == [[0, 0, 1, 2], [1, 5, 5, 5], [1, 12, 20, 3]]
    assert (found["low_s"] * 1e6).round(9).tolist() == [1, 5, 5, 5]
    empty = {name: values[:0] for name, values in one.items()}
    assert [len(values) for values in merged([empty, empty]).values()] == [0, 0, 0, 0, 0]


def test_buckets_are_as_narrow_as_promised() -> None:
    text = ONE_LINK.format(link="", flows=poisson("packets", 0.7), duration="20 s", warmup="0 s")
    (one,) = run_resolved(ackclock.resolve(text), threads=1)
    table = one["delays"]["wait"]
    wide = table["low_s"] > 2e-7
    assert wide.sum() > 100
    assert (table["high_s"][wide] / table["low_s"][wide] - 1.0 < 2.0 * WITHIN).all()
    middles = middles_s(table)
    assert ((table["low_s"] <= middles) & (middles < table["high_s"]))[wide].all()


def test_a_full_buffers_drain_time_is_given_and_said() -> None:
    text = BULK.replace('buffer = "25 pkt"', 'buffer = "1000 pkt"').replace('rate = "2 Mbit/s"', 'rate = "10 Mbit/s"')
    result = ackclock.run(text, picture=False, duration="20 s", overrides={"link.access.rate": "100 Mbit/s"})
    assert row(result, "link", "line")["drain_s"] == pytest.approx(1.2)
    assert row(result, "link", "access")["drain_s"] is None
    assert "a full buffer of 1,000 packets at 10 Mbit/s delays packets by 1.2 s" in result.summary["verdict"]
    small = ackclock.run(text, picture=False, duration="20 s", overrides={"link.line.buffer": "10 pkt"})
    assert "full buffer" not in small.summary["verdict"]


@pytest.mark.parametrize(
    ("tcp", "ack", "longest"),
    [
        ("linux-cubic", 40, 76),
        ("linux-cubic", 52, 80),
        ("linux-cubic", 80, 80),
        ("newreno-rfc6582", 52, 52),
        ({"preset": "linux-cubic", "acks": "delayed"}, 40, 76),
        ("sack1-ns2", 40, 64),
    ],
)
def test_no_ack_waits_longer_than_a_full_buffer_takes(tcp: Any, ack: int, longest: int) -> None:
    """ACKs with SACK blocks are longer, and more than one in a hundred packets is lost."""
    loss = {"model": "bernoulli", "probability": 0.02}
    reverse = {"rate": "100 kbit/s", "buffer": "20 pkt"}
    document = {
        "link": [{"name": "line", "rate": "50 Mbit/s", "delay": "10 ms", "loss": loss, "reverse": reverse}],
        "flow": [{"name": "bulk", "path": ["line"], "ack": f"{ack} B", "tcp": tcp}],
        "run": {"duration": "20 s"},
    }
    back = row(ackclock.run(document), "link", "line.reverse")
    assert back["drain_s"] == pytest.approx(20 * longest * 8 / 100e3)
    assert 20 * ack * 8 / 150e3 < back["queueing_max_s"]["mean"] < back["drain_s"]


@pytest.mark.parametrize("handshake", ["tcp", "tls"])
def test_no_hello_waits_longer_than_a_full_buffer_takes(handshake: str) -> None:
    """Twelve transfers that begin together: their SYN-ACKs of 60 B, or hellos of 1500 B, meet on the way back."""
    document = {
        "link": [{"name": "line", "rate": "10 Mbit/s", "reverse": {"rate": "1 Mbit/s", "buffer": "20 pkt"}}],
        "flow": [{"path": ["line"], "count": 12, "size": "2 pkt", "tcp": {"sack": False, "handshake": handshake}}],
        "run": {"duration": "10 s"},
    }
    back = row(ackclock.run(document), "link", "line.reverse")
    longest = 1500 if handshake == "tls" else 60
    assert back["drain_s"] == pytest.approx(20 * longest * 8 / 1e6)
    assert back["queueing_max_s"]["mean"] < back["drain_s"]
    assert handshake == "tcp" or back["queueing_max_s"]["mean"] > 20 * 60 * 8 / 1e6


def test_what_waits_alone_waits_for_the_packet_in_transmission_too() -> None:
    """A buffer of 3100 B next to the packet in transmission: a ping takes what a packet leaves."""
    link = {"name": "line", "rate": "1 Mbit/s", "delay": "10 ms", "buffer": "3100 B", "counting": "waiting"}
    ping = {"name": "ping", "path": ["line"], "traffic": {"kind": "ping", "interval": "7 ms"}}
    document = {"link": [link], "flow": [{"name": "bulk", "path": ["line"]}, ping], "run": {"duration": "60 s"}}
    line = row(ackclock.run(document), "link", "line")
    assert 3100 * 8 / 1e6 < line["queueing_max_s"]["mean"] <= line["drain_s"]


def test_a_precision_of_delays_needs_delays() -> None:
    wanted = {"run.precision": {"quantity": "link.line.queueing_p95", "within": "5%"}}
    with pytest.raises(ackclock.ScenarioError, match="delays"):
        ackclock.run(BULK, overrides=wanted, delays=False)


def test_the_picture_has_the_distributions_below() -> None:
    chart = ackclock.run(BULK, duration="20 s").chart()
    assert [panel.x_label for panel in chart.panels[-2:]] == ["round trip [ms]", "queueing delay at a link [ms]"]
    (curve,) = chart.panels[-2].curves
    assert curve.label == "bulk"
    assert curve.y[0] == 100.0
    assert (np.diff(curve.y) <= 0.0).all()
    assert chart.panels[-1].curves[0].label == "line"


def test_a_sweep_shows_throughput_against_delay_and_gives_intervals() -> None:
    text = ONE_LINK.format(flows=poisson("packets", 0.5), link="", duration="20 s", warmup="1 s") + "replications = 3\n"
    planned, store = planned_sweep(text, {"flow.packets.traffic.rate": "6 Mbit/s,9 Mbit/s"}, {}), Memory()
    run_points([point.resolved for point in planned.points], store)
    finished = list(finished_points(planned, store))
    data = as_dataset(planned, finished)
    delays = data["flow_delay_p95_s"].mean("replication").to_numpy().ravel()
    assert delays[1] > 1.5 * delays[0] > 0.0
    assert data["link_queueing_p95_s"].attrs["units"] == "s"
    table = flow_table(planned, finished)
    assert (table["delay_p95_s_low"] < table["delay_p95_s"]).all()
    panel = sweep_chart(planned, finished).panels[1]
    assert panel.x_label == "one-way delay, 95th percentile [ms]"
    (curve,) = panel.curves
    assert curve.x == pytest.approx(delays * 1e3)
    assert curve.y == pytest.approx([6.0, 9.0], rel=0.05)
    assert curve.notes == ["6 Mbit/s", "9 Mbit/s"]
    assert curve.x_low is not None
    assert (curve.x_low < curve.x).all()


def test_packets_wait_at_the_ends_of_atm_channels() -> None:
    """Little's law: packets in an end, less those in segmentation, are arrivals a second times the wait of each."""
    result = ackclock.run("scenarios/two-way-abr.toml", picture=False, duration="20 s", warmup="5 s")
    waits = [link for link in result.summary["links"] if link["queueing_max_s"]["mean"] > 0.0]
    assert waits
    busiest = max(waits, key=lambda link: link["queue_mean_packets"]["mean"])
    table = result.delay_distribution
    packets = table[(table["kind"] == "wait") & (table["name"] == busiest["name"])]["packets"].sum()
    waiting = busiest["queue_mean_packets"]["mean"] - busiest["utilisation_fraction"]["mean"]
    assert packets / 15.0 * busiest["queueing_mean_s"]["mean"] == pytest.approx(waiting, rel=0.05)
    for flow in result.summary["flows"]:
        assert flow["queueing_p50_s"] is None
        assert flow["delay_p50_s"]["mean"] > 0.0


def test_a_large_group_has_one_distribution() -> None:
    result = one_link(poisson("many", 0.5 / 1200, "count = 1200"), duration="20 s", warmup="0 s")
    (flow,) = result.summary["flows"]
    assert flow["queueing_p95_s"]["mean"] == pytest.approx(
        value(result, "link", "line", "queueing_p95_s"), rel=2 * WITHIN
    )


def test_no_percentile_of_round_trips_is_below_the_empty_path_s() -> None:
    text = """
    [[link]]
    name = "long"
    rate = "100 Mbit/s"
    [[flow]]
    path = ["long"]
    rtt = "600 ms"
    tcp = { preset = "linux-cubic", max_window = "10 pkt" }
    [run]
    duration = "50 s"
    """
    found = row(ackclock.run(text, picture=False), "flow", "flow")
    assert found["rtt_p50_s"]["mean"] == pytest.approx(0.6, abs=1e-9)  # the middle of its bucket is 597 ms
    assert found["rtt_p50_s"]["mean"] <= found["rtt_mean_s"]["mean"]
    assert found["rtt_p95_s"]["mean"] > 0.6


def test_a_delay_of_rounding_is_written_as_less_than_a_microsecond() -> None:
    column = Column("queueing_p95_s", "p95", 1e-3, 3)
    assert (column.text(8.38e-9), column.text(0.0), column.text(2.5e-6)) == ("<0.001", "0", "0.00250")
    assert column.interval(8.38e-9, 2e-8) == "<0.001"


def test_the_delays_of_a_call_have_a_table_where_the_flows_have_round_trips() -> None:
    link = {"name": "line", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "100 pkt"}
    call = {"name": "call", "path": ["line"], "packet": "200 B", "traffic": {"kind": "constant", "rate": "80 kbit/s"}}
    ping = {"name": "ping", "path": ["line"], "traffic": {"kind": "ping", "interval": "100 ms"}}
    run = {"duration": "20 s", "warmup": "5 s"}
    result = ackclock.run({"link": [link], "flow": [{"name": "dl", "path": ["line"]}, call, ping], "run": run})
    (table,) = (one for one in summary_tables(result.summary) if one.headers[0] == "datagrams")
    (row,) = table.rows
    assert (row[0], row[2]) == ("call", f"{1e3 * result.flows.delay_p95_s['call']:.3g}")
    alone = ackclock.run({"link": [link], "flow": [call, ping], "run": run})
    assert "datagrams" not in {one.headers[0] for one in summary_tables(alone.summary)}


def test_percentiles_lie_between_the_least_and_the_largest_that_were_measured() -> None:
    """The round trips of a short packet and of a lone ping are exact; a bucket's middle is neither."""
    link = {"name": "far", "rate": "100 kbit/s", "delay": "400 ms", "buffer": "100 pkt"}
    flows = [
        {"name": "short", "path": ["far"], "size": "100 B", "tcp": "linux-cubic"},
        {"name": "ping", "path": ["far"], "start": "5 s", "traffic": {"kind": "ping", "interval": "1 s"}},
    ]
    result = ackclock.run({"link": [link], "flow": flows, "run": {"duration": "20 s"}})
    short, ping = result.flows.loc["short"], result.summary["pings"][0]
    assert short.rtt_p50_s == short.rtt_max_s == pytest.approx(short.rtt_mean_s)
    for name in ("p50", "p95", "p99"):
        assert ping["rtt_min_s"]["mean"] <= ping[f"rtt_{name}_s"]["mean"] <= ping["rtt_max_s"]["mean"]
