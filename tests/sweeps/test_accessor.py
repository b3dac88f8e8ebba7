"""`data.ackclock` on the data of sweeps: intervals, tables, pictures; and when xarray knows of it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import ackclock
from ackclock.errors import AckclockError, SweepError
from ackclock.stats import estimate

SCENARIO = """
title = "A line that loses"
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "18 ms"
buffer = "50 pkt"
loss = { model = "bernoulli", probability = 0.002 }
[[flow]]
name = "one"
path = ["line"]
[[flow]]
name = "two"
path = ["line"]
[run]
duration = "5 s"
replications = 3
"""
BUFFER, DELAY = "link.line.buffer", "link.line.delay"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def data(folder: Path) -> xr.Dataset:
    return ackclock.sweep(SCENARIO, {BUFFER: "10:30:10", DELAY: ["5 ms", "40 ms"]}, out=folder, jobs=1)


def test_the_interval_of_a_point_is_that_of_its_run(data: xr.Dataset) -> None:
    result = ackclock.run(SCENARIO, overrides={BUFFER: "20 pkt", DELAY: "40 ms"}, picture=False)
    chosen = data.ackclock.interval("flow_throughput").sel({BUFFER: 20.0, DELAY: 0.04, "flow": "two"})
    expected = result.flows.loc["two", ["throughput_bps", "throughput_bps_low", "throughput_bps_high"]].to_numpy()
    assert [float(chosen[name]) for name in ("mean", "low", "high")] == pytest.approx(expected.astype(float), rel=1e-12)
    assert chosen.attrs["units"] == "bit/s"
    assert chosen.attrs["confidence"] == "0.95"


def test_another_confidence_is_student_s_t_over_the_replications(data: xr.Dataset) -> None:
    found = data.ackclock.interval("flow_goodput_bps", 0.8).isel({BUFFER: 1, DELAY: 0, "flow": 0})
    values = data.flow_goodput_bps.isel({BUFFER: 1, DELAY: 0, "flow": 0}).to_numpy()
    expected = estimate(values.tolist(), 0.8)
    assert float(found["low"]) == pytest.approx(expected["low"])
    assert float(found["high"]) == pytest.approx(expected["high"])


def test_what_is_read_from_the_folder_and_chosen_has_the_same_intervals(data: xr.Dataset, folder: Path) -> None:
    read = xr.load_dataset(folder / "sweep.nc", engine="scipy")
    ours = data.sel({DELAY: 0.005}).ackclock.interval("link_utilisation")
    theirs = read.sel({DELAY: 0.005}).ackclock.interval("link_utilisation")
    xr.testing.assert_allclose(ours, theirs)
    assert set(ours["mean"].dims) == {BUFFER, "link"}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.isel(replication=slice(0, 2)),
        lambda data: data.sum("flow"),
        lambda data: data.mean(BUFFER),
        lambda data: data - data.isel({BUFFER: 0}),
        lambda data: data.assign(flow_throughput_bps=data.flow_throughput_bps / 1e6),
    ],
)
def test_the_intervals_of_what_xarray_made_of_the_data_are_of_their_own_values(data: xr.Dataset, change: Any) -> None:
    changed = change(data)
    ours, asked = changed.ackclock.interval("flow_throughput"), changed.ackclock.interval("flow_throughput", 0.95)
    xr.testing.assert_allclose(ours, asked)
    values = changed.flow_throughput_bps.transpose("replication", ...)
    expected = estimate(values.to_numpy().reshape(len(values), -1)[:, -1].tolist(), 0.95)
    assert float(ours["low"].to_numpy().flat[-1]) == pytest.approx(expected["low"])


def test_stored_ends_of_single_runs_are_given_as_long_as_they_are_about_the_value(data: xr.Dataset) -> None:
    single = ackclock.sweep(SCENARIO, {BUFFER: [10, 20]}, replications=1, duration="60 s", jobs=1)
    stored, found = single.flow_throughput_bps_low, single.ackclock.interval("flow_throughput")
    assert np.isfinite(stored).all()
    assert (found["low"] == stored).all()
    chosen = single.sel(flow="two").isel({BUFFER: [1]}).ackclock.interval("flow_throughput")
    assert (chosen["low"] == stored.sel(flow="two").isel({BUFFER: [1]})).all()
    one_of_three = data.isel(replication=[1])
    added = single.sum("flow")
    scaled = single.assign(flow_throughput_bps=single.flow_throughput_bps / 1e6)
    for other in (one_of_three, added, scaled):
        with pytest.raises(SweepError, match="too few replications; given 1 replication"):
            other.ackclock.interval("flow_throughput")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda data: data.ackclock.interval("flow_thruput_bps"), "did you mean flow_throughput_bps"),
        (lambda data: data.ackclock.interval("flow_rtt"), "did you mean flow_rtt_mean_s or flow_rtt_p50_s"),
        (lambda data: data.ackclock.interval("zzz"), 'given "zzz"; such as '),
        (lambda data: data.ackclock.interval(5), "is not what the function takes; given 5; allowed a text"),
        (lambda data: data.ackclock.interval("flow_throughput", 1.0), "given 1; allowed above 0, below 1"),
        (
            lambda data: data.isel(replication=[0]).ackclock.interval("flow_throughput", 0.9),
            "too few replications; given 1 replication; allowed 2 or more",
        ),
        (lambda data: data.mean("replication").ackclock.interval("flow_throughput"), "`mean` has left no replications"),
        (lambda data: xr.Dataset({"a": ("x", [1.0])}).ackclock.interval("a"), "not the data of a sweep"),
        (lambda data: data.isel({BUFFER: 0, DELAY: 0}).ackclock.plot(), "needs one or two axes; given none"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(data: xr.Dataset, ask: Any, message: str) -> None:
    with pytest.raises(AckclockError) as caught:
        ask(data)
    assert message in str(caught.value)


def test_one_replication_without_batches_has_no_interval() -> None:
    single = ackclock.sweep(SCENARIO, {BUFFER: [10, 20]}, replications=1, jobs=1)
    with pytest.raises(SweepError, match="too few replications; given 1 replication"):
        single.ackclock.interval("flow_throughput")
    (panel,) = single.ackclock.chart().panels
    assert np.isfinite(panel.curves[0].y).all()


def test_one_axis_makes_a_curve_a_flow_with_its_intervals(data: xr.Dataset) -> None:
    chosen = data.sel({DELAY: 0.005})
    (panel,) = chosen.ackclock.chart("flow_throughput").panels
    assert (panel.x_label, panel.y_label) == ("link.line.buffer [pkt]", "throughput [Mbit/s]")
    assert [curve.label for curve in panel.curves] == ["one", "two"]
    interval = chosen.ackclock.interval("flow_throughput").sel(flow="two")
    assert panel.curves[1].y == pytest.approx(interval["mean"].to_numpy() / 1e6)
    assert panel.curves[1].low == pytest.approx(interval["low"].to_numpy() / 1e6)


def test_two_axes_make_a_heat_map_a_flow_with_the_intervals_written_in(data: xr.Dataset) -> None:
    first, second = data.ackclock.chart("flow_rtt_p95").panels
    assert (first.title, second.title) == ("one", "two")
    assert (first.x_ticks, first.y_ticks) == (["10", "20", "30"], ["5", "40"])
    assert second.cells is not None
    mean = data.flow_rtt_p95_s.mean("replication").sel(flow="two").transpose(DELAY, BUFFER).to_numpy()
    assert second.cells.values == pytest.approx(mean * 1e3)
    picture = data.ackclock.plot("flow_rtt_p95")
    written = [text.get_text() for text in picture.axes[1].texts]
    assert len(written) == 6
    assert sum("±" in text for text in written) >= 1
    table = data.ackclock.chart("flow_rtt_p95").table
    assert len(table[table["kind"] == "cell"]) == 12


def test_a_quantity_against_another_goes_from_point_to_point(data: xr.Dataset) -> None:
    (panel,) = data.sel(flow="one").ackclock.chart("flow_throughput", against="flow_rtt_p95").panels
    assert (panel.x_label, panel.y_label) == ("rtt p95 [ms]", "throughput [Mbit/s]")
    assert [curve.label for curve in panel.curves] == ["link.line.delay = 5", "link.line.delay = 40"]
    assert list(panel.curves[0].notes or ()) == ["10", "20", "30"]
    assert panel.curves[0].x_low is not None


def test_print_lists_each_point_and_flow(data: xr.Dataset) -> None:
    lines = str(data.ackclock).splitlines()
    assert lines[0] == "A line that loses"
    assert sum(line.startswith(("10 pkt", "20 pkt", "30 pkt")) for line in lines) >= 12
    assert data.ackclock._repr_html_().count("<tr>") == 13
    assert repr(data.ackclock) == "<Sweep 'A line that loses': 3 link.line.buffer x 2 link.line.delay>"


@pytest.mark.parametrize("first", ["import xarray as xr; import ackclock", "import ackclock; import xarray as xr"])
def test_xarray_knows_the_accessor_whichever_is_imported_first(first: str) -> None:
    code = f"{first}; import sys; assert hasattr(xr.Dataset, 'ackclock'); assert 'ackclock.sweeps' not in sys.modules"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_ackclock_does_not_import_xarray() -> None:
    subprocess.run([sys.executable, "-c", "import ackclock, sys; assert 'xarray' not in sys.modules"], check=True)


def test_fields_in_step_are_all_shown_and_tell_points_apart(tmp_path: Path) -> None:
    rates, rtts = ("link.line.rate", "link.line.buffer"), ["5 Mbit/s", "9 Mbit/s"]
    pairs = [(rtts[0], "50 pkt"), (rtts[0], "15 pkt"), (rtts[1], "15 pkt")]
    data = ackclock.sweep(SCENARIO, {rates: pairs}, out=tmp_path, replications=2, jobs=1)
    lines = [line.split() for line in str(data.ackclock).splitlines()]
    assert ["link.line.rate", "link.line.buffer", "flow"] in [line[:3] for line in lines]
    assert ["5", "Mbit/s", "15", "pkt", "one"] in [line[:5] for line in lines]
    (panel,) = data.ackclock.chart("flow_throughput").panels
    words = ["5 Mbit/s, 50 pkt", "5 Mbit/s, 15 pkt", "9 Mbit/s, 15 pkt"]
    assert (panel.x_label, panel.x_ticks) == ("link.line.rate & link.line.buffer", words)
    assert all(curve.x.tolist() == [0.0, 1.0, 2.0] for curve in panel.curves)
    (shown,) = data.isel({rates[0]: [1, 2]}).ackclock.chart("flow_throughput").panels
    assert (shown.x_label, shown.x_ticks) == ("link.line.rate [Mbit/s], in step with link.line.buffer", None)


def test_seeds_that_a_float_would_round_are_told_apart() -> None:
    seeds = [2**53, 2**53 + 1]
    data = ackclock.sweep(SCENARIO, {"run.seed": seeds}, duration="1 s", replications=1, jobs=1)
    assert data["run.seed"].values.tolist() == ["9007199254740992", "9007199254740993"]


def test_the_interval_of_a_percentile_is_wider_by_a_bucket_of_its_histogram(data: xr.Dataset) -> None:
    point = {BUFFER: 1, DELAY: 0, "flow": 0}
    found = data.ackclock.interval("flow_rtt_p95").isel(point)
    expected = estimate(data.flow_rtt_p95_s.isel(point).to_numpy().tolist(), 0.95)
    assert expected["high"] is not None
    assert float(found["high"]) == pytest.approx(expected["high"] + 0.008 * float(found["mean"]), rel=1e-9)


def test_values_that_are_not_there_are_not_too_few_replications(data: xr.Dataset) -> None:
    none = data.where(data.flow_throughput_bps > 1e12)
    with pytest.raises(
        SweepError, match='"flow_throughput" has no value: nothing was measured, or nothing is left of it'
    ):
        none.ackclock.interval("flow_throughput")


def test_what_a_flow_does_not_have_is_nan_as_in_a_run() -> None:
    """A ping had a cwnd of 0, and a transfer loss cycles."""
    document = {
        "link": [{"name": "line", "rate": "10 Mbit/s", "delay": "18 ms", "buffer": "20 pkt"}],
        "flow": [
            {"name": "file", "path": ["line"], "size": "2 MB"},
            {"name": "ping", "path": ["line"], "packet": "100 B", "traffic": {"kind": "ping", "interval": "100 ms"}},
        ],
        "run": {"duration": "5 s"},
    }
    swept = ackclock.sweep(document, {"link.line.buffer": ["20 pkt"]}).isel({BUFFER: 0, "replication": 0})
    flows = ackclock.run(document, picture=False).flows
    for name in ("cwnd_mean_packets", "cwnd_max_packets", "loss_cycles", "throughput_bps", "rtt_mean_s"):
        expected = flows[name].reindex(swept["flow"].to_numpy()).to_numpy(dtype=float)
        assert swept[f"flow_{name}"].to_numpy() == pytest.approx(expected, nan_ok=True), name
    assert np.isnan(swept["flow_cwnd_mean_packets"].sel(flow="ping"))
    assert np.isnan(swept["flow_loss_cycles"].sel(flow="file"))


def test_too_few_transfers_for_a_percentile_are_not_too_few_replications() -> None:
    lossy = SCENARIO.replace("replications = 3", "replications = 5").replace(
        'name = "two"', 'name = "two"\nsize = "20 kB"'
    )
    swept = ackclock.sweep(lossy, {BUFFER: ["20 pkt"]})
    with pytest.raises(SweepError, match="too few values in all replications together"):
        swept.ackclock.interval("completion_fct_p95")
