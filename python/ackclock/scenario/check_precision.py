"""Check that the scenario has the quantity of `run.precision`."""

from collections.abc import Iterator, Sequence
from typing import Literal

from ackclock.errors import Fault
from ackclock.quantities import QUANTITIES, quantity_of, without_unit
from ackclock.scenario.places import Places
from ackclock.scenario.resolved import PrecisionSettings
from ackclock.scenario.schema import Precision
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean

_LOCATION: Location = ("run", "precision")
_MOST_NAMED = 10


def precision_faults(
    places: Places, precision: Precision, flows: Sequence[str], links: Sequence[str]
) -> Iterator[Fault]:
    """Give all faults of `run.precision`.

    Parameters
    ----------
    places : Places
        Names the places.
    precision : Precision
        What the scenario gives.
    flows, links : sequence of str
        The names of all flows (those of counted ones with and without their numbers) and simplex links.

    Yields
    ------
    Fault
        What does not fit.
    """
    if precision.batch > precision.most:
        given = f"batch = {precision.batch}, most = {precision.most}"
        field = "batch" if precision.gives("batch") else "most"
        yield places.fault((*_LOCATION, field), "batch is above most", given=given)
    place = (*_LOCATION, "quantity")
    element, name, word = split(precision.quantity)
    known = {"flow": flows, "link": links}.get(element)
    if known is None or not name:
        allowed = "flow.NAME.QUANTITY or link.NAME.QUANTITY"
        yield places.fault(place, "names no quantity", allowed=allowed, hint=did_you_mean(element, ("flow", "link")))
    elif name not in known:
        shown = ", ".join(f'"{each}"' for each in known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
        yield places.fault(place, f'no {element} named "{name[:60]}"', allowed=shown, hint=did_you_mean(name, known))
    elif quantity_of(element, word) is None:
        names = [without_unit(quantity) for quantity in QUANTITIES[element]]
        problem = f'a {element} has no quantity "{word[:60]}"'
        yield places.fault(place, problem, allowed=", ".join(names), hint=did_you_mean(word, names))


def split(quantity: str) -> tuple[str, str, str]:
    """Split `link.satellite.reverse.loss` into its element, its name and the quantity; empty what is missing."""
    element, _, rest = quantity.partition(".")
    name, _, word = rest.rpartition(".")
    return element, name, word


def precision_settings(precision: Precision | None) -> PrecisionSettings | None:
    """Resolve `run.precision`, which was checked."""
    if precision is None:
        return None
    element, name, word = split(precision.quantity)
    quantity = quantity_of(element, word)
    if quantity is None:
        raise AssertionError("a scenario that was checked names a quantity")
    kind: Literal["flow", "link"] = "flow" if element == "flow" else "link"
    return PrecisionSettings(kind, name, quantity, precision.within, precision.most, precision.batch)
