"""The one call from a scenario to its result."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from warnings import warn

import ackclock
from ackclock import scenario as scenarios
from ackclock.cost import Estimate, estimate
from ackclock.engine import OnProgress, run_resolved, usable_cores
from ackclock.errors import LongRunWarning
from ackclock.limits import is_long, read_limits, refuse_beyond, sentence
from ackclock.memory import trace_limit
from ackclock.scenario.arguments import COUNT, FLAG, FUNCTION, OVERRIDES, Allowed, check_arguments, instance_of
from ackclock.scenario.override import with_run_fields
from ackclock.scenario.scenario import ORIGIN_OR_SCENARIO
from ackclock.trust import replication_warnings

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.controls import Controllers
    from ackclock.prediction import Prediction
    from ackclock.result import Result

    Origin = str | Path | Mapping[str, Any] | scenarios.Scenario | scenarios.Resolved
    """Forms in which a scenario may be given."""

_ORIGIN = Allowed(
    f"{ORIGIN_OR_SCENARIO.text}, or a Resolved",
    lambda value: ORIGIN_OR_SCENARIO.holds(value) or isinstance(value, scenarios.Resolved),
)


def run(  # noqa: PLR0913  all but one by name
    scenario: "Origin",
    *,
    overrides: Mapping[str, Any] | None = None,
    threads: int | None = None,
    picture: bool = True,
    on_progress: OnProgress | None = None,
    limit: str | Sequence[str] | None = None,
    controllers: "Controllers | None" = None,
    **run_fields: Any,
) -> "Result":
    """Simulate a scenario.

    Parameters
    ----------
    scenario : str, Path, mapping, Scenario or Resolved
        Path of a TOML file, name of a ready scenario, TOML text, its tables, or what `ackclock.scenario` made of them.
    overrides : mapping of str to object, optional
        Fields to change, by dotted path: ``{"link.satellite.buffer": "20 pkt"}``.
    threads : int, optional
        Replications at a time, all cores by default. The result does not depend on it.
    picture : bool
        Record what `Result.plot` draws.
    on_progress : callable, optional
        Gets the fraction done and the replications finished, about ten times a second.
    limit : str or sequence of str, optional
        What the run may be expected to take: ``"10 min"``, ``"2 GB"``, ``"1e9 pkt"``, or several of these; else what
        the environment variable ACKCLOCK_LIMIT holds.
    controllers : mapping of str to type, optional
        Congestion controls of your own, by the name that flows give as ``tcp.congestion_control``: subclasses of
        `ackclock.CongestionControl`.
    **run_fields
        Fields of [run] to change: ``seed=2``, ``replications=20``, ``duration="500 s"``.

    Returns
    -------
    Result
        Where Ctrl-C ended the run, of the replications that had finished; `Result.interrupted` then says so.

    Warns
    -----
    LongRunWarning
        Before a run that is expected to take more than 10 s or 1 GB, with packets, time and memory.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.
    EngineError
        If the engine refuses it, or a controller raises an exception (the error's cause) or gives a window that is not
        a number from 1 on.
    LimitError
        If it is expected to take more than the limit; nothing has run then.
    ArgumentError
        If another argument is of a wrong type, or the class of a control is missing.
    KeyboardInterrupt
        If Ctrl-C came before a replication had finished.

    Examples
    --------
    >>> import ackclock
    >>> result = ackclock.run("geo-retransmission-loss", seed=2)  # doctest: +SKIP
    >>> result.flows.goodput_bps  # doctest: +SKIP
    """
    _check_origin("run", scenario, overrides)
    _check_running("run", threads, on_progress, picture=picture)
    resolved, warnings = resolve_with_warnings(scenario, with_run_fields("run", overrides, run_fields), controllers)
    said = said_before(resolved, threads)
    if said is not None:
        warn(said, LongRunWarning, stacklevel=2)
    return simulate(
        resolved,
        warnings,
        threads=threads,
        picture=picture,
        on_progress=on_progress,
        limit=limit,
        controllers=controllers,
    )


def predict(
    scenario: "Origin",
    *,
    overrides: Mapping[str, Any] | None = None,
    controllers: "Controllers | None" = None,
    **run_fields: Any,
) -> "Prediction":
    """Ask the models what they say of a scenario; nothing is simulated.

    Parameters
    ----------
    scenario : str, Path, mapping, Scenario or Resolved
        As `run` takes it.
    overrides : mapping of str to object, optional
        Fields to change, by dotted path.
    controllers : mapping of str to type, optional
        As `run` takes it; no model applies to such a control.
    **run_fields
        Fields of [run] to change, as `run` takes them.

    Returns
    -------
    Prediction
        The models that apply, with their numbers (`table`), and those that do not, with their reasons.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.predict("geo-two-nodes").table  # doctest: +SKIP
    """
    from ackclock.prediction import predict_resolved  # noqa: PLC0415  half a second that a run need not pay at once

    _check_origin("predict", scenario, overrides)
    changes = with_run_fields("predict", overrides, run_fields)
    return predict_resolved(resolve_with_warnings(scenario, changes, controllers)[0])


def resolve(
    scenario: "Origin",
    *,
    overrides: Mapping[str, Any] | None = None,
    controllers: "Controllers | None" = None,
    **run_fields: Any,
) -> scenarios.Resolved:
    """Make a scenario explicit: SI numbers, with nothing left to defaults.

    Parameters
    ----------
    scenario : str, Path, mapping, Scenario or Resolved
        As `run` takes it.
    overrides : mapping of str to object, optional
        Fields to change, by dotted path; a resolved scenario takes none.
    controllers : mapping of str to type, optional
        As `run` takes it; the names and digests of the classes become part of the resolved scenario.
    **run_fields
        Fields of [run] to change, as `run` takes them.

    Returns
    -------
    Resolved
        Records with the fields of the JSON form, which `to_dict` and `to_json` give.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.

    Examples
    --------
    >>> import ackclock
    >>> resolved = ackclock.resolve("geo-two-nodes")  # doctest: +SKIP
    >>> resolved.elements[2].rate_bps, resolved.flows[0].tcp.sender.recovery  # doctest: +SKIP
    (1500000.0, 'tahoe')
    """
    _check_origin("resolve", scenario, overrides)
    return resolve_with_warnings(scenario, with_run_fields("resolve", overrides, run_fields), controllers)[0]


def resolve_with_warnings(
    scenario: "Origin", overrides: Mapping[str, Any] | None = None, controllers: "Controllers | None" = None
) -> tuple[scenarios.Resolved, list[str]]:
    """Make a scenario explicit, and say what to check before trusting its results; parameters are those of `resolve`.

    Returns
    -------
    tuple of Resolved and list of str
        The resolved scenario, and the warnings; a scenario that was resolved before has none.
    """
    if isinstance(scenario, scenarios.Resolved):
        if overrides:
            fault = scenarios.Fault(
                "resolved scenario", "takes no overrides", hint="change its fields, or the scenario"
            )
            raise scenarios.ScenarioError([fault], "resolved scenario")
        scenario.check()
        return scenario, []
    loaded = scenarios.loaded(scenario, overrides, controllers=controllers)
    return scenarios.resolve(loaded), [str(warning) for warning in loaded.warnings]


def _check_origin(function: str, scenario: object, overrides: object) -> None:
    check_arguments(function, scenario=(scenario, _ORIGIN), overrides=(overrides, OVERRIDES.or_none()))


def _check_running(function: str, threads: object, on_progress: object, *, picture: object) -> None:
    check_arguments(
        function,
        threads=(threads, COUNT.or_none()),
        picture=(picture, FLAG),
        on_progress=(on_progress, FUNCTION.or_none()),
    )


def simulate(  # noqa: PLR0913  all but two by name
    resolved: scenarios.Resolved,
    warnings: Sequence[str] = (),
    *,
    threads: int | None = None,
    picture: bool = True,
    on_progress: OnProgress | None = None,
    limit: str | Sequence[str] | None = None,
    controllers: "Controllers | None" = None,
) -> "Result":
    """Simulate a resolved scenario; parameters, result and exceptions are those of `run`.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    warnings : sequence of str
        What the result's reader must check before trusting it.
    threads, picture, on_progress, limit, controllers
        As for `run`.

    Returns
    -------
    Result
        Of the replications that finished.
    """
    from ackclock.result import Result  # noqa: PLC0415  its tables' library takes half a second

    check_arguments("simulate", resolved=(resolved, instance_of("a Resolved", scenarios.Resolved)))
    resolved.check()
    _check_running("simulate", threads, on_progress, picture=picture)
    limits = read_limits(limit)
    if limits:
        refuse_beyond(limits, expected(resolved, threads))
    outcome = run_resolved(
        resolved, threads=threads, overview=picture, on_progress=on_progress, controllers=controllers
    )
    if not outcome.replications:
        raise KeyboardInterrupt
    warnings = [*warnings, *replication_warnings(resolved)]
    return Result.from_replications(outcome.resolved, outcome, version=ackclock.__version__, warnings=warnings)


def expected(resolved: scenarios.Resolved, threads: int | None = None) -> Estimate:
    """Estimate what a run takes, before it starts.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    threads : int, optional
        Replications at a time, all cores by default.

    Returns
    -------
    Estimate
        Packets, time and memory.
    """
    return estimate(resolved, threads=usable_cores() if threads is None else threads, trace_bytes=trace_limit())


def said_before(resolved: scenarios.Resolved, threads: int | None = None) -> str | None:
    """Say what a run takes, if that is long or much; None if the user need not hear it. Parameters as `expected`."""
    found = expected(resolved, threads)
    return sentence(found) if is_long(found) else None
