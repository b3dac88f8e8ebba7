"""Draws a legal scenario from a number: one of the digests', stretched, and with what those leave out."""

import re
from dataclasses import replace

from ackclock.cost import expected_packets
from ackclock.scenario import Resolved, ScenarioError, load, resolve
from digest.draw import Dice, Document, draw

FIRST = 100_000
"""The number of the digests' drawing from which these scenarios begin, far beyond those that have a digest."""
AGAIN = 1_000_000_000
"""The number from which the drawings begin that take the place of illegal ones."""
MOST_PACKETS = 2e5
"""Packets of a replication up to which a scenario keeps its duration."""


def legal(number: int) -> Resolved:
    """Draw the scenario of a number.

    A change that makes it illegal, such as a buffer of a time that a smaller rate makes shorter than a packet, is left
    out: first the stretching, then all changes. One drawing in some thousands is illegal itself, for such a buffer too:
    then another one takes its place.
    """
    for seed in (FIRST + number, AGAIN + number):
        for changes in ((_finite, _add_ping, _sizes, _group, _stretch), (_finite, _add_ping, _sizes), ()):
            dice = Dice(seed)
            document = draw(seed)
            for change in changes:
                change(dice, document)
            try:
                return _trimmed(dice, resolve(load(document)))
            except ScenarioError:
                continue
    raise AssertionError(f"the drawing of number {number} is not legal")


def _finite(dice: Dice, document: Document) -> None:
    """Let one scenario in eight come to an end: transfers alone, and time for all of them. Cells never end."""
    if not dice.chance(0.125) or "atm_link" in document:
        return
    for flow in document["flow"]:
        flow.pop("traffic", None)
        flow["size"] = f"{dice.whole(1, 150)} pkt"
    seconds = 20.0 * float(document["run"]["duration"].split()[0]) + 2000.0
    document["run"] = {**document["run"], "duration": f"{seconds} s"}
    document["title"] = f"{document['title']} finite"


def _add_ping(dice: Dice, document: Document) -> None:
    if dice.chance(0.2) and "finite" not in document["title"]:
        path = dice.choice(document["flow"])["path"]
        interval = f"{dice.factor(0.001, 2.0)} s"
        document["flow"].append({"name": "ping", "path": path, "traffic": {"kind": "ping", "interval": interval}})


def _sizes(dice: Dice, document: Document) -> None:
    """Draw packets of any size."""
    if dice.chance(0.2):
        for flow in document["flow"]:
            flow["packet"] = f"{dice.whole(1, dice.choice([100, 1500, 65535]))} B"


def _group(dice: Dice, document: Document) -> None:
    """Make one entry of flows a large group."""
    if dice.chance(0.04):
        flow = dice.choice(document["flow"])
        if flow.get("traffic", {}).get("kind") != "ping":
            flow["count"] = dice.whole(1001, 1400)


def _stretch(dice: Dice, document: Document) -> None:
    """Multiply all rates by a factor, at which packets and ticks of the clock come near each other."""
    if dice.chance(0.4):
        factor = dice.factor(1e-3, 1e5)
        _scale_rates(document, factor)
        if "finite" not in document["title"]:
            run = document["run"]
            for field in ("duration", "warmup"):
                run[field] = f"{float(run[field].split()[0]) / max(1.0, factor):.6g} s"


def _scale_rates(value: object, factor: float) -> None:
    if isinstance(value, dict):
        for key, entry in value.items():
            match = isinstance(entry, str) and re.fullmatch(r"([0-9.e+-]+) Mbit/s", entry)
            if match:
                value[key] = f"{float(match[1]) * factor:.6g} Mbit/s"
            else:
                _scale_rates(entry, factor)
    elif isinstance(value, list):
        for entry in value:
            _scale_rates(entry, factor)


def _trimmed(dice: Dice, resolved: Resolved) -> Resolved:
    """Shorten what would take long, move the warm-up to an edge, and record what the oracles compare."""
    run = replace(resolved.run, replications=min(2, resolved.run.replications), precision=None)
    per_run = expected_packets(resolved) / max(1, resolved.run.replications)
    if per_run > MOST_PACKETS and "finite" not in resolved.title:
        shorter = MOST_PACKETS / per_run
        run = replace(run, duration_s=run.duration_s * shorter, warmup_s=run.warmup_s * shorter)
    if dice.chance(0.2):
        run = replace(run, warmup_s=run.duration_s * dice.choice([0.0, 0.01, 0.9, 0.99, 0.999]))
    trace = resolved.trace
    if dice.chance(0.5):
        trace = replace(trace, drops=True, queue=True, sequence=True)
    return replace(resolved, run=replace(run, delays=dice.chance(0.95)), trace=trace)
