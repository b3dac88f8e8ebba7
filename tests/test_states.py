"""The trace of senders' states: what happened, when, and in which state; docs/states.md has the events."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.scenario.contract import CODES

PATH = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "30 pkt"
LINK
[[flow]]
name = "flow"
path = ["line"]
FLOW
[run]
duration = "20 s"
[trace]
state = true
cwnd = true
losses = true
"""
LATER = 'delay_process = { kind = "steps", steps = [["0 s", "0 ms"], ["6 s", "700 ms"]] }'
SOONER = 'delay_process = { kind = "steps", steps = [["0 s", "20 ms"], ["6 s", "0 ms"]] }'
WINDOW = 'tcp = { preset = "linux-cubic", max_window = "30 pkt", timestamps = TIMESTAMPS }'


def scenario(flow: str, link: str = "") -> str:
    return PATH.replace("FLOW", flow).replace("LINK", link)


def states(flow: str, link: str = "") -> pd.DataFrame:
    return ackclock.run(scenario(flow, link), picture=False).traces["state"]


def happened(frame: pd.DataFrame, event: str) -> pd.DataFrame:
    return frame[frame["event"] == event]


@pytest.fixture(scope="module")
def cubic() -> ackclock.Result:
    return ackclock.run(scenario('tcp = "linux-cubic"'), picture=False)


@pytest.fixture(scope="module")
def bbr() -> ackclock.Result:
    return ackclock.run(scenario('tcp = "linux-bbr"'), picture=False)


def test_each_loss_that_the_sender_found_enters_recovery_at_its_instant(cubic: ackclock.Result) -> None:
    rows, losses = cubic.traces["state"], cubic.traces["losses"]
    entered = happened(rows, "state").query("state == 'Recovery'")
    assert len(losses) > 5
    assert entered["time_s"].tolist() == losses["time_s"].tolist()
    assert (entered["prr_sent"] >= 1).all()


def test_a_recovery_ends_open_with_cwnd_at_ssthresh(cubic: ackclock.Result) -> None:
    changes = happened(cubic.traces["state"], "state").reset_index()
    # The last one may last to the end of the run.
    after = changes.loc[(changes.index[changes["state"] == "Recovery"] + 1).intersection(changes.index)]
    assert len(after) > 5
    assert set(after["state"]) == {"Open"}
    assert (after["cwnd"] == after["ssthresh"]).all()
    assert (after["prr_delivered"] == 0).all()


def test_rows_agree_with_the_trace_of_windows(cubic: ackclock.Result) -> None:
    rows, windows = cubic.traces["state"], cubic.traces["cwnd"]
    last = windows.drop_duplicates("time_s", keep="last").set_index("time_s")
    both = rows[rows["time_s"].isin(last.index)]
    assert len(both) > 10
    known = last.loc[both["time_s"]]
    for mine, theirs in (("cwnd", "cwnd"), ("ssthresh", "ssthresh"), ("pipe", "flight_size")):
        np.testing.assert_array_equal(both[mine], known[theirs])


def test_hystart_ends_slow_start_once_where_cwnd_is(cubic: ackclock.Result) -> None:
    rows = cubic.traces["state"]
    (end,) = happened(rows, "hystart-exit").itertuples()
    assert (end.state, end.phase, end.cwnd) == ("Open", "congestion-avoidance", end.ssthresh)
    before = rows[rows["time_s"] < end.time_s]
    assert set(before["phase"]) == {"slow-start"}
    assert np.isinf(before["ssthresh"]).all()


def test_there_is_a_row_for_each_round_trip(cubic: ackclock.Result) -> None:
    """The rounds follow one another, so no two rows are farther apart than the longest round trip, queue included."""
    gaps = cubic.traces["state"]["time_s"].diff().dropna()
    longest = 0.04 + 32 * 1500 * 8 / 10e6
    assert gaps.max() < 1.5 * longest
    assert len(gaps) < 3 * 20 / 0.04


def test_the_delivery_rate_is_that_of_the_full_link(cubic: ackclock.Result) -> None:
    """Payload of 1448 bytes in packets of 1500; the first sample is that of the initial window."""
    rates = cubic.traces["state"]["delivery_rate_bps"].dropna()
    full = 10e6 * 1448 / 1500
    assert rates.max() == pytest.approx(full, rel=0.01)
    assert rates.median() == pytest.approx(full, rel=0.01)
    assert cubic.traces["state"]["pacing_rate_bps"].isna().all()


def test_bbr_s_phases_follow_one_another(bbr: ackclock.Result) -> None:
    rows = bbr.traces["state"]
    phases = rows.loc[rows["event"].isin(["start", "phase"]), "phase"].tolist()
    assert phases[:2] == ["startup", "drain"]
    following = {
        "startup": {"drain"},
        "drain": {"probe-bw-up", "probe-bw-cruise"},
        "probe-bw-up": {"probe-bw-down", "probe-rtt"},
        "probe-bw-down": {"probe-bw-cruise", "probe-rtt"},
        "probe-bw-cruise": {"probe-bw-up", "probe-rtt"},
        "probe-rtt": {"probe-bw-up", "probe-bw-cruise"},
    }
    assert all(after in following[before] for before, after in pairwise(phases))
    assert {"probe-bw-up", "probe-bw-down", "probe-bw-cruise", "probe-rtt"} <= set(phases)


def test_bbr_paces_at_the_gain_of_its_phase(bbr: ackclock.Result) -> None:
    """The rate of a phase's first row; the kernel takes one percent off (`bbr_rate_bytes_per_sec`)."""
    rows = bbr.traces["state"]
    late = rows[(rows["time_s"] > 5.0) & (rows["event"] == "phase")]
    full = 0.99 * 10e6 * 1448 / 1500
    for phase, gain in (("probe-bw-up", 1.25), ("probe-bw-down", 0.75), ("probe-bw-cruise", 1.0)):
        rates = late.loc[late["phase"] == phase, "pacing_rate_bps"]
        assert len(rates) > 5
        np.testing.assert_allclose(rates, gain * full, rtol=0.02)
    assert happened(rows, "hystart-exit").empty
    assert (rows["prr_sent"] == 0).all()


@pytest.mark.parametrize(
    ("event", "link", "timestamps", "kind"),
    [
        ("undo-eifel", LATER, "true", "timeout"),
        ("undo-frto", LATER, "false", "timeout"),
        ("undo-eifel", SOONER, "true", "fast-retransmit"),
        ("undo-dsack", SOONER, "false", "fast-retransmit"),
    ],
)
def test_a_spurious_reduction_is_undone_by_what_shows_it(event: str, link: str, timestamps: str, kind: str) -> None:
    """The delay jumps up, so that the timer expires early, or down, so that packets overtake others."""
    result = ackclock.run(scenario(WINDOW.replace("TIMESTAMPS", timestamps), link), picture=False)
    rows, losses = result.traces["state"], result.traces["losses"]
    assert losses["spurious"].all()
    assert losses["cause"].iloc[0] == kind
    undone = rows[rows["event"].astype(str).str.startswith("undo")]
    assert set(undone["event"]) == {event}
    before = rows[rows["time_s"] < losses["time_s"].iloc[0]].iloc[-1]
    assert undone["cwnd"].iloc[-1] == before["cwnd"]
    assert len(undone) == losses["time_s"].nunique()
    assert (undone["time_s"].to_numpy() > losses["time_s"].unique()).all()


def test_a_timeout_and_a_probe_have_rows() -> None:
    lost = 'loss = { model = "packets", packets = [18, 19, 20, 21] }'
    rows = states('size = "20 pkt"\ntcp = "linux-cubic"', lost)
    events = [event for event in rows["event"] if event not in {"round", "phase"}]
    assert events == ["start", "probe", "timeout", "state", "state"]
    assert happened(rows, "state")["state"].tolist() == ["Loss", "Open"]
    (timeout,) = happened(rows, "timeout").itertuples()
    assert (timeout.state, timeout.cwnd, timeout.pipe) == ("Loss", 1.0, 1)


def test_a_probe_that_repaired_a_loss_is_seen_later() -> None:
    """With a window of one packet the probe repeats the lost one, and the ACK of the next shows that it was needed."""
    flow = 'size = "20 pkt"\ntcp = { preset = "linux-cubic", max_window = "1 pkt" }'
    rows = states(flow, 'loss = { model = "packets", packets = [5] }')
    assert [event for event in rows["event"] if "probe" in event] == ["probe", "probe-repair"]
    repair = happened(rows, "probe-repair").iloc[0]
    assert repair["cwnd"] == repair["ssthresh"]
    assert repair["cwnd"] < 20


def test_marks_reduce_the_window_in_the_state_cwr() -> None:
    marking = 'queue = { discipline = "red", min_threshold = "5 pkt", max_threshold = "15 pkt", ecn = "all" }'
    rows = states('tcp = { preset = "linux-cubic", ecn = "classic" }', marking)
    changes = happened(rows[rows["time_s"] > 2.0], "state")  # before, the buffer overflows
    assert (changes["state"] == "CWR").sum() > 5
    assert not changes["state"].isin(["Recovery", "Loss"]).any()


def test_each_transfer_of_a_web_source_starts_anew() -> None:
    flow = 'tcp = "linux-cubic"\n[flow.traffic]\nkind = "web"\nsize = "20 pkt"\noff = "200 ms"'
    result = ackclock.run(scenario(flow), picture=False)
    rows = result.traces["state"]
    starts = happened(rows, "start")
    assert len(starts) > 10
    assert set(starts["cwnd"]) == {10.0}
    assert starts["srtt_s"].isna().all()


@pytest.mark.parametrize("preset", ["linux-cubic", "linux-bbr", "rfc-cubic", "linux-dctcp"])
def test_the_trace_changes_no_result(preset: str) -> None:
    text = scenario(f'tcp = "{preset}"')
    silent = text.replace("state = true\n", "")
    (seen,), (unseen,) = (run_resolved(ackclock.resolve(one)) for one in (text, silent))
    assert "state" not in unseen["traces"]
    for table in ("flows", "links"):
        for column, values in unseen[table].items():
            np.testing.assert_array_equal(seen[table][column], values)
    for column, values in unseen["traces"]["cwnd"].items():
        np.testing.assert_array_equal(seen["traces"]["cwnd"][column], values)


def test_classic_senders_have_no_states() -> None:
    assert states('tcp = "newreno-rfc6582"').empty


def test_the_trace_is_saved_and_read_again(cubic: ackclock.Result, tmp_path: Path) -> None:
    cubic.save(tmp_path / "run")
    again = ackclock.Result.load(tmp_path / "run").traces["state"]
    pd.testing.assert_frame_equal(again, cubic.traces["state"])


def test_the_page_names_every_event_phase_and_state() -> None:
    page = (Path(__file__).parent.parent / "docs" / "states.md").read_text(encoding="utf-8")
    for names in (CODES["state.event"], CODES["state.phase"], CODES["state.state"]):
        assert all(f"`{name}`" in page for name in names)


def test_the_code_of_the_page_gives_each_flow_its_own_time_in_each_state() -> None:
    page = (Path(__file__).parent.parent / "docs" / "states.md").read_text(encoding="utf-8")
    code = page.rpartition("```python\n")[2].partition("```")[0]
    text = scenario('tcp = "linux-cubic"').replace("[[flow]]", "[[flow]]\ncount = 2")
    result = ackclock.run(text, picture=False)
    names: dict[str, object] = {"result": result}
    exec(code.replace("lasted.groupby", "found = lasted.groupby"), names)
    found = names["found"]
    assert isinstance(found, pd.Series)
    rows = result.traces["state"]
    for flow, own in rows.groupby("flow", observed=True):
        changes = own[own["event"].isin(["start", "state"])]
        ends = [*changes["time_s"].iloc[1:], np.nan]
        for state in set(changes["state"]):
            spans = [
                end - begin
                for begin, end, of in zip(changes["time_s"], ends, changes["state"], strict=True)
                if of == state
            ]
            assert found[flow, state] == pytest.approx(np.nansum(spans)), (flow, state)
    assert found.index.get_level_values("flow").nunique() == 2


@pytest.mark.parametrize("handshake", ["none", "tcp", "tls"])
def test_a_connection_starts_with_its_first_data(handshake: str) -> None:
    """With a handshake the row came a round trip late, after others of the same connection."""
    document = {
        "link": [{"name": "wire", "rate": "2 Mbit/s", "delay": "20 ms"}],
        "flow": [{"path": ["wire"], "size": "20 pkt", "tcp": {"preset": "linux-cubic", "handshake": handshake}}],
        "run": {"duration": "2 s"},
        "trace": {"state": True, "sequence": True},
    }
    traces = ackclock.run(document, picture=False).traces
    first = traces["state"].iloc[0]
    assert (first["event"], first["time_s"]) == ("start", traces["sequence"]["time_s"].min())
    assert (traces["state"]["event"] == "start").sum() == 1
