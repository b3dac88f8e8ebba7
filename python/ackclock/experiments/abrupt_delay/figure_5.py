"""Figure 5: goodput against the holding time factor h, without losses."""

from collections.abc import Mapping, Sequence

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.abrupt_delay.path import (
    GENIE,
    VERSIONS,
    alternating,
    goodput,
    goodputs,
    ideal,
    lengths,
    simulated,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.replication import ResolvedDict

FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LOSSES = (0.005, 0.01)
LOSS_FACTORS = (0.1, 1.0, 10.0)
SENDERS = {
    "reno-abrupt": {},
    "old-tahoe-abrupt": {},
    "newreno": {"flow.flow.tcp.recovery": "newreno"},
    "genie": GENIE,
}


def scenarios(setting: Setting) -> Mapping[str, ResolvedDict]:
    """Each version at each h; some with losses."""
    length = lengths(setting.pick(1000.0, 10000.0), setting.pick(8, 20))
    lossless = {
        f"{sender} {factor:g}": alternating(factor, _preset(sender) | changes | length)
        for sender, changes in SENDERS.items()
        for factor in FACTORS
    }
    lossy = {
        f"{version} {factor:g} {loss:g}": alternating(factor, _preset(version) | length, loss=loss)
        for version in VERSIONS
        for factor in LOSS_FACTORS
        for loss in LOSSES
    }
    return lossless | lossy


def _preset(sender: str) -> dict[str, str]:
    return {"flow.flow.tcp.preset": sender if sender in VERSIONS else "reno-abrupt"}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge shape and order of the curves."""
    found = {sender: goodputs(runs, _labels(sender))[0] for sender in SENDERS}
    reno, tahoe, newreno = (found[name] for name in ("reno-abrupt", "old-tahoe-abrupt", "newreno"))
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
        "grows": Finding(share([*(np.diff(reno) > 0.0), *(np.diff(tahoe) > 0.0)])),
        "less_sensitive": Finding(share(list(tahoe[:-1] / tahoe[-1] > reno[:-1] / reno[-1]))),
        "above": Finding(share(list(tahoe > reno)), note=f"at h = {_listed(tahoe > reno)}"),
        "newreno": Finding(
            float(100.0 * np.max(np.abs(newreno / reno - 1.0))),
            note=f"NewReno {newreno[0]:.1f} at h = 0.1 and {newreno[6]:.1f} at h = 10, Reno {reno[0]:.1f} and {reno[6]:.1f}",
        ),
        "losses_shift": Finding(
            share([1.5 <= ratio <= 2.5 for ratio in shifts.values()]),
            note="shift at 1% by that at 0.5%: "
            + ", ".join(
                f"{VERSIONS[version]}, h = {factor:g}: {ratio:.2f}" for (version, factor), ratio in shifts.items()
            ),
        ),
    }
    return Outcome(findings, {"figure": _chart(runs, ideals)})


def _labels(sender: str) -> Sequence[str]:
    return [f"{sender} {factor:g}" for factor in FACTORS]


def _listed(which: Sequence[bool] | np.ndarray) -> str:
    return ", ".join(f"{factor:g}" for factor, each in zip(FACTORS, which, strict=True) if each) or "none"


def _shifts(runs: Mapping[str, Run]) -> dict[tuple[str, float], float]:
    """Compute by how much more twice the losses shift the goodput."""
    found = {}
    for version in VERSIONS:
        for factor in LOSS_FACTORS:
            none = goodput(runs[f"{version} {factor:g}"]).value
            once, twice = (none - goodput(runs[f"{version} {factor:g} {loss:g}"]).value for loss in LOSSES)
            found[version, factor] = twice / once
    return found


def _chart(runs: Mapping[str, Run], ideals: np.ndarray) -> Chart:
    x = np.array(FACTORS)
    names = {**VERSIONS, "newreno": "NewReno", "genie": "neither timeouts nor fast retransmits"}
    curves = [Curve("R_I, equation 3", x, ideals, "theory", 3)]
    curves += [
        simulated(f"{name}, simulated", x, runs, _labels(sender), colour)
        for sender, name, colour in zip(names, names.values(), (0, 1, 2, 4), strict=True)
    ]
    for colour, version in enumerate(VERSIONS):
        labels = [f"{version} {factor:g} {LOSSES[-1]:g}" for factor in LOSS_FACTORS]
        curves.append(simulated(f"{VERSIONS[version]} with 1% of losses", LOSS_FACTORS, runs, labels, colour))
    panel = Panel("h, the holding time factor", "goodput [packets/s]", curves)
    return Chart("Figure 5: goodput against the holding times, w_m = 12, T = 0.1 and 0.3 s, p = 0", [panel])
