"""The scenarios that the cross-check with the kernel draws."""

import numpy as np

from ackclock.scenario import load, resolve
from crosscheck.linux.draw import (
    CONTROLS,
    MANAGED,
    MANAGED_PACKETS,
    MOST_LOST,
    MOST_PACKETS,
    OLDER_CONTROLS,
    draw,
    draw_asymmetric,
    draw_impaired,
    draw_managed,
    draw_marked,
    draw_scripted,
)
from crosscheck.linux.draw_queued import draw_paced, draw_queued
from crosscheck.linux.kernel import MOST_COMMAND_LINE
from crosscheck.linux.translate import translate

DRAWN = [draw(5, number) for number in range(60)]
WITH_QUEUES = [draw_managed(5, number) for number in range(42)]


def test_a_scenario_depends_on_its_seed_and_number_alone() -> None:
    assert draw(5, 17) == DRAWN[17]
    assert draw(6, 17) != DRAWN[17]
    assert len({str(document) for document in DRAWN}) == len(DRAWN)


def test_both_sides_can_play_each() -> None:
    for document in DRAWN:
        experiment = translate(resolve(load(document)).to_dict())
        assert experiment.rate_bps % 8 == 0, "netem counts bytes a second"
        packets = experiment.rate_bps * experiment.duration_s / 8 / experiment.packet_bytes
        assert packets < MOST_PACKETS * 1.2 or experiment.duration_s < 11.0


def test_they_differ_in_controls_flows_sizes_and_buffers() -> None:
    flows = [flow for document in DRAWN for flow in document["flow"]]
    assert {flow["tcp"]["preset"] for flow in flows} == {"linux-cubic", "linux-reno", "linux-bbr"}
    assert {flow["tcp"]["handshake"] for flow in flows} == {"tcp"}
    assert {flow["tcp"].get("receive_buffer") for flow in flows} == {None, "131072 B"}
    assert {len(document["flow"]) for document in DRAWN} == {1, 2, 3}
    assert any("size" in flow for flow in flows)
    rates = sorted(float(document["link"][0]["rate"].split()[0]) for document in DRAWN)
    assert rates[0] < 2e6
    assert rates[-1] > 50e6


def test_both_sides_can_play_each_queue() -> None:
    for document in WITH_QUEUES:
        experiment = translate(resolve(load(document)).to_dict())
        assert experiment.rate_bps % 8 == 0, "HTB counts bytes a second"
        assert "aqm" in experiment.options
    assert draw_managed(5, 17) == WITH_QUEUES[17]
    queues = [document["link"][0]["queue"] for document in WITH_QUEUES]
    assert {queue["discipline"] for queue in queues[: len(MANAGED)]} == set(MANAGED), "one after the other"
    assert {queue.get("ecn") for queue in queues} == {None, "all", "off"}
    assert {len(document["flow"]) for document in WITH_QUEUES} == {1, 2, 4, 8, 16}


def test_acks_of_asymmetric_paths_load_their_link_as_much_as_is_said() -> None:
    loads = []
    for number in range(40):
        document = draw_asymmetric(5, number)
        experiment = translate(resolve(load(document)).to_dict())
        back_bps, holds = int(experiment.options["back"]), int(experiment.options["backbuf"])
        assert back_bps % 8 == 0, "netem counts bytes a second"
        assert 10 <= holds <= 300
        loads.append(experiment.rate_bps / experiment.packet_bytes / 2 * 52 / back_bps)
    assert 0.35 < min(loads) < 0.6
    assert 1.6 < max(loads) < 3.3
    again = draw_asymmetric(5, 17)
    assert again == draw_asymmetric(5, 17)
    assert again["link"] != draw_asymmetric(5, 18)["link"]


def test_impaired_paths_have_losses_or_steps_and_all_controls_and_options() -> None:
    documents = [draw_impaired(5, number) for number in range(50)]
    for document in documents:
        experiment = translate(resolve(load(document)).to_dict())
        packets = experiment.rate_bps * experiment.duration_s / 8 / experiment.packet_bytes
        assert packets < MANAGED_PACKETS * 1.2 or experiment.duration_s < 11.0
        given = " ".join(f"L_{name}={value}" for name, value in experiment.arguments().items())
        assert len(given) < MOST_COMMAND_LINE - 512, "the rest of the guest's command line"
    wires, flows = zip(*((document["link"][1], document["flow"]) for document in documents), strict=True)
    losses = [len(wire["loss"]["packets"]) for wire in wires if "loss" in wire]
    assert min(losses) < 10
    assert MOST_LOST / 2 < max(losses) <= MOST_LOST
    assert {len(wire["delay_process"]["steps"]) for wire in wires if "loss" not in wire} == {2, 3}
    assert {len(some) for some in flows} == {1, 2}
    options = [flow["tcp"] for some in flows for flow in some]
    assert {tcp["congestion_control"] for tcp in options} == {*CONTROLS, *OLDER_CONTROLS}
    for option in ("sack", "tail_loss_probe", "frto", "timestamps"):
        assert {tcp.get(option) for tcp in options} == {None, False}
    assert {tcp.get("loss_detection") for tcp in options} == {None, "dupack"}
    assert draw_impaired(5, 17) == documents[17]


def test_scripted_paths_are_of_one_flow_with_any_control_and_option_but_bbr() -> None:
    documents = [draw_scripted(5, number) for number in range(100)]
    (wires, flows) = zip(*((document["link"][1], document["flow"][0]) for document in documents), strict=True)
    for document in documents:
        assert translate(resolve(load(document)).to_dict()).rate_bps <= 8e6
    options = [flow["tcp"] for flow in flows]
    assert {tcp["congestion_control"] for tcp in options} == {"cubic", "reno", *OLDER_CONTROLS}
    assert {tcp.get("initial_window") for tcp in options} == {None, "2 pkt", "4 pkt", "16 pkt", "32 pkt"}
    assert {len(wire["delay_process"]["steps"]) for wire in wires if "loss" not in wire} == {2, 3, 4}
    assert not any("loss" in wire and "sack" in tcp for wire, tcp in zip(wires, options, strict=True))
    sizes = [int(flow["size"].split()[0]) for flow in flows]
    assert min(sizes) < 40
    assert max(sizes) > 1200
    logs = np.log(sizes)
    assert abs(np.corrcoef(logs[:-1], logs[1:])[0, 1]) < 0.3, "a path says nothing of the next one"
    assert draw_scripted(5, 17) == documents[17]


def test_queued_paths_are_of_one_flow_through_a_queue_that_decides_without_chance() -> None:
    documents = [draw_queued(5, number) for number in range(80)]
    links, flows = zip(*((document["link"][0], document["flow"][0]) for document in documents), strict=True)
    assert {link["queue"]["discipline"] for link in links} == {"codel", "fq-codel", "cake", "sfq"}
    options = [flow["tcp"] for flow in flows]
    assert {tcp["congestion_control"] for tcp in options} == {"cubic", "reno", *OLDER_CONTROLS}
    assert {tcp["ecn"] for tcp in options} == {"off", "classic"}
    assert not any("sack" in tcp for tcp in options)
    for document in documents:
        experiment = translate(resolve(load(document)).to_dict())
        assert 1e6 < experiment.rate_bps < 8.1e6
        # CoDel's interval would end as a packet departs.
        assert experiment.rate_bps / 10 % 12_000 != 0
    assert draw_queued(5, 17) == documents[17]


def test_paced_paths_are_of_one_flow_of_bbr_that_measures_the_round_trip_once() -> None:
    documents = [draw_paced(5, number) for number in range(80)]
    links, flows = zip(*((document["link"][0], document["flow"][0]) for document in documents), strict=True)
    assert {link.get("queue", {}).get("discipline") for link in links} == {None, "codel", "fq-codel", "cake", "sfq"}
    assert {flow["tcp"]["congestion_control"] for flow in flows} == {"bbr"}
    buffers = [int(link["buffer"].split()[0]) for link in links if "queue" not in link]
    assert min(buffers) == 8 < max(buffers)
    for document in documents:
        assert translate(resolve(load(document)).to_dict()).duration_s < 10
    assert draw_paced(5, 17) == documents[17]


def test_marked_paths_have_dctcp_marks_and_losses() -> None:
    documents = [draw_marked(5, number) for number in range(40)]
    for document in documents:
        experiment = translate(resolve(load(document)).to_dict())
        assert experiment.rate_bps % 8 == 0, "HTB counts bytes a second"
        assert {flow.control for flow in experiment.flows} == {"dctcp"}
        assert "ce_threshold" in experiment.options["aqm"]
        assert 1 <= experiment.options["wire"].count(",") + 1 <= MOST_LOST
        assert len(experiment.options["wire"]) < MOST_COMMAND_LINE
    assert {len(document["flow"]) for document in documents} == {1, 2, 4}
    assert draw_marked(5, 17) == documents[17] != draw_marked(5, 18)
