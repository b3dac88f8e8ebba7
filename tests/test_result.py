import json
import os
from pathlib import Path

import pandas as pd
import pytest

from ackclock import folders, storage
from ackclock.errors import ResultError
from ackclock.result import Result
from ackclock.scenario import Resolved
from fakes import make_flow, make_replication, make_resolved

ALL = {"cwnd": True, "losses": True, "capture": ["satellite"], "overview_interval_s": 1.0}


def make_result(resolved: Resolved | None = None, n: int = 2) -> Result:
    resolved = make_resolved(trace=ALL) if resolved is None else resolved
    return Result.from_replications(
        resolved, [make_replication(resolved, number) for number in range(n)], version="0.0"
    )


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_flows_and_links_are_tables_by_name() -> None:
    result = make_result()
    assert list(result.flows.index) == ["flow"]
    assert result.flows.loc["flow", "timeouts"] == 2.0
    row = result.links.loc["satellite"]
    assert row["utilisation_fraction_low"] < row["utilisation_fraction"] < row["utilisation_fraction_high"]
    assert result.flows["finish_s"].isna().all()


def test_traces_carry_names_and_the_replication() -> None:
    cwnd = make_result().traces["cwnd"]
    assert list(cwnd["flow"].unique()) == ["flow"]
    assert list(cwnd.columns[:3]) == ["replication", "flow", "time_s"]
    assert cwnd.groupby("replication")["cwnd"].last().to_list() == [180.0, 181.0]
    assert make_result().traces["losses"]["cause"].to_list() == ["timeout", "fast-retransmit"] * 2


def test_the_overview_counts_drops() -> None:
    resolved = make_resolved(trace={"overview_interval_s": 1.0})
    result = Result.from_replications(resolved, [make_replication(resolved)], version="0.0")
    assert list(result.traces) == ["overview"]
    drops = result.traces["overview"].query("kind == 'drop'")
    assert drops[["name", "time_s", "value"]].to_numpy().tolist() == [
        ["satellite", 10.0, 2.0],
        ["satellite", 50.0, 1.0],
    ]


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    result = make_result()
    result.save(tmp_path / "new" / "folder")
    loaded = Result.load(tmp_path / "new" / "folder")
    assert loaded.summary == result.summary
    assert loaded.resolved == result.resolved
    assert (loaded.seed, loaded.version) == (1, "0.0")
    assert loaded.captures == {"satellite": b"pcapng of satellite"}
    assert set(loaded.traces) == {"cwnd", "losses", "overview"}
    for name, frame in result.traces.items():
        pd.testing.assert_frame_equal(loaded.traces[name], frame)
    assert loaded.plot() is not None


def test_a_scenario_that_is_none_is_no_result(tmp_path: Path) -> None:
    make_result().save(tmp_path)
    content = json.loads((tmp_path / "result.json").read_text())
    content["resolved"]["elements"][0]["rate_bps"] = -1.0
    (tmp_path / "result.json").write_text(json.dumps(content))
    with pytest.raises(ResultError, match=r"result\.json: is damaged, or was changed since"):
        Result.load(tmp_path)
    (tmp_path / ".ackclock.json").unlink()
    with pytest.raises(ResultError, match=r"elements\[0\]\.rate_bps"):
        Result.load(tmp_path)


def test_the_folder_holds_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    make_result().save(tmp_path)
    assert files(tmp_path) == [
        ".ackclock.json",
        *("captures/satellite.pcapng", "picture.png", "picture.svg", "result.json"),
        *("traces/cwnd.parquet", "traces/losses.parquet", "traces/overview.parquet"),
    ]
    assert list(json.loads((tmp_path / "result.json").read_text())) == ["summary", "resolved", "seed", "version"]


def test_saving_again_leaves_nothing_of_the_first_and_all_that_is_the_user_s(tmp_path: Path) -> None:
    make_result().save(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "traces" / "mine.parquet").write_text("mine")
    make_result(make_resolved(trace={"losses": True})).save(tmp_path)
    assert files(tmp_path) == [
        *(".ackclock.json", "notes.txt", "result.json", "traces/losses.parquet", "traces/mine.parquet")
    ]
    assert list(Result.load(tmp_path).traces) == ["losses"]


def test_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_result().save(tmp_path / name)
    for name in files(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_failing_write_leaves_the_earlier_result_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_result().save(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}

    def disk_full(_content: object) -> folders.Writer:
        def write(path: Path) -> None:
            path.write_text('{"half":')
            raise OSError(28, "No space left on device")

        return write

    monkeypatch.setattr(storage, "json_writer", disk_full)
    with pytest.raises(ResultError, match=r"result\.json: cannot be written; No space left on device"):
        make_result(n=1).save(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultError, match="file"):
        make_result().save(tmp_path / "file" / "below")
    with pytest.raises(ResultError, match="cannot write here"):
        folders.prepare_folder(tmp_path / "file")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("{", "cannot read the result"),
        ("[1]", "is not a result of ackclock"),
        ('{"summary": {}, "seed": 1}', "lacks resolved, version"),
        (b"\xff\xfe\x00", "cannot read the result"),
    ],
)
def test_what_is_no_result_is_not_loaded(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "result.json").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ResultError, match=message):
        Result.load(tmp_path)


def test_a_broken_trace_is_named(tmp_path: Path) -> None:
    make_result().save(tmp_path)
    (tmp_path / "traces" / "cwnd.parquet").write_bytes(b"not parquet")
    with pytest.raises(ResultError, match=r"cwnd\.parquet: is damaged"):
        Result.load(tmp_path).traces["cwnd"]
    (tmp_path / ".ackclock.json").unlink()
    loaded = Result.load(tmp_path)
    with pytest.raises(ResultError, match=r"cwnd\.parquet: cannot read the trace"):
        loaded.traces["cwnd"]


@pytest.mark.parametrize("name", ["../../escape", "/etc/passwd", "..", "", "a b/c", ".hidden"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    file = storage.capture_names([name])[name]
    assert Path(file).name == file
    assert not file.startswith(".")
    assert file.endswith(".pcapng")


def test_names_that_look_alike_get_files_of_their_own() -> None:
    assert list(storage.capture_names(["a/b", "a b", "a_b"]).values()) == ["a_b.pcapng", "a_b-2.pcapng", "a_b-3.pcapng"]


def test_no_temporary_file_carries_on(tmp_path: Path) -> None:
    make_result().save(tmp_path)
    assert not [name for name in files(tmp_path) if str(os.getpid()) in name]


def test_without_overview_there_is_nothing_to_draw() -> None:
    with pytest.raises(ResultError, match="picture=True"):
        make_result(make_resolved()).plot()


def test_a_notebook_shows_tables_and_verdict() -> None:
    resolved = make_resolved([make_flow("<b>")])
    shown = make_result(resolved)._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "Verdict:" in shown
    assert "<b>&" not in shown.replace("<b>Verdict", "")
