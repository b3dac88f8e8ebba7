"""Changes that a user makes to the scenarios of an item, as with `--set`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ackclock import scenario as toml_scenarios
from ackclock.errors import Fault, SweepError
from ackclock.scenario.network import flow_names
from ackclock.scenario.places import Places

if TYPE_CHECKING:
    from ackclock.scenario import Scenario

_TABLES = ("link", "flow", "host", "atm_link", "channel", "cross_traffic")


@dataclass
class Changes:
    """Fields that every scenario of an item gets, where it has their tables.

    Parameters
    ----------
    overrides : mapping of str to object
        Values by dotted path. The name in a path may hold `*`: "link.node*.buffer" changes all links whose name fits.
    """

    overrides: Mapping[str, Any]
    scenarios: int = 0
    """Scenarios that were resolved since the last item began."""
    hits: dict[str, int] = field(default_factory=dict)
    """Number of these that have the tables of each path."""
    names: set[str] = field(default_factory=set)
    """Paths up to the names that the scenarios have, such as "link.satellite"."""

    def begin(self) -> None:
        """Begin to count for an item."""
        self.scenarios, self.hits, self.names = 0, dict.fromkeys(self.overrides, 0), set()

    def applied(self, loaded: "Scenario") -> "Scenario":
        """Change a scenario."""
        self.scenarios += 1
        own = _names(loaded)
        self.names |= {f"{head}.{name}" for head, names in own.items() for name in names}
        changes: dict[str, Any] = {}
        for path, value in self.overrides.items():
            places = _places(path, own)
            self.hits[path] += bool(places)
            changes |= dict.fromkeys(places, value)
        return toml_scenarios.with_overrides(loaded, changes) if changes else loaded

    def check(self, item: str) -> None:
        """Refuse a change that no scenario of an item has a place for.

        Raises
        ------
        SweepError
            With the places that there are.
        """
        for path, count in self.hits.items():
            if not self.scenarios:
                raise SweepError(Fault(f'change "{path}"', f"cannot be made: {item} simulates nothing"))
            if count == 0:
                allowed = ", ".join(f"{name}.FIELD" for name in sorted(self.names))
                raise SweepError(
                    Fault(f'change "{path}"', f"fits no scenario of {item}", allowed=f"{allowed}, run.FIELD")
                )

    def note(self) -> str:
        """Say how many scenarios of the item were changed, if not all were."""
        partly = [f"{path} in {count}" for path, count in self.hits.items() if count < self.scenarios]
        return f"Of {self.scenarios} scenarios, not all have each changed field: {', '.join(partly)}." if partly else ""


_CURRENT: ContextVar[Changes | None] = ContextVar("changes", default=None)


@contextmanager
def changed(changes: Changes | None) -> Iterator[None]:
    """Apply changes to all scenarios that are resolved meanwhile."""
    token = _CURRENT.set(changes)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def with_changes(loaded: "Scenario") -> "Scenario":
    """Return a scenario with the changes that apply now."""
    changes = _CURRENT.get()
    return loaded if changes is None else changes.applied(loaded)


def _names(loaded: "Scenario") -> dict[str, list[str]]:
    """Return the names of the scenario's tables, by their kind."""
    places, document = Places(loaded.source), loaded.source.document
    found = {head: [places.name((head, each)) for each in range(len(document.get(head, ())))] for head in _TABLES}
    return {
        head: flow_names(names) if head == "flow" else [name or "" for name in names] for head, names in found.items()
    }


def _places(path: str, own: Mapping[str, list[str]]) -> list[str]:
    head, _, rest = path.partition(".")
    name, dot, field_path = rest.partition(".")
    if head not in _TABLES or not dot:
        return [path]
    return [f"{head}.{one}.{field_path}" for one in own.get(head, ()) if fnmatchcase(one, name)]
