"""The resolved scenarios that ns-2 can play, and the differences to ns-2 that are left out by name."""

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
    faults = faults or _crossing_faults(scenario)
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
        case "levels-share-the-buffer":
            return any(link["queue"]["discipline"] == "priority" and link["buffer"] for link in scenario["links"])
        case "kept-order":
            processes = (link.get("delay_process") for link in scenario["links"])
            return any(process and process["order"] == "keep" for process in processes)
        case _:
            return scenario["title"] in exclusion.scenarios


def _one_of(place: str, given: object, *allowed: object) -> list[str]:
    if given in allowed:
        return []
    return [f"{place}: not in ns-2; given {given!r}; allowed {', '.join(map(repr, allowed))}"]


def _link_faults(place: str, link: Scenario) -> list[str]:
    buffer, queue = link["buffer"], link["queue"]
    process, loss = link.get("delay_process"), link.get("loss")
    faults = [
        *_one_of(f"{place}.queue.discipline", queue["discipline"], "drop-tail", "priority"),
        *_one_of(f"{place}.buffer", list(buffer or {"packets": 0}), ["packets"]),
        *_one_of(f"{place}.private", bool(link.get("private")), *(False,)),
        *_one_of(f"{place}.processing", link.get("processing"), None),
    ]
    if queue["discipline"] == "priority":
        faults += _one_of(f"{place}.queue.levels", queue["levels"], 2)
    if process:
        faults += _one_of(f"{place}.delay_process.law.kind", process["law"]["kind"], "steps")
    if loss:
        faults += _one_of(f"{place}.loss.law.model", loss["law"]["model"], "packets", "times", "bernoulli")
    return faults


def link_packet_bytes(scenario: Scenario, number: int) -> set[int]:
    """Sizes of the packets that cross a link, by its number [bytes]."""
    data = {flow["packet_bytes"] for flow in scenario["flows"] if number in flow["path"]}
    return data | {flow["ack_bytes"] for flow in scenario["flows"] if number in flow["return_path"]}


def _crossing_faults(scenario: Scenario) -> list[str]:
    """Find what links and flows together ask for and ns-2 has not."""
    faults: list[str] = []
    for number, link in enumerate(scenario["links"]):
        if link.get("delay_process"):
            sizes = sorted(link_packet_bytes(scenario, number))
            faults += _one_of(f"links.{number}: sizes of the packets where the delay changes", len(sizes), 1)
        if link["queue"]["discipline"] == "priority":
            faults += _level_faults(scenario, number)
    return faults


def _level_faults(scenario: Scenario, number: int) -> list[str]:
    """SimpleIntServ serves flow 0 after all others."""
    faults: list[str] = []
    for index, flow in enumerate(scenario["flows"]):
        level = int(index == 0)
        for path, field in (("path", "priority"), ("return_path", "ack_priority")):
            if number in flow[path]:
                faults += _one_of(f"flows.{index}.{field}", flow.get(field, 0), level)
    return faults


def _flow_faults(place: str, flow: Scenario) -> list[str]:
    traffic = flow.get("traffic")
    return [
        *_one_of(f"{place}.count", flow.get("count", 1), 1),
        *_one_of(f"{place}.start_spread_s", flow["start_spread_s"], 0.0),
        *_one_of(f"{place}.size_packets", flow["size_packets"], None),
        *(_traffic_faults(f"{place}.traffic", traffic) if traffic else _tcp_faults(place, flow)),
    ]


def _traffic_faults(place: str, traffic: Scenario) -> list[str]:
    laws = [name for name in ("on", "off") if name in traffic]
    return [
        *_one_of(f"{place}.kind", traffic["kind"], "constant", "poisson", "on-off"),
        *(fault for name in laws for fault in _one_of(f"{place}.{name}.law", traffic[name]["law"], "exponential")),
    ]


def _tcp_faults(place: str, flow: Scenario) -> list[str]:
    sender, receiver = flow["sender"], flow["receiver"]
    rto = sender["rto"]
    return [
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
