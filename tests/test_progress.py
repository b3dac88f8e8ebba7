"""Progress of a command and the time left, on a clock that the tests turn."""

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


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.95])
def test_the_time_left_holds_what_comes_after_the_runs_and_not_what_was_before(share: float) -> None:
    begin, runs, step, steps = 5.0, 20.0, 2.0, 3
    end = begin + runs + steps * step
    left = progress.TimeLeft([step] * steps)
    now = share * end
    for tenth in range(int(10 * begin), int(10 * min(now, begin + runs)) + 1):
        left.runs(tenth / 10.0, (tenth / 10.0 - begin) / runs)
    for number in range(steps):
        if begin + runs + number * step <= now:
            left.step(begin + runs + number * step)
    expected = None if now <= begin else pytest.approx(end - now, abs=0.2)
    assert left.left_s(now) == expected


def test_steps_that_take_longer_than_expected_correct_the_time_left() -> None:
    left = progress.TimeLeft([1.0] * 10)
    for number in range(6):
        left.step(4.0 * number)
    each = (1.0 + 20.0) / 6
    assert left.left_s(20.0) == pytest.approx(5 * each)
    assert left.left_s(23.0) == pytest.approx(5 * each - 3.0)
    assert left.left_s(60.0) == pytest.approx(4 * each)
    assert left.steps_done == 0.5


def test_a_busy_machine_takes_longer_for_steps_by_as_much_as_for_the_start() -> None:
    assert progress.slowdown(3.0, 1.0) == 3.0
    assert progress.slowdown(0.9, 1.0) == 1.0
    assert progress.slowdown(3.0, 0.0) == 1.0


def test_nothing_is_estimated_before_anything_is_done() -> None:
    left = progress.TimeLeft([1.0])
    assert left.left_s(3.0) is None
    left.runs(4.0, 0.0)
    assert left.left_s(5.0) is None


def test_a_step_says_how_long_the_rest_takes(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.ProgressBar(steps=100, step_s=3.0) as bar:
        for number in range(20):
            clock[0] = 2.0 * number
            bar.step(f"drawing {number}")
    assert capsys.readouterr().err == "drawing 15, 30 s after the start, about 3 min left\n"


def test_a_terminal_sees_the_time_left(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress.ProgressBar(steps=1, step_s=5.0) as bar:
        monkeypatch.setattr(bar, "_show", lambda **fields: shown.append(str(fields["finished"])))
        for second in range(11):
            clock[0] = float(second)
            bar(second / 20, second)
    assert shown[-1] == "10 finished, about 15 s left"


def test_steps_of_different_lengths_are_left_with_their_own_lengths() -> None:
    left = progress.TimeLeft([1.0, 4.0, 2.0])
    for now in (0.0, 2.0):
        left.step(now)
    # The first step took twice as long as expected; a step of the mean length, 7/3 s, counts as it was expected.
    slower = (7.0 / 3.0 + 2.0) / (7.0 / 3.0 + 1.0)
    assert left.left_s(2.0) == pytest.approx(slower * 6.0)
    assert left.steps_done == pytest.approx(1.0 / 7.0)
