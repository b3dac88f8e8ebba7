"""What ns-2 can play of the resolved scenarios, and the differences to ns-2 that are left out by name."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Scenario = dict[str, Any]
"""A resolved scenario: SI numbers, nothing implicit."""

EXCLUSIONS = Path(__file__).with_name("exclusions.toml")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A difference to ns-2 that is left out by name: a situation, or drawn scenarios.

    Parameters
    ----------
    name : str
        Name of the difference.
    reason : str
        Why our engine does not copy ns-2 here.
    scenarios : tuple of str
        Drawn scenarios that meet the difference; empty where the situation is seen from the scenario alone.
    """

    name: str
    reason: str
    scenarios: tuple[str, ...] = ()


class UnsupportedError(ValueError):
    """The scenario lies outside of what ns-2 can play."""


class ExcludedError(ValueError):
    """The scenario meets a difference to ns-2 that is left out by name."""


@cache
def exclusions() -> dict[str, Exclusion]:
    """Read the differences that are left out, by name."""
    entries = tomllib.loads(EXCLUSIONS.read_text(encoding="utf-8"))["exclusion"]
    return {
        entry["name"]: Exclusion(entry["name"], entry["reason"], tuple(entry.get("scenarios", ()))) for entry in entries
    }


def check(scenario: Scenario) -> None:
    """Refuse a scenario that ns-2 cannot play.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.

    Raises
    ------
    UnsupportedError
        With all faults, one a line.
    ExcludedError
        Where a difference that is left out by name is met.
    """
    faults: list[str] = []
    for index, link in enumerate(scenario["links"]):
        faults += _link_faults(f"links.{index}", link)
    for index, flow in enumerate(scenario["flows"]):
        faults += _flow_faults(f"flows.{index}", flow)
    if faults:
        raise UnsupportedError("\n".join(faults))
    for exclusion in exclusions().values():
        if _meets(scenario, exclusion):
            raise ExcludedError(f"{exclusion.name}: {exclusion.reason}")


def _meets(scenario: Scenario, exclusion: Exclusion) -> bool:
    match exclusion.name:
        case "buffer-of-one-packet":
            return any(
                link["buffer"] == {"packets": 1} and link["counting"] == "with-service" for link in scenario["links"]
            )
        case _:
            return scenario["title"] in exclusion.scenarios


def _one_of(place: str, given: object, *allowed: object) -> list[str]:
    if given in allowed:
        return []
    return [f"{place}: not in ns-2; given {given!r}; allowed {', '.join(map(repr, allowed))}"]


def _link_faults(place: str, link: Scenario) -> list[str]:
    buffer = link["buffer"]
    return [
        *_one_of(f"{place}.queue.discipline", link["queue"]["discipline"], "drop-tail"),
        *_one_of(f"{place}.buffer", list(buffer or {"packets": 0}), ["packets"]),
        *_one_of(f"{place}.private", bool(link.get("private")), *(False,)),
    ]


def _flow_faults(place: str, flow: Scenario) -> list[str]:
    sender, receiver = flow["sender"], flow["receiver"]
    rto = sender["rto"]
    return [
        *_one_of(f"{place}.count", flow.get("count", 1), 1),
        *_one_of(f"{place}.traffic", flow.get("traffic"), None),
        *_one_of(f"{place}.start_spread_s", flow["start_spread_s"], 0.0),
        *_one_of(f"{place}.size_packets", flow["size_packets"], None),
        *_one_of(f"{place}.receiver.ack_every", receiver["ack_every"], 1, 2),
        *_one_of(f"{place}.sender.dialect", sender["dialect"], "ns2"),
        *_one_of(f"{place}.sender.recovery", sender["recovery"], "old-tahoe", "tahoe", "reno", "newreno"),
        *_one_of(f"{place}.sender.slow_start_while", sender["slow_start_while"], "below"),
        *_one_of(f"{place}.sender.increase", sender["increase"], "reciprocal", "counted"),
        *_one_of(f"{place}.sender.rto.estimator", rto["estimator"], "ticks"),
        *_one_of(f"{place}.sender.rto.sample", rto["sample"], "per-round"),
        *_one_of(f"{place}.sender.rto.k", rto["k"], 1, 2, 4, 8),
        *_one_of(f"{place}.sender.rto.max_backoff", rto["max_backoff"], 65536),
    ]
