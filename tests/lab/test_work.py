"""What the page asks for, and what it gets."""

import json
import tomllib
from typing import Any

import pytest

import ackclock
from ackclock.advice import Advice, Recommendation
from ackclock.errors import ArgumentError
from ackclock.lab.advice_data import advice_data
from ackclock.lab.advising import advice
from ackclock.lab.desk import Desk
from ackclock.lab.lessons_read import lesson, lesson_names
from ackclock.lab.running import CancelledError, prepared
from ackclock.lab.site import offered_titles
from ackclock.lab.work import motion_work, run_work, window_work
from ackclock.scenario.ready import ready_path, ready_titles
from ackclock.scenario.schema_queues import NAMES

FIRST = str(lesson(lesson_names()[0])["scenario"])


def asked(desk: Desk, work: Any) -> dict[str, Any]:
    """Give what the page shows in the end: the answer, and the curves that came before it."""
    lines: list[dict[str, Any]] = []
    lines.append(work(desk, lines.append))
    json.dumps(lines, allow_nan=False)
    return {key: value for line in lines for key, value in line.items()}


def panels(found: dict[str, Any]) -> dict[str, Any]:
    return {panel["title"] or panel["y_label"]: panel for panel in found["chart"]["panels"]}


def test_a_run_has_text_form_curves_words_and_numbers() -> None:
    found = asked(Desk(), run_work({"toml": FIRST, "set": {"link.line.buffer": "40 pkt"}}))
    assert found["kind"] == "result"
    assert 'buffer = "40 pkt"' in found["toml"]
    assert list(panels(found)) == ["Congestion window", "Queues", "Round trips", "Rates", "Packets by number"]
    assert "40-packet buffer" in found["verdict"]
    control = next(one for one in found["form"]["links"][0]["forward"]["controls"] if one["label"] == "buffer")
    assert (control["value"], control["text"], control["path"]) == (40.0, "40 pkt", "link.line.buffer")


def test_a_long_run_has_rounds_in_the_place_of_round_trips_and_says_so() -> None:
    short, long = (
        asked(Desk(), run_work({"toml": FIRST, "set": {"run.duration": time}})) for time in ("20 s", "7000 s")
    )
    labels = [panels(found)["Round trips"]["y_label"] for found in (short, long)]
    assert labels == ["round trip [ms]", "round trip, repairs included [ms]"]


def test_the_curves_come_before_the_words_and_the_numbers() -> None:
    lines: list[dict[str, Any]] = []
    last = run_work({"toml": FIRST})(Desk(), lines.append)
    assert [line["kind"] for line in lines if line["kind"] != "progress"] == ["curves"]
    assert "chart" in lines[-1]
    assert "verdict" not in lines[-1]
    assert last["kind"] == "result"
    assert "chart" not in last


def test_the_numbers_are_those_of_a_run_outside_of_the_page() -> None:
    found = asked(Desk(), run_work({"toml": FIRST}))
    summary = ackclock.run(FIRST).summary
    for one in found["numbers"]:
        row = next(row for row in summary[one["of"]] if row["name"] == one["name"])  # type: ignore[literal-required]
        assert one["mean"] == row[one["quantity"]]["mean"]
    assert found["verdict"] == summary["verdict"]


@pytest.mark.parametrize("name", lesson_names())
def test_no_two_numbers_have_the_same_name(name: str) -> None:
    """Two runs are compared by name and quantity; the loss of pings was there as that of their flow too."""
    numbers = asked(Desk(), run_work({"toml": str(lesson(name)["scenario"])}))["numbers"]
    names = [(one["name"], one["quantity"]) for one in numbers]
    assert sorted(set(names)) == sorted(names)


def test_the_loss_of_pings_is_that_of_their_own_row() -> None:
    text = str(lesson("2-bufferbloat")["scenario"])
    found = asked(Desk(), run_work({"toml": text}))["numbers"]
    (loss,) = [one["mean"] for one in found if (one["name"], one["quantity"]) == ("ping", "loss_fraction")]
    (row,) = ackclock.run(text, picture=False).summary["pings"]
    assert loss == row["loss_fraction"]["mean"]


def test_the_curve_of_cwnd_is_that_of_the_picture_on_disk() -> None:
    found = panels(asked(Desk(), run_work({"toml": FIRST, "columns": 4000})))
    chart = ackclock.run(FIRST).chart()
    mine = next(curve for curve in found["Congestion window"]["curves"] if curve["label"] == "download")
    theirs = next(curve for curve in chart.panels[0].curves if curve.label == "download")
    assert mine["x"] == pytest.approx(theirs.x.tolist(), abs=1e-4)
    assert mine["y"] == pytest.approx(theirs.y.tolist(), abs=1e-3)


def test_faults_have_their_lines_and_the_text_with_the_changes() -> None:
    found = asked(Desk(), run_work({"toml": FIRST, "set": {"link.line.rate": "fast"}}))
    assert found["kind"] == "fault"
    assert 'rate = "fast"' in found["toml"]
    assert [fault["line"] for fault in found["faults"]] == [5]


def test_the_loss_of_acks_alone_stays_one_of_acks_alone() -> None:
    text = FIRST.replace(
        'buffer = "50 pkt"', 'reverse = { loss = { model = "bernoulli", probability = 0.1, applies_to = "acks" } }'
    )
    form = prepared(text).form
    control = next(one for one in form["links"][0]["reverse"]["controls"] if one["label"] == "loss")
    assert (control["path"], control["value"]) == ("link.line.reverse.loss.probability", 0.1)
    found = asked(Desk(), run_work({"toml": text, "set": {control["path"]: 0.2}}))
    assert 'probability = 0.2, applies_to = "acks"' in found["toml"]


def test_a_flow_of_each_kind_has_the_controls_that_it_can_have() -> None:
    more = """
[[flow]]
name = "pings"
path = ["line"]
traffic = { kind = "ping" }
[[flow]]
name = "noise"
path = ["line"]
traffic = { kind = "poisson", rate = "1 Mbit/s" }
[[flow]]
name = "page"
path = ["line.reverse"]
size = "1 MB"
two_way_propagation = "90 ms"
tcp = { max_window = "20 pkt" }
"""
    found = asked(Desk(), run_work({"toml": FIRST + more}))
    labels = {flow["name"]: [one["label"] for one in flow["controls"]] for flow in found["form"]["flows"]}
    assert labels == {
        "download": ["TCP", "number", "start", "size", "least RTT"],
        "pings": ["number", "start"],
        "noise": ["number", "start"],
        "page": ["TCP", "number", "start", "size", "propagation"],
    }
    preset = found["form"]["flows"][3]["controls"][0]
    assert (preset["path"], preset["value"]) == ("flow.page.tcp.preset", "linux-cubic")


def test_replications_are_summed_up_and_the_first_one_is_drawn() -> None:
    text = FIRST.replace('duration = "60 s"', 'duration = "5 s"\nreplications = 3').replace(
        'delay = "18 ms"', 'delay = "18 ms"\nloss = { model = "bernoulli", probability = 0.01 }'
    )
    found = asked(Desk(), run_work({"toml": text}))
    assert "3 replications" in found["heading"]
    assert panels(found)["Packets by number"]


@pytest.mark.parametrize("name", offered_titles())
def test_each_ready_scenario_has_a_form_and_can_be_prepared(name: str) -> None:
    form = prepared(ready_path(name).read_text(encoding="utf-8")).form
    json.dumps(form, allow_nan=False)
    assert form["flows"]
    names = {one for link in form["links"] for one in (link["name"], f"{link['name']}.reverse")}
    assert all(set(flow["path"]) <= names for flow in form["flows"])


def test_the_page_offers_all_ready_scenarios_but_a_large_one() -> None:
    assert ready_titles().keys() - offered_titles().keys() == {"branch-offices"}


def test_a_short_part_of_a_run_is_drawn_from_each_change_of_its_queues() -> None:
    desk = Desk()
    asked(desk, run_work({"toml": FIRST}))
    found = panels(asked(desk, window_work({"start": 10.0, "end": 10.5})))
    assert found["Queues"]["x_range"] == (10.0, 10.5)
    queue = found["Queues"]["curves"][0]
    assert sum(10.0 <= x <= 10.5 for x in queue["x"]) > 500
    assert all(abs(b - a) <= 1 for a, b in zip(queue["y"][1:], queue["y"][2:], strict=False))


def test_a_part_of_no_run_is_refused() -> None:
    with pytest.raises(ArgumentError, match="there is no run of this page"):
        asked(Desk(), window_work({"start": 0, "end": 1}))


def test_a_part_that_ends_before_it_begins_is_refused() -> None:
    desk = Desk()
    asked(desk, run_work({"toml": FIRST}))
    with pytest.raises(ArgumentError, match="is not after the start"):
        asked(desk, window_work({"start": 70, "end": 80}))


def test_slow_motion_is_of_the_last_run() -> None:
    desk = Desk()
    asked(desk, run_work({"toml": FIRST}))
    found = asked(desk, motion_work({"start": 1.0, "end": 1.2}))
    assert found["kind"] == "motion"
    assert found["elements"] == ["line", "line.reverse"]
    assert any(one["ack"] for one in found["journeys"])


def test_advice_is_that_of_the_library() -> None:
    text = str(lesson("4-double-slow-start")["scenario"])
    steps: list[str] = []
    found = advice(text, steps.append)
    expected = ackclock.advise(text)
    assert found["recommendations"][0]["changes"] == dict(expected.recommendations[0].changes)
    assert steps


@pytest.mark.parametrize(
    ("changes", "toml"),
    [
        ({"link.home.buffer": "78 pkt"}, 'link.home.buffer = "78 pkt"'),
        (
            {"link.home.queue": {"discipline": "fq-codel", "target": "12 ms"}},
            'link.home.queue = { discipline = "fq-codel", target = "12 ms" }',
        ),
    ],
)
def test_the_changes_of_advice_are_written_as_toml(changes: dict[str, Any], toml: str) -> None:
    one = Recommendation("topic", "question?", "answer", changes)
    (found,) = advice_data(Advice("title", (one,)))["recommendations"]
    assert found["toml"] == toml
    (path,) = changes
    assert tomllib.loads(found["toml"]) == {"link": {"home": {path.rpartition(".")[2]: changes[path]}}}


@pytest.mark.parametrize("discipline", NAMES)
def test_the_drawing_names_a_discipline_as_the_scenario_does(discipline: str) -> None:
    more = {"step": ', threshold = "20 pkt"'}.get(discipline, "")
    text = FIRST.replace("[[flow]]", f'queue = {{ discipline = "{discipline}"{more} }}\n[[flow]]', 1)
    link = prepared(text).form["links"][0]
    assert (link["forward"]["discipline"], link["reverse"]["discipline"]) == (discipline, "drop-tail")


def test_advice_that_nobody_waits_for_ends() -> None:
    def cancel(_: str) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        advice(FIRST, cancel)
