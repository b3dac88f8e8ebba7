"""One run for the page: from the text of a scenario to a result with what its panels draw."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import ackclock
from ackclock.api import expected, simulate
from ackclock.comparison import Comparison, compare
from ackclock.engine import RunOutcome, run_resolved
from ackclock.errors import AckclockError, Fault, LimitError
from ackclock.lab.bounds import FOLLOWED_PACKETS, RUN_S, TRACED_PACKETS, check_cost, check_size
from ackclock.lab.editing import edited, source_of
from ackclock.lab.form import form_of
from ackclock.prediction import predict_resolved
from ackclock.result import Result
from ackclock.scenario import Resolved, resolve
from ackclock.scenario.scenario import checked
from ackclock.traces import trace_frames

if TYPE_CHECKING:
    from ackclock.prediction import ReferenceLine

OnFraction = Callable[[float], None]
"""A function that receives the fraction done; it raises `CancelledError` to end the run."""


class CancelledError(Exception):
    """The end of a run that nobody waits for any more."""


@dataclass(frozen=True)
class Prepared:
    """A scenario that is ready to run.

    Parameters
    ----------
    text : str
        The scenario's text, with the changes that were asked for.
    form : dict
        The controls of the page.
    resolved : Resolved
        The scenario.
    warnings : tuple of str
        What to check before trusting its results.
    """

    text: str
    form: dict[str, Any]
    resolved: Resolved
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Recorded:
    """Records of a run that its panels draw.

    Parameters
    ----------
    prepared : Prepared
        What was run.
    traces : mapping of str to DataFrame
        What the first replication recorded.
    reference_lines : tuple of ReferenceLine
        Lines of the theory.
    """

    prepared: Prepared
    traces: Mapping[str, Any]
    reference_lines: "tuple[ReferenceLine, ...]"


OnRecorded = Callable[[Recorded], None]
"""A function that receives what the panels draw, before the tables and the verdict are made."""


@dataclass(frozen=True)
class Ran:
    """A run that is finished.

    Parameters
    ----------
    recorded : Recorded
        What its panels draw.
    comparison : Comparison
        The result of all replications, with the theory.
    """

    recorded: Recorded
    comparison: Comparison

    @property
    def result(self) -> Result:
        """The result of all replications."""
        return self.comparison.result


def changed(text: str, changes: Mapping[str, Any]) -> str:
    """Return the text with some fields changed; parameters and errors as of `ackclock.lab.editing.edited`."""
    if not changes:
        return text
    check_size(source_of(text))
    return edited(text, changes)


def prepared(text: str) -> Prepared:
    """Read and check a scenario, and what its run would cost.

    Parameters
    ----------
    text : str
        The scenario.

    Raises
    ------
    ScenarioError
        With all that is wrong with it.
    LimitError
        If its run is expected to take more than the page allows.
    """
    source = source_of(text)
    check_size(source)
    scenario = checked(source)
    resolved = resolve(scenario)
    check_cost(resolved)
    warnings = tuple(str(warning) for warning in scenario.warnings)
    return Prepared(text, form_of(scenario, resolved), resolved, warnings)


def run(ready: Prepared, on_fraction: OnFraction, on_recorded: OnRecorded = lambda _: None) -> Ran:
    """Simulate a scenario, with what the panels need of the first replication.

    Parameters
    ----------
    ready : Prepared
        The scenario.
    on_fraction : callable
        Gets the fraction done, about ten times a second.
    on_recorded : callable
        Gets what the panels draw, as soon as it is there.

    Raises
    ------
    CancelledError
        If one of these does.
    LimitError
        If the run takes longer than the page allows.
    """
    watch = _watch(on_fraction)
    resolved = ready.resolved
    is_single = resolved.run.replications == 1 and resolved.run.precision is None
    first = _first(resolved, watch)
    recorded = Recorded(ready, trace_frames(first.resolved, first), predict_resolved(resolved).reference_lines)
    on_recorded(recorded)
    if is_single:
        result = Result.from_replications(first.resolved, first, version=version(), warnings=ready.warnings)
    else:
        result = simulate(resolved, ready.warnings, picture=False, on_progress=watch)
    return Ran(recorded, compare(result))


def recorded_fully(recorded: Recorded, on_fraction: OnFraction) -> Recorded:
    """Simulate the first replication once more, with each change of each queue.

    Parameters
    ----------
    recorded : Recorded
        The records of the run; the same one comes out, as nothing random is drawn by what is recorded.
    on_fraction : callable
        As for `run`.
    """
    outcome = _first(recorded.prepared.resolved, _watch(on_fraction), fully=True)
    return replace(recorded, traces=trace_frames(outcome.resolved, outcome))


def recording(resolved: Resolved, *, fully: bool = False) -> Resolved:
    """Return the scenario with the traces that the panels draw, as far as it has few enough packets.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    fully : bool
        Whether to record each change of each queue too, for a short part of the run.
    """
    packets = expected(resolved).packets
    few, some = packets <= TRACED_PACKETS, packets <= FOLLOWED_PACKETS
    wanted = {"cwnd": few, "rtt": few, "sequence": few, "queue": few and fully}
    wanted |= {"state": some, "recovery": some, "rounds": some and not few}
    trace = replace(resolved.trace, capture=None, **{name: True for name, use in wanted.items() if use})
    return replace(resolved, trace=trace)


def _first(resolved: Resolved, watch: Callable[[float, int], None], *, fully: bool = False) -> RunOutcome:
    """Run replication 0 alone, at its first duration, with what the panels draw."""
    alone = replace(resolved.run, replications=1, precision=None)
    outcome = run_resolved(recording(replace(resolved, run=alone), fully=fully), overview=True, on_progress=watch)
    if not outcome.replications:
        raise CancelledError
    return outcome


def _watch(on_fraction: OnFraction) -> Callable[[float, int], None]:
    started = monotonic()

    def on_progress(fraction: float, _finished: int) -> None:
        if monotonic() - started > RUN_S:
            raise LimitError(Fault("the run", f"takes longer than {RUN_S:.0f} s, the most that the page allows"))
        on_fraction(fraction)

    return on_progress


def fault_data(error: AckclockError) -> list[dict[str, Any]]:
    """Give what is wrong as plain data: a sentence each, and the line of the scenario's text if it is known."""
    faults = getattr(error, "faults", None) or ([error.fault] if hasattr(error, "fault") else None)
    if faults is None:
        return [{"text": str(error), "line": None}]
    return [{"text": str(fault), "line": fault.line} for fault in faults[:50]]


def version() -> str:
    """Return the version of ackclock."""
    return str(ackclock.__version__)
