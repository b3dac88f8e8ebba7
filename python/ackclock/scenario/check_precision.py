"""Check that the scenario has the quantity of `run.precision`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from ackclock.errors import Fault
from ackclock.quantities import (
    EXTREMES,
    FLOW_DELAYS,
    LINK_DELAYS,
    QUANTITIES,
    bucket_error,
    quantity_of,
    without_unit,
)
from ackclock.scenario.places import Places
from ackclock.scenario.resolved import ALL_FLOWS, ElementName, PrecisionSettings
from ackclock.scenario.schema import Precision, Run
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean
from ackclock.scenario.until import LONGEST, Until
from ackclock.units import show

_LOCATION: Location = ("run", "precision")
_MOST_NAMED = 10
_WORDS = {"flow": "flow", "link": "link", "completion": "flow with transfers", "ping": "flow that pings"}


def precision_faults(places: Places, run: Run, names: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """Give all faults of `run.precision`.

    Parameters
    ----------
    places : Places
        Names the places.
    run : Run
        What the scenario gives.
    names : mapping of str to sequence of str
        By the kind of element, as in `ackclock.quantities.QUANTITIES`, the names of all: of flows those of counted ones
        with and without their numbers, of links the simplex ones, of completions and pings the [[flow]].

    Yields
    ------
    Fault
        What does not fit.
    """
    precision = run.precision
    if precision is None:
        return
    yield from _longer_faults(places, run, precision)
    if precision.batch > precision.most:
        given = f"batch = {precision.batch}, most = {precision.most}"
        field = "batch" if precision.gives("batch") else "most"
        yield places.fault((*_LOCATION, field), "batch is above most", given=given)
    place = (*_LOCATION, "quantity")
    element, name, word = split(precision.quantity)
    known = names.get(element)
    if known is None or not name:
        allowed = " or ".join(f"{kind}.NAME.QUANTITY" for kind in names)
        yield places.fault(place, "names no quantity", allowed=allowed, hint=did_you_mean(element, tuple(names)))
    elif name not in known and (element, name) != ("flow", ALL_FLOWS):
        shown = ", ".join(f'"{each}"' for each in known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
        problem = f'no {_WORDS[element]} named "{name[:60]}"'
        yield places.fault(place, problem, allowed=shown or None, hint=did_you_mean(name, known))
    elif quantity_of(element, word) is None:
        quantities = [without_unit(quantity) for quantity in QUANTITIES[element]]
        problem = f'a {element} has no quantity "{word[:60]}"'
        yield places.fault(place, problem, allowed=", ".join(quantities), hint=did_you_mean(word, quantities))
    elif (found := str(quantity_of(element, word))) in EXTREMES.get(element, ()):
        allowed = ", ".join(without_unit(one) for one in QUANTITIES[element] if one not in EXTREMES[element])
        problem = "is the largest or the least of all replications, which has no interval"
        yield places.fault(place, problem, allowed=allowed)
    elif precision.within <= (error := bucket_error(found)):
        problem = "is not above what a histogram's buckets leave open of a percentile"
        yield places.fault((*_LOCATION, "within"), problem, allowed=f"above {100 * error:g}%")


def unmeasured_delay_faults(places: Places, precision: Precision) -> Iterator[Fault]:
    """Give the fault of a precision that a delay shall have, where delays are not measured."""
    element, _, word = split(precision.quantity)
    if element in QUANTITIES and quantity_of(element, word) in {*FLOW_DELAYS, *LINK_DELAYS}:
        place = (*_LOCATION, "quantity")
        yield places.fault(place, "is a delay, and delays are not measured", hint="leave run.delays on")


def _longer_faults(places: Places, run: Run, precision: Precision) -> Iterator[Fault]:
    if isinstance(run.duration, Until):
        yield places.fault(
            ("run", "duration"), "says the precision that run.precision says too", hint="give one of both"
        )
    if precision.longest is None:
        return
    longest = (*_LOCATION, "longest")
    if precision.longest < run.duration:
        yield places.fault(longest, "is less than run.duration", allowed=f"at least {show(run.duration, 's')}")
    if run.replications > 1:
        yield places.fault(longest, "is of one longer run, but run.replications asks for several")
    for name in ("most", "batch"):
        if precision.gives(name):
            yield places.fault((*_LOCATION, name), "counts replications, but `longest` asks for one longer run")


def split(quantity: str) -> tuple[str, str, str]:
    """Split `link.satellite.reverse.loss` into its element, its name and the quantity; empty what is missing."""
    element, _, rest = quantity.partition(".")
    name, _, word = rest.rpartition(".")
    return element, name, word


def precision_settings(run: Run) -> PrecisionSettings | None:
    """Resolve `run.precision`, or the precision in `run.duration`, which were checked."""
    precision = run.precision
    if isinstance(run.duration, Until):
        given = {"within": f"{100 * run.duration.within!r}%", "longest": f"{LONGEST * float(run.duration)!r} s"}
        precision = Precision.model_validate(given)
    if precision is None:
        return None
    element, name, word = split(precision.quantity)
    quantity = quantity_of(element, word)
    if quantity is None:
        raise AssertionError("a scenario that was checked names a quantity")
    kind = cast("ElementName", element)
    return PrecisionSettings(kind, name, quantity, precision.within, precision.most, precision.batch, precision.longest)
