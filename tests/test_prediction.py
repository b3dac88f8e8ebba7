"""Which models speak of a scenario, with which numbers, and why the others do not."""

import math
import re
import tomllib
from importlib import import_module
from inspect import getmembers, isfunction, signature
from io import StringIO
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import ackclock
from ackclock import prediction
from ackclock.comparison import Comparison
from ackclock.findings import Finding
from ackclock.models import bottlenecks, classics
from ackclock.prediction import ModelPrediction, Prediction, predict_from_measured, predict_resolved
from ackclock.prediction.claims import confront
from fakes import RED, make_flow, make_link, make_resolved

SCENARIOS = Path(__file__).parents[1] / "scenarios"
PRIORITY = {"scheduler": {"kind": "priority", "levels": 2}}
PAIR = [make_link("satellite"), make_link("satellite.reverse", buffer=None)]


def one_flow(links: list[dict[str, Any]] | None = None, **fields: Any) -> Prediction:
    sender = {"recovery": "tahoe", "initial_window": 1.0, "rto": {"initial_s": 3.0, "min_s": 1.0}}
    flow = make_flow("flow", **{**fields, "sender": {**sender, **fields.get("sender", {})}})
    return predict_resolved(make_resolved(flows=[flow], links=links or PAIR))


def model(prediction: Prediction, name: str) -> ModelPrediction:
    return next(one for one in prediction.applicable if one.model == name)


def numbers(prediction: Prediction, name: str) -> dict[str, float]:
    return {number.key: number.value for number in model(prediction, name).numbers}


def reasons(prediction: Prediction, name: str) -> str:
    return "; ".join(next(one for one in prediction.inapplicable if one.model == name).reasons)


def test_the_cycle_of_the_satellite_path_is_the_papers() -> None:
    found = ackclock.predict(SCENARIOS / "geo-retransmission-loss.toml")
    rates = [2.2e6 / 4096, 1.5e6 / 4096]
    round_trip = 0.56 + sum((4096 + 320) / rate for rate in (2.7e6, 2.2e6, 1.5e6))
    expected = bottlenecks.cycle(rates, [15, 18], round_trip, access_rate=2.7e6 / 4096)
    cycle = numbers(found, "bottlenecks")
    assert cycle["throughput_bps"] == pytest.approx(4096 * float(expected.throughput.capped))
    assert cycle["maximum_window_packets"] == pytest.approx(float(expected.maximum_window))
    assert cycle["overflow_window_packets"] == pytest.approx(float(expected.overflow.window))
    assert "the retransmission of that loss may be lost too, at satellite" in "; ".join(
        model(found, "bottlenecks").sentences
    )


@pytest.mark.parametrize(("queue", "lost"), [("drop-tail", True), ("drop-from-front", False), ("random-drop", False)])
def test_drop_tail_alone_loses_the_retransmission(queue: str, lost: bool) -> None:
    text = (SCENARIOS / "geo-random-drop.toml").read_text(encoding="utf-8")
    found = ackclock.predict(tomllib.loads(text.replace('"random-drop"', f'"{queue}"')))
    assert ("throughput_with_lost_retransmission_bps" in numbers(found, "bottlenecks")) is lost
    assert ("may be lost too" in "; ".join(model(found, "bottlenecks").sentences)) is lost


def test_the_theory_marks_the_windows_of_the_cycle() -> None:
    found = ackclock.predict(SCENARIOS / "geo-retransmission-loss.toml")
    heights = {line.label: line.value for line in found.reference_lines}
    windows = ["largest window (W_max)", "slow-start threshold (W_th)"]
    assert list(heights) == [*windows, "slow start overflows (W_B)", "avoidance starts (W_S)"]
    assert heights[windows[0]] == 2.0 * heights[windows[1]]


LETTER = re.compile(r"(?<!')\b(?:[A-Za-z]_\w+|[B-Z]|[b-z]|mu|rho|ON)\b")
"""A letter of a paper: neither the article, nor the end of a genitive."""


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_papers_letter_comes_after_its_meaning_in_brackets(path: Path) -> None:
    found = ackclock.predict(path)
    shown = [one.text for model in found.applicable for one in model.numbers]
    shown += [line.label for line in found.reference_lines]
    shown += [sentence for model in found.applicable for sentence in model.sentences]
    names = {link.name for link in ackclock.resolve(path).elements} | {
        flow.name for flow in ackclock.resolve(path).rows
    }
    for text in shown:
        words = " ".join(word for word in re.sub(r"(?<=\w) \(.*\)$", "", text).split() if word not in names)
        assert not LETTER.search(words), text


@pytest.mark.parametrize(
    ("fields", "links", "name", "reason"),
    [
        ({"sender": {"recovery": "reno"}}, PAIR, "bottlenecks", "the model is of Tahoe"),
        ({"receiver": {"ack_every": 2, "ack_delay_s": 0.1}}, PAIR, "bottlenecks", "the receiver delays ACKs"),
        (
            {"sender": {"max_window": 100}},
            PAIR,
            "bottlenecks",
            "100 packets never fills the buffer (224 packets would)",
        ),
        ({"size_packets": 10}, PAIR, "bottlenecks", "the transfer ends"),
        (
            {},
            [make_link("a", buffer=None), make_link("a.reverse")],
            "bottlenecks",
            "no buffer on the path is ever full",
        ),
        ({}, [make_link("a"), make_link("a.reverse", rate_bps=5e4)], "bottlenecks", "the ACKs wait at a.reverse"),
        ({}, [make_link("a", queue=RED), make_link("a.reverse")], "bottlenecks", "(red)"),
        ({}, [make_link("a", queue=RED, buffer=None), make_link("a.reverse")], "bottlenecks", "(red)"),
        ({}, [make_link("a", queue=PRIORITY), make_link("a.reverse")], "bottlenecks", "one queue"),
        ({}, PAIR, "sawtooth", "halving the window at a loss is Reno's and NewReno's; this is tahoe"),
        ({}, PAIR, "window", "the receiver's window is unlimited"),
        ({"sender": {"max_window": 400}}, PAIR, "window", "full before the receiver's window of 400 packets"),
        ({}, PAIR, "many-flows", "one flow runs"),
        ({}, PAIR, "short-flow", "the flow has no end"),
    ],
)
def test_a_model_says_why_it_does_not_apply(
    fields: dict[str, Any], links: list[dict[str, Any]], name: str, reason: str
) -> None:
    assert reason in reasons(one_flow(links, **fields), name)


def test_every_question_is_asked() -> None:
    modules = [import_module(f"{prediction.__name__}.{one.name}") for one in iter_modules(prediction.__path__)]
    questions = {
        function
        for module in modules
        for name, function in getmembers(module, isfunction)
        if name.startswith("predict_") and [*signature(function).parameters] == ["resolved"]
    }
    assert questions == set(prediction._QUESTIONS)


def test_red_with_an_unlimited_buffer_drops_early() -> None:
    links = [make_link("feeder", queue=RED, buffer=None, rate_bps=3e6), *PAIR]
    reno = one_flow(links, sender={"recovery": "reno"}, path=[0, 1], return_path=[2])
    assert reasons(reno, "sawtooth") == "feeder drops before its buffer is full (red)"
    red = [make_link("satellite", queue=RED, buffer=None), PAIR[1]]
    queue = one_flow(red, sender={"max_window": 215})
    assert reasons(queue, "window") == "satellite drops before its buffer is full (red)"
    assert model(one_flow(red, sender={"max_window": 100}), "window").numbers


def test_a_small_window_is_a_window_a_round_trip() -> None:
    found = one_flow(sender={"max_window": 100})
    round_trip = 0.56 + (4096 + 320) / 1.5e6
    assert numbers(found, "window")["throughput_bps"] == pytest.approx(100 * 4096 / round_trip)


def test_what_a_window_holds_beyond_the_pipe_waits() -> None:
    found = one_flow(sender={"max_window": 215})
    pipe = 0.56 * 1.5e6 / 4096 + 1.0 + 320 / 4096
    assert numbers(found, "window")["standing_queue_packets"] == pytest.approx(215 - pipe)
    assert numbers(found, "window")["throughput_bps"] == 1.5e6


def test_a_buffer_of_a_pipe_keeps_the_link_of_reno_busy() -> None:
    links = [make_link("satellite", buffer={"packets": 210}), PAIR[1]]
    found = one_flow(links, sender={"recovery": "reno"})
    assert numbers(found, "sawtooth")["throughput_bps"] == 1.5e6
    assert not model(found, "sawtooth").warnings


def test_bytes_and_waiting_packets_make_the_same_buffer() -> None:
    by_bytes = [make_link("satellite", buffer={"bytes": 17 * 512 + 511}, counting="waiting"), PAIR[1]]
    assert numbers(one_flow(by_bytes), "bottlenecks") == numbers(one_flow(PAIR), "bottlenecks")


def test_many_flows_need_a_small_buffer() -> None:
    flows = [make_flow(f"flow[{index}]") for index in range(100)]
    found = predict_resolved(make_resolved(flows=flows, links=PAIR))
    rate, round_trip = 1.5e6 / 4096, 0.56 + (4096 + 320) / 1.5e6
    expected = classics.many_flows_utilisation(18, rate, round_trip, 100)
    assert numbers(found, "many-flows")["utilisation_fraction"] == pytest.approx(float(expected))
    assert any("fewer flows may halve their windows in step" in one for one in model(found, "many-flows").warnings)


@pytest.mark.parametrize("buffer", [{"packets": 100}, None])
def test_the_buffer_of_many_flows_is_not_that_of_a_queue_that_drops_early(buffer: dict[str, int] | None) -> None:
    flows = [make_flow(f"flow[{index}]") for index in range(100)]
    links = [make_link("satellite", queue=RED, buffer=buffer), PAIR[1]]
    found = predict_resolved(make_resolved(flows=flows, links=links))
    (refused,) = [one for one in found.inapplicable if one.model == "many-flows"]
    assert refused.reasons == ("satellite drops before its buffer is full (red)",)


def test_seven_packets_take_three_round_trips() -> None:
    found = one_flow(size_packets=7)
    assert numbers(found, "short-flow")["transfer_s"] == pytest.approx(3.0 * (0.56 + (4096 + 320) / 1.5e6))


def short_transfer(start: str, probability: float = 0.0, replications: int = 1) -> Comparison:
    tcp = {"preset": "newreno-rfc6582", "ack_every": 1}
    flow = {"name": "short", "path": ["link"], "size": "93 pkt", "start": start, "tcp": tcp}
    link: dict[str, object] = {"name": "link", "rate": "100 Mbit/s", "delay": "50 ms", "buffer": "1000 pkt"}
    if probability > 0.0:
        link["loss"] = {"model": "bernoulli", "probability": probability, "applies_to": "data"}
    run = {"duration": "60 s", "replications": replications}
    return ackclock.compare(ackclock.run({"link": [link], "flow": [flow], "run": run}, threads=1, picture=False))


def test_a_short_transfer_is_compared_by_its_duration_whatever_its_start() -> None:
    at_once, late = (short_transfer(start).pairs for start in ("0 s", "10 s"))
    (one,), (other,) = ([pair for pair in pairs if pair.key == "transfer_s"] for pairs in (at_once, late))
    assert one.model == "short-flow"
    assert one.difference == pytest.approx(other.difference, rel=1e-9)
    # Windows of 3, 6, 12, 24 and 48 packets: the rounds are whole, as the formula does not require.
    assert abs(one.difference) < 0.1


def test_a_short_transfer_takes_the_losses_of_its_path() -> None:
    (clean,) = (pair for pair in short_transfer("0 s").pairs if pair.key == "transfer_s")
    (lossy,) = (pair for pair in short_transfer("0 s", 0.01, 200).pairs if pair.model == "short-flow")
    assert lossy.predicted > 1.5 * clean.predicted
    assert abs(lossy.difference) < 0.25


def test_a_short_transfer_whose_losses_come_together_has_no_model() -> None:
    loss = {"applies_to": "all", "law": {"model": "packets", "numbers": [5]}}
    links = [make_link("a", loss=loss), make_link("a.reverse")]
    assert "not lost independently" in reasons(one_flow(links, size_packets=7), "short-flow")


def test_pings_beside_a_flow_leave_its_models_unless_they_are_many() -> None:
    flow, traffic = make_flow("flow"), {"kind": "ping", "return_path": [1], "return_delay_s": 0.28}
    alone = predict_resolved(make_resolved(flows=[flow], links=PAIR))
    few = make_flow("ping", packet_bytes=84, traffic={**traffic, "interval_s": 0.1})
    assert predict_resolved(make_resolved(flows=[flow, few], links=PAIR)).applicable == alone.applicable
    # 1000 a second of 84 bytes are 0.67 of 1.5 Mbit/s.
    many = make_flow("ping", packet_bytes=84, traffic={**traffic, "interval_s": 0.001})
    assert predict_resolved(make_resolved(flows=[flow, many], links=PAIR)).applicable == ()


def test_the_square_root_takes_loss_indications_not_dropped_packets() -> None:
    flow = make_flow("flow", sender={"max_window": None, "rto": {"min_s": 1.0}})
    resolved = make_resolved(flows=[flow])
    sent = 20_000.0
    row = {
        "throughput_bps": {"mean": 0.9 * sent * 4096 / 80.0},
        "loss_fraction": {"mean": 0.1},
        "rtt_mean_s": {"mean": 0.6},
        "timeouts": {"mean": 1.0},
        "fast_retransmits": {"mean": 19.0},
    }
    (found,) = predict_from_measured(resolved, [row])
    assert isinstance(found, ModelPrediction)
    expected = 4096 * float(classics.square_root_rate(0.6, 20.0 / sent))
    assert found.numbers[0].value == pytest.approx(expected)


@pytest.mark.parametrize("name", ["geo-retransmission-loss", "web-access-link", "two-way-abr"])
def test_what_applies_comes_first_and_the_rest_has_a_line_each(name: str) -> None:
    found = ackclock.predict(name)
    console = Console(file=StringIO(), width=80)
    console.print(found)
    assert isinstance(console.file, StringIO)
    before, after = console.file.getvalue().split("\nNot applicable here")
    assert all(model.title.split(" (")[0] in before for model in found.applicable)
    _, *lines = after.splitlines()
    assert [line.split()[0] for line in lines] == [other.model for other in found.inapplicable]
    assert all(other.reasons[0][:40] in line for line, other in zip(lines, found.inapplicable, strict=True))
    assert max(map(len, lines)) <= 80


def test_a_prediction_is_a_table_and_plain_data() -> None:
    found = one_flow()
    assert found.table.set_index("key").loc["maximum_window_packets", "unit"] == "pkt"
    assert found.to_dict()["applicable"][0]["model"] == "bottlenecks"
    assert "<table>" in found._repr_html_()


def test_two_windows_that_meet_get_two_thirds() -> None:
    found = ackclock.predict(SCENARIOS / "two-way-symmetric.toml")
    length = 131e6 / (8 * 9180) * 8.41e-3
    shares = [one.value for one in model(found, "two-way").numbers if one.key == "efficiency_fraction"]
    assert shares == pytest.approx([28 / (28 + length)] * 2, rel=1e-6)
    assert "flows that meet each other's ACKs" in reasons(one_flow(), "two-way")


def test_the_model_of_two_ways_is_the_simulation() -> None:
    found = ackclock.compare(ackclock.run(SCENARIOS / "two-way-symmetric.toml", duration="20 s"))
    pairs = [one for one in found.pairs if (one.model, one.key) == ("two-way", "throughput_bps")]
    assert [one.difference for one in pairs] == pytest.approx([0.0, 0.0], abs=0.003)


def test_each_pair_of_directions_has_its_own_prediction() -> None:
    found = ackclock.predict(SCENARIOS / "two-way-r1.toml")
    pairs = [one for one in found.applicable if one.model == "two-way"]
    assert [one.subject for one in pairs] == [f"both directions of vc{number}" for number in (1, 2, 3)]
    # The IP queue is served at 43.8 Mbit/s: one segment more of store and forward each way.
    segment = 9220 * 8 / 43.8e6
    channel = 155.52e6 / 3 * 30 / 32 * 48 / 53
    lengths = [(delay + 9220 * 8 / channel) / segment for delay in (0.015005, 0.015005, 15e-6)]
    shares = [[one.value for one in pair.numbers if one.key == "efficiency_fraction"] for pair in pairs]
    assert shares == [pytest.approx([28 / (28 + length)] * 2) for length in lengths]


def test_pairs_of_directions_that_share_a_link_have_none() -> None:
    links = [make_link(name) for name in ("one", "one.reverse", "two", "two.reverse")]
    ways = [((0, 2), (3, 1)), ((3, 1), (0, 2)), ((0,), (1,)), ((1,), (0,))]
    flows = [make_flow(f"flow{number}", path=there, return_path=back) for number, (there, back) in enumerate(ways)]
    found = predict_resolved(make_resolved(flows=flows, links=links))
    assert "flows that meet each other's ACKs" in reasons(found, "two-way")


def jump(**changes: str) -> Prediction:
    steps = SCENARIOS / "mobile-delay-steps.toml"
    return ackclock.predict(steps, overrides={f"flow.transfer.tcp.{key}": value for key, value in changes.items()})


def test_a_jump_in_the_idle_part_of_a_round_lets_the_timer_expire() -> None:
    found = numbers(jump(), "delay-jump")
    assert found["timeouts_fraction"] == pytest.approx(1.0 - 12 / 25, abs=1 / 200)
    assert found["timeout_round_trip_s"] == pytest.approx(0.2 + 12 / 125)


def test_a_full_pipe_is_not_deceived() -> None:
    assert "never causes a spurious loss detection" in model(jump(max_window="26 pkt"), "delay-jump").sentences[0]


def test_a_path_that_alternates_has_an_ideal_goodput() -> None:
    states = [
        {"delay": "92 ms", "least_stay": "100 ms", "mean_extra": "1 s"},
        {"delay": "292 ms", "least_stay": "300 ms", "mean_extra": "3 s"},
    ]
    process = {"kind": "alternating", "states": states, "order": "overtake"}
    found = ackclock.predict(
        SCENARIOS / "mobile-delay-steps.toml",
        overrides={"link.radio.delay_process": process, "flow.transfer.tcp.max_window": "12 pkt"},
    )
    assert numbers(found, "ideal-goodput")["ideal_goodput_bps"] == pytest.approx(60 * 8000)


def test_models_of_a_constant_delay_say_that_it_changes() -> None:
    assert "the delay changes" in reasons(jump(), "window")
    assert "the delay does not change" in reasons(one_flow(), "ideal-goodput")


LOSSY = {
    "link.radio.rate": "100 Mbit/s",
    "link.radio.loss": {"model": "poisson", "mean_interval": "4 s"},
    "flow.transfer.tcp": {"preset": "newreno-rfc6582", "ack_every": 1, "max_window": "unlimited"},
}
ALTERNATING = {
    "kind": "alternating",
    "states": [{"delay": f"{delay} ms", "least_stay": f"{delay} ms", "mean_extra": "40 s"} for delay in (100, 500)],
    "order": "keep",
}


def lossy(**changes: Any) -> Prediction:
    links = {f"link.radio.{key}": value for key, value in changes.items()}
    return ackclock.predict(SCENARIOS / "mobile-delay-steps.toml", overrides={**LOSSY, **links})


def test_poisson_losses_on_a_constant_delay_have_one_prediction() -> None:
    found = numbers(lossy(delay_process={"kind": "steps", "steps": [["0 s", "200 ms"]]}), "variable-delay")
    round_trip = 0.2 + 8000 / 100e6
    expected = 1.0 / (0.5 * round_trip * (1.0 - math.exp(-round_trip / 4.0))) - 0.5 / round_trip
    assert set(found) == {"markov_bps", "mean_round_trip_s", "window_packets"}
    assert found["markov_bps"] == pytest.approx(8000 * expected)


def test_a_delay_that_varies_is_predicted_three_ways() -> None:
    found = numbers(lossy(delay_process=ALTERNATING), "variable-delay")
    assert found["fixed_bps"] < found["variable_bps"] < found["markov_bps"]


def test_losses_by_packet_are_the_square_root_s() -> None:
    process = {"kind": "steps", "steps": [["0 s", "200 ms"]]}
    found = numbers(lossy(loss={"model": "bernoulli", "probability": 0.001}, delay_process=process), "random-loss")
    expected = classics.square_root_rate(0.2 + 8000 / 100e6, 0.001)
    assert found["square_root_bps"] == pytest.approx(8000 * float(expected))


def simulated_bps(process: dict[str, Any]) -> dict[str, float]:
    changes = {**LOSSY, "link.radio.delay_process": process, "flow.transfer.tcp.rto.min": "1 s", "run.replications": 6}
    changes |= {"run.duration": "10000 s", "run.warmup": "500 s"}
    result = ackclock.run(SCENARIOS / "mobile-delay-steps.toml", overrides=changes, picture=False)
    pairs = {one.key: one for one in ackclock.compare(result).pairs if one.model == "variable-delay"}
    return {**{key: pair.predicted for key, pair in pairs.items()}, "simulated": pairs["markov_bps"].simulated}


def test_a_delay_that_varies_gains_what_the_chain_says() -> None:
    """The model knows no rounds of recovery and is 5% high in both: their ratio is the paper's claim."""
    varying = simulated_bps(ALTERNATING)
    stays, round_trips = np.array([40.1, 40.5]), np.array([0.10008, 0.50008])
    mean_s = stays.sum() / (stays / round_trips).sum() - 0.00008  # over rounds
    constant = simulated_bps({"kind": "steps", "steps": [["0 s", f"{mean_s:.6f} s"]]})
    gain = varying["simulated"] / constant["simulated"]
    assert gain > 1.0
    assert gain == pytest.approx(varying["markov_bps"] / varying["fixed_bps"], abs=0.05)


def web(**changes: Any) -> Prediction:
    return ackclock.predict(SCENARIOS / "web-access-link.toml", overrides=changes or None)


def test_web_sources_are_the_papers() -> None:
    for count, rate in ((82, 547.8), (98, 344.6), (115, 219.5), (134, 154.9)):
        found = numbers(web(**{"flow.web.count": count}), "engset")
        assert found["rate_bps"] / 1e3 == pytest.approx(rate, abs=0.05)
    assert found["loss_fraction"] == pytest.approx(0.383, abs=5e-4)


def test_a_mean_size_between_two_whole_ones_is_not_rounded() -> None:
    sizes = [{"law": "exponential", "mean": f"{mean} pkt", "min": "3 pkt"} for mean in (12, 12.4, 13)]
    found = [numbers(web(**{"flow.web.traffic.size": size}), "engset")["on_s"] for size in sizes]
    assert found[0] < found[1] < found[2]


def test_the_model_of_web_sources_says_when_it_overestimates_the_loss() -> None:
    assert any("overestimates the loss" in warning for warning in model(web(), "engset").warnings)
    assert not model(web(**{"flow.web.count": 82}), "engset").warnings


def test_models_of_bulk_flows_say_that_web_sources_are_none() -> None:
    found = web(**{"flow.web.count": 1})
    assert "transfer and fall silent in turn" in reasons(found, "sawtooth")
    assert "no web sources" in reasons(one_flow(), "engset")


def test_the_rate_of_transfers_is_the_simulation_s() -> None:
    run = ackclock.run(SCENARIOS / "web-access-link.toml", duration="320 s", replications=4, picture=False)
    pairs = {one.key: one for one in ackclock.compare(run).pairs if one.model == "engset"}
    assert pairs["rate_bps"].difference == pytest.approx(0.0, abs=0.02)
    assert pairs["on_s"].difference == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("size", ["1 kB", "1 pkt", "3 pkt", "10 pkt"])
def test_a_few_packets_take_a_round_trip_and_not_less(size: str) -> None:
    """Cardwell's rounds of slow start are a real number: 0.12 of one for a packet of a first window of ten."""
    link = {"name": "line", "rate": "1 Mbit/s", "delay": "0 ms"}
    document = {"link": [link], "flow": [{"path": ["line"], "size": size}], "run": {"duration": "20 s"}}
    (model,) = (one for one in ackclock.predict(document).applicable if one.model == "short-flow")
    numbers = {number.key: number.value for number in model.numbers}
    measured = float(ackclock.run(document).flows.fct_acked_mean_s.iloc[0])
    least = 8 * (1000 if size == "1 kB" else 1500) / 1e6
    assert least <= numbers["transfer_s"] <= 1.001 * measured


@pytest.mark.parametrize("packets", [1, 2, 3, 7, 8, 14, 21, 22, 34])
@pytest.mark.parametrize("tcp", ['"reno-rfc5681"', '{ preset = "reno-ns2", ack_every = 2, ack_delay = "200 ms" }'])
def test_a_transfer_to_a_receiver_that_delays_acks_takes_whole_rounds_of_whole_acks(tcp: str, packets: int) -> None:
    """The last packet of an odd number waits for the timer, as does the first one of a first window of one."""
    line = (
        '[[link]]\nname = "line"\nrate = "50 Mbit/s"\ndelay = "20 ms"\nbuffer = "500 pkt"\n[[flow]]\npath = ["line"]\n'
    )
    run = ackclock.run(f'{line}size = "{packets} pkt"\ntcp = {tcp}\n[run]\nduration = "30 s"', picture=False)
    pairs = {pair.key: pair for pair in ackclock.compare(run).pairs if pair.model == "short-flow"}
    assert pairs["transfer_whole_rounds_s"].difference == pytest.approx(0.0, abs=0.006)
    waits = 0.2 * (packets % 2 if "rfc5681" in tcp else 1 + (packets - 1) % 2)
    assert pairs["transfer_s"].predicted >= waits + 0.04


def test_delayed_acks_between_long_round_trips_are_said_to_be_left_out() -> None:
    def warnings(delay: str) -> str:
        line = f'[[link]]\nname = "line"\nrate = "50 Mbit/s"\ndelay = "{delay}"\nbuffer = "500 pkt"\n'
        flow = '[[flow]]\npath = ["line"]\nsize = "9 pkt"\ntcp = "reno-rfc5681"\n[run]\nduration = "30 s"'
        (found,) = (one for one in ackclock.predict(line + flow).applicable if one.model == "short-flow")
        return "; ".join(found.warnings)

    assert "200 ms after a packet" in warnings("150 ms")
    assert "after a packet" not in warnings("20 ms")


def said_after_run(scenario: dict[str, Any]) -> str:
    result = ackclock.run(scenario, picture=False)
    return "\n".join(text for model in ackclock.compare(result).predictions for text in model.sentences)


def test_theory_says_that_a_socket_buffer_limits_the_flow_that_it_has_losses_limit() -> None:
    link = {"name": "wan", "rate": "200 Mbit/s", "delay": "40 ms", "buffer": "20 ms"}
    flow: dict[str, Any] = {"name": "copy", "path": ["wan"], "tcp": {"preset": "linux-cubic"}}
    scenario = {"link": [link], "flow": [flow], "run": {"duration": "8 s", "warmup": "3 s"}}
    (model,) = (one for one in ackclock.predict(scenario).applicable if one.model == "lone-buffer")
    limited = Finding("buffer-limit", "copy", {"packets": 256.0, "send": 1.0})
    used = Finding("idle", "wan", {"utilisation_fraction": 0.2})
    text = "\n".join(confront(model, [limited, used]).sentences)
    assert "too few, says the model, in which losses limit the flow; in this run the send buffer limits copy" in text
    assert "says the model" not in said_after_run(scenario)


@pytest.mark.parametrize(
    ("sizes", "limit", "packets"),
    [
        ({"send_buffer_max": "1 MiB", "receive_buffer_max": "6 MiB"}, "the send buffer", 256),
        ({"send_buffer_max": "6 MiB", "receive_buffer_max": "2 MB"}, "the receive buffer", 691),
    ],
)
def test_a_socket_buffer_that_never_fills_the_path_is_the_window(
    sizes: dict[str, str], limit: str, packets: int
) -> None:
    link = {"name": "wan", "rate": "200 Mbit/s", "delay": "40 ms", "buffer": "20 ms"}
    flow: dict[str, Any] = {"name": "copy", "path": ["wan"], "tcp": {"preset": "linux-cubic", **sizes}}
    scenario = {"link": [link], "flow": [flow], "run": {"duration": "40 s", "warmup": "10 s"}}
    (model,) = ackclock.predict(scenario).applicable
    assert model.model == "window"
    assert f"{packets} packets, as many as {limit} allows, each 80.06 ms are less than" in model.sentences[0]
    run = ackclock.run(scenario, picture=False)
    assert run.flows.throughput_bps["copy"] == pytest.approx(model.numbers[0].value, rel=0.02)


def test_the_example_of_the_page_has_its_numbers() -> None:
    page = " ".join((Path(__file__).parents[1] / "docs" / "models.md").read_text(encoding="utf-8").split())
    loss = {"model": "bernoulli", "probability": 1e-6, "applies_to": "data"}
    link = {"name": "link", "rate": "1 Gbit/s", "delay": "25 ms", "buffer": "5000 pkt", "loss": loss}
    sizes = {"receive_buffer_max": "3 MB"}
    flow: dict[str, Any] = {"name": "f", "path": ["link"], "tcp": {"preset": "linux-cubic", **sizes}}
    scenario = {"link": [link], "flow": [flow], "run": {"duration": "60 s", "warmup": "5 s"}}
    run = ackclock.run(scenario, picture=False)
    (model,) = (one for one in ackclock.predict(scenario).applicable if one.model == "cubic")
    flow["tcp"] = {"preset": "linux-cubic", "receive_buffer_max": "1 GB", "send_buffer_max": "1 GB"}
    (alone,) = (one for one in ackclock.predict(scenario).applicable if one.model == "cubic")
    law, now, simulated = (
        round(bps / 1e6) for bps in (alone.numbers[0].value, model.numbers[0].value, run.flows.throughput_bps["f"])
    )
    assert f"had {law} Mbit/s by the law alone, now {now}; the simulation has {simulated}." in page


@pytest.mark.parametrize("preset", ["linux-cubic", "linux-reno"])
@pytest.mark.parametrize("size", ["300 kB", "100 kB"])
def test_a_receive_buffer_caps_the_laws_of_losses(preset: str, size: str) -> None:
    link = {"name": "wan", "rate": "1 Gbit/s", "delay": "100 ms", "loss": {"model": "bernoulli", "probability": 1e-4}}
    tcp = {"preset": preset, "receive_buffer": "64 kB", "receive_buffer_max": size}
    flow = {"name": "copy", "path": ["wan"], "tcp": tcp}
    run = {"duration": "2000 s", "warmup": "50 s", "replications": 2}
    result = ackclock.run({"link": [link], "flow": [flow], "run": run}, picture=False)
    compared = ackclock.compare(result)
    models = {one.model: one for one in compared.predictions}
    measured = result.flows.throughput_bps["copy"]
    for name in ("cubic" if preset == "linux-cubic" else "random-loss", "losses"):
        for number in models[name].numbers:
            # The square root is cut off at a largest window a round trip, as if losses left that window.
            if number.unit == "bit/s":
                within = 0.2 if number.key == "square_root_bps" else 0.1
                assert number.value == pytest.approx(measured, rel=within), (name, number.key)
    given = models["cubic" if preset == "linux-cubic" else "random-loss"]
    assert any("the receive buffer allows" in text for text in given.sentences)


def test_theory_says_what_the_share_of_bbr_was_where_it_is_another() -> None:
    link = {"name": "line", "rate": "20 Mbit/s", "delay": "20 ms", "buffer": "16 pkt"}
    flows = [{"name": "bbr", "path": ["line"], "tcp": "linux-bbr"}, {"name": "cubic", "path": ["line"]}]
    scenario = {"link": [link], "flow": flows, "run": {"duration": "20 s", "warmup": "5 s"}}
    assert "however many flows share the rest, says the model; in this run the share was " in said_after_run(scenario)
    link["buffer"] = "264 pkt"
    scenario["run"] = {"duration": "100 s", "warmup": "20 s"}
    text = said_after_run(scenario)
    assert "however many flows share the rest" in text
    assert "in this run the share was" not in text


def test_a_transfer_whose_window_never_fills_the_path_overflows_nothing() -> None:
    """A window of 43 packets was said to overflow a buffer of 500, on a path of 833."""
    flow: dict[str, Any] = {"path": ["wan"], "size": "20 MB", "tcp": {"preset": "linux-cubic"}}
    document = {
        "link": [{"name": "wan", "rate": "100 Mbit/s", "delay": "50 ms", "buffer": "500 pkt"}],
        "run": {"duration": "60 s"},
    }

    def warned(**tcp: Any) -> str:
        models = ackclock.predict(document | {"flow": [flow | {"tcp": flow["tcp"] | tcp}]}).applicable
        return " ".join(warning for model in models for warning in model.warnings)

    assert "slow start may overflow wan's 500 packets" in warned()
    assert "HyStart may end slow start" in warned()
    limited = warned(max_window="64 KiB")
    assert "overflow" not in limited
    assert "HyStart" not in limited
