"""Running of the points that a store does not have yet: on this machine's cores, or on a cluster."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ackclock.cost import PROCESS_BYTES, Estimate, estimate, expected_cost
from ackclock.engine import RunOutcome, run_resolved, usable_cores
from ackclock.errors import EngineError, Fault, SweepError
from ackclock.limits import is_long, read_limits, refuse_beyond, sentence
from ackclock.memory import trace_limit
from ackclock.scenario import Resolved
from ackclock.sweeps.cluster import run_on_cluster
from ackclock.sweeps.point import Keep, Todo, numbered
from ackclock.sweeps.record import encode
from ackclock.sweeps.store import Folder, Store

if TYPE_CHECKING:
    from ackclock.controls import Controllers

OnProgress = Callable[[float, int], None]
"""A function that receives the fraction done (0 to 1) of the expected cost, and the number of points finished."""

POLL_S = 0.1
POINT_BYTES, ROW_OF_POINT_BYTES = 1e5, 1e3
"""Memory of a point that is kept for the tables, and of each of its rows in each replication [B]."""


@dataclass(frozen=True)
class Ran:
    """Cost of running a list of points.

    Parameters
    ----------
    points : int
        Different points in the list.
    computed : int
        Those that were not there yet.
    """

    points: int
    computed: int


def run_points(  # noqa: PLR0913  all but two by name
    points: Sequence[Resolved],
    store: Store,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    on_progress: OnProgress | None = None,
    limit: str | Sequence[str] | None = None,
    controllers: "Controllers | None" = None,
) -> Ran:
    """Simulate the points that a store does not have; each is kept as soon as it is finished.

    Parameters
    ----------
    points : sequence of Resolved
        The scenarios.
    store : Store
        Where they are kept, by content.
    jobs : int, optional
        Points at a time on this machine, all cores by default. The numbers do not depend on it.
    cluster : str, optional
        Address of a dask.distributed scheduler that runs them instead.
    on_progress : callable, optional
        Called about ten times a second.
    limit : str or sequence of str, optional
        What all points together may be expected to take, as `ackclock.run` takes it.
    controllers : mapping of str to type, optional
        Congestion controls that the points are given.

    Returns
    -------
    Ran
        How many there were, how many had to be computed.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; what had finished is kept.
    SweepError
        If there is no such cluster, or jobs is below 1; if a cluster is to run a controller, or a folder to keep one
        whose source is not known.
    EngineError
        If the engine refuses a point.
    LimitError
        If the points are expected to take more than the limit; none has run then.
    """
    if jobs is not None and jobs < 1:
        raise SweepError(Fault("jobs", "is too small", str(jobs), "at least 1"))
    limits = read_limits(limit)
    if limits:
        refuse_beyond(limits, expected(points, store, jobs), what="the sweep")
    _check_programs(points, store, cluster)
    everything = list(numbered(points))
    todo = [(key, resolved) for key, resolved in everything if not store.has(key)]
    if todo:
        costs = {key: expected_cost(resolved) for key, resolved in todo}
        todo.sort(key=lambda point: costs[point[0]], reverse=True)  # the longest first: no core waits for it at the end
        counter = _Counter(costs, store.keep, on_progress)
        if cluster is None:
            _Local(todo, jobs or usable_cores(), counter, controllers).run()
        else:
            run_on_cluster(cluster, todo, counter.keep)
    return Ran(len(everything), len(todo))


def _check_programs(points: Sequence[Resolved], store: Store, cluster: str | None) -> None:
    """Refuse controllers where their points could not be computed, or would be kept without a name of their own."""
    programs = {name: program for point in points for name, program in point.programs.items()}
    if programs and cluster is not None:
        hint = "run these points on this machine, or write the control in Rust (docs/controls.md)"
        raise SweepError(
            Fault("cluster", "runs no congestion controls that are classes", ", ".join(programs), hint=hint)
        )
    if isinstance(store, Folder):
        for name, program in programs.items():
            if program.digest is None:
                allowed = "a class at the top of a module, whose attributes and globals are code and plain values"
                problem = "has a source that is not known, so that its points cannot be kept"
                raise SweepError(Fault(f'controllers["{name}"]', problem, program.name, allowed, "leave out `out`"))


def expected(points: Sequence[Resolved], store: Store, jobs: int | None) -> Estimate:
    """Estimate what the points take that a store does not have; parameters are those of `run_points`."""
    todo = [resolved for key, resolved in numbered(points) if not store.has(key)]
    one_by_one = any(resolved.programs for resolved in todo)
    at_once = 1 if one_by_one else max(1, min(jobs or usable_cores(), len(todo)))
    each = [estimate(resolved, threads=1, trace_bytes=trace_limit()) for resolved in todo]
    seconds = sum(one.seconds for one in each)
    running = sorted((one.memory_bytes - PROCESS_BYTES for one in each), reverse=True)[:at_once]
    kept = len(points) * POINT_BYTES + sum(ROW_OF_POINT_BYTES * len(one.rows) * one.run.replications for one in points)
    return Estimate(
        packets=sum(one.packets for one in each),
        seconds=seconds / at_once,
        memory_bytes=PROCESS_BYTES + sum(running) + kept,
        threads=at_once,
        most=sum(one.seconds * one.most for one in each) / seconds if seconds > 0.0 else 1.0,
    )


def said_before(points: Sequence[Resolved], store: Store, jobs: int | None) -> str | None:
    """Say what the points take, if that is long or much; None if the user need not hear it."""
    found = expected(points, store, jobs)
    return sentence(found) if is_long(found) else None


class PointError(EngineError):
    """A point that the engine refused, or at which it failed.

    Parameters
    ----------
    key : str
        The point's name in the store.
    message : str
        What was wrong.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class _Counter:
    """The sum of what is finished, by the points' expected costs, which reports how far the run is."""

    def __init__(self, costs: Mapping[str, float], keep: Keep, on_progress: OnProgress | None) -> None:
        self.running: dict[str, float] = {}
        """Fraction done of each point that is running."""
        self._costs = costs
        self._all = sum(costs.values())
        self._keep = keep
        self._on_progress = on_progress
        self._done = 0.0
        self._finished = 0

    def keep(self, key: str, content: bytes) -> None:
        self._keep(key, content)
        self.running.pop(key, None)
        self._done += self._costs[key]
        self._finished += 1
        self.report()

    def report(self) -> None:
        """Report how far the finished points and those that are running are together."""
        if self._on_progress is not None:
            running = sum(self._costs[key] * fraction for key, fraction in dict(self.running).items())
            done = self._done + running
            self._on_progress(min(1.0, done / self._all), self._finished)


class _Local:
    """Threads that take the next point; the engine releases the interpreter's lock while it simulates."""

    def __init__(self, todo: Todo, jobs: int, counter: _Counter, controllers: "Controllers | None") -> None:
        self._todo: Iterator[tuple[str, Resolved]] = iter(todo)
        self._left = len(todo)
        self._counter = counter
        self._controllers = controllers
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._done: SimpleQueue[tuple[str, bytes] | BaseException] = SimpleQueue()
        self._workers = min(jobs, self._left)
        self._threads = max(1, jobs // self._left)

    def run(self) -> None:
        workers = [threading.Thread(target=self._work) for _ in range(self._workers)]
        for worker in workers:
            worker.start()
        try:
            while self._left:
                self._next()
        finally:
            self._stop.set()
            for worker in workers:
                worker.join()

    def _next(self) -> None:
        try:
            found = self._done.get(timeout=POLL_S)
        except Empty:
            self._counter.report()
            return
        if isinstance(found, BaseException):
            raise found
        self._counter.keep(*found)
        self._left -= 1

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    task = next(self._todo, None)
                if task is None:
                    return
                key, resolved = task
                outcome = self._outcome(key, resolved)
                if outcome.interrupted:
                    return
                self._done.put((key, encode(key, outcome.replications)))
        except BaseException as error:  # noqa: BLE001  the thread that waits raises it
            self._done.put(error)

    def _outcome(self, key: str, resolved: Resolved) -> RunOutcome:
        watch = self._watch(key)
        try:
            return run_resolved(resolved, threads=self._threads, on_progress=watch, controllers=self._controllers)
        except EngineError as error:
            raise PointError(key, str(error)) from error.__cause__

    def _watch(self, key: str) -> OnProgress:
        def watch(fraction: float, _finished: int) -> None:
            if self._stop.is_set():
                raise KeyboardInterrupt  # ends this engine's job, as Ctrl-C does
            self._counter.running[key] = fraction

        return watch
