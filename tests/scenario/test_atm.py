"""ATM channels: from the tables to ports and ends, and what a run over them records."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock
from ackclock.prediction import predict_resolved
from ackclock.scenario import Resolved, load, resolve
from ackclock.scenario.atm import max_min
from ackclock.scenario.resolved_atm import AbrSettings, AtmSettings, NoAllocation, ShareAllocation
from ackclock.scenario.resolved_elements import ChannelDirection

STAR = """
[[link]]
name = "lan"
rate = "1 Gbit/s"

[[atm_link]]
name = "server"
rate = "155.52 Mbit/s"
delay = "1 ms"

[[atm_link]]
name = "client"
rate = "51.6 Mbit/s"
reverse_rate = "155.52 Mbit/s"
delay = "4 ms"
allocation = "none"

[[channel]]
name = "near"
path = ["server"]

[[channel]]
name = "far"
path = ["server", "client"]
{0}

[[flow]]
path = ["lan", "far"]
packet = "9220 B"
tcp = {{ preset = "newreno-rfc6582", max_window = "7 pkt" }}

[run]
duration = "2 s"

[trace]
acr = true
ip_queue = true
cell_queue = true
queue = true
"""


def resolved(channel: str = "") -> Resolved:
    return resolve(load(STAR.format(channel)))


def network(scenario: Resolved) -> AtmSettings:
    assert scenario.atm is not None
    return scenario.atm


def test_a_channel_stands_behind_the_links_with_an_end_for_each_direction() -> None:
    scenario = resolved()
    assert [link.name for link in scenario.elements] == [
        "lan",
        "lan.reverse",
        "near",
        "near.reverse",
        "far",
        "far.reverse",
    ]
    assert [(one.kind, one.end) for one in scenario.elements[2:] if isinstance(one, ChannelDirection)] == [
        ("channel", end) for end in range(4)
    ]
    assert scenario.flows[0].path == (0, 4)
    assert scenario.flows[0].return_path == (5, 1)
    far = network(scenario).channels[1]
    assert (far.forward, far.backward) == ((0, 2), (3, 1))
    assert Resolved.from_dict(scenario.to_dict()) == scenario


def test_ports_take_rates_of_their_direction_and_the_allocation() -> None:
    ports = network(resolved()).ports
    assert [port.rate_bps for port in ports] == [155.52e6, 155.52e6, 51.6e6, 155.52e6]
    assert ports[0].allocation == ShareAllocation("two-pass", 1.0)
    assert ports[3].allocation == NoAllocation("none")


def test_sources_have_the_standards_defaults() -> None:
    far = network(resolved()).channels[1]
    assert far.near.abr == AbrSettings(155.52e6, 0.0, 155.52e6, 32, 2, 0.1, 1 / 16, 1 / 16, 1 / 16, 0.5, 16_777_215)
    given = network(resolved('ip_rate = "43.6 Mbit/s"\nabr = { pcr = "50 Mbit/s", icr = "1 Mbit/s" }'))
    near = given.channels[1].near
    assert (near.abr.pcr_bps, near.abr.icr_bps, near.ip_service) == (50e6, 1e6, {"rate-bps": 43.6e6})


def test_the_far_end_has_what_the_near_end_has_unless_it_is_given() -> None:
    given = """
ip_rate = "40 Mbit/s"
abr = { icr = "3 Mbit/s", rif = 0.015625 }
reverse = { ip_service = "immediate", abr = { icr = "1 Mbit/s", pcr = "30 Mbit/s" } }
"""
    channel = network(resolved(given)).channels[1]
    assert (channel.near.abr.icr_bps, channel.near.abr.pcr_bps, channel.near.abr.rif) == (3e6, 155.52e6, 1 / 64)
    assert (channel.far.abr.icr_bps, channel.far.abr.pcr_bps, channel.far.abr.rif) == (1e6, 30e6, 1 / 64)
    assert (channel.near.ip_service, channel.far.ip_service) == ({"rate-bps": 40e6}, "immediate")
    assert resolved(given).elements[5].rate_bps == pytest.approx(30e6 * 30 / 32 * 48 / 53)


def test_each_end_starts_at_its_own_rate() -> None:
    result = ackclock.run(
        resolved('abr = { icr = "3 Mbit/s" }\nreverse = { abr = { icr = "1 Mbit/s" } }'), picture=False
    )
    first = result.traces["acr"].groupby("link", observed=True)["rate_bps"].first()
    assert (first["far"], first["far.reverse"]) == (3e6, 1e6)
    assert (first["near"], first["near.reverse"]) == (155.52e6, 155.52e6)


def test_a_channel_is_shown_with_its_share_of_the_user_rate() -> None:
    links = resolved().elements
    user = 30 / 32 * 48 / 53
    assert links[4].rate_bps == pytest.approx(51.6e6 * user)
    assert links[2].rate_bps == pytest.approx((155.52e6 - 51.6e6) * user)
    assert links[5].rate_bps == pytest.approx(155.52e6 / 2 * user)
    assert links[4].delay_s == pytest.approx(0.005)


def test_shares_end_where_a_claim_has_what_it_wants() -> None:
    assert max_min([10.0], [(2.0, (0,)), (99.0, (0,)), (99.0, ())]) == [2.0, 8.0, 99.0]


def test_a_run_records_rates_and_queues_by_link_and_port() -> None:
    result = ackclock.run(resolved(), picture=False)
    acr = result.traces["acr"]
    assert set(acr["link"].unique()) == {"near", "near.reverse", "far", "far.reverse"}
    # Nothing was told to the end whose channel nobody uses.
    assert acr[acr["link"] == "near"]["rate_bps"].tolist() == [155.52e6]
    queue = result.traces["ip_queue"]
    sent = queue[queue["link"] == "far"]
    # The initial window of three packets, at once.
    assert sent["data_packets"].max() == 3
    assert (sent["data_packets"] == sent["ip_packets"]).all()
    assert (queue["atm_packets"] == 0).all()
    # The ports that the flow's cells cross, and their RM cells.
    assert set(result.traces["cell_queue"]["port"].unique()) == {"server", "server.reverse", "client", "client.reverse"}
    assert result.traces["queue"].query("link == 'far'")["packets"].max() == 3


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a legal scenario: ATM links in a row, channels over parts of it, a flow each way over each."""
    rate = st.floats(5, 200).map(lambda value: f"{value:.6g} Mbit/s")
    time = st.floats(0, 5).map(lambda value: f"{value:.6g} ms")
    link = st.fixed_dictionaries(
        {"rate": rate},
        optional={
            "reverse_rate": rate,
            "delay": time,
            "buffer": st.integers(1, 3000),
            "efci": st.integers(1, 300),
            "allocation": st.sampled_from(["two-pass", "by-ccr", "erica", "none"]),
            "utilisation": st.floats(0.5, 1.0),
            "interval": st.just("2 ms"),
        },
    )
    abr = st.fixed_dictionaries(
        {},
        optional={
            "icr": st.just("3 Mbit/s"),
            "mcr": st.just("1 Mbit/s"),
            "rif": st.floats(0, 1),
            "nrm": st.integers(2, 256),
        },
    )
    end = {"ip_service": st.sampled_from(["channel-rate", "immediate"]), "ip_rate": rate, "abr": abr}
    service = st.fixed_dictionaries({}, optional=end | {"reverse": st.fixed_dictionaries({}, optional=end)})
    links = [
        {"name": f"l{number}", **entry} for number, entry in enumerate(draw(st.lists(link, min_size=1, max_size=3)))
    ]
    channels, flows = [], []
    for number, entry in enumerate(draw(st.lists(service, min_size=1, max_size=3))):
        first = draw(st.integers(0, len(links) - 1))
        last = draw(st.integers(first, len(links) - 1))
        channels.append({"name": f"vc{number}", "path": [f"l{one}" for one in range(first, last + 1)], **entry})
        window = {"max_window": f"{draw(st.integers(1, 40))} pkt"}
        flows += [{"path": [f"vc{number}{way}"], "tcp": window} for way in ("", ".reverse")]
    cross = [{"name": "cross", "path": ["l0"], "rate": "4 Mbit/s", "stop": "50 ms"}] if draw(st.booleans()) else []
    return {
        "atm_link": links,
        "channel": channels,
        "cross_traffic": cross,
        "flow": flows,
        "run": {"duration": "100 ms"},
        "trace": {"acr": draw(st.booleans()), "queue": draw(st.booleans())},
    }


@given(documents())
@settings(max_examples=40, deadline=None)
def test_every_legal_network_resolves_runs_and_gets_a_prediction_or_reasons(document: dict[str, Any]) -> None:
    scenario = resolve(load(document))
    assert Resolved.from_dict(scenario.to_dict()) == scenario
    found = predict_resolved(scenario)
    assert found.applicable or found.inapplicable
    result = ackclock.run(scenario, picture=False)
    assert ("acr" in result.traces) == document["trace"]["acr"]
