"""The points that are to be computed, and how one of them is, wherever that runs."""

from collections.abc import Callable, Iterator, Sequence

import ackclock
from ackclock.engine import run_resolved
from ackclock.errors import Fault, SweepError
from ackclock.scenario import Resolved
from ackclock.sweeps.record import encode, point_key

Keep = Callable[[str, bytes], None]
"""A function that receives each point's name and bytes when it is finished."""
Todo = Sequence[tuple[str, Resolved]]
"""Points by name."""


def numbered(points: Sequence[Resolved]) -> Iterator[tuple[str, Resolved]]:
    """Give each different point once, with its name."""
    yield from {point_key(resolved): resolved for resolved in points}.items()


def simulate_point(key: str, text: str, version: str, threads: int = 1) -> bytes:
    """Simulate one point, wherever this runs.

    Parameters
    ----------
    key : str
        The point's name.
    text : str
        The resolved scenario as JSON.
    version : str
        The version of ackclock that asks; another one here is refused.
    threads : int
        Replications at a time.
    """
    if version != ackclock.__version__:
        hint = "install one version everywhere"
        raise SweepError(Fault("cluster", "has another version of ackclock", ackclock.__version__, version, hint))
    return encode(key, run_resolved(Resolved.from_json(text), threads=threads).replications)
