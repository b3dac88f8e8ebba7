"""The sender with selective acknowledgment, from a scenario to each answer; what its TCP is named in them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock import cost, findings
from ackclock.advice import advise
from ackclock.cli import app
from ackclock.engine import run_resolved
from ackclock.prediction import Inapplicable, ModelPrediction, predict_from_measured, predict_resolved
from ackclock.prediction.losses import LOSSES, NO_LAW
from ackclock.prediction.scene import NOT_AIMD, NOT_FILLING
from ackclock.scenario import Resolved, load, resolve
from ackclock.scenario.tcp_names import tcp_names
from crosscheck import build, subset

PATH = [
    {"name": "access", "rate": "2.7 Mbit/s"},
    {"name": "feeder", "rate": "2.2 Mbit/s", "buffer": "15 pkt"},
    {"name": "satellite", "rate": "1.5 Mbit/s", "buffer": "18 pkt"},
]
LINUX = ("linux-reno", "linux-cubic")
TRIPS = {"near": 100, "far": 400}
"""Round trips of two flows [ms]."""


def readme(tcp: Any, links: list[dict[str, Any]] | None = None, **flow: Any) -> dict[str, Any]:
    """Give README's scenario with another TCP."""
    links = links or PATH
    names = [link["name"] for link in links]
    own = {"path": names, "two_way_propagation": "560 ms", "packet": "512 B", "tcp": tcp, **flow}
    return {"link": links, "flow": [own], "run": {"duration": "60 s"}}


def resolved(tcp: Any, links: list[dict[str, Any]] | None = None, **flow: Any) -> Resolved:
    return resolve(load(readme(tcp, links, **flow)))


def reasons(scenario: Resolved) -> dict[str, tuple[str, ...]]:
    return {one.model: one.reasons for one in predict_resolved(scenario).inapplicable}


def applicable(scenario: Resolved) -> set[str]:
    return {one.model for one in predict_resolved(scenario).applicable}


def as_toml(document: dict[str, Any]) -> str:
    tables = [
        f"[[{kind}]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
        for kind in ("link", "flow")
        for entry in document[kind]
    ]
    return "\n".join([*tables, '[run]\nduration = "60 s"\n'])


def test_without_sack_each_loss_takes_a_round_trip() -> None:
    """Four packets of a window are lost: one recovery, which lasts as many round trips as losses (RFC 6582)."""
    lossy = {"model": "packets", "packets": [100, 102, 104, 106], "applies_to": "data"}
    link = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms", "loss": lossy}
    repaired = {}
    for sack in (True, False):
        flow = {"path": ["link"], "tcp": {"preset": "linux-reno", "sack": sack}}
        scenario = resolve(load({"link": [link], "flow": [flow], "run": {"duration": "10 s"}}))
        connection = scenario.flows[0].connection
        assert connection is not None
        assert connection.receiver.selective is sack
        (columns,) = run_resolved(scenario, threads=1)
        flows = columns["flows"]
        counted = [flows[name][0] for name in ("recoveries", "retransmitted_packets", "timeouts")]
        assert counted == [1, 4, 0]
        repaired[sack] = flows["recovery_s"][0]
    assert 0.1 < repaired[True] < 0.2
    assert 0.4 < repaired[False] < 0.6


@pytest.mark.parametrize("preset", LINUX)
@pytest.mark.parametrize("command", ["run", "predict", "check", "resolve", "advise", "sweep"])
def test_each_command_takes_it(command: str, preset: str, tmp_path: Path) -> None:
    file = tmp_path / "readme.toml"
    file.write_text(as_toml(readme(preset)), encoding="utf-8")
    options = {
        "run": ["--out", str(tmp_path / "out")],
        "sweep": ["--vary", "link.satellite.buffer=10,40 pkt", "--out", str(tmp_path / "sweep")],
        "advise": ["--no-simulate"],
    }
    told = CliRunner().invoke(app, [command, str(file), *options.get(command, [])])
    assert told.exit_code == 0, told.output
    if command == "run":
        assert f"TCP: {preset}\n" in told.output
        assert (tmp_path / "out" / "picture.png").exists()
    if command == "resolve":
        assert json.loads(told.output)["flows"][0]["traffic"]["connection"]["sender"]["machine"] == "selective"


@pytest.mark.parametrize("preset", LINUX)
def test_advice_simulates_it(preset: str) -> None:
    advice = advise(readme(preset), topics=["slow-start-buffers", "spurious-retransmissions"])
    assert [one.topic for one in advice.recommendations] == []
    (found,) = advise(readme(preset), topics=["bottleneck-buffer"]).recommendations
    assert found.changes
    assert any("mu T" in rule.name for rule in found.rules) == (preset == "linux-reno")


@pytest.mark.parametrize(
    ("tcp", "name"),
    [
        ("newreno-rfc6582", "newreno-rfc6582"),
        ("linux-reno", "linux-reno"),
        ({"recovery": "sack"}, "linux-cubic"),
        ({"preset": "linux-reno", "congestion_control": "cubic"}, "linux-cubic"),
        ({"preset": "linux-cubic", "max_window": "64 pkt"}, "linux-cubic with another max_window"),
        ({"preset": "linux-cubic", "handshake": "tcp"}, 'linux-cubic with another handshake ("tcp")'),
        (
            {"preset": "linux-cubic", "handshake": "tls", "ecn": "classic", "close": "tcp"},
            'linux-cubic with another ecn ("classic"), handshake ("tls"), close ("tcp")',
        ),
        ({"preset": "linux-cubic", "write_size": "2 kB"}, "linux-cubic with another write_size"),
        ({"preset": "linux-cubic", "sack": False}, "linux-cubic with another sack"),
        (
            {"preset": "newreno-ns2", "initial_window": "3 pkt", "rto": {"min": "1 s"}},
            "newreno-ns2 with another initial_window, rto.min",
        ),
        (
            {
                "preset": "linux-reno",
                "timestamps": False,
                "frto": False,
                "ack_every": 1,
                "ack_delay": "1 ms",
                "dupack_threshold": 4,
            },
            'linux-reno with another ack_every, ack_delay, acks ("delayed"), frto and 2 more',
        ),
    ],
)
def test_a_tcp_is_named_by_the_nearest_preset(tcp: Any, name: str) -> None:
    assert tcp_names(resolved(tcp)) == {"flow": name}


def test_a_run_says_which_tcp_it_simulated(tmp_path: Path) -> None:
    document = readme("linux-reno")
    document["flow"] = [
        {**document["flow"][0], "name": "new"},
        {**document["flow"][0], "name": "old", "tcp": "tahoe-ns2"},
        {"name": "voice", "path": ["access"], "traffic": {"kind": "constant", "rate": "64 kbit/s"}},
    ]
    result = ackclock.run(document)
    assert result.summary["tcp"] == {"new": "linux-reno", "old": "tahoe-ns2"}
    assert "TCP: linux-reno, tahoe-ns2" in result._repr_html_()
    result.save(tmp_path, picture=False)
    assert ackclock.Result.load(tmp_path).summary["tcp"] == result.summary["tcp"]


def test_models_of_reno_apply_to_linux_reno_and_never_to_cubic() -> None:
    lossy = [{**PATH[2], "loss": {"model": "bernoulli", "probability": 0.001}}]
    poisson = [{**PATH[2], "loss": {"model": "poisson", "mean_interval": "2 s"}}]
    asked: dict[str, dict[str, Any]] = {
        "sawtooth": {},
        "random-loss": {"links": lossy},
        "variable-delay": {"links": poisson},
        "many-flows": {"count": 9},
        "short-flow": {"links": lossy, "size": "20 pkt"},
    }
    for model, fields in asked.items():
        assert model in applicable(resolved("linux-reno", **fields)), model
        cubic = resolved("linux-cubic", **fields)
        assert model not in applicable(cubic), model
        assert NOT_AIMD in reasons(cubic)[model], model
    sentence = "halving the window at a loss is Reno's and NewReno's; this is cubic with selective acknowledgment"
    assert sentence in reasons(resolved("linux-cubic"))["sawtooth"]


def test_reno_that_does_not_halve_is_not_renos() -> None:
    form = resolved("linux-reno").to_dict()
    control = form["flows"][0]["traffic"]["connection"]["sender"]["congestion_control"]
    for beta, applies in ((0.5, True), (0.7, False)):
        control["parameters"] = {"beta": beta}
        assert ("sawtooth" in applicable(Resolved.from_dict(form))) == applies


def test_a_model_of_tahoe_says_whose_tcp_it_is_not() -> None:
    sentence = "with a slow start in each cycle; this is reno with selective acknowledgment"
    assert any(reason.endswith(sentence) for reason in reasons(resolved("linux-reno"))["bottlenecks"])


def test_models_of_a_constant_window_want_a_control_that_fills_it() -> None:
    there, back = ["satellite"], ["satellite.reverse"]
    alternating = {"kind": "alternating", "states": [{"delay": f"{ms} ms", "mean_extra": "5 s"} for ms in (50, 90)]}
    for control, fills in (("cubic", True), ("vegas", False)):
        tcp = {"preset": "linux-reno", "congestion_control": control, "max_window": "30 pkt", "ack_every": 1}
        two_way = readme(tcp, PATH[2:])
        two_way["flow"] = [{**two_way["flow"][0], "path": path, "name": path[0][-3:]} for path in (there, back)]
        asked = {
            "window": resolved(tcp),
            "two-way": resolve(load(two_way)),
            "ideal-goodput": resolved(tcp, [{**PATH[2], "delay_process": alternating}]),
        }
        for model, scenario in asked.items():
            assert (model in applicable(scenario)) == fills, (model, control)
            assert fills or reasons(scenario)[model] == (NOT_FILLING,)


def test_costs_of_cubic_are_not_limited_by_renos_window_under_losses() -> None:
    lossy = [{**PATH[2], "loss": {"model": "bernoulli", "probability": 0.01}}]
    reno, cubic = (cost.expected_packets(resolved(name, lossy)) for name in LINUX)
    assert cubic > 2.0 * reno


def test_no_threshold_is_searched_for_a_sender_that_finds_out_what_deceived_it() -> None:
    process = {"kind": "steps", "steps": [["0 s", "50 ms"], ["20 s", "250 ms"]], "order": "overtake"}
    link = [{**PATH[2], "delay_process": process}]
    topics = ["spurious-retransmissions"]
    assert advise(readme("reno-ns2", link), topics=topics, simulate=False).recommendations
    assert not advise(readme("linux-reno", link), topics=topics, simulate=False).recommendations


def test_a_jump_of_the_delay_is_not_a_model_of_a_sender_that_detects_losses_by_time() -> None:
    process = {"kind": "steps", "steps": [["0 s", "50 ms"], ["20 s", "250 ms"]], "order": "overtake"}
    link = [{**PATH[2], "delay_process": process}]
    window = {"max_window": "20 pkt"}
    assert "delay-jump" in applicable(resolved({"preset": "reno-ns2", **window}, link))
    (reason,) = reasons(resolved({"preset": "linux-reno", **window}, link))["delay-jump"]
    assert reason.endswith("this is reno with selective acknowledgment")


def test_the_formulas_by_measured_losses_are_those_of_the_control() -> None:
    means = {"throughput_bps": 1e6, "loss_fraction": 0.01, "rtt_mean_s": 0.6, "timeouts": 1.0, "fast_retransmits": 19.0}
    rows = [{key: {"mean": mean} for key, mean in means.items()}]
    (reno,), (cubic,), (bbr,) = (
        predict_from_measured(resolved(preset), rows) for preset in ("linux-reno", "linux-cubic", "linux-bbr")
    )
    assert isinstance(reno, ModelPrediction)
    assert {number.key for number in reno.numbers} == {"square_root_bps", "pftk_sack_bps"}
    (without,) = predict_from_measured(resolved({"preset": "linux-reno", "sack": False}), rows)
    assert isinstance(without, ModelPrediction)
    assert {number.key for number in without.numbers} == {"square_root_bps", "pftk_bps"}
    assert isinstance(cubic, ModelPrediction)
    assert {number.key for number in cubic.numbers} == {"cubic_bps"}
    assert bbr == Inapplicable(*LOSSES, (NO_LAW,))


def test_delayed_acks_do_not_slow_the_growth_of_linux() -> None:
    linux, classic = resolved("linux-reno").flows[0].tcp, resolved("reno-rfc5681").flows[0].tcp
    assert (linux.receiver.ack_every, linux.packets_per_ack) == (2, 1.0)
    assert (classic.receiver.ack_every, classic.packets_per_ack) == (2, 2.0)


def test_the_least_timeout_of_linux_adds_to_the_round_trip() -> None:
    assert resolved("linux-reno").flows[0].tcp.sender.least_timeout_s(0.6) == pytest.approx(0.8)
    assert resolved("reno-rfc5681").flows[0].tcp.sender.least_timeout_s(0.6) == 1.0


def test_shares_of_cubic_are_not_said_to_go_as_1_by_rtt() -> None:
    def is_explained(tcp: str) -> bool:
        document = readme(tcp)
        (flow,) = document["flow"]
        document["flow"] = [{**flow, "name": name, "two_way_propagation": f"{ms} ms"} for name, ms in TRIPS.items()]
        rows = [
            {"name": name, "goodput_bps": {"mean": 1e8 / ms}, "rtt_mean_s": {"mean": ms / 1e3}, "loss_fraction": None}
            for name, ms in TRIPS.items()
        ]
        scenario = resolve(load(document))
        full = {"utilisation_fraction": {"mean": 1.0}, "dropped_packets": {"mean": 9.0}, "lost_packets": None}
        links = [full for _ in scenario.elements]
        (found,) = findings._shares(findings._Run(scenario, rows, links))
        return "shortest_round_trip_s" in found.numbers

    assert is_explained("linux-reno")
    assert not is_explained("linux-cubic")


def test_ns2_is_not_asked_for_a_sender_that_it_does_not_have() -> None:
    with pytest.raises(
        subset.UnsupportedError, match=r"sender\.machine: not in ns-2; given 'selective'; allowed 'clas"
    ):
        subset.check(resolved("linux-reno").to_dict())
    with pytest.raises(ValueError, match="no such recovery; given 'sack'; allowed old-tahoe, tahoe, reno, newreno"):
        build.sender("sack")


@pytest.mark.parametrize("private", [False, True])
def test_sack_blocks_take_time_on_the_way_back_but_on_private_links(private: bool) -> None:
    """The fifth of 40 packets is lost: ACKs beyond the hole have a block, 12 bytes with its option."""
    loss = {"model": "packets", "packets": [5], "applies_to": "data"}
    near = {"name": "near", "rate": "2 Mbit/s", "delay": "20 ms", "private": private}
    far = {"name": "far", "rate": "2 Mbit/s", "loss": loss, "reverse": {"rate": "unlimited"}}
    flow = {"path": ["near", "far"], "ack": "52 B", "size": "40 pkt", "tcp": "linux-cubic"}
    once = {"duration": "10 s"}
    result = ackclock.run({"link": [near, far], "flow": [flow], "run": once, "trace": {"sequence": True}})
    rows = result.traces["sequence"]
    acks = rows[rows.kind == "acknowledged"].sequence
    duplicates = int((acks == 4).sum()) - 1
    assert duplicates >= 3
    sent = round(result.links.throughput_bps["near.reverse"] * 10.0 / 8.0)
    assert sent == 52 * len(acks) + (0 if private else 12 * duplicates)
