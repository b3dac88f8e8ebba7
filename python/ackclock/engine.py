"""Running of resolved scenarios: the only caller of the compiled engine."""

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, overload

import ackclock
from ackclock.errors import ArgumentError, EngineError, Fault
from ackclock.memory import trace_limit
from ackclock.overview import overview_detail_s, overview_interval_s
from ackclock.precision import (
    expected_replications,
    first_replications,
    further_replications,
    longer,
)
from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.scenario.programs import ControlProgram, programs_of

if TYPE_CHECKING:
    from ackclock._engine import Job
    from ackclock.controls import Controllers

OnProgress = Callable[[float, int], None]
"""A function that receives the fraction done (0 to 1) and the number of replications finished."""

POLL_S = 0.1
RETURN_S = 1.0
"""Time that a call of a congestion control has to return after Ctrl-C [s]."""
_CALLING_PYTHON = threading.Lock()
"""Held by the run whose congestion controls are classes."""
_CALLING_JOBS: "set[Job]" = set()
"""The jobs of that run, whose threads call them."""


@dataclass(frozen=True)
class RunOutcome(Sequence[Replication]):
    """Outcome of a run: the finished replications, and how it ended.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run; at the duration that its precision took.
    replications : list of Replication
        Those that finished, in order.
    requested : int
        How many were to be run: one where nothing is random; where a precision is wanted, as many as that took.
    interrupted : bool
        Whether Ctrl-C ended the run early.
    """

    resolved: Resolved
    replications: list[Replication]
    requested: int
    interrupted: bool

    @overload
    def __getitem__(self, index: int) -> Replication: ...
    @overload
    def __getitem__(self, index: slice) -> list[Replication]: ...
    def __getitem__(self, index: int | slice) -> Replication | list[Replication]:
        return self.replications[index]

    def __len__(self) -> int:
        return len(self.replications)


@dataclass(frozen=True)
class _Batch:
    """Replications that record the same traces."""

    resolved: Resolved
    replications: list[int]


def run_resolved(
    resolved: Resolved,
    *,
    threads: int | None = None,
    overview: bool = False,
    on_progress: OnProgress | None = None,
    controllers: "Controllers | None" = None,
) -> RunOutcome:
    """Simulate all replications of a resolved scenario.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    threads : int, optional
        Replications at a time; all cores where None. The result does not depend on it.
    overview : bool
        Record in replication 0 what the picture needs.
    on_progress : callable, optional
        Called about ten times a second.
    controllers : mapping of str to type, optional
        Congestion controls that the scenario is given. Replications with one run one at a time, whatever `threads` is,
        in all threads of the process together: the order of their calls is then always the same.

    Returns
    -------
    RunOutcome
        The finished replications. Ctrl-C keeps them and sets `interrupted`; a second one is not caught.

    Raises
    ------
    EngineError
        The engine refuses the scenario, or fails while it runs; the message holds one fault a line.
    ArgumentError
        A controller is missing, or another one than the scenario was resolved with.
    """
    threads = usable_cores() if threads is None else threads
    if threads < 1:
        message = f"threads: must be at least 1; got {threads}"
        raise EngineError(message)
    given = _controllers_of(resolved, controllers)
    if given and any(threading.get_ident() in job.calling_threads() for job in tuple(_CALLING_JOBS)):
        message = "a congestion control cannot run a scenario with controllers: the run would wait for its own end"
        raise EngineError(message)
    with _CALLING_PYTHON if given else nullcontext():
        how = _How(1 if given else threads, on_progress, given)
        try:
            outcome = _run(resolved, how, overview=overview)
            while not outcome.interrupted and (next_one := longer(outcome.resolved, outcome.replications)) is not None:
                outcome = _run(next_one, how, overview=overview)
        finally:
            if given:
                _CALLING_JOBS.clear()
    return outcome


def _controllers_of(resolved: Resolved, controllers: "Controllers | None") -> "Controllers":
    """Check that the scenario's controls are given, and are those that it was resolved with."""
    programs = resolved.programs
    given = programs_of(controllers)
    for name, program in programs.items():
        if given.get(name) != program:
            raise ArgumentError(_other_control(name, given.get(name), program))
    return {name: (controllers or {})[name] for name in programs}


def _other_control(name: str, found: ControlProgram | None, program: ControlProgram) -> Fault:
    place = f'controllers["{name}"]'
    if found is None or found.name != program.name:
        given = "nothing" if found is None else found.name
        return Fault(place, "is not the class that the scenario was resolved with", given, program.name)
    problem = "has changed since the scenario was resolved: its source, its attributes, or a global that its code names"
    hint = "keep what changes while it runs in the object, such as self.log (docs/controls.md)"
    return Fault(place, problem, f"{found.name}, digest {found.digest}", f"digest {program.digest}", hint)


@dataclass(frozen=True)
class _How:
    """Settings that all jobs of a run share."""

    threads: int
    on_progress: OnProgress | None
    controllers: "Controllers"


def _run(resolved: Resolved, how: _How, *, overview: bool) -> RunOutcome:
    """Run one scenario's replications, at its duration."""
    runner = _Runner(expected_replications(resolved, []), how)
    requested = 0
    replications: list[Replication] = []
    count = first_replications(resolved)
    while count > 0:
        batches = _batches(resolved, requested, requested + count, overview=overview)
        requested += count
        at_once = [batches] if how.threads > 1 else [[batch] for batch in batches]
        for together in at_once:
            if not runner.interrupted:
                runner.run(together)
        replications = runner.finished()
        runner.expected = expected_replications(resolved, replications)
        count = 0 if runner.interrupted else further_replications(resolved, replications)
    runner.report_end()
    return RunOutcome(resolved, replications, requested, runner.interrupted)


def usable_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=1)
def engine_fingerprint() -> str:
    """Identify the compiled engine: whatever may change its numbers changes this.

    Returns
    -------
    str
        Its version and a digest of its file.
    """
    from ackclock import _engine  # noqa: PLC0415  compiled; only a run needs it

    digest = hashlib.blake2b(Path(str(_engine.__file__)).read_bytes(), digest_size=8)
    return f"{ackclock.__version__}-{digest.hexdigest()}"


def deliveries_ms(resolved: Resolved, element: int, replication: int, size_bytes: int) -> list[int]:
    """Compute when a busy link delivers packets of a size [ms], up to the end of the run.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    element : int
        Index of the link.
    replication : int
        Whose random numbers decide.
    size_bytes : int
        Length of each packet, a header that the link counts included [B].

    Raises
    ------
    ArgumentError
        If there are more than a file may hold.
    """
    from ackclock import _engine  # noqa: PLC0415  compiled; only a run needs it

    try:
        return _engine.deliveries_ms(resolved.to_json(), element, replication, size_bytes)
    except ValueError as error:
        _, _, problem = str(error).partition("run.duration_s: ")
        if not problem:
            raise ArgumentError(Fault("deliveries()", str(error))) from None
        given, problem = f"{resolved.run.duration_s:g} s", problem.partition(";")[0]
        raise ArgumentError(Fault("[run], field duration", problem, given, "a shorter run")) from None


def _batches(resolved: Resolved, start: int, stop: int, *, overview: bool) -> list[_Batch]:
    """Split off replication 0, which alone records the picture and the captures."""
    first = _with_overview(resolved) if overview else resolved
    rest = replace(resolved, trace=replace(resolved.trace, capture=None, overview_interval_s=None))
    if start > 0:
        return [_Batch(rest, list(range(start, stop)))]
    if first == rest or stop == 1:
        return [_Batch(first, list(range(stop)))]
    return [_Batch(first, [0]), _Batch(rest, list(range(1, stop)))]


def _with_overview(resolved: Resolved) -> Resolved:
    interval, detail = overview_interval_s(resolved), overview_detail_s(resolved)
    return replace(resolved, trace=replace(resolved.trace, overview_interval_s=interval, overview_detail_s=detail))


class _Runner:
    """A loop over batches, several jobs at a time, until all are done or Ctrl-C."""

    def __init__(self, expected: int, how: _How) -> None:
        self.interrupted = False
        self.expected = expected
        """Number of replications that there will be in all, as far as it is known."""
        self._how = how
        self._on_progress = how.on_progress
        self._reported = 0.0
        self._jobs: list[tuple[Job, int]] = []
        self._found: list[Replication] = []

    def run(self, batches: list[_Batch]) -> None:
        started = len(self._jobs)
        try:
            for batch, share in zip(batches, _shares(batches, self._how.threads), strict=True):
                self._start(batch, share)
            for job, _ in self._jobs[started:]:
                while not job.wait(POLL_S):
                    self._report()
            self._report()
        except KeyboardInterrupt:
            self.interrupted = True
            self._stop()
        except BaseException:
            self._stop()
            raise

    def finished(self) -> list[Replication]:
        """Give all replications so far, in order."""
        for job, _ in self._jobs:
            job.end()
        try:
            self._found += [replication for job, _ in self._jobs for replication in job.results()]
        except RuntimeError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise EngineError(str(error)) from error.__cause__ or error
        self._jobs.clear()
        return sorted(self._found, key=lambda replication: replication["replication"])

    def report_end(self) -> None:
        """Say that no more will come, where fewer were enough."""
        if self._on_progress is not None and not self.interrupted and self._reported < 1.0:
            self._on_progress(1.0, len(self._found))

    def _start(self, batch: _Batch, threads: int) -> None:
        from ackclock._engine import Job  # noqa: PLC0415  compiled; only a run needs it

        try:
            given = (self._how.controllers,) if self._how.controllers else ()
            job = Job(batch.resolved.to_json(), batch.replications, threads, trace_limit(), *given)
        except ValueError as error:
            raise EngineError(str(error)) from error
        self._jobs.append((job, len(batch.replications)))
        if given:
            _CALLING_JOBS.add(job)

    def _stop(self) -> None:
        for job, _ in self._jobs:
            job.cancel()
        for job, _ in self._jobs:
            grace_s = RETURN_S if self._how.controllers else POLL_S
            while not job.wait(grace_s):
                # A call that does not return is interrupted, and soon the next one, of another flow.
                if self._how.controllers:
                    self._interrupt(job)
                    grace_s = POLL_S
            job.end()

    @staticmethod
    def _interrupt(job: "Job") -> None:
        """End a call of a control that does not return."""
        from ackclock.controls import interrupt  # noqa: PLC0415  needed after Ctrl-C only

        interrupt(job.calling_threads())

    def _report(self) -> None:
        if self._on_progress is None:
            return
        progress = [(*job.progress(), size) for job, size in self._jobs]
        fraction = (len(self._found) + sum(done * size for done, _, size in progress)) / self.expected
        self._reported = min(fraction, 1.0)
        self._on_progress(self._reported, len(self._found) + sum(finished for _, finished, _ in progress))


def _shares(batches: list[_Batch], threads: int) -> list[int]:
    """Give each job its threads.

    Where there are more replications than threads, the job of replication 0 gets one on top: it ends early, and no
    core waits for it.
    """
    total = sum(len(batch.replications) for batch in batches)
    spare = 0 if len(batches) == 1 or threads < total else len(batches) - 1
    return [max(1, min(threads - spare, len(batch.replications))) for batch in batches]
