"""Links with copies, and the flows that cross them."""

import math
from typing import Any

import pytest

import ackclock
from ackclock import ScenarioError
from ackclock.advice.knobs import buffer_knobs
from ackclock.pictures.queues import longest_queues
from ackclock.report import summary_tables
from ackclock.scenario import Resolved, load, resolve, with_overrides
from ackclock.summary import quantity_places


def offices(**changes: Any) -> dict[str, Any]:
    """Give a scenario of some offices behind one uplink; changes are fields of the office's link."""
    return {
        "link": [
            {"name": "office", "rate": "5 Mbit/s", "delay": "4 ms", "buffer": "20 pkt", "copies": 3, **changes},
            {"name": "uplink", "rate": "12 Mbit/s", "delay": "6 ms", "buffer": "40 pkt"},
        ],
        "flow": [
            {"name": "user", "path": ["office", "uplink"], "count": 2},
            {"name": "other", "path": ["uplink"], "start": "1 s"},
        ],
        "run": {"duration": "20 s"},
    }


def written_out() -> dict[str, Any]:
    """Give the same scenario with every link and flow in a table of its own."""
    one = offices()
    office, uplink = one["link"]
    user, other = one["flow"]
    links = [{key: value for key, value in office.items() if key != "copies"} | {"name": f"o{k}"} for k in range(3)]
    flows = [{**user, "name": f"u{k}", "path": [f"o{k}", "uplink"]} for k in range(3)]
    return {**one, "link": [*links, uplink], "flow": [*flows, other]}


def numbers(result: ackclock.Result) -> list[Any]:
    """Give all numbers of flows and links, without names."""
    rows = [*result.summary["flows"], *result.summary["links"]]
    return [{key: value for key, value in row.items() if key != "name"} for row in rows]


def faults(scenario: dict[str, Any]) -> str:
    """Give the message of a scenario that is refused."""
    with pytest.raises(ScenarioError) as error:
        load(scenario)
    return str(error.value)


def test_copies_run_as_if_each_had_a_table_of_its_own() -> None:
    described, by_hand = ackclock.run(offices()), ackclock.run(written_out())
    assert numbers(described) == numbers(by_hand)
    assert [row["name"] for row in described.summary["flows"]] == [
        *(f"user[{copy}][{number}]" for copy in range(3) for number in range(2)),
        "other",
    ]
    assert [row["name"] for row in described.summary["links"]][:4] == [
        "office[0]",
        "office[0].reverse",
        "office[1]",
        "office[1].reverse",
    ]


def test_each_copy_draws_random_numbers_of_its_own() -> None:
    lossy = offices(loss={"model": "bernoulli", "probability": 0.01})
    rows = ackclock.run(lossy).summary["links"]
    lost = [
        row["lost_packets"]["mean"] for row in rows if row["name"].startswith("office") and "rev" not in row["name"]
    ]
    assert len(lost) == 3
    assert len(set(lost)) > 1


def test_many_flows_have_one_row_for_each_copy_that_is_the_sum_of_its_flows() -> None:
    scenario = offices()
    scenario["flow"][0] |= {"count": 400, "size": "3 pkt", "start_spread": "5 s"}
    rows = ackclock.run(scenario).summary["flows"]
    assert [row["name"] for row in rows] == ["user[0]", "user[1]", "user[2]", "other"]
    assert all(row["finish_s"]["n"] == 1 for row in rows[:3])
    scenario["flow"][0]["count"] = 300
    rows = ackclock.run(scenario).summary["flows"]
    assert len(rows) == 901


def test_the_resolved_form_can_be_read_again() -> None:
    resolved = resolve(load(offices()))
    assert Resolved.from_json(resolved.to_json()) == resolved
    assert [flow.copies for flow in resolved.flows] == [3, 3, 3, 1]
    assert resolved.flows[1].path == (2, 6)
    assert resolved.flows[1].return_path == (7, 3)


def test_the_number_of_copies_can_be_overridden() -> None:
    resolved = resolve(with_overrides(load(offices()), {"link.office.copies": 5}))
    assert [element.name for element in resolved.elements if "reverse" not in element.name][-2:] == [
        "office[4]",
        "uplink",
    ]
    assert len(resolved.flows) == 6


def test_a_name_without_number_means_all_copies() -> None:
    resolved = resolve(load(offices()))
    assert quantity_places(resolved, "link", "office") == [0, 2, 4]
    assert quantity_places(resolved, "link", "office.reverse") == [1, 3, 5]
    assert quantity_places(resolved, "link", "office[1]") == [2]
    assert quantity_places(resolved, "flow", "user") == [0, 1, 2, 3, 4, 5]
    assert quantity_places(resolved, "flow", "user[2]") == [4, 5]
    assert quantity_places(resolved, "flow", "user[2][1]") == [5]


@pytest.mark.parametrize("name", ["link.office.utilisation", "link.office[2].utilisation", "flow.user[1].goodput"])
def test_a_precision_may_be_of_all_copies_or_of_one(name: str) -> None:
    scenario = offices(loss={"model": "bernoulli", "probability": 0.01})
    scenario["run"]["precision"] = {"quantity": name, "within": "50%", "most": 20}
    scenario["run"]["replications"] = 2
    result = ackclock.run(scenario)
    assert result.summary["precision"] is not None


def test_a_precision_of_a_copy_that_is_not_there_is_refused() -> None:
    scenario = offices()
    scenario["run"]["precision"] = {"quantity": "link.office[3].utilisation", "within": "5%"}
    assert 'no link named "office[3]"' in faults(scenario)


def test_a_captured_link_stands_for_its_copies() -> None:
    scenario = offices()
    scenario["trace"] = {"capture": ["office"]}
    assert resolve(load(scenario)).trace.capture == ("office[0]", "office[1]", "office[2]")
    scenario["link"][0]["copies"] = 101
    assert "101 links with all copies" in faults(scenario)


def test_copies_of_different_numbers_on_one_path_are_refused() -> None:
    scenario = offices()
    scenario["link"][1]["copies"] = 2
    message = faults(scenario)
    assert "crosses links with different numbers of copies: office 3, uplink 2" in message
    assert "allowed one number of copies, or 1" in message


def test_a_private_link_has_no_copies() -> None:
    assert "belongs to a private link" in faults(offices(private=True))


def test_copies_count_towards_the_largest_scenario() -> None:
    assert "is too large" in faults(offices(copies=60_000))
    scenario = offices(copies=40_000)
    scenario["flow"][0]["count"] = 40
    assert "has too many flows" in faults(scenario)


def test_table_verdict_and_warnings_speak_of_all_copies() -> None:
    scenario = offices(copies=8)
    scenario["link"][1]["rate"] = "100 Mbit/s"
    result = ackclock.run(scenario)
    flows, links = summary_tables(result.summary)
    assert [row[0] for row in flows.rows] == ["user sum", "user lowest", "user median", "user highest", "other"]
    assert [row[0] for row in links.rows][:3] == ["office lowest", "office median", "office highest"]
    assert "office: 8 copies" in links.note
    rows = [row for row in result.summary["links"] if row["name"].startswith("office") and "rev" not in row["name"]]
    uses = [row["utilisation_fraction"]["mean"] for row in rows]
    assert math.isclose(float(links.rows[2][2]), 100 * max(uses), rel_tol=0.01)
    assert "the 8 copies of office are bottlenecks" in result.summary["verdict"]
    assert not any("[" in warning for warning in result.summary["warnings"] if "utilisation" in warning)


def test_the_picture_draws_one_copy_of_each_link() -> None:
    result = ackclock.run(offices())
    drawn = longest_queues(result.traces["overview"])
    assert len(drawn) == 2
    assert {name.partition("[")[0] for name in drawn} == {"office", "uplink"}


def test_advice_changes_the_table_that_describes_the_copies() -> None:
    result = ackclock.run(offices())
    knob = next(one for one in buffer_knobs(result.resolved, result.summary["links"]) if "office[0]" in one.names)
    assert knob.fields == ("link.office.buffer",)
    assert knob.place == "each copy of office"


def test_a_source_without_congestion_control_is_warned_of_with_all_copies() -> None:
    scenario = offices()
    scenario["flow"] = [
        {"name": "camera", "path": ["office", "uplink"], "traffic": {"kind": "constant", "rate": "4.5 Mbit/s"}}
    ]
    scenario["link"][1]["buffer"] = "unlimited"
    warnings = [str(one) for one in load(scenario).warnings]
    assert any('13.5 Mbit/s are more than the link "uplink" carries' in one for one in warnings)


def test_the_classes_of_copies_are_laid_out_together() -> None:
    scenario = offices(copies=8, queue="fq-codel")
    scenario["flow"].append({"name": "backup", "path": ["office", "uplink"]})
    result = ackclock.run(scenario)
    table = next(one for one in summary_tables(result.summary) if one.headers[0] == "link: class")
    spread = [f"office: {name} {which}" for name in ("user", "backup") for which in ("lowest", "median", "highest")]
    assert [row[0] for row in table.rows] == spread


def test_few_transfers_of_copies_are_one_warning() -> None:
    scenario = offices(copies=4)
    size = {"law": "exponential", "mean": "12 pkt"}
    scenario["flow"][0]["traffic"] = {"kind": "web", "size": size, "off": "2 s"}
    result = ackclock.run(scenario)
    (few,) = (one for one in result.summary["warnings"] if "their means are of few" in one)
    counts = sorted(int(row["transfers"]["mean"]) for row in result.summary["completions"])
    assert few.startswith(f"{counts[0]} to {counts[-1]} transfers of each of 4 copies of user ended")
