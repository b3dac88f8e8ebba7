"""The kinds of work that a page asks for: a run, a part of it in detail, packets in slow motion, advice."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final

from ackclock.errors import ArgumentError, Fault, LimitError, ScenarioError
from ackclock.lab import advising, motion
from ackclock.lab.answers import answer, chart_of
from ackclock.lab.desk import Desk, Tell, Work
from ackclock.lab.requests import LONGEST_S, changes_of, columns_of, number_of, range_of, text_of
from ackclock.lab.running import Ran, changed, fault_data, prepared, run, simulate_fully

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
            if not told and fraction < 1.0:  # a quick run has its text and its form in the answer
                tell({"kind": "ready", "toml": known, "form": ready.form})
                told = True
            tell({"kind": "progress", "fraction": fraction})

        ran = run(ready, on_fraction)
        found = answer(ran, columns)
        if part is not None and part[1] <= ready.resolved.run.duration_s:
            found["part"] = chart_of(ran, *part, columns)
        desk.ran, desk.full = ran, None
        return {"kind": "result", "toml": known, "form": ready.form, **found, "seconds": perf_counter() - started}

    return work


def window_work(content: Json) -> Work:
    """Read the request for the panels between two times."""
    columns = columns_of(content)
    start, end = number_of(content, "start", 0.0, LONGEST_S), number_of(content, "end", 0.0, LONGEST_S)

    def work(desk: Desk, tell: Tell) -> Json:
        ran = _last(desk)
        duration = ran.prepared.resolved.run.duration_s
        low, high = max(0.0, start), min(end, duration)
        if not low < high:
            raise ArgumentError(Fault("request, field end", "is not after the start"))
        if high - low < DETAIL * duration:
            desk.full = ran = desk.full or _in_full(ran, tell)
        return {"kind": "chart", "chart": chart_of(ran, low, high, columns)}

    return work


def motion_work(content: Json) -> Work:
    """Read the request for the packets in flight between two times."""
    start, end = number_of(content, "start", 0.0, LONGEST_S), number_of(content, "end", 0.0, LONGEST_S)

    def work(desk: Desk, tell: Tell) -> Json:
        ran = _last(desk)
        on_fraction = lambda fraction: tell({"kind": "progress", "fraction": fraction})  # noqa: E731
        return {"kind": "motion", **motion.motion(ran.prepared.resolved, start, end, on_fraction)}

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


def _last(desk: Desk) -> Ran:
    if desk.ran is None:
        raise ArgumentError(Fault("request", "there is no run of this page", hint="run the scenario first"))
    return desk.ran


def _in_full(ran: Ran, tell: Tell) -> Ran:
    return simulate_fully(ran, lambda fraction: tell({"kind": "progress", "fraction": fraction}))
