"""The law of a changing delay from its table; a trace is read from its file here."""

import csv
from collections.abc import Iterator
from pathlib import Path

from ackclock.scenario.named_file import read_named_file
from ackclock.scenario.places import as_toml
from ackclock.scenario.resolved_elements import AlternatingLaw, DelayLaw, DelayStateSettings, HandoverLaw, StepsLaw
from ackclock.scenario.schema_kinds import LONGEST_RUN_S, MOST_STEPS
from ackclock.scenario.schema_links import DELAY_FIELDS, DelayProcess
from ackclock.scenario.tables import TableError, check_fields

MOST_TRACE_BYTES = 32_000_000
"""Largest size of a file of delays [B]."""
MOST_CHANGES = 1e7
"""Most changes of a delay in one run, on average."""
_LONGEST_DELAY_S = 1e5
_ROUNDING = 1e-9


def delay_law(process: DelayProcess, folder: Path | None) -> DelayLaw:
    """Turn the table into SI numbers.

    Parameters
    ----------
    process : DelayProcess
        The table.
    folder : Path, optional
        Where the scenario's file is; a trace is looked for there.

    Returns
    -------
    StepsLaw, AlternatingLaw or HandoverLaw
        What the engine reads.

    Raises
    ------
    TableError
        If its fields do not fit together, or a trace cannot be read.
    """
    check_fields(process, "kind", process.kind, DELAY_FIELDS)
    match process.kind:
        case "steps":
            return _steps(process)
        case "trace":
            return StepsLaw("steps", tuple(_trace(process.file or "", folder)))
        case "alternating":
            return _alternating(process)
        case "handover":
            return _handover(process)


def _steps(process: DelayProcess) -> StepsLaw:
    steps = process.steps or ()
    if steps[0][0] != 0.0:
        raise TableError("steps", "does not begin at 0 s", 'the first step is the delay at the start: ["0 s", ...]')
    return StepsLaw("steps", steps)


def _alternating(process: DelayProcess) -> AlternatingLaw:
    states = process.states
    if not states:
        raise TableError("states", "is empty")
    if len(states) > 1000:
        raise TableError("states", f"has {len(states)} states, more than 1000")
    for number, state in enumerate(states, 1):
        if state.least_stay + state.mean_extra < 1e-6:
            raise TableError("states", f"has a state, number {number}, that lasts for less than 1 us", "see mean_extra")
    if process.start_state > len(states):
        raise TableError("start_state", f"is beyond the last state, {len(states)}")
    if process.transitions is not None:
        _check_transitions(process.transitions, len(states))
    settings = tuple(DelayStateSettings(state.delay, state.least_stay, state.mean_extra) for state in states)
    return AlternatingLaw("alternating", settings, process.start_state - 1, process.transitions)


def _check_transitions(rows: tuple[tuple[float, ...], ...], states: int) -> None:
    if len(rows) != states or any(len(row) != states for row in rows):
        raise TableError("transitions", f"has not a row and a column for each of the {states} states")
    for number, row in enumerate(rows, 1):
        if abs(sum(row) - 1.0) > _ROUNDING:
            raise TableError("transitions", f"has a row, number {number}, whose sum is {sum(row):.9g}, not 1")


def _handover(process: DelayProcess) -> HandoverLaw:
    low, high = process.low or 0.0, process.high or 0.0
    if low > high:
        raise TableError("low", "is above high")
    return HandoverLaw("handover", low, high, process.period)


def shortest_stay_s(law: DelayLaw) -> float | None:
    """Find the shortest mean time between two changes [s]; None for given instants."""
    match law:
        case AlternatingLaw():
            return min(state.least_stay_s + state.mean_extra_s for state in law.states)
        case HandoverLaw():
            return law.period_s
        case _:
            return None


def _trace(name: str, folder: Path | None) -> list[tuple[float, float]]:
    """Read a file of instants and delays; its first delay holds from the start."""
    steps: list[tuple[float, float]] = []
    for line, row in _rows(read_named_file(name, folder, MOST_TRACE_BYTES)):
        time, delay = _numbers(line, row)
        if steps and time <= steps[-1][0]:
            raise TableError("file", f"goes back in time in line {line}: {as_toml(', '.join(row))}")
        steps.append((time, delay))
        if len(steps) > MOST_STEPS:
            raise TableError("file", f"has more than {MOST_STEPS} rows")
    if not steps:
        raise TableError("file", "has no rows", allowed="a row for each change: time in s, delay in s")
    return [(0.0, steps[0][1]), *steps[1:]]


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give the rows with their lines; a first one that is not a pair of numbers is the head, "#" begins a comment."""
    first = True
    for line, content in enumerate(text.splitlines(), 1):
        row = next(csv.reader([content.partition("#")[0]]), [])
        if any(cell.strip() for cell in row):
            if not (first and not any(_is_number(cell) for cell in row)):
                yield line, row
            first = False


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(line: int, row: list[str]) -> tuple[float, float]:
    allowed = "two numbers in each row, a comma between them: time in s, delay in s"
    if len(row) != 2 or not all(_is_number(cell) for cell in row):
        raise TableError("file", f"has no pair of numbers in line {line}: {as_toml(', '.join(row))}", allowed=allowed)
    time, delay = float(row[0]), float(row[1])
    if not (0.0 <= time <= LONGEST_RUN_S and 0.0 <= delay <= _LONGEST_DELAY_S):
        allowed = "times from 0 to 1e7 s, delays from 0 to 1e5 s"
        raise TableError("file", f"is out of range in line {line}: {as_toml(', '.join(row))}", allowed=allowed)
    return time, delay
