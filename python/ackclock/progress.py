"""Progress of a run: a bar for people, now and then a line for files and pipes."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0
LINE_EVERY_S = 30.0


class ProgressBar:
    """A bar on standard error, shown once a run has taken a second; if that is not a terminal, a line every 30 s.

    Call it with the fraction done and the number of replications, or points, finished.

    Parameters
    ----------
    what : str
        What is being done.
    """

    def __init__(self, what: str = "simulating") -> None:
        self._what = what
        self._start = time.monotonic()
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

    def __call__(self, fraction: float, finished: int) -> None:
        """Show how far the run is."""
        if not sys.stderr.isatty():
            self._print_line(fraction, finished)
            return
        if self._bar is None:
            if fraction >= 1.0 or time.monotonic() - self._start < PATIENCE_S:
                return
            self._open()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=fraction, finished=finished)

    def step(self, what: str) -> None:
        """Show what comes after the runs: "drawing ..."."""
        if not sys.stderr.isatty():
            self._say(f"{what}, {_span(time.monotonic() - self._start)} after the start")
        elif self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what)

    def _print_line(self, fraction: float, finished: int) -> None:
        if fraction < 1.0:
            spent = time.monotonic() - self._start
            left = f", about {_span(spent / fraction - spent)} left" if fraction > 0 else ""
            self._say(f"{self._what}: {fraction:.0%}, {finished} finished in {_span(spent)}{left}")

    def _say(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + LINE_EVERY_S
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def _open(self) -> None:
        from rich.console import Console  # noqa: PLC0415  most runs are over before a bar is shown
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[finished]} finished"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._what, total=1.0, finished=0)
        self._bar.start()


def _span(seconds: float) -> str:
    """Word a time to the second, from a minute on to the half minute."""
    minute = 60.0
    return f"{seconds:.0f} s" if seconds < minute else f"{round(2 * seconds / minute) / 2:g} min"
