"""Packet-delivery files of Mahimahi, written: the rate of a link as the instants at which it delivers packets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ackclock import api
from ackclock.engine import deliveries_ms
from ackclock.errors import ArgumentError, Fault
from ackclock.scenario.arguments import Allowed, check_arguments, instance_of
from ackclock.scenario.places import as_toml

if TYPE_CHECKING:
    from ackclock.api import Origin

_REPLICATION: Final = Allowed(
    "a whole number from 0 to 2^64 - 1",
    lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64,
)
DELIVERY_BYTES: Final = 1504
"""Bytes that mm-link delivers at each instant: 1500 of a packet, and the header of its TUN device."""


def deliveries(
    scenario: "Origin", link: str, *, replication: int = 0, overrides: Mapping[str, Any] | None = None
) -> list[int]:
    """Compute when a link that is always busy has delivered one more packet of 1504 bytes.

    Parameters
    ----------
    scenario : str, Path, mapping, Scenario or Resolved
        As `ackclock.run` takes it.
    link : str
        The link, or `NAME.reverse`; its rate may change, and may be random.
    replication : int
        Replication whose random numbers decide.
    overrides : mapping of str to object, optional
        Fields to change, by dotted path.

    Returns
    -------
    list of int
        Instants in order, rounded up [ms], up to the end of the run.

    Raises
    ------
    ScenarioError
        If the scenario is faulty.
    ArgumentError
        If there is no such link, if it has no rate, or if it delivers nothing or more than a file may hold in the run.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.deliveries("lte-trace", "lte")[:3]  # doctest: +SKIP
    [1, 2, 2]
    """
    check_arguments(
        "deliveries", link=(link, instance_of("the name of a link", str)), replication=(replication, _REPLICATION)
    )
    resolved = api.resolve(scenario, overrides=overrides)
    names = [element.name for element in resolved.elements]
    where = "deliveries(), argument link"
    if link not in names:
        raise ArgumentError(Fault(where, "no such link", as_toml(link), ", ".join(map(as_toml, names[:10]))))
    element = resolved.elements[names.index(link)]
    if element.kind != "link" or element.rate_bps is None:
        raise ArgumentError(Fault(where, "is not a shared link with a rate", as_toml(link)))
    times = deliveries_ms(resolved, names.index(link), replication, DELIVERY_BYTES)
    if not times:
        problem = f"delivers less than {DELIVERY_BYTES} bytes in the run"
        raise ArgumentError(Fault(where, problem, as_toml(link), hint="raise run.duration"))
    return times


def write_deliveries(path: Path | str, times_ms: Sequence[int]) -> None:
    """Write a packet-delivery file, which `mm-link` and `rate_process` with kind "mahimahi" read.

    Parameters
    ----------
    path : Path or str
        The file.
    times_ms : sequence of int
        Instants in order [ms]; the last one, above 0, is the time after which the file begins again.
    """
    Path(path).write_text("".join(f"{time}\n" for time in times_ms), encoding="ascii")
