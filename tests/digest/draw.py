"""Draws legal scenarios in the user's form: number n is always the same scenario.

A scenario's number seeds its own random numbers, and some features go round with the number, so that each occurs often.
Do not change what an existing number draws: its digest is in git. A new feature gets a range of numbers of its own.
"""

import math
import random
from collections.abc import Sequence
from typing import Any, TypeVar

Document = dict[str, Any]
Entry = TypeVar("Entry")

PRESETS = (
    "tahoe-ns2", "reno-ns2", "newreno-ns2", "old-tahoe-ns2", "reno-rfc5681",
    "newreno-rfc6582", "tahoe-rfc5681", "reno-abrupt-delay", "old-tahoe-abrupt-delay", "newreno-engset",
)  # fmt: skip
DIALECTS = ("ns2", "rfc", "engset")
RECOVERIES = ("old-tahoe", "tahoe", "reno", "newreno")
TRACES = (
    "cwnd", "rtt", "sequence", "queue", "queue_distribution", "drops", "losses", "recovery", "rounds", "delay",
)  # fmt: skip
KINDS = ("general", "private", "general", "hosts", "general", "two-way", "general", "atm")
"""What the scenarios of numbers 0, 1, 2, ... are, in turn."""


class Dice:
    """Random numbers that depend on a scenario's number alone, by `random.random` only: its sequence never changes."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._random = random.Random(f"digest {number}")

    def between(self, low: float, high: float) -> float:
        """Draw a number evenly from a range, with six digits."""
        return float(f"{low + (high - low) * self._random.random():.6g}")

    def factor(self, low: float, high: float) -> float:
        """Draw a positive number whose logarithm is even in a range, with six digits."""
        return float(f"{low * math.exp(math.log(high / low) * self._random.random()):.6g}")

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number from low to high."""
        return low + int((high - low + 1) * self._random.random())

    def choice(self, values: Sequence[Entry]) -> Entry:
        """Draw one of some values."""
        return values[self.whole(0, len(values) - 1)]

    def chance(self, probability: float) -> bool:
        """Draw whether something of a probability happens."""
        return self._random.random() < probability


def draw(number: int) -> Document:
    """Draw the scenario of a number."""
    dice = Dice(number)
    kind = KINDS[number % len(KINDS)]
    document = {
        "general": _general,
        "private": _private,
        "hosts": _hosts,
        "two-way": _two_way,
        "atm": _atm,
    }[kind](dice)
    document["title"] = f"{number:03d} {kind}"
    document["run"] = {**_run(dice, document.pop("seconds")), "seed": number}
    if dice.chance(0.6):
        document["trace"] = _trace(dice)
    return document


def _run(dice: Dice, seconds: float) -> Document:
    warmup = dice.choice([0.0, dice.between(0.0, 0.5)])
    return {
        "duration": f"{seconds:.6g} s",
        "warmup": f"{seconds * warmup:.6g} s",
        "replications": dice.choice([1, 1, 2, 3]),
    }


def _trace(dice: Dice) -> Document:
    trace: Document = {name: True for name in TRACES if dice.chance(0.5)}
    if dice.chance(0.4):
        trace["overview_interval"] = f"{dice.factor(0.01, 3.0)} s"
        if dice.chance(0.5):
            trace["overview_detail"] = "500 ms"
    return trace


def _general(dice: Dice) -> Document:
    """Links in a row with all that links can be, flows over parts of the row in either direction."""
    seconds = dice.factor(4.0, 40.0)
    links = [_link(dice, f"link{place}") for place in range(dice.whole(1, 5))]
    by_name = {link["name"]: link for link in links}
    flows = []
    for place in range(dice.whole(1, 5)):
        flow = {"name": f"flow{place}", "path": _way(dice, links), **_flow(dice, seconds)}
        other_way = _way(dice, links)
        if dice.chance(0.3) and not set(other_way) & set(flow["path"]) and "tcp" in flow:
            flow["return_path"] = other_way
        _limit_one(by_name, flow["path"])
        if dice.chance(0.3) and "tcp" in flow:
            flow["two_way_propagation"] = f"{_longest_ms(links) + dice.between(0.0, 60.0):.6g} ms"
        flows.append(flow)
    return {"seconds": seconds, "link": links, "flow": flows}


def _way(dice: Dice, links: list[Document]) -> list[str]:
    first = dice.whole(0, len(links) - 1)
    names = [link["name"] for link in links[first : dice.whole(first, len(links) - 1) + 1]]
    return [f"{name}.reverse" for name in reversed(names)] if dice.chance(0.35) else names


def _limit_one(links: dict[str, Document], path: list[str]) -> None:
    """Give the first link of a path a rate where none has one: something must limit a flow."""
    ways = [links[name.removesuffix(".reverse")] for name in path]
    if all("unlimited" in {link["rate"], link.get("reverse", link).get("rate")} for link in ways):
        ways[0]["rate"] = "3 Mbit/s"
        if "reverse" in ways[0]:
            ways[0]["reverse"]["rate"] = "2 Mbit/s"


def _longest_ms(links: list[Document]) -> float:
    """Add up more than any path and its way back have of propagation."""
    directions = [way for link in links for way in (link, link.get("reverse", link))]
    return sum(float(way["delay"].split()[0]) + 250.0 * ("delay_process" in way) for way in directions)


def _as_table(tcp: str | Document) -> Document:
    return {"preset": tcp} if isinstance(tcp, str) else tcp


def _link(dice: Dice, name: str) -> Document:
    link = {"name": name, **_direction(dice)}
    if dice.chance(0.5):
        link["reverse"] = _direction(dice)
    return link


def _direction(dice: Dice) -> Document:
    direction: Document = {
        "rate": "unlimited" if dice.chance(0.06) else f"{dice.factor(0.1, 10.0)} Mbit/s",
        "delay": f"{dice.choice([0.0, dice.between(0.0, 5.0), dice.between(0.0, 120.0)])} ms",
        "counting": dice.choice(["with-service", "waiting"]),
    }
    if direction["rate"] != "unlimited" and dice.chance(0.85):
        direction["buffer"] = dice.choice(
            [f"{dice.whole(1, 60)} pkt", f"{dice.whole(9200, 60_000)} B", f"{dice.between(160.0, 400.0)} ms"]
            if dice.chance(0.5) and float(direction["rate"].split()[0]) > 1.0
            else [f"{dice.whole(2, 40)} pkt"]
        )
    direction["queue"] = _queue(dice)
    if dice.chance(0.15):
        direction["delay_process"] = _delay_process(dice)
    if dice.chance(0.15):
        direction["loss"] = _loss(dice)
    return direction


def _queue(dice: Dice) -> str | Document:
    discipline = dice.choice(["drop-tail", "drop-tail", "drop-from-front", "random-drop", "red", "priority"])
    if discipline == "red" and dice.chance(0.9):
        low = dice.between(0.5, 10.0)
        return {
            "discipline": "red",
            "min_threshold": f"{low} pkt",
            "max_threshold": f"{low + dice.between(0.5, 20.0):.6g} pkt",
            "weight": dice.factor(0.001, 1.0),
            "max_probability": dice.factor(0.01, 1.0),
            "gentle": dice.chance(0.5),
            "victim": dice.choice(["arriving", "random"]),
            "mean_packet": f"{dice.whole(40, 1500)} B",
        }
    if discipline == "priority":
        return {
            "discipline": "priority",
            "levels": dice.whole(3, 8),
            "victim": dice.choice(["arriving", "lowest"]),
        }
    return discipline


def _delay_process(dice: Dice) -> Document:
    process: Document = {
        "kind": dice.choice(["steps", "alternating", "handover"]),
        "order": dice.choice(["overtake", "keep"]),
    }
    if process["kind"] == "steps":
        instants = [0.0]
        for _ in range(dice.whole(1, 8)):
            instants.append(float(f"{instants[-1] + dice.factor(0.01, 4.0):.6g}"))
        process["steps"] = [[f"{instant} s", f"{dice.between(0.0, 200.0)} ms"] for instant in instants]
    elif process["kind"] == "alternating":
        process["states"] = [
            {
                "delay": f"{dice.between(0.0, 200.0)} ms",
                "least_stay": f"{dice.between(0.0, 500.0)} ms",
                "mean_extra": f"{dice.factor(0.01, 2.0)} s",
            }
            for _ in range(dice.whole(2, 3))
        ]
        if dice.chance(0.5):
            share = 1.0 / len(process["states"])
            process["transitions"] = [[share] * len(process["states"]) for _ in process["states"]]
            process["start_state"] = len(process["states"])
    else:
        low = dice.between(0.0, 80.0)
        process["low"], process["high"] = f"{low} ms", f"{low + dice.between(0.0, 150.0):.6g} ms"
        process["period"] = f"{dice.factor(0.1, 10.0)} s"
    return process


def _loss(dice: Dice) -> Document:
    model = dice.choice(["bernoulli", "poisson", "gilbert-elliott", "packets", "times"])
    loss: Document = {"model": model, "applies_to": dice.choice(["all", "data", "acks"])}
    if model == "bernoulli":
        loss["probability"] = dice.choice([dice.between(0.0, 0.05), dice.between(0.0, 0.4)])
    elif model == "poisson":
        loss["mean_interval"] = f"{dice.factor(0.05, 5.0)} s"
        loss["void_after"] = f"{dice.between(0.0, 1.0)} s"
    elif model == "gilbert-elliott":
        loss["to_bad"], loss["to_good"] = dice.factor(0.001, 0.2), dice.factor(0.05, 1.0)
        loss["loss_in_good"], loss["loss_in_bad"] = dice.between(0.0, 0.02), dice.between(0.1, 1.0)
    elif model == "packets":
        loss["packets"] = sorted({dice.whole(1, 400) for _ in range(dice.whole(1, 15))})
    else:
        loss["times"] = [f"{place + dice.between(0.1, 0.9):.6g} s" for place in range(dice.whole(1, 12))]
    return loss


def _flow(dice: Dice, seconds: float) -> Document:
    """Draw a flow but for its name and its ways."""
    flow: Document = {
        "packet": f"{dice.choice([100, 512, 1000, 1500, 1500, 9180])} B",
        "priority": dice.whole(0, 2),
        "ack_priority": dice.whole(0, 2),
        "start": f"{dice.choice([0.0, 0.0, dice.between(0.0, seconds / 2)])} s",
        "start_spread": f"{dice.choice([0.0, 0.0, dice.between(0.0, seconds / 4)])} s",
    }
    if dice.chance(0.25):
        flow["count"] = dice.whole(2, 6)
    sends = dice.choice(["bulk", "bulk", "bulk", "transfer", "web", "datagrams"])
    if sends == "datagrams":
        flow["traffic"] = _datagrams(dice)
        return flow
    flow["ack"] = f"{dice.choice([40, 40, 52, 512])} B"
    flow["tcp"] = _tcp(dice)
    if sends == "transfer":
        flow["size"] = f"{dice.whole(1, 400)} pkt"
    elif sends == "web":
        flow["traffic"] = _web(dice)
    return flow


def _datagrams(dice: Dice) -> Document:
    kind = dice.choice(["constant", "poisson", "on-off", "poisson-on-off"])
    traffic: Document = {"kind": kind, "rate": f"{dice.factor(0.02, 3.0)} Mbit/s"}
    if kind.endswith("on-off"):
        traffic["on"], traffic["off"] = _period(dice), _period(dice)
    return traffic


def _period(dice: Dice) -> str | Document:
    mean = f"{dice.factor(0.05, 5.0)} s"
    return {"mean": mean, "law": dice.choice(["fixed", "exponential"])} if dice.chance(0.5) else mean


def _web(dice: Dice) -> Document:
    law = dice.choice(["fixed", "exponential", "exponential-pareto", "exponential-exponential", "pareto"])
    size: str | Document = f"{dice.whole(1, 60)} pkt"
    if law != "fixed":
        size = {"law": law, "mean": f"{dice.between(20.0, 60.0)} pkt"}
        if law in {"exponential-pareto", "pareto"}:
            size["shape"] = dice.between(1.2, 2.5)
    return {"kind": "web", "size": size, "off": _period(dice)}


def _tcp(dice: Dice) -> str | Document:
    if dice.chance(0.3):
        return PRESETS[dice.number // len(KINDS) % len(PRESETS)]
    turn = dice.number // 2 + dice.whole(0, 1)
    tcp: Document = {
        "preset": dice.choice(PRESETS),
        "dialect": DIALECTS[turn % 3],
        "recovery": RECOVERIES[turn // 3 % 4],
        "initial_window": f"{dice.whole(1, 10)} pkt",
        "initial_ssthresh": dice.choice(["max-window", f"{dice.whole(2, 60)} pkt"]),
        "max_window": dice.choice(["unlimited", f"{dice.whole(4, 80)} pkt", "64 KiB"]),
        "slow_start_while": dice.choice(["below", "at-or-below"]),
        "increase": dice.choice(["reciprocal", "reciprocal-floor", "counted"]),
        "dupack_threshold": dice.choice([1, 2, 3, 3, 3, 5, "infinite"]),
        "limited_transmit": dice.chance(0.4),
        "partial_ack_timer": dice.choice(["slow-but-steady", "impatient"]),
        "ack_every": dice.choice([1, 1, 2, 2, 4]),
        "ack_delay": f"{dice.choice([0.0, 40.0, 100.0, 200.0])} ms",
    }
    if dice.chance(0.6):
        tcp["rto"] = {
            "estimator": dice.choice(["ticks", "rfc6298"]),
            "sample": dice.choice(["per-round", "per-ack", "per-ack-karn"]),
            "granularity": f"{dice.choice([10.0, 100.0, 500.0])} ms",
            "k": dice.whole(1, 6),
            "min": f"{dice.choice([0.0, 200.0, 1000.0])} ms",
            "max": f"{dice.choice([5.0, 60.0])} s",
            "initial": f"{dice.choice([1.0, 3.0])} s",
            "max_backoff": dice.choice([1, 4, 64]),
        }
    return tcp


def _private(dice: Dice) -> Document:
    """Groups of flows alike with links of their own around a shared one, as web sources have."""
    seconds = dice.factor(3.0, 20.0)
    shared = [
        {"name": f"shared{place}", **_direction(dice), "rate": f"{dice.factor(0.5, 10.0)} Mbit/s"}
        for place in range(dice.whole(1, 2))
    ]
    links, flows = list(shared), []
    for group in range(dice.whole(1, 3)):
        own = [_private_link(dice, f"{end}{group}") for end in ("ingress", "more", "egress") if dice.chance(0.8)]
        names = [link["name"] for link in own]
        cut = dice.whole(0, len(names))
        flow = _flow(dice, seconds)
        if "traffic" not in flow and dice.chance(0.5):
            flow["traffic"] = _web(dice)
            flow.pop("size", None)
        flow["name"] = f"group{group}"
        flow["count"] = dice.whole(1, 40)
        flow["path"] = [*names[:cut], *(link["name"] for link in shared), *names[cut:]]
        links += own
        flows.append(flow)
    return {"seconds": seconds, "link": links, "flow": flows}


def _private_link(dice: Dice, name: str) -> Document:
    link: Document = {
        "name": name,
        "rate": f"{dice.factor(0.5, 100.0)} Mbit/s",
        "delay": f"{dice.between(0.0, 30.0)} ms",
        "private": True,
    }
    if dice.chance(0.5):
        link["buffer"] = f"{dice.whole(2, 40)} pkt"
        link["counting"] = dice.choice(["with-service", "waiting"])
    return link


def _hosts(dice: Dice) -> Document:
    """A general scenario whose flows begin and end at hosts that take time for each packet."""
    document = _general(dice)
    hosts = [f"host{place}" for place in range(dice.whole(1, 3))]
    document["host"] = [
        {
            "name": name,
            "processing": f"{dice.choice([0.0, dice.factor(1.0, 5000.0)])} us",
            **({"ack_processing": f"{dice.factor(1.0, 2000.0)} us"} if dice.chance(0.5) else {}),
        }
        for name in hosts
    ]
    for flow in document["flow"]:
        ends = {"receiver": dice.choice(hosts), "sender": dice.choice(hosts)}
        if ends["receiver"] == ends["sender"] or dice.chance(0.3):
            del ends[dice.choice(["sender", "receiver"])]
        if "tcp" in flow:
            flow.update(ends)
    return document


def _two_way(dice: Dice) -> Document:
    """Flows in both directions of one line, the data of each meeting the ACKs of the other."""
    seconds = dice.factor(5.0, 40.0)
    link = {"name": "line", **_direction(dice), "rate": f"{dice.factor(0.2, 10.0)} Mbit/s"}
    link.pop("delay_process", None)
    flows = []
    for place in range(dice.whole(2, 5)):
        flow = {**_flow(dice, seconds), "name": f"flow{place}", "path": ["line.reverse" if place % 2 else "line"]}
        if "traffic" not in flow and dice.chance(0.5):
            flow["tcp"] = {**_as_table(flow["tcp"]), "max_window": f"{dice.whole(2, 40)} pkt"}
        flows.append(flow)
    return {"seconds": seconds, "link": [link], "flow": flows}


def _atm(dice: Dice) -> Document:
    """ABR channels over a few ATM links, cells of others beside them, flows over channels and over a plain link."""
    seconds = dice.between(0.6, 2.0)
    links = [_atm_link(dice, f"atm{place}") for place in range(dice.whole(1, 3))]
    names = [link["name"] for link in links]
    slowest = min(float(link["rate"].split()[0]) for link in links)
    document: Document = {"seconds": seconds, "atm_link": links, "channel": [], "flow": []}
    for place in range(dice.whole(1, 3)):
        first = dice.whole(0, len(names) - 1)
        channel = {"name": f"vc{place}", "path": names[first : dice.whole(first, len(names) - 1) + 1], **_channel(dice)}
        document["channel"].append(channel)
    if dice.chance(0.4):
        document["cross_traffic"] = [
            {
                "name": "video",
                "path": [dice.choice(names)],
                "rate": f"{slowest * dice.between(0.05, 0.5):.6g} Mbit/s",
                "start": f"{dice.between(0.0, 0.3)} s",
                **({"stop": f"{dice.between(0.5, 1.0)} s"} if dice.chance(0.5) else {}),
            }
        ]
    if dice.chance(0.3):
        document["link"] = [{"name": "plain", **_direction(dice), "rate": f"{dice.factor(1.0, 20.0)} Mbit/s"}]
    for place in range(dice.whole(1, 4)):
        flow = _flow(dice, seconds)
        way = [dice.choice(document["channel"])["name"]]
        if "link" in document and dice.chance(0.5):
            way.append("plain")
        flow["path"] = [f"{name}.reverse" for name in reversed(way)] if dice.chance(0.5) else way
        flow["name"] = f"flow{place}"
        if "traffic" not in flow:
            flow["tcp"] = {**_as_table(flow["tcp"]), "max_window": f"{dice.whole(2, 40)} pkt"}
        document["flow"].append(flow)
    return document


def _atm_link(dice: Dice, name: str) -> Document:
    link: Document = {
        "name": name,
        "rate": f"{dice.factor(2.0, 30.0)} Mbit/s",
        "delay": f"{dice.between(0.0, 10.0)} ms",
        "allocation": dice.choice(["two-pass", "by-ccr", "erica", "none"]),
    }
    if dice.chance(0.4):
        link["buffer"] = dice.whole(50, 2000)
    if dice.chance(0.5):
        link["efci"] = dice.whole(1, 200)
    if dice.chance(0.3):
        link["reverse_rate"] = f"{dice.factor(2.0, 30.0)} Mbit/s"
    if dice.chance(0.3):
        link["utilisation"] = dice.between(0.7, 1.0)
    return link


def _channel(dice: Dice) -> Document:
    channel: Document = {"abr": {"icr": f"{dice.between(0.2, 1.5)} Mbit/s", "rif": dice.factor(0.003, 1.0)}}
    if dice.chance(0.5):
        channel["ip_service"] = dice.choice(["channel-rate", "immediate"])
    elif dice.chance(0.4):
        channel["ip_rate"] = f"{dice.factor(1.0, 20.0)} Mbit/s"
    if dice.chance(0.3):
        channel["reverse"] = {"abr": {"rif": dice.factor(0.003, 1.0), "nrm": dice.whole(8, 64)}}
    return channel
