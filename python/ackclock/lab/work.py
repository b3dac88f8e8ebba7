"""The kinds of work that a page asks for: a run, a part of it in detail, packets in slow motion, advice."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final

from ackclock.errors import ArgumentError, Fault, LimitError, ScenarioError
from ackclock.lab import advising, motion
from ackclock.lab.answers import answer, chart_of
from ackclock.lab.desk import Desk, Tell, Work
from ackclock.lab.requests import LONGEST_S, changes_of, columns_of, number_of, range_of, text_of
from ackclock.lab.running import Recorded, changed, fault_data, prepared, recorded_fully, run

Json = dict[str, Any]
DETAIL: Final = 0.35
"""Fraction of a run from which down a part of it is drawn from all changes of its queues."""


def run_work(content: Json) -> Work:
    """Read the request for a run: the scenario's text, and the fields to change in it first."""
    text, changes, columns = text_of(content, "toml"), changes_of(content), columns_of(content)
    part = range_of(content)

    def work(desk: Desk, tell: Tell) -> Json:
        started = perf_counter()
        known = text
        try:
            known = changed(text, changes)
            ready = prepared(known)
        except (ScenarioError, LimitError) as error:
            return {"kind": "fault", "toml": known, "faults": fault_data(error)}
        told = False

        def on_fraction(fraction: float) -> None:
            nonlocal told
            if not told and fraction < 1.0:  # a quick run has its text and its form with its curves
                tell({"kind": "ready", "toml": known, "form": ready.form})
                told = True
            tell({"kind": "progress", "fraction": fraction})

        def on_recorded(recorded: Recorded) -> None:
            curves = {"kind": "curves", "toml": known, "form": ready.form, **_charts(recorded, part, columns)}
            tell({**curves, "seconds": perf_counter() - started})

        desk.ran, desk.full = run(ready, on_fraction, on_recorded), None
        return {"kind": "result", "toml": known, **answer(desk.ran, desk.place)}

    return work


def _charts(recorded: Recorded, part: tuple[float, float] | None, columns: int) -> Json:
    """Describe the panels of the whole run, and of the part of it that the page shows, if it has that."""
    duration = recorded.prepared.resolved.run.duration_s
    found = {"chart": chart_of(recorded, 0.0, duration, columns)}
    if part is not None and part[1] <= duration:
        found["part"] = chart_of(recorded, *part, columns)
    return found


def window_work(content: Json) -> Work:
    """Read the request for the panels between two times."""
    columns = columns_of(content)
    start, end = number_of(content, "start", 0.0, LONGEST_S), number_of(content, "end", 0.0, LONGEST_S)

    def work(desk: Desk, tell: Tell) -> Json:
        recorded = _last(desk)
        duration = recorded.prepared.resolved.run.duration_s
        low, high = max(0.0, start), min(end, duration)
        if not low < high:
            raise ArgumentError(Fault("request, field end", "is not after the start"))
        if high - low < DETAIL * duration:
            desk.full = recorded = desk.full or _in_full(recorded, tell)
        return {"kind": "chart", "chart": chart_of(recorded, low, high, columns)}

    return work


def motion_work(content: Json) -> Work:
    """Read the request for the packets in flight between two times."""
    start, end = number_of(content, "start", 0.0, LONGEST_S), number_of(content, "end", 0.0, LONGEST_S)

    def work(desk: Desk, tell: Tell) -> Json:
        recorded = _last(desk)
        on_fraction = lambda fraction: tell({"kind": "progress", "fraction": fraction})  # noqa: E731
        return {"kind": "motion", **motion.motion(recorded.prepared.resolved, start, end, on_fraction)}

    return work


def advice_work(content: Json) -> Work:
    """Read the request for advice: the scenario's text."""
    text = text_of(content, "toml")

    def work(_: Desk, tell: Tell) -> Json:
        prepared(text)  # its faults and its cost are found here, before a process is started
        return {"kind": "advice", **advising.advice(text, lambda step: tell({"kind": "step", "text": step}))}

    return work


KINDS: Final[Mapping[str, Callable[[Json], Work]]] = {
    "run": run_work,
    "window": window_work,
    "motion": motion_work,
    "advice": advice_work,
}


def _last(desk: Desk) -> Recorded:
    if desk.ran is None:
        raise ArgumentError(Fault("request", "there is no run of this page", hint="run the scenario first"))
    return desk.ran.recorded


def _in_full(recorded: Recorded, tell: Tell) -> Recorded:
    return recorded_fully(recorded, lambda fraction: tell({"kind": "progress", "fraction": fraction}))
