"""Figure 5: goodput against the holding time factor h, without losses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.abrupt_delay.path import (
    GENIE,
    PER_ROUND,
    VERSIONS,
    Version,
    alternating,
    goodput,
    goodputs,
    ideal,
    lengths,
    simulated,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models.domain import BoolArray, FloatArray
from ackclock.scenario import Resolved

Key = tuple[str, float] | tuple[str, float, float | str]
"""The sender and h; then, for some, the loss probability or another reading of the sender."""
FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LOSSES = (0.005, 0.01)
LOSS_FACTORS = (0.1, 1.0, 10.0)
ALIKE = 0.25
"""Largest relative difference of shifts that count as one."""
SENDERS: Mapping[str, Mapping[str, Any]] = {
    "reno-abrupt-delay": {},
    "old-tahoe-abrupt-delay": {},
    "newreno": {"flow.flow.tcp.recovery": "newreno"},
    "genie": GENIE,
}
READINGS = {"without time stamps": PER_ROUND, "G = 100 ms": {"flow.flow.tcp.rto.granularity": "100 ms"}}
"""Readings of the sender: section IV does not say which samples and which clock it has."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve each version at each h, some with losses, and other readings of the sender's clock."""
    seconds = setting.pick(1000.0, 10000.0)
    length = lengths(seconds, setting.pick(8, 20))
    lossless: dict[Key, Resolved] = {
        (sender, factor): alternating(
            factor, {**_preset(sender), **changes, **length, **lengths(seconds * max(1.0, factor / 10.0))}
        )
        for sender, changes in SENDERS.items()
        for factor in FACTORS
    }
    lossy: dict[Key, Resolved] = {
        (version, factor, loss): alternating(factor, _preset(version) | length, loss=loss)
        for version in VERSIONS
        for factor in LOSS_FACTORS
        for loss in LOSSES
    }
    readings: dict[Key, Resolved] = {
        (version, factor, reading): alternating(factor, _preset(version) | changes | length)
        for version in VERSIONS
        for factor in FACTORS
        for reading, changes in READINGS.items()
    }
    return lossless | lossy | readings


def _preset(sender: str) -> dict[str, Any]:
    return {"flow.flow.tcp.preset": sender if sender in VERSIONS else "reno-abrupt-delay"}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge shape and order of the curves."""
    found = {sender: goodputs(runs, _keys(sender))[0] for sender in SENDERS}
    reno, tahoe, newreno = (found[name] for name in ("reno-abrupt-delay", "old-tahoe-abrupt-delay", "newreno"))
    ideals = np.array([ideal(factor) for factor in FACTORS])
    near = np.abs(found["genie"] / ideals - 1.0) <= 0.02
    shifts = _shifts(runs)
    findings = {
        "ideal": Finding(model=float(ideals[np.argmax(np.abs(ideals - 60.0))])),
        "genie": Finding(
            share(list(near)),
            note=f"{found['genie'][0]:.1f} packets/s at h = 0.1, {found['genie'][-1]:.1f} at h = 100; within 2% at "
            f"h = {_listed(near)}: an ACK counts when all before it has come, and a window that straddles a rise waits",
        ),
        "deteriorates_reno": Finding(
            float(100.0 * reno[0] / reno[-1]), note=f"{reno[0]:.1f} and {reno[-1]:.1f} packets/s"
        ),
        "deteriorates_oldtahoe": Finding(
            float(100.0 * tahoe[0] / tahoe[-1]), note=f"{tahoe[0]:.1f} and {tahoe[-1]:.1f} packets/s"
        ),
        "grows": Finding(
            share([*(np.diff(reno) > 0.0), *(np.diff(tahoe) > 0.0)]),
            note=f"OldTahoe is worst at h = {FACTORS[int(np.argmin(tahoe))]:g} ({tahoe.min():.1f} packets/s): below, "
            f"its RTO has learnt both round trips, and it gets what cumulative ACKs allow ({found['genie'][0]:.1f})",
        ),
        "less_sensitive": Finding(share(list(tahoe[:-1] / tahoe[-1] > reno[:-1] / reno[-1]))),
        "above": Finding(share(list(tahoe > reno)), note=f"at h = {_listed(tahoe > reno)}"),
        "newreno": Finding(
            float(100.0 * np.max(np.abs(newreno / reno - 1.0))),
            note=f"at h = 0.1 NewReno {newreno[0]:.1f} packets/s, Reno {reno[0]:.1f}; at h = 10 {newreno[6]:.1f} and "
            f"{reno[6]:.1f}",
        ),
        "losses_shift": Finding(
            share([abs(twice / once - 2.0) <= 2.0 * ALIKE for once, twice in shifts.values()]),
            note="shift at 1% by that at 0.5%: "
            + ", ".join(f"{_named(key)}: {twice / once:.2f}" for key, (once, twice) in shifts.items()),
        ),
        "losses_alike": _alike(shifts),
        "losses_keep_order": _keep_order(runs),
    }
    return Outcome(findings, {"figure": _chart(runs, ideals)}, [_other_readings(runs)])


def _other_readings(runs: Mapping[Key, Run]) -> str:
    parts = []
    for reading in READINGS:
        for version, name in VERSIONS.items():
            ends = [goodput(runs[version, factor, reading]).value for factor in (0.1, 1.0, 10.0)]
            parts.append(f"{name}, {reading}: {ends[0]:.1f}, {ends[1]:.1f}, {ends[2]:.1f} packets/s")
    return f"At h = 0.1, 1, 10 in other readings of the sender: {'; '.join(parts)}."


def _keys(sender: str) -> Sequence[Key]:
    return [(sender, factor) for factor in FACTORS]


def _listed(which: BoolArray) -> str:
    return ", ".join(f"{factor:g}" for factor, each in zip(FACTORS, which, strict=True) if each) or "none"


def _named(key: tuple[Version, float]) -> str:
    return f"{VERSIONS[key[0]]}, h = {key[1]:g}"


def _shifts(runs: Mapping[Key, Run]) -> dict[tuple[Version, float], tuple[float, float]]:
    """Compute by how much once and twice the losses lower the goodput [packets/s]."""
    found = {}
    for version in VERSIONS:
        for factor in LOSS_FACTORS:
            none = goodput(runs[version, factor]).value
            once, twice = (none - goodput(runs[version, factor, loss]).value for loss in LOSSES)
            found[version, factor] = (once, twice)
    return found


def _alike(shifts: Mapping[tuple[Version, float], tuple[float, float]]) -> Finding:
    """Judge whether losses lower the curves as a whole: by the same amount at each h, in both versions."""
    larger = {key: twice for key, (_, twice) in shifts.items()}
    mean = float(np.mean(list(larger.values())))
    return Finding(
        share([abs(shift / mean - 1.0) <= ALIKE for shift in larger.values()]),
        note=f"losses of 1% cost, in packets/s, {mean:.1f} in the mean; "
        + ", ".join(f"{_named(key)}: {shift:.1f}" for key, shift in larger.items()),
    )


def _keep_order(runs: Mapping[Key, Run]) -> Finding:
    """Judge whether shifted curves keep their order: OldTahoe above Reno with losses, too."""
    pairs = {
        (factor, loss): (goodput(runs[reno, factor, loss]).value, goodput(runs[tahoe, factor, loss]).value)
        for reno, tahoe in [tuple(VERSIONS)]
        for factor in LOSS_FACTORS
        for loss in LOSSES
    }
    text = ", ".join(f"h = {h:g}, p = {loss:.1%}: {one:.1f}, {other:.1f}" for (h, loss), (one, other) in pairs.items())
    return Finding(share([other > one for one, other in pairs.values()]), note=f"Reno, OldTahoe: {text}")


def _chart(runs: Mapping[Key, Run], ideals: FloatArray) -> Chart:
    x = np.array(FACTORS)
    names = [*VERSIONS.items(), ("newreno", "NewReno"), ("genie", "neither timeouts nor fast retransmits")]
    main = [
        simulated(name, x, runs, _keys(sender), colour)
        for (sender, name), colour in zip(names, (0, 1, 2, 4), strict=True)
    ]
    panels = [_panel("fine clock, time stamps", ideals, main)]
    panels += [_panel(reading, ideals, _versions(runs, FACTORS, reading)) for reading in READINGS]
    panels.append(_panel("losses of 1%", ideals, _versions(runs, LOSS_FACTORS, LOSSES[-1])))
    title = "Figure 5: goodput against the holding times, w_m = 12, T = 0.1 and 0.3 s, simulated"
    return Chart(title, panels, 2, share_y=True, size_inches=(14.0, 12.0))


def _panel(title: str, ideals: FloatArray, curves: Sequence[Curve]) -> Panel:
    top = Curve("R_I, equation 3", np.array(FACTORS), ideals, "theory", 3)
    return Panel("h, the holding time factor", "goodput [packets/s]", [top, *curves], title, y_top=66.0, log_x=True)


def _versions(runs: Mapping[Key, Run], factors: Sequence[float], case: str | float) -> Sequence[Curve]:
    return [
        simulated(name, factors, runs, [(version, factor, case) for factor in factors], colour)
        for colour, (version, name) in enumerate(VERSIONS.items())
    ]
