"""Sweeps: what is kept, what is computed again, and that nothing but the scenario decides the numbers."""

import errno
import re
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.errors import ArgumentError, ResultError
from ackclock.sweeps import Folder, Memory, point_key, run_points
from ackclock.sweeps import record as records
from ackclock.sweeps.charting import sweep_chart
from ackclock.sweeps.dataset import finished_points
from ackclock.sweeps.sweeping import planned_sweep
from fakes import file_contents

SCENARIO = """\
title = "small"

[[link]]
name = "satellite"
rate = "1.5 Mbit/s"
buffer = "18 pkt"
queue = "random-drop"

[[flow]]
path = ["satellite"]
rtt = "560 ms"
packet = "512 B"
tcp = "tahoe-ns2"

[run]
duration = "60 s"
replications = 3
"""
VARY = {"link.satellite.buffer": "10:20:5", "link.satellite.queue": "drop-tail,random-drop"}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    ackclock.sweep(SCENARIO, VARY, out=folder, jobs=1)
    return folder


def test_a_point_of_a_sweep_is_the_run_of_its_scenario() -> None:
    data = ackclock.sweep(SCENARIO, VARY)
    result = ackclock.run(SCENARIO, overrides={"link.satellite.buffer": "15 pkt"}, picture=False)
    chosen = data.sel({"link.satellite.buffer": 15.0, "link.satellite.queue": "random-drop", "flow": "flow"})
    flow = result.summary["flows"][0]
    assert float(chosen.flow_throughput_bps.mean()) == pytest.approx(flow["throughput_bps"]["mean"], rel=1e-12)
    assert float(chosen.flow_timeouts.mean()) == flow["timeouts"]["mean"]


def test_dimensions_are_axes_then_replication_flow_and_link(out: Path) -> None:
    data = xr.load_dataset(out / "sweep.nc", engine="scipy")
    assert data.flow_throughput_bps.dims == ("link.satellite.buffer", "link.satellite.queue", "replication", "flow")
    assert data.link_utilisation_fraction.dims[-1] == "link"
    assert data["link.satellite.buffer"].to_numpy().tolist() == [10.0, 15.0, 20.0]
    assert data["link.satellite.buffer"].attrs["units"] == "pkt"
    assert data.attrs["version"] == ackclock.__version__
    assert data.attrs["seed"] == "1"
    assert '"18 pkt"' in data.attrs["scenario"]


def test_what_a_deterministic_point_has_one_of_is_missing_in_the_others() -> None:
    data = ackclock.sweep(SCENARIO, VARY)
    present = np.isfinite(data.packets).sum("replication")
    assert present.sel({"link.satellite.queue": "drop-tail"}).to_numpy().tolist() == [1, 1, 1]
    assert present.sel({"link.satellite.queue": "random-drop"}).to_numpy().tolist() == [3, 3, 3]


def test_predictions_stand_beside_what_was_simulated() -> None:
    data = ackclock.sweep(SCENARIO, VARY)
    theory = data.theory_bottlenecks_throughput_bps
    assert theory.attrs["simulated"] == "flow_throughput_bps"
    found = ackclock.predict(SCENARIO, overrides={"link.satellite.buffer": "20 pkt"}).table
    row = found[(found["model"] == "bottlenecks") & (found["key"] == "throughput_bps")]
    chosen = theory.sel({"link.satellite.buffer": 20.0, "link.satellite.queue": "random-drop"})
    assert float(chosen) == float(row["value"].iloc[0])


@pytest.mark.parametrize("jobs", [2, 5])
def test_files_do_not_depend_on_the_number_of_jobs(out: Path, tmp_path: Path, jobs: int) -> None:
    ackclock.sweep(SCENARIO, VARY, out=tmp_path, jobs=jobs)
    assert file_contents(tmp_path) == file_contents(out)


def test_flows_that_only_some_points_have_are_missing_in_the_others() -> None:
    data = ackclock.sweep(SCENARIO, {"flow.flow.count": [1, 3]}, duration="20 s", replications=1)
    assert data.sizes["flow"] == 4
    assert np.isfinite(data.flow_throughput_bps).sum(["flow", "replication"]).to_numpy().tolist() == [1, 3]


def computed(folder: Path, vary: dict[str, object], **overrides: object) -> int:
    points = [point.resolved for point in planned_sweep(SCENARIO, vary, dict(overrides)).points]  # type: ignore[arg-type]
    return run_points(points, Folder(folder), jobs=2).computed


def test_only_what_changed_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vary: dict[str, object] = {"link.satellite.buffer": [10, 15]}
    assert computed(tmp_path, vary) == 2
    assert computed(tmp_path, vary) == 0
    assert computed(tmp_path, {"link.satellite.buffer": [10, 15, 20]}) == 1
    assert computed(tmp_path, vary, title="another title") == 0
    assert computed(tmp_path, vary, **{"run.seed": 2}) == 2
    monkeypatch.setattr(records, "engine_fingerprint", lambda: "another engine")
    assert computed(tmp_path, vary) == 2


def test_a_damaged_point_is_computed_again(tmp_path: Path) -> None:
    vary: dict[str, object] = {"link.satellite.buffer": [10, 15, 20]}
    computed(tmp_path, vary)
    whole = file_contents(tmp_path)
    torn, flipped, _ = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    torn.write_bytes(torn.read_bytes()[:-100])
    content = bytearray(flipped.read_bytes())
    content[-5] ^= 1
    flipped.write_bytes(content)
    assert computed(tmp_path, vary) == 2
    assert file_contents(tmp_path) == whole


def test_what_a_killed_process_had_begun_is_removed(tmp_path: Path) -> None:
    mark = f".ackclock.{socket.gethostname()}."
    (tmp_path / "ab").mkdir()
    dead, living = tmp_path / "ab" / f"{mark}999999999.abc", tmp_path / "ab" / f"{mark}1.abc"
    dead.touch()
    living.touch()
    Folder(tmp_path)
    assert not dead.exists()
    assert living.exists()


def test_replications_survive_being_written() -> None:
    (point,) = planned_sweep(SCENARIO, {"run.seed": [7]}, {"trace.losses": True, "trace.cwnd": True}).points
    store = Memory()
    run_points([point.resolved], store)
    read = store.read(point_key(point.resolved))
    key = point_key(point.resolved)
    assert records.encode(key, read) == store._points[key]
    assert len(read) == 3
    for name in ("losses", "cwnd"):
        assert len(read[0]["traces"][name]["time_s"]) > 0
    assert read[0]["delays"]["round_trip"]["count"].sum() == read[0]["flows"]["rtt_samples"][0]
    assert read[0]["traces"]["losses"]["sequence"].dtype.kind == "u"
    assert read[0]["traces"]["losses"]["retransmission"].dtype == np.bool_


def test_damage_is_noticed() -> None:
    content = records.encode("key", [])
    assert records.is_whole("key", content)
    assert not records.is_whole("key", content[:-1])
    assert not records.is_whole("key", b"")
    assert not records.is_whole("kez", content)
    for place in range(len(content)):
        assert not records.is_whole("key", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])


def test_a_point_under_the_name_of_another_is_computed_again(tmp_path: Path) -> None:
    whole = computed(tmp_path, {"run.seed": [1, 2]})
    first, second = (path for path in tmp_path.rglob("*") if path.is_file())
    right = second.read_bytes()
    second.write_bytes(first.read_bytes())
    assert (whole, computed(tmp_path, {"run.seed": [1, 2]})) == (2, 1)
    assert second.read_bytes() == right
    second.write_bytes(right[:-1])
    with pytest.raises(ResultError, match=f"{second.name}: the point is damaged"):
        Folder(tmp_path).read(second.parent.name + second.name)


def test_a_point_for_which_there_is_no_space_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ResultError, match=rf"^{tmp_path}/\w\w/\w+: cannot be written; No space left on device"):
        computed(tmp_path, {"run.seed": [1, 2]})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_jobs_are_at_least_one() -> None:
    with pytest.raises(ArgumentError, match=r'argument "jobs": .*; given 0; allowed a whole number from 1 on'):
        ackclock.sweep(SCENARIO, VARY, jobs=0)


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    def interrupt(_fraction: float, finished: int) -> None:
        if finished >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ackclock.sweep(SCENARIO, VARY, out=tmp_path, jobs=1, on_progress=interrupt)
    assert len(file_contents(tmp_path / "points")) >= 2
    assert computed(tmp_path / "points", dict(VARY)) <= 4


def test_tables_have_numbers_in_si_units_and_predictions(out: Path) -> None:
    flows, links = pd.read_csv(out / "flows.csv"), pd.read_csv(out / "links.csv")
    assert flows["link.satellite.buffer [pkt]"].tolist() == [10.0, 10.0, 15.0, 15.0, 20.0, 20.0]
    assert flows["link.satellite.queue"].tolist() == ["drop-tail", "random-drop"] * 3
    # The deterministic points are too short for an interval of their long-run means.
    known = flows[flows["link.satellite.queue"] == "random-drop"]
    assert (known["throughput_bps_low"] <= known["throughput_bps"]).all()
    assert flows["theory_bottlenecks_throughput_bps"].notna().all()
    assert set(links["link"]) == {"satellite", "satellite.reverse"}


def test_warnings_of_the_points_are_kept(out: Path) -> None:
    data = xr.load_dataset(out / "sweep.nc", engine="scipy")
    assert "field warmup" in data.attrs["warnings"]
    assert "run.warmup is 0" in data.theory_bottlenecks_throughput_bps.attrs["warnings"]


def test_the_picture_has_a_curve_a_value_and_theory_dashed() -> None:
    planned = planned_sweep(SCENARIO, VARY, {"run.duration": "20 s"})
    store = Memory()
    run_points([point.resolved for point in planned.points], store)
    finished = list(finished_points(planned, store))
    panel, against_delay, throughputs, delays = sweep_chart(planned, finished).panels
    assert throughputs.cells is not None
    assert (throughputs.x_ticks, throughputs.y_ticks) == (["10", "15", "20"], ["drop-tail", "random-drop"])
    flow = next(one for one in finished if one.point.place == (1, 1)).flows[0]["throughput_bps"]
    assert throughputs.cells.values[1, 1] == flow["mean"] / 1e6  # noqa: PD011  of a HeatMap
    assert throughputs.cells.low is not None
    assert throughputs.cells.low[1, 1] == flow["low"] / 1e6
    assert delays.cells is not None
    assert delays.cells.label == "round trip, 95th percentile [ms]"
    assert against_delay.x_label == "round trip, 95th percentile [ms]"
    simulated = [curve for curve in panel.curves if curve.kind == "simulation"]
    assert [curve.label for curve in simulated] == [
        "simulated, link.satellite.queue = drop-tail",
        "simulated, link.satellite.queue = random-drop",
    ]
    assert simulated[0].x.tolist() == [10.0, 15.0, 20.0]
    assert any(curve.kind == "theory" for curve in panel.curves)
    assert panel.x_label == "link.satellite.buffer [pkt]"
    assert panel.y_label == "throughput [Mbit/s]"


def test_values_that_are_names_are_points_with_their_names_and_no_line_between_them() -> None:
    values = VARY["link.satellite.queue"]
    planned = planned_sweep(SCENARIO, {"link.satellite.queue": values}, {"run.duration": "20 s"})
    store = Memory()
    run_points([point.resolved for point in planned.points], store)
    panel, against_delay = sweep_chart(planned, list(finished_points(planned, store))).panels
    assert panel.x_ticks == ["drop-tail", "random-drop"]
    assert {curve.kind for curve in panel.curves} == {"marks", "theory-marks"}
    (points,) = against_delay.curves
    assert points.kind == "marks"
    assert points.notes == ["drop-tail", "random-drop"]


def test_the_command_line_says_what_it_left_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    command = [
        "sweep",
        str(path),
        "--vary",
        "link.satellite.buffer=10,15",
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "2",
    ]
    first, second = (CliRunner().invoke(app, command, catch_exceptions=False) for _ in range(2))
    assert "2 points (0 cached)" in first.output
    assert "2 points (2 cached)" in second.output
    assert "Warning (at 2 of 2 points)" in first.output
    for output in (first.output, second.output):
        table = output.partition("points (")[0]
        assert re.search(r"^10 pkt +flow +\d[\d.]* kbit/s .*%.* ms$", table, re.MULTILINE)
        assert re.search(r"^15 pkt +flow ", table, re.MULTILINE)
        assert re.search(r"^ +±[\d.]+% ", table, re.MULTILINE)
    for name in ("sweep.nc", "flows.csv", "links.csv", "picture.png", "picture.svg"):
        assert (tmp_path / "out" / name).stat().st_size > 0


def test_a_field_of_two_axes_is_refused_on_the_command_line_too(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    for second in ("link.satellite.buffer=30,40", "run.seed=1,2 & link.satellite.buffer=30,40"):
        vary = ["--vary", "link.satellite.buffer=10,20", "--vary", second]
        done = CliRunner().invoke(app, ["sweep", str(path), *vary, "--out", str(tmp_path / "out")])
        assert str(done.exception).startswith('axis "link.satellite.buffer": is given twice; allowed each field once')


def test_a_point_that_runs_until_it_is_known_has_as_many_replications_as_its_run(tmp_path: Path) -> None:
    precise = {"run.precision": {"quantity": "flow.flow.throughput", "within": "1%", "batch": 3, "most": 12}}
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    data = ackclock.sweep(path, {"link.satellite.buffer": [10]}, overrides=precise, jobs=2)
    alone = ackclock.run(path, overrides=precise | {"link.satellite.buffer": "10 pkt"}, picture=False)
    assert data.sizes["replication"] == alone.summary["replications"] > 3


def test_the_confidence_level_is_part_of_a_point_only_where_it_decides_the_replications() -> None:
    def key(**changes: object) -> str:
        (point,) = planned_sweep(
            SCENARIO, {"run.seed": [1]}, {f"run.{name}": value for name, value in changes.items()}
        ).points
        return point_key(point.resolved)

    precise = {"quantity": "flow.flow.throughput", "within": "1%"}
    assert key(confidence=0.9) == key(confidence=0.99)
    assert key(confidence=0.9, precision=precise) != key(confidence=0.99, precision=precise)
