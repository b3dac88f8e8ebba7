"""Points on a dask.distributed cluster. The only importer of dask."""

import sys
from typing import Any

import ackclock
from ackclock.errors import Fault, SweepError
from ackclock.sweeps.point import Keep, Todo, simulate_point

CONNECT_S = 15.0
AHEAD = 4
"""Number of points handed out for each of the cluster's threads, so that none waits."""


def run_on_cluster(address: str, todo: Todo, keep: Keep) -> None:
    """Simulate points on a cluster; a worker that dies costs the points that it was running, others compute them.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://10.0.0.1:8786".
    todo : sequence of (str, Resolved)
        The points by name.
    keep : callable
        Given each point's name and bytes when it is finished.

    Raises
    ------
    SweepError
        If dask.distributed is not installed, or no scheduler answers.
    """
    client = _client(address)
    try:
        _run(client, todo, keep)
    finally:
        client.close()


def _client(address: str) -> Any:
    if sys.modules.get("dask", sys) is None:
        del sys.modules["dask"]  # the command line keeps it from being imported
    try:
        import distributed  # noqa: PLC0415  an extra
    except ImportError:
        hint = "pip install 'ackclock[cluster]'"
        raise SweepError(Fault("cluster", "needs dask.distributed, which is not installed", hint=hint)) from None
    security: Any = distributed.Security  # untyped
    if address.startswith("tls://") and security().get_connection_args("client")["ssl_context"] is None:
        hint = "dask reads them from its configuration: DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on; see SECURITY.md"
        raise SweepError(Fault("cluster", "needs certificates for TLS, and dask knows none", address, hint=hint))
    client: Any = distributed.Client  # untyped
    try:
        return client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        allowed = "the address of a dask scheduler that runs, such as tcp://10.0.0.1:8786"
        raise SweepError(Fault("cluster", f"cannot be reached ({error})", address, allowed)) from None


def _run(client: Any, todo: Todo, keep: Keep) -> None:
    import distributed  # noqa: PLC0415  an extra

    waiting = iter(todo)
    keys: dict[Any, str] = {}

    def submit() -> Any:
        task = next(waiting, None)
        if task is None:
            return None
        key, resolved = task
        future = client.submit(
            simulate_point, key, resolved.to_json(), ackclock.__version__, key=f"ackclock-{key}", pure=True
        )
        keys[future.key] = key
        return future

    ahead = AHEAD * max(1, sum(client.nthreads().values()))
    first = [future for future in (submit() for _ in range(ahead)) if future is not None]
    as_completed: Any = distributed.as_completed  # untyped
    completed = as_completed(first, loop=client.loop)
    for future in completed:
        keep(keys.pop(future.key), future.result())
        future.release()
        following = submit()
        if following is not None:
            completed.add(following)
