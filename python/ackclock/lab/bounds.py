"""Bounds of what a request may cost: its size before it is resolved, then its packets, time and memory."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ackclock.errors import Fault, ScenarioError
from ackclock.limits import read_limits, refuse_beyond
from ackclock.scenario import Resolved
from ackclock.scenario.places import Places
from ackclock.scenario.plain import refuse_odd_tables
from ackclock.scenario.ready import ready_files
from ackclock.scenario.source import Location, Source

MOST_BYTES: Final = 400_000
"""Largest body of a request [B]."""
MOST_TABLES: Final = 200
"""Largest number of tables of one kind."""
MOST_COPIES: Final = 50
"""Largest number of copies of a link."""
MOST_FLOWS: Final = 2000
"""Largest number of flows, counted ones included."""
MOST_ENTRIES: Final = 20_000
"""Largest number of values of all lists and tables together."""
LIMITS: Final = ("120 s", "1.5 GB", "2e8 pkt")
"""Expected time, memory and packets of a run beyond which it is refused."""
HINT: Final = (
    "the page's limits are fixed: shorten the run, or lower the rates or the number of flows; `ackclock run` takes "
    "--limit"
)
"""Ways out for a user of the page, whose run is refused."""
RUN_S: Final = 300.0
"""Time after which a run is ended, however long it was expected to take [s]."""
TRACED_PACKETS: Final = 400_000
"""Expected packets up to which a run records each round trip and each packet sent and acknowledged."""
FOLLOWED_PACKETS: Final = 20_000_000
"""Expected packets up to which a run records states and recoveries of senders, and round trips one by one."""


def check_size(source: Source) -> None:
    """Refuse a scenario that is too large to be resolved while somebody waits, or that names a file of the user's.

    Parameters
    ----------
    source : Source
        The scenario, unchecked.

    Raises
    ------
    ScenarioError
        With all that is too large, and each file.
    """
    refuse_odd_tables(source.document, source.name)
    places = Places(source)
    faults = [*_counts(source.document, places), *_files(source.document, places)]
    entries = _entries(source.document)
    if entries > MOST_ENTRIES:
        faults.append(Fault("scenario", "has too many values for the page", f"{entries:,}", f"{MOST_ENTRIES:,}"))
    if faults:
        raise ScenarioError(faults, "scenario")


def check_cost(resolved: Resolved) -> None:
    """Refuse a run that is expected to take too long, or too much memory.

    Parameters
    ----------
    resolved : Resolved
        The scenario.

    Raises
    ------
    LimitError
        With what is expected, and what is allowed.
    """
    from ackclock.api import expected  # noqa: PLC0415  imports the engine's side

    refuse_beyond((*read_limits(LIMITS), *read_limits(None)), expected(resolved), hint=HINT)


def _counts(document: Mapping[str, Any], places: Places) -> Iterator[Fault]:
    for name in ("link", "flow", "host", "atm_link", "channel", "cross_traffic"):
        tables = document.get(name)
        if isinstance(tables, list) and len(tables) > MOST_TABLES:
            problem = f"has more tables [[{name}]] than the page takes"
            yield Fault("scenario", problem, f"{len(tables):,}", f"{MOST_TABLES}")
    yield from _copies(document, places)
    flows = document.get("flow")
    total = 0
    for position, flow in enumerate(flows if isinstance(flows, list) else ()):
        count = flow.get("count", 1) if isinstance(flow, Mapping) else 1
        total += count if isinstance(count, int) else 1
        if total > MOST_FLOWS:
            problem = f"makes more flows than the page takes, {MOST_FLOWS:,} in all"
            yield places.fault(("flow", position, "count"), problem, given=str(count)[:20])
            return


def _copies(document: Mapping[str, Any], places: Places) -> Iterator[Fault]:
    """Find each link with more copies than the page takes."""
    links = document.get("link")
    for position, link in enumerate(links if isinstance(links, list) else ()):
        copies = link.get("copies", 1) if isinstance(link, Mapping) else 1
        if isinstance(copies, int) and copies > MOST_COPIES:
            location = ("link", position, "copies")
            yield places.fault(
                location, "makes more copies than the page takes", given=str(copies)[:20], allowed=f"{MOST_COPIES}"
            )


def _files(document: Any, places: Places, location: Location = ()) -> Iterator[Fault]:
    """Find each field that names a file which is not one of the ready scenarios'."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            if key == "file":
                if value in ready_files():
                    continue
                hint = "run it with `ackclock run`, or write the values into the scenario"
                yield places.fault((*location, key), "names a file, which the page does not read", hint=hint)
            else:
                yield from _files(value, places, (*location, key))
    elif isinstance(document, list):
        for position, value in enumerate(document):
            yield from _files(value, places, (*location, position))


def _entries(document: Any) -> int:
    """Count the values of a document; no deeper than TOML's parser goes."""
    inner = document.values() if isinstance(document, Mapping) else document if isinstance(document, list) else ()
    return 1 + sum(map(_entries, inner))
