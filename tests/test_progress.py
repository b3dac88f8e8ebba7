"""How far a run is, where nobody watches a terminal."""

import pytest

from ackclock import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("ackclock.progress.time.monotonic", lambda: now[0])
    return now


def test_a_pipe_gets_a_line_every_half_minute(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.ProgressBar("16 points") as bar:
        for second in range(1, 91):
            clock[0] = float(second)
            bar(second / 300, second // 20)
    assert capsys.readouterr().err.splitlines() == [
        "16 points: 10%, 1 finished in 30 s, about 4.5 min left",
        "16 points: 20%, 3 finished in 1 min, about 4 min left",
        "16 points: 30%, 4 finished in 1.5 min, about 3.5 min left",
    ]


def test_a_short_run_says_nothing_to_a_pipe(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.ProgressBar() as bar:
        clock[0] = 29.0
        bar(0.9, 1)
        clock[0] = 31.0
        bar(1.0, 1)
    assert capsys.readouterr().err == ""


def test_a_pipe_hears_what_comes_after_the_runs(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.ProgressBar() as bar:
        for second in (10.0, 45.0, 50.0, 100.0):
            clock[0] = second
            bar.step("drawing two_way/figure-5.2")
    assert capsys.readouterr().err.splitlines() == [
        "drawing two_way/figure-5.2, 45 s after the start",
        "drawing two_way/figure-5.2, 1.5 min after the start",
    ]
