from pathlib import Path

from crosscheck import reference
from crosscheck.compare import Change
from crosscheck.outcome import FlowCounts, Outcome

ROW = {
    "scenario": "fig2", "case": "mu1=1.6", "tcp": "Tahoe", "queue": "DropTail", "n_nodes": "2",
    "rates_bps": "1600000/1500000", "buffers_pkts": "100/50", "access_bps": "100000000", "T_mode": "prop",
    "prop_oneway_s": "0.280000000", "where": "last", "packet_bytes": "512", "ack_bytes": "40", "window": "100000",
    "tcpTick": "0.1", "minrto": "0.2", "windowOption": "1", "windowInit": "1", "compat1999": "1", "opts": "",
    "seed": "1", "t0_s": "0", "t1_s": "600", "throughput_bps": "819.2", "delivered_pkts": "120", "wmax": "469.000",
    "timeouts": "0", "fast_retransmits": "2", "retransmitted_pkts": "5", "drops_per_node": "4/1",
}  # fmt: skip

OUTCOME = Outcome(
    changes=[[Change(5.0, 469.0), Change(5.678831, 1.0), Change(29.0, 258.0041), Change(29.78073, 1.0)]],
    flows=[FlowCounts(120, 120, 125, 5, 0, 2)],
    drops=[0, 4, 1, 0, 0, 0],
)


def test_a_row_becomes_a_chain_with_the_delay_at_its_end() -> None:
    scenario = reference.scenario(ROW)
    assert [link["rate_bps"] for link in scenario["elements"]] == [1e8, 1.6e6, 1.5e6] * 2
    assert [link["delay_s"] for link in scenario["elements"]] == [0.0, 0.0, 0.28] * 2
    assert scenario["elements"][2]["buffer"] == {"packets": 50}
    assert scenario["flows"][0]["traffic"]["connection"]["return_path"] == [5, 4, 3]


def test_even_delays_are_spread_over_all_links() -> None:
    scenario = reference.scenario(ROW | {"where": "even", "prop_oneway_s": "0.3"})
    assert [link["delay_s"] for link in scenario["elements"]] == [0.3 / 3] * 6


def test_the_row_that_was_run_shows_no_difference() -> None:
    assert reference.differences(ROW, reference.figures(reference.scenario(ROW), OUTCOME)) == []


def test_a_differing_figure_is_told_with_both_values() -> None:
    said = reference.figures(reference.scenario(ROW), OUTCOME)
    assert reference.differences(ROW | {"timeouts": "1"}, said) == ["timeouts: 0, reference 1"]


def test_the_largest_window_is_that_of_the_interval() -> None:
    later = reference.figures(reference.scenario(ROW | {"t0_s": "29.5"}), OUTCOME)
    assert later["wmax"] == "258.004"


def test_cuts_are_compared_digit_by_digit(tmp_path: Path) -> None:
    path = tmp_path / "cuts_fig2_mu1_1.6_prop.csv"
    path.write_text("t_s,cwnd_before,cwnd_after\n5.67883,469.000,1.000\n29.78073,258.004,1.000\n")
    assert reference.cuts_file(tmp_path, ROW) == path
    assert reference.cut_differences(path, OUTCOME) == []
    path.write_text("t_s,cwnd_before,cwnd_after\n5.67883,469.000,1.000\n29.78074,258.004,1.000\n")
    assert reference.cut_differences(path, OUTCOME) == [
        "cut 2: 29.78073 258.004 1.000, reference 29.78074 258.004 1.000"
    ]
    path.write_text("t_s,cwnd_before,cwnd_after\n5.67883,469.000,1.000\n")
    assert reference.cut_differences(path, OUTCOME) == ["cuts: 2, reference 1"]


def test_only_the_steady_run_from_zero_has_a_file_of_cuts(tmp_path: Path) -> None:
    assert reference.cuts_file(tmp_path, ROW) is None
    assert reference.cuts_file(tmp_path, ROW | {"t0_s": "100"}) is None


def test_rows_with_settings_that_we_cannot_say_are_left_out(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"tcp": "Sack1"}, ROW | {"compat1999": "0"}, ROW | {"tcp": "Newreno"}]
    lines = [",".join(ROW), *(",".join(row.values()) for row in rows)]
    (tmp_path / "fig2.csv").write_text("\n".join(lines) + "\n")
    assert [row["tcp"] for row in reference.rows(tmp_path)] == ["Tahoe", "Newreno"]
