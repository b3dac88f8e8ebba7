"""Figure 11: the number of active sources, and how they share the link."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import MEGA, Law, Values, Web, curve, packets, totals
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import engset
from ackclock.scenario import Resolved

QUICK = 600e3
LEAST = 1e-3
FACTOR = 1.5
SAMPLES = 10
SETTINGS = {
    "F = 12, (10M, 2M, R50)": Web(82),
    "F = 12, (10M, 1G, R50)": Web(80, egress=1000.0),
    "F = 120, (10M, 1G, R50)": Web(1, 120, egress=1000.0).at_load(1.0),
}
CASES: Mapping[str, tuple[Law, int]] = {
    "E, W_R = 44": ("E", 44),
    "EE, W_R = 44": ("EE", 44),
    "EP, W_R = 44": ("EP", 44),
    "EE, W_R = 12": ("EE", 12),
    "EP, W_R = 12": ("EP", 12),
}
SHORT = tuple(SETTINGS)[:2]
LONG = tuple(SETTINGS)[2]
Found = Mapping[tuple[str, str], Values]


def _cases(setting: str) -> dict[str, Web]:
    """Give the cases; with F = 120 a window of 12 changes h, so there are the large ones only."""
    large = setting == LONG
    return {
        name: replace(SETTINGS[setting], law=law, window=window)
        for name, (law, window) in CASES.items()
        if window == 44 or not large
    }


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give all laws and windows in three settings."""
    number = packets(setting, QUICK)
    return {web: web.scenario(number) for name in SETTINGS for web in _cases(name).values()}


def model_of(web: Web) -> tuple[Values, float, int]:
    """Give the model's P_j, C / h_0 and s."""
    found = web.prediction
    ratio = float(web.capacity * MEGA / found.peak_rate)
    states = engset.state_probabilities(web.sources, float(found.lone_on_time), 1.0, ratio)
    return states, ratio, int(found.threshold)


def probabilities(run: Run, sources: int) -> Values:
    """Give the parts of the time with 0, 1, ..., N active sources."""
    table = totals(run, "active", "active").set_index("active")["time_s"].reindex(range(sources + 1)).fillna(0.0)
    return np.asarray(table / table.sum(), dtype=float)


def _sharing(run: Run, web: Web) -> tuple[Values, Values]:
    table = totals(run, "active", "active")
    table = table[table["transfers"] > SAMPLES]
    j = table["active"].to_numpy(dtype=float)
    rate = table["packets"] * 12_000.0 / table["on_s"]
    return j, j * rate.to_numpy(dtype=float) / (web.capacity * MEGA)


def _shares(j: Values, ratio: float) -> Values:
    """Give each source's part of the capacity, h_j / C, for C / h_0; none for no source."""
    return np.where(j > 0.0, engset.rate_in_state(np.maximum(j, 1.0), 1.0, ratio) / ratio, 0.0)


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Judge the states and the sharing."""
    cases = {(name, case): web for name in SETTINGS for case, web in _cases(name).items()}
    found = {key: probabilities(runs[web], web.sources) for key, web in cases.items()}
    models = {name: model_of(SETTINGS[name]) for name in SETTINGS}
    steep = []
    for (name, _), web in cases.items():
        _, ratio, s = models[name]
        j, part = _sharing(runs[web], web)
        steep += [bool(one < min(s / ratio, 1.0)) for one in part[j == s]]
    findings = _states(found, models) | {"steep": Finding(share(steep), note="at j = s, all laws and windows")}
    return Outcome(findings, {"figure": _chart(runs, found, models)})


def _states(found: Found, models: Mapping[str, tuple[Values, float, int]]) -> dict[str, Finding]:
    """Judge the P_j."""
    near: dict[str, list[bool]] = {}
    under = {}
    for name, (states, _, s) in models.items():
        own = found[name, "E, W_R = 44"]
        quotient = own[states >= LEAST] / states[states >= LEAST]
        near[name] = [1.0 / FACTOR <= one <= FACTOR for one in quotient.tolist()]
        apart = (np.abs(found[name, f"{law}, W_R = 44"] - own)[: s + 1].sum() for law in ("EE", "EP"))
        under[name] = float(max(apart) / own[: s + 1].sum())
    tail = {key: float(values[2 * models[key[0]][2] :].sum()) for key, values in found.items()}
    pairs = [(name, law) for name in SHORT for law in ("EE", "EP")]
    longer = [tail[name, f"{law}, W_R = 44"] > tail[name, "E, W_R = 44"] for name, law in pairs]
    lowered = [tail[name, f"{law}, W_R = 12"] < tail[name, f"{law}, W_R = 44"] for name, law in pairs]
    parts = ", ".join(f"{name}: {share(one):.0%}" for name, one in near.items())
    differences = ", ".join(f"{name}: {one:.0%}" for name, one in under.items())
    return {
        "agree": Finding(
            100.0 * share([one for found_near in near.values() for one in found_near]),
            note=f"of the states with P_j of at least 0.001: {parts}",
        ),
        "tails": Finding(share(longer)),
        "window": Finding(share(lowered)),
        "weaker": Finding(
            share([under[LONG] > under[name] for name in SHORT]),
            note=f"difference of P_j up to s, of their sum: {differences}",
        ),
    }


def _chart(runs: Mapping[Web, Run], found: Found, models: Mapping[str, tuple[Values, float, int]]) -> Chart:
    panels = []
    for name in SETTINGS:
        states, ratio, s = models[name]
        j = np.arange(len(states), dtype=float)
        left, right = [], []
        for case, web in _cases(name).items():
            number = list(CASES).index(case)
            left.append(
                curve(case, j, np.where(found[name, case] > 0.0, found[name, case], np.nan), "simulation", number)
            )
            right.append(curve(case, *_sharing(runs[web], web), "simulation", number))
        left.append(curve("theory", j, np.where(states > 1e-6, states, np.nan), "theory", 5))
        right.append(curve("theory", j, j * _shares(j, ratio), "theory", 5))
        title = f"{name}, N = {len(states) - 1}, s = {s}"
        panels.append(Panel("active sources j", "P_j", left, title, log_y=True, y_bottom=1e-5))
        panels.append(Panel("active sources j", "j h_j / C", right, title, y_top=1.4))
    return Chart(
        "Figure 11: active sources at 100% load, and the capacity they have", panels, 2, size_inches=(14.0, 16.0)
    )
