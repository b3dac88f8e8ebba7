"""The law of a changing rate from its table; traces and files of Mahimahi are read here."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from ackclock.scenario.contract import RANGES
from ackclock.scenario.csv_trace import MOST_TRACE_BYTES, TraceColumn, read_trace
from ackclock.scenario.delays import check_transitions
from ackclock.scenario.named_file import read_named_file
from ackclock.scenario.places import as_toml
from ackclock.scenario.resolved_rates import (
    AlternatingRate,
    OpportunitiesRate,
    RateLaw,
    RateStateSettings,
    StepsRate,
    ends_in_outage,
)
from ackclock.scenario.schema_rates import MOST_STATES, RATE_FIELDS, RateProcess, RateState
from ackclock.scenario.tables import TableError, check_fields

_RATE: Final = TraceColumn("rate", "bit/s", RANGES["elements[].rate_bps"].high)
_LEAST_BPS: Final = RANGES["elements[].rate_bps"].low
_MOST_OPPORTUNITIES: Final = int(RANGES["elements[].rate_process.law.times_ms (length)"].high)
_MOST_MS: Final = int(RANGES["elements[].rate_process.law.times_ms[]"].high)
_SHORTEST_STAY_S: Final = 1e-6
_OF_ONE_KIND: Final = {"alternating": ("least_stay", "mean_extra"), "markov": ("mean_stay",)}


def rate_law(process: RateProcess, folder: Path | None) -> RateLaw:
    """Turn the table into SI numbers.

    Parameters
    ----------
    process : RateProcess
        The table.
    folder : Path, optional
        Where the scenario's file is; files of the table are looked for there.

    Returns
    -------
    StepsRate, AlternatingRate or OpportunitiesRate
        What the engine reads.

    Raises
    ------
    TableError
        If its fields do not fit together, if a file cannot be read, or if the rate is 0 for ever.
    """
    check_fields(process, "kind", process.kind, RATE_FIELDS)
    match process.kind:
        case "steps":
            steps = process.steps or ()
            if steps[0][0] != 0.0:
                hint = 'the first step is the rate at the start: ["0 s", ...]'
                raise TableError("steps", "does not begin at 0 s", hint)
            return _steps_law("steps", steps, process.repeat)
        case "trace":
            return _steps_law("file", read_trace(process.file or "", folder, _RATE), process.repeat)
        case "outages":
            return _steps_law("outages", _outages(process), process.repeat)
        case "alternating" | "markov":
            return _alternating(process)
        case "mahimahi":
            times = _opportunities(read_named_file(process.file or "", folder, MOST_TRACE_BYTES))
            return OpportunitiesRate("opportunities", times, process.opportunity, process.header)


def _steps_law(field: str, steps: Sequence[tuple[float, float]], repeat: float | None) -> StepsRate:
    for time, rate in steps:
        _check_rate(field, rate, f"at {time:g} s")
    if repeat is not None and repeat <= steps[-1][0]:
        raise TableError("repeat", f"is not after the last change, at {steps[-1][0]:g} s")
    if ends_in_outage([rate for _, rate in steps], repeats=repeat is not None):
        hint = "give a later step with a rate; it may be behind the end of the run"
        raise TableError(field, "ends at 0 bit/s: the packets that wait then would never depart", hint)
    return StepsRate("steps", tuple((float(time), float(rate)) for time, rate in steps), repeat)


def _check_rate(field: str, rate: float, where: str) -> None:
    if 0.0 < rate < _LEAST_BPS:
        raise TableError(
            field, f"has a rate between 0 and 1 bit/s, {rate:g} bit/s {where}", allowed="0, or 1 bit/s and more"
        )


def _outages(process: RateProcess) -> list[tuple[float, float]]:
    rate = process.rate or 0.0
    steps = [(0.0, rate)]
    for start, duration in process.outages or ():
        if start < steps[-1][0] or (start == steps[-1][0] and start > 0.0):
            raise TableError("outages", f"has an outage at {start:g} s that begins before the one before it has ended")
        steps = [*(steps if start > 0.0 else []), (start, 0.0), (start + duration, rate)]
    return steps


def _alternating(process: RateProcess) -> AlternatingRate:
    states, kind = process.states, process.kind
    if not states:
        raise TableError("states", "is empty")
    if len(states) > MOST_STATES:
        raise TableError("states", f"has {len(states)} states, more than {MOST_STATES}")
    if process.start_state > len(states):
        raise TableError("start_state", f"is beyond the last state, {len(states)}")
    if process.transitions is not None:
        check_transitions(process.transitions, len(states))
    rows = process.transitions
    if kind == "markov" and rows is None and len(states) > 1:
        share = 1.0 / (len(states) - 1)
        rows = tuple(tuple(0.0 if at == to else share for to in range(len(states))) for at in range(len(states)))
    settings = tuple(_state(number, state, kind) for number, state in enumerate(states, 1))
    _check_outages(settings, rows)
    return AlternatingRate("alternating", settings, process.start_state - 1, rows)


def _state(number: int, state: RateState, kind: str) -> RateStateSettings:
    _check_rate("states", state.rate, f"in state {number}")
    for other, fields in _OF_ONE_KIND.items():
        for name in fields:
            if other != kind and state.gives(name):
                raise TableError("states", f'has the field {name} of the kind "{other}" in state {number}')
    if kind == "markov" and state.mean_stay is None:
        raise TableError("states", f"has no mean_stay in state {number}", 'write mean_stay = "2 s"')
    least, extra = (0.0, state.mean_stay or 0.0) if kind == "markov" else (state.least_stay, state.mean_extra)
    if least + extra < _SHORTEST_STAY_S:
        raise TableError("states", f"has a state, number {number}, that lasts for less than 1 us", "see mean_extra")
    return RateStateSettings(state.rate, least, extra)


def _check_outages(states: Sequence[RateStateSettings], rows: Sequence[Sequence[float]] | None) -> None:
    """Check that a rate above 0 follows each state in the end."""
    ends = [state.rate_bps > 0.0 for state in states]
    for _ in states:
        for index in range(len(states)):
            after = ends if rows is None else [end for end, share in zip(ends, rows[index], strict=True) if share > 0.0]
            ends[index] = ends[index] or any(after)
    if not all(ends):
        number = ends.index(False) + 1
        problem = f"has a state, number {number}, of 0 bit/s that no state with a rate follows"
        raise TableError("states", problem, "the packets that wait then would never depart")


# Advice resolves a scenario many times, and a file may have a million lines.
@lru_cache(maxsize=4)
def _opportunities(text: str) -> tuple[int, ...]:
    """Read a file of Mahimahi: in each line a number of milliseconds, in order; the last one is its length."""
    allowed = "a whole number of milliseconds in each line, in order"
    times: list[int] = []
    for line, content in enumerate(text.splitlines(), 1):
        number = content.strip()
        if not (number.isascii() and number.isdigit()):
            raise TableError("file", f"has no whole number in line {line}: {as_toml(content[:60])}", allowed=allowed)
        if len(number) > len(str(_MOST_MS)) or int(number) > _MOST_MS:
            raise TableError("file", f"is out of range in line {line}: {number[:60]}", allowed=f"0 to {_MOST_MS} ms")
        times.append(int(number))
        if len(times) > _MOST_OPPORTUNITIES:
            raise TableError("file", f"has more than {_MOST_OPPORTUNITIES} lines")
    if not times:
        raise TableError("file", "has no lines", allowed=allowed)
    back = next((line for line, (one, other) in enumerate(pairwise(times), 2) if other < one), None)
    if back is not None:
        raise TableError("file", f"goes back in time in line {back}: {times[back - 1]}", allowed=allowed)
    if times[-1] == 0:
        raise TableError("file", "ends at 0 ms", "its last number is the time after which it begins again")
    return tuple(times)


def shortest_stay_s(law: RateLaw) -> float | None:
    """Find the shortest mean time between two changes, of those that go on without end [s]; None if none do."""
    match law:
        case AlternatingRate():
            return min(state.mean_stay_s for state in law.states)
        case StepsRate(period_s=float(period_s)):
            return period_s / len(law.steps_bps)
        case _:
            return None
