"""The first replication of a run once more, with traces that the run did not record.

The same seed gives the same bits whatever is recorded, so what comes out is of the very run.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ackclock.cost import estimate
from ackclock.engine import RunOutcome, run_resolved
from ackclock.errors import Fault, LimitError
from ackclock.limits import is_long, sentence
from ackclock.memory import trace_limit
from ackclock.scenario import Resolved
from ackclock.traces import OVERVIEW, trace_frames

if TYPE_CHECKING:
    import pandas as pd

    from ackclock.controls import Controllers


def first_replication(resolved: Resolved) -> Resolved:
    """Return the scenario with its first replication alone."""
    return replace(resolved, run=replace(resolved.run, replications=1, precision=None))


def run_again(
    resolved: Resolved, what: str, *, overview: bool = False, controllers: "Controllers | None" = None
) -> RunOutcome:
    """Run a scenario's first replication, if that is quick.

    Parameters
    ----------
    resolved : Resolved
        The scenario, with the traces that are wanted.
    what : str
        The use of the traces, as a message names it.
    overview : bool
        Whether to record the picture's overview too.
    controllers : mapping of str to type, optional
        Congestion controls that the scenario needs.

    Raises
    ------
    LimitError
        If it is expected to take more than 10 s or 1 GB.
    KeyboardInterrupt
        After Ctrl-C.
    """
    alone = first_replication(resolved)
    expected = estimate(alone, threads=1, trace_bytes=trace_limit())
    if is_long(expected):
        hint = "record the traces when it is run, such as with trace.cwnd = true, or run a shorter part"
        raise LimitError(Fault(what, "needs the run once more, which is long", sentence(expected), "10 s, 1 GB", hint))
    outcome = run_resolved(alone, threads=1, overview=overview, controllers=controllers)
    if not outcome.replications:
        raise KeyboardInterrupt
    return outcome


def with_traces(
    resolved: Resolved, traces: "Mapping[str, pd.DataFrame]", wanted: Iterable[str], what: str
) -> "Mapping[str, pd.DataFrame]":
    """Return the traces of a run with others in addition; those that are missing are recorded.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Traces that its result has.
    wanted : iterable of str
        The names of the traces that are needed.
    what : str
        The use of the traces, as a message names it.

    Raises
    ------
    LimitError
        If some are missing, and the run is expected to take more than 10 s or 1 GB.
    """
    missing = [name for name in wanted if name not in traces]
    if not missing and OVERVIEW in traces:
        return traces
    trace = replace(resolved.trace, capture=None, **dict.fromkeys(missing, True))
    outcome = run_again(replace(resolved, trace=trace), what, overview=OVERVIEW not in traces)
    recorded = trace_frames(outcome.resolved, outcome)
    return ChainMap({name: frame for name, frame in recorded.items() if name not in traces}, dict(traces))
