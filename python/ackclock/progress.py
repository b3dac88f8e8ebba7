"""A progress bar for runs that take longer than a second."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0


class ProgressBar:
    """Shows a bar on standard error, where that is a terminal, once a run has taken a second.

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, fraction: float, finished: int) -> None:
        """Show how far the run is."""
        if self._bar is None:
            if fraction >= 1.0 or time.monotonic() - self._start < PATIENCE_S:
                return
            self._open()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=fraction, finished=finished)

    def _open(self) -> None:
        from rich.console import Console  # noqa: PLC0415  most runs are over before a bar is due
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        columns = (
            TextColumn(self._what),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[finished]} finished"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=1.0, finished=0)
        self._bar.start()
