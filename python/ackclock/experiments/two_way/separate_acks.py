"""The cure that the paper calls wasteful: segments and ACKs over separate channels (section 6)."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.experiments.two_way.atm import LINE_MBPS, USER_MBPS, scenario, user_mbps
from ackclock.experiments.two_way.line import PAPER
from ackclock.models import two_way
from ackclock.scenario import Resolved

Key = float | Literal["shared", "alone"]
"""Peak rate of the ACKs' channel [Mbit/s]; all in one channel; one connection alone."""
WINDOW, LENGTH = 28, 15.0
PEAK_RATES_MBPS = (2.0, 4.0, 10.0, 20.0, 40.0, 80.0, LINE_MBPS)
"""Peak cell rates of the ACKs' channel [Mbit/s]; the largest is that of the line."""
ENOUGH_MBPS = 4.0


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give ACKs apart at several rates, all in one channel, and one connection alone."""
    length = {"run.duration": setting.pick("3 s", "30 s"), "run.warmup": "1 s", "trace.sequence": True}
    found: dict[Key, Resolved] = {
        rate: scenario("separate-acks", length | {"channel.acks.abr.pcr": f"{rate:g} Mbit/s"})
        for rate in PEAK_RATES_MBPS
    }
    tables = scenario_tables(PAPER, "separate-acks")
    tables["flow"] = tables["flow"][:1]
    return found | {"shared": scenario("abr", length), "alone": resolved(tables, length)}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge what the connections get, with little and with an equal share for ACKs."""
    apart = np.array([min(user_mbps(runs[rate], flow) for flow in (0, 1)) for rate in PEAK_RATES_MBPS])
    shared = min(user_mbps(runs["shared"], flow) for flow in (0, 1))
    alone = user_mbps(runs["alone"], 0)
    enough = float(apart[PEAK_RATES_MBPS.index(ENOUGH_MBPS)])
    findings = {
        "cure": Finding(
            100.0 * (alone - enough) / USER_MBPS,
            note=f"{enough:.1f} Mbit/s each with {ENOUGH_MBPS:g} Mbit/s of cells for ACKs, {alone:.1f} alone, "
            f"{shared:.1f} in one channel",
        ),
        "wasteful": Finding(
            share([float(apart[-1]) < shared, float(apart[-1]) < 0.6 * alone]),
            note=f"{apart[-1]:.1f} Mbit/s each where both channels have the same share: less than {shared:.1f}, and "
            f"{100 * apart[-1] / alone:.0f}% of what one gets alone",
        ),
    }
    rates = np.array(PEAK_RATES_MBPS)
    ends = rates[[0, -1]]
    theory = float(two_way.efficiency(WINDOW, LENGTH)[0]) * USER_MBPS
    curves = [
        Curve("ACKs apart, simulated", rates, apart, "simulation", 0),
        Curve("one connection alone, simulated", ends, np.full(2, alone), "simulation", 2),
        Curve("all in one channel, simulated", ends, np.full(2, shared), "simulation", 1),
        Curve("all in one channel, theorem 1", ends, np.full(2, theory), "theory", 3),
    ]
    panel = Panel("peak cell rate of the ACKs' channel [Mbit/s]", "throughput of each [Mbit/s]", curves, log_x=True)
    title = f"ACKs over a channel of their own, W = {WINDOW}, L = {LENGTH:g} segments"
    return Outcome(findings, {"figure": Chart(title, [panel])})
