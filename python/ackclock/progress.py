"""Progress of a command: a bar for people, now and then a line for files and pipes, both with the time left."""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0
LINE_EVERY_S = 30.0
ENOUGH_CPU_S = 0.1
_LEAST_S = 1e-9


_STARTED = time.monotonic(), time.process_time()
"""Clock and processor time when this was imported [s]: at the start of a command."""


def slowdown(wall_s: float, cpu_s: float) -> float:
    """Compute how much longer than its processor time a thread takes, from what it did so far.

    Parameters
    ----------
    wall_s, cpu_s : float
        Time of the clock and of the processor [s], >= 0; too little of it says nothing.

    Returns
    -------
    float
        The ratio, at least 1.
    """
    return max(1.0, wall_s / cpu_s) if cpu_s >= ENOUGH_CPU_S else 1.0


class TimeLeft:
    """Estimate of the time left: of the runs by their rate so far, then of the steps that come after them.

    Parameters
    ----------
    steps_s : sequence of float
        Expected time of each step after the runs, such as pictures [s]; steps that are finished correct it.
    """

    def __init__(self, steps_s: Sequence[float] = ()) -> None:
        self._steps_s = tuple(steps_s)
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)
        self._steps_started: float | None = None
        self._step_started = 0.0
        self._begun = 0

    def runs(self, now_s: float, fraction: float) -> None:
        """Note the fraction done of the runs at an instant [s] of a clock."""
        self._first = self._first or (now_s, fraction)
        self._last = (now_s, fraction)

    def step(self, now_s: float) -> None:
        """Note the begin of a step after the runs."""
        self._steps_started = now_s if self._steps_started is None else self._steps_started
        self._step_started = now_s
        self._begun += 1

    @property
    def steps_done(self) -> float:
        """The fraction of the steps' expected time that is done."""
        return sum(self._steps_s[: max(0, self._begun - 1)]) / max(sum(self._steps_s), _LEAST_S)

    def left_s(self, now_s: float) -> float | None:
        """Estimate the time left at an instant [s]; None if nothing is known of it."""
        if self._steps_started is not None:
            return self._steps_left_s(now_s, self._steps_started) if self._steps_s else None
        if self._first is None or self._last[1] <= self._first[1]:
            return None
        (first_s, first), (last_s, last) = self._first, self._last
        runs_s = (1.0 - last) / (last - first) * (last_s - first_s)
        return max(0.0, runs_s - (now_s - last_s)) + sum(self._steps_s)

    def _steps_left_s(self, now_s: float, started_s: float) -> float:
        """Estimate the time of the steps left: that expected, times by how much the steps before were longer.

        One more step of the usual time counts to those before, so that the first one alone does not decide.
        """
        done = self._begun - 1
        usual_s = sum(self._steps_s) / len(self._steps_s)
        slower = (usual_s + self._step_started - started_s) / (usual_s + sum(self._steps_s[:done]))
        now, *later = (*self._steps_s[done:], 0.0)
        return max(0.0, slower * now - (now_s - self._step_started)) + slower * sum(later)


class ProgressBar:
    """A bar on standard error, shown once a run has taken a second; if that is not a terminal, a line every 30 s.

    Call it with the fraction done and the number of replications, or points, finished.

    Parameters
    ----------
    what : str
        What is being done.
    steps : int
        Number of steps after the runs, each of which `step` announces.
    step_s : float
        Processor time of each [s]; on a busy machine it takes longer, by as much as the start of the command did.
    """

    def __init__(self, what: str = "simulating", *, steps: int = 0, step_s: float = 0.0) -> None:
        self._what = what
        self._start = time.monotonic()
        self._left = TimeLeft()
        self.plan([step_s] * steps)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._next_line = self._start + LINE_EVERY_S

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def plan(self, steps_s: Sequence[float]) -> None:
        """Say before the runs what processor time each step after them usually takes [s], where they differ."""
        slower = slowdown(time.monotonic() - _STARTED[0], time.process_time() - _STARTED[1])
        self._left = TimeLeft([slower * step_s for step_s in steps_s])

    def __call__(self, fraction: float, finished: int) -> None:
        """Show how far the runs are."""
        now = time.monotonic()
        self._left.runs(now, fraction)
        if not sys.stderr.isatty():
            if fraction < 1.0:
                spent = _span(now - self._start)
                self._say(f"{self._what}: {fraction:.0%}, {finished} finished in {spent}{self._text(now)}")
            return
        if self._bar is None and (fraction >= 1.0 or now - self._start < PATIENCE_S):
            return
        self._show(completed=fraction, finished=f"{finished} finished{self._text(now)}")

    def step(self, what: str) -> None:
        """Show the step that begins after the runs: "drawing ..."."""
        now = time.monotonic()
        self._left.step(now)
        if not sys.stderr.isatty():
            self._say(f"{what}, {_span(now - self._start)} after the start{self._text(now)}")
        elif self._bar is not None:
            self._show(description=what, completed=self._left.steps_done, finished=self._text(now).removeprefix(", "))

    def _text(self, now: float) -> str:
        left = self._left.left_s(now)
        return "" if left is None else f", about {_span(left)} left"

    def _say(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + LINE_EVERY_S
            with suppress(OSError):  # nobody may be there to read it; the run goes on
                sys.stderr.write(f"{line}\n")
                sys.stderr.flush()

    def _show(self, *, completed: float, finished: str, description: str | None = None) -> None:
        if self._bar is None or self._task is None:
            from rich.console import Console  # noqa: PLC0415  most runs are over before a bar is shown
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[finished]}"),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._what, total=1.0, finished=finished)
            self._bar.start()
        self._bar.update(self._task, completed=completed, finished=finished, description=description or self._what)


def _span(seconds: float) -> str:
    """Word a time to the second, from a minute on to the half minute."""
    minute = 60.0
    return f"{seconds:.0f} s" if seconds < minute else f"{round(2 * seconds / minute) / 2:g} min"
