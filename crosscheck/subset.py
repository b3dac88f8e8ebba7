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
    for index, element in enumerate(scenario["elements"]):
        faults += _element_faults(f"elements.{index}", element)
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
                link["buffer"] == {"packets": 1} and link["counting"] == "with-service" for link in scenario["elements"]
            )
        case "levels-share-the-buffer":
            return any(has_levels(link) and link["buffer"] for link in scenario["elements"])
        case "kept-order":
            processes = (link["delay_process"] for link in scenario["elements"])
            return any(process and process["order"] == "keep" for process in processes)
        case _:
            return scenario["title"] in exclusion.scenarios


RECOVERIES = ("old-tahoe", "tahoe", "reno", "newreno", "sack1")
"""The recoveries of ns-2's one-way agents."""


def _one_of(place: str, given: object, *allowed: object) -> list[str]:
    if given in allowed:
        return []
    return [f"{place}: not in ns-2; given {given!r}; allowed {', '.join(map(repr, allowed))}"]


def has_levels(link: Scenario) -> bool:
    """Return whether a link serves levels of priority."""
    return bool(link["queue"]["scheduler"]["kind"] == "priority")


def has_red(link: Scenario) -> bool:
    """Return whether a link drops packets by Random Early Detection."""
    return bool(link["queue"]["aqm"]["kind"] == "red")


def connection(flow: Scenario) -> Scenario | None:
    """Give the TCP connection of a flow; None for a source without TCP."""
    found: Scenario | None = flow["traffic"].get("connection")
    return found


def _element_faults(place: str, element: Scenario) -> list[str]:
    return _one_of(f"{place}.kind", element["kind"], "link") or _link_faults(place, element)


OVERFLOWS = ("arriving", "front")
"""Packets that ns-2 drops from a full queue; its RED drops the first kind alone."""


def _link_faults(place: str, link: Scenario) -> list[str]:
    queue = link["queue"]
    process, loss = link["delay_process"], link["loss"]
    faults = [
        *_one_of(f"{place}.queue.scheduler.kind", queue["scheduler"]["kind"], "fifo", "priority"),
        *_one_of(f"{place}.queue.aqm.kind", queue["aqm"]["kind"], "none", "red"),
        *_one_of(f"{place}.queue.overflow", queue["overflow"], *(OVERFLOWS[:1] if has_red(link) else OVERFLOWS)),
    ]
    if has_levels(link):
        faults += _one_of(f"{place}.queue.scheduler.levels", queue["scheduler"]["levels"], 2)
    if has_red(link):
        faults += _red_faults(place, link)
    if link.get("rate_process"):
        faults.append(f"{place}.rate_process: ns-2's links have one rate")
    if process:
        faults += _one_of(f"{place}.delay_process.law.kind", process["law"]["kind"], "steps")
    if loss:
        faults += _one_of(f"{place}.loss.law.model", loss["law"]["model"], "packets", "times", "bernoulli")
    return faults


def _red_faults(place: str, link: Scenario) -> list[str]:
    """ns-2's RED counts the packets that wait, and has one form of each rule but `wait_` and `gentle_`."""
    queue = link["queue"]
    buffer = link["buffer"] or {"packets": 0}
    rules = {"least_queue_packets": 2.0, "first_passes": True, "overflow_restarts": True}
    return [
        *_one_of(f"{place}.counting", link["counting"], "waiting"),
        *_one_of(f"{place}.buffer", list(buffer), ["packets"]),
        *_one_of(f"{place}.queue.scheduler.kind", queue["scheduler"]["kind"], "fifo"),
        *(
            fault
            for name, rule in rules.items()
            for fault in _one_of(f"{place}.queue.aqm.{name}", queue["aqm"].get(name), rule)
        ),
        *_one_of(f"{place}.queue.aqm.ecn", queue["aqm"].get("ecn"), "off", "early"),
        *_above_zero(f"{place}.rate_bps", link["rate_bps"]),
        *_above_zero(f"{place}.queue.aqm.max_probability", queue["aqm"].get("max_probability")),
    ]


def _above_zero(place: str, given: float | None) -> list[str]:
    return [] if given else [f"{place}: not in ns-2; given {given!r}; allowed above 0"]


def link_packet_bytes(scenario: Scenario, number: int) -> set[int]:
    """Sizes of the packets that cross a link, by its number [bytes]."""
    data = {flow["packet_bytes"] for flow in scenario["flows"] if number in flow["path"]}
    crossing = (tcp for tcp in map(connection, scenario["flows"]) if tcp and number in tcp["return_path"])
    return data.union(*map(ack_lengths, crossing))


def ack_lengths(tcp: Scenario) -> set[int]:
    """Lengths that the ACKs of a connection can have: each block of selective acknowledgment adds to them [bytes]."""
    blocks = tcp["receiver"].get("blocks") or {"most": 0, "bytes": 0}
    return {tcp["ack_bytes"] + number * blocks["bytes"] for number in range(blocks["most"] + 1)}


def _crossing_faults(scenario: Scenario) -> list[str]:
    """Find what links and flows together ask for and ns-2 has not."""
    faults: list[str] = []
    for number, link in enumerate(scenario["elements"]):
        if link["delay_process"] and link["rate_bps"] is not None:
            sizes = sorted(link_packet_bytes(scenario, number))
            faults += _one_of(f"elements.{number}: sizes of the packets where the delay changes", len(sizes), 1)
        if has_levels(link):
            faults += _level_faults(scenario, number)
        if link["buffer"] and "bytes" in link["buffer"]:
            faults += _byte_faults(scenario, number)
    return faults


def _byte_faults(scenario: Scenario, number: int) -> list[str]:
    """Find what a buffer in bytes asks for and ns-2's DropTail has not, given the sizes of its packets.

    An idle link of ours admits any packet, one of ns-2's only those that its limit holds. Where packets differ in size,
    a packet that is dropped from the front may be too small for the one that arrives, and ns-2 never counts the packet
    in transmission.
    """
    link = scenario["elements"][number]
    place, sizes = f"elements.{number}", sorted(link_packet_bytes(scenario, number))
    if not sizes:
        return []
    faults: list[str] = []
    if len(sizes) > 1:
        faults += _one_of(f"{place}.counting of bytes, packets differ in size", link["counting"], "waiting")
        faults += _one_of(
            f"{place}.queue.overflow of bytes, packets differ in size", link["queue"]["overflow"], "arriving"
        )
    least = sizes[-1] * (1 if link["counting"] == "waiting" else 2)
    if link["buffer"]["bytes"] < least:
        faults.append(
            f"{place}.buffer: ns-2 drops at an idle link; given {link['buffer']}; allowed {least} bytes or more"
        )
    return faults


def _level_faults(scenario: Scenario, number: int) -> list[str]:
    """SimpleIntServ serves flow 0 after all others."""
    faults: list[str] = []
    for index, flow in enumerate(scenario["flows"]):
        level, tcp = int(index == 0), connection(flow)
        if number in flow["path"]:
            faults += _one_of(f"flows.{index}.priority", flow["priority"], level)
        if tcp and number in tcp["return_path"]:
            faults += _one_of(f"flows.{index}.traffic.connection.ack_priority", tcp["ack_priority"], level)
    return faults


def _flow_faults(place: str, flow: Scenario) -> list[str]:
    return [
        *_one_of(f"{place}.count", flow["count"], 1),
        *_one_of(f"{place}.start_spread_s", flow["start_spread_s"], 0.0),
        *_traffic_faults(f"{place}.traffic", flow["traffic"]),
    ]


def _traffic_faults(place: str, traffic: Scenario) -> list[str]:
    match traffic["kind"]:
        case "tcp":
            return _tcp_faults(f"{place}.connection", traffic["connection"])
        case "on-off":
            laws = ((f"{place}.{name}.law", traffic[name]["law"]) for name in ("on", "off"))
            return [fault for law, given in laws for fault in _one_of(law, given, "exponential")]
        case kind:
            return _one_of(f"{place}.kind", kind, "tcp", "constant", "poisson", "on-off")


def _block_faults(place: str, blocks: Scenario | None, recovery: str) -> list[str]:
    """ns-2's header has room for three blocks (`NSA`), each of which adds 8 bytes."""
    if blocks is None:
        return _one_of(place, None, *([] if recovery == "sack1" else [None]))
    return [*_one_of(f"{place}.most", blocks["most"], 1, 2, 3), *_one_of(f"{place}.bytes", blocks["bytes"], 8)]


def _tcp_faults(place: str, tcp: Scenario) -> list[str]:
    sender, receiver = tcp["sender"], tcp["receiver"]
    if machine := _one_of(f"{place}.sender.machine", sender["machine"], "classic"):
        return machine
    rto = sender["rto"]
    return [
        *_one_of(f"{place}.receiver.ack_every", receiver["ack_every"], 1, 2),
        *_block_faults(f"{place}.receiver.blocks", receiver.get("blocks"), sender["recovery"]),
        *_one_of(f"{place}.sender.dialect", sender["dialect"], "ns2"),
        *_one_of(f"{place}.sender.recovery", sender["recovery"], *RECOVERIES),
        *_one_of(f"{place}.sender.slow_start_while", sender["slow_start_while"], "below"),
        *_one_of(f"{place}.sender.ecn", sender.get("ecn", "off"), "off", "classic"),
        *_one_of(f"{place}.sender.increase", sender["increase"], "reciprocal", "counted"),
        *_one_of(f"{place}.sender.rto.estimator", rto["estimator"], "ticks"),
        *_one_of(f"{place}.sender.rto.sample", rto["sample"], "per-round", "per-ack"),
        *_one_of(f"{place}.sender.rto.k", rto["k"], 1, 2, 4, 8),
        *_one_of(f"{place}.sender.rto.max_backoff", rto["max_backoff"], 65536),
    ]
