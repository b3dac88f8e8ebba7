"""The law of a changing delay from its table; a trace is read from its file here."""

from pathlib import Path
from typing import Final

from ackclock.scenario.csv_trace import TraceColumn, read_trace
from ackclock.scenario.resolved_elements import AlternatingLaw, DelayLaw, DelayStateSettings, HandoverLaw, StepsLaw
from ackclock.scenario.schema_links import DELAY_FIELDS, DelayProcess
from ackclock.scenario.tables import TableError, check_fields

MOST_CHANGES = 1e7
"""Most changes of a delay in one run, on average."""
_DELAY: Final = TraceColumn("delay", "s", 1e5)
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
            return StepsLaw("steps", tuple(read_trace(process.file or "", folder, _DELAY)))
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
        check_transitions(process.transitions, len(states))
    settings = tuple(DelayStateSettings(state.delay, state.least_stay, state.mean_extra) for state in states)
    return AlternatingLaw("alternating", settings, process.start_state - 1, process.transitions)


def check_transitions(rows: tuple[tuple[float, ...], ...], states: int) -> None:
    """Check that there is a row and a column for each state, and that each row sums to 1 (`TableError`)."""
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
