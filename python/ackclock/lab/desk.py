"""Work for the pages that are open: one piece at a time for each page, the newest first, each in a thread."""

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from threading import Event
from typing import Any, Final

from ackclock.errors import AckclockError
from ackclock.lab.running import CancelledError, Ran, Recorded, fault_data
from ackclock.tables import Place

Json = dict[str, Any]
Tell = Callable[[Json], None]
"""A function that sends a line of progress to the page; it raises `CancelledError` when nobody waits any more."""
Work = Callable[["Desk", Tell], Json]
"""A piece of work: it gets the page's desk, and gives the answer."""

MOST_PAGES: Final = 8
AT_ONCE: Final = 2
"""Largest number of pieces of work at a time, of all pages."""
_NAME: Final = re.compile(r"[0-9a-f]{8,32}")


class Asked:
    """The pieces of work that a page has asked for, which go on or wait."""

    def __init__(self) -> None:
        self._open: list[tuple[bool, Event]] = []

    def begin(self, *, is_run: bool) -> Event:
        """Cancel what a new piece of work takes the place of: a run all others, any other work all but runs.

        Returns
        -------
        Event
            The new piece's: set when it is cancelled, and to be set when it is over.
        """
        for was_run, cancelled in self._open:
            if is_run or not was_run:
                cancelled.set()
        self._open = [one for one in self._open if not one[1].is_set()]
        cancelled = Event()
        self._open.append((is_run, cancelled))
        return cancelled


class Desk:
    """Memory of one page: its last run, and the work that goes on.

    Parameters
    ----------
    place : str
        Where its tables are read: on the lab's page, or, those of the widget, as they are printed.
    """

    def __init__(self, place: Place = "page") -> None:
        self.place = place
        self.ran: Ran | None = None
        self.full: Recorded | None = None
        """The last run once more with each change of each queue, made when a short part of it is looked at."""
        self._turn = asyncio.Lock()
        self._asked = Asked()

    async def lines(self, work: Work, machine: asyncio.Semaphore, *, is_run: bool = True) -> AsyncIterator[bytes]:
        """Do a piece of work in place of what the page had asked for before; give lines of JSON, the answer last.

        What is asked of the last run waits for a run that goes on: who looks at curves changes nothing and ends no run.
        """
        cancelled = self._asked.begin(is_run=is_run)
        try:
            async with self._turn:
                if cancelled.is_set():
                    yield _line({"kind": "superseded"})
                    return
                async with machine:
                    async for line in _done(work, self, cancelled):
                        yield line
        finally:
            cancelled.set()


class Desks:
    """The desks of the pages, of which the ones used last are kept."""

    def __init__(self) -> None:
        self._desks: OrderedDict[str, Desk] = OrderedDict()
        self.machine = asyncio.Semaphore(AT_ONCE)

    def of(self, page: object) -> Desk | None:
        """Give the desk of a page by the name that it chose; None if that is not a name."""
        if not isinstance(page, str) or _NAME.fullmatch(page) is None:
            return None
        desk = self._desks.setdefault(page, Desk())
        self._desks.move_to_end(page)
        while len(self._desks) > MOST_PAGES:
            self._desks.popitem(last=False)
        return desk


async def _done(work: Work, desk: Desk, cancelled: Event) -> AsyncIterator[bytes]:
    """Do the work in a thread; give its lines of progress, then its answer or what is wrong."""
    loop, told = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()

    def tell(content: Json) -> None:
        if cancelled.is_set():
            raise CancelledError
        loop.call_soon_threadsafe(told.put_nowait, _line(content))

    def at_work() -> bytes:
        try:
            return _line(work(desk, tell))
        except CancelledError:
            return _line({"kind": "superseded"})
        except AckclockError as error:
            return _line({"kind": "fault", "faults": fault_data(error)})
        except MemoryError:
            return _line({"kind": "fault", "faults": [{"text": "out of memory: shorten the run", "line": None}]})
        finally:
            loop.call_soon_threadsafe(told.put_nowait, None)

    thread = loop.run_in_executor(None, at_work)
    try:
        while (content := await told.get()) is not None:
            yield content
        yield await thread
    finally:
        cancelled.set()
        await asyncio.shield(asyncio.wait([thread]))


def _line(content: Json) -> bytes:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode() + b"\n"
