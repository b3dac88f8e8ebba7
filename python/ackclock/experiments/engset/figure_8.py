"""Figure 8: the error of the calculated connection rate against the open-loop load."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.engset.path import KILO, Web, curve, packets, rate_kbps, utilisation
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting, share
from ackclock.models.engset import Prediction
from ackclock.scenario import Resolved

QUICK = 80e3
LOADS = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
SETTINGS: Mapping[str, tuple[float, float, tuple[int, ...]]] = {
    "(100M, 2M, 1G)": (2.0, 1000.0, (5, 12, 22)),
    "(100M, 10M, 2M)": (10.0, 2.0, (5, 12, 22, 36, 80, 120)),
    "(100M, 10M, 1G)": (10.0, 1000.0, (5, 12, 22, 36, 80, 120)),
}
HIGH = 1.3
ESTIMATES = {"rate_1": "h(1)", "rate_2": "h(2)", "rate": "h, their mean"}


def settings(round_trips_ms: Sequence[int] = (50, 100)) -> Iterator[tuple[str, float, Web]]:
    """List the settings: the name of the rates, the load and the sources."""
    for name, (capacity, egress, sizes) in SETTINGS.items():
        for rtt_ms in round_trips_ms:
            for files in sizes:
                web = Web(1, files, capacity=capacity, egress=egress, rtt_ms=rtt_ms)
                for load in LOADS:
                    yield name, load, web.at_load(load)


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give exponential files without loss, in all settings."""
    return {web: web.scenario(packets(setting, QUICK)) for _, _, web in settings()}


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Judge the two ways and their mean."""
    points = list(settings())
    rates = np.array([rate_kbps(runs[web]).value for _, _, web in points])
    predicted = [web.prediction for _, _, web in points]
    ways = {way: np.array([float(getattr(one, way)) for one in predicted]) for way in ESTIMATES}
    errors = {way: 100.0 * (values / KILO / rates - 1.0) for way, values in ways.items()}
    shared = np.isfinite(errors["rate_2"])
    high = np.array([float(one.offered_load) > HIGH for one in predicted]) & shared
    apart = 100.0 * np.abs(ways["rate_1"] - ways["rate_2"]) / ways["rate"]
    spurious = [float(one["flows"]["spurious_timeouts"].sum()) for run in runs.values() for one in run.replications]
    squares = {way: float(np.sqrt(np.mean(found[shared] ** 2))) for way, found in errors.items()}
    findings = {
        "h1_larger": Finding(
            model=share((errors["rate_1"][shared] > 0).tolist()),
            note=f"mean error {np.mean(errors['rate_1'][shared]):+.1f}%",
        ),
        "h2_smaller": Finding(
            model=share((errors["rate_2"][shared] < 0).tolist()),
            note=f"mean error {np.mean(errors['rate_2'][shared]):+.1f}%",
        ),
        "mean_is_best": Finding(
            model=float(squares["rate"] < min(squares["rate_1"], squares["rate_2"])),
            note=", ".join(f"{ESTIMATES[way]}: {found:.1f}%" for way, found in squares.items())
            + " (root of the mean square)",
        ),
        "accurate": Finding(model=100.0 * share((np.abs(errors["rate"]) <= 10.0).tolist())),
        "better_with_load": Finding(
            model=float(np.mean(np.abs(errors["rate"][high])) < np.mean(np.abs(errors["rate"][shared & ~high])))
        ),
        "equal_with_load": Finding(
            model=float(np.mean(apart[high])), note=f"below 130% load: {np.mean(apart[shared & ~high]):.1f}"
        ),
        "no_spurious": Finding(
            share([count == 0.0 for count in spurious]), note=f"{sum(spurious):.0f} timeouts in all"
        ),
    }
    noise = 100.0 * np.array([_half(rate_kbps(runs[web])) for _, _, web in points]) / rates
    chart = _chart(points, errors, predicted, f"95% interval of a point: +-{np.median(noise):.1f}% in the median")
    return Outcome(findings | _utilisation(runs), {"figure": chart}, (_noise_note(noise),))


def _noise_note(noise: NDArray[np.float64]) -> str:
    return (
        f"The 95% interval of a measured rate, in % of it, is +-{np.median(noise):.1f} in the median and "
        f"+-{np.max(noise):.1f} at most: a single point does not show whether a smaller error is chance. "
        "The rows above compare all points together, or ask for more packets."
    )


def _half(found: Measure) -> float:
    return (found.high - found.low) / 2.0


def _utilisation(runs: Mapping[Web, Run]) -> dict[str, Finding]:
    """Judge the utilisation as the rate is judged."""
    webs = [web for _, _, web in settings()]
    measured = np.array([utilisation(runs[web]) for web in webs])
    found = {
        way: np.array([float(getattr(web.prediction, way)) for web in webs])
        for way in ("utilisation", "utilisation_1", "utilisation_2")
    }
    errors = {way: 100.0 * (values / measured - 1.0) for way, values in found.items()}
    shared = np.isfinite(errors["utilisation_2"])
    high = np.array([float(web.prediction.offered_load) > HIGH for web in webs])
    off = np.abs(errors["utilisation"])
    apart = 100.0 * np.abs(found["utilisation_1"] - found["utilisation_2"]) / found["utilisation"]
    apart = apart[shared & high]
    return {
        "utilisation": Finding(
            model=100.0 * share((off <= 10.0).tolist()),
            note=f"error {off.mean():.1f}% in the mean, {off.max():.1f}% at most",
        ),
        "utilisation_with_load": Finding(
            model=float(off[high].mean()),
            note=f"mean error {off[high].mean():.2f}% above 130% load, {off[~high].mean():.2f}% below",
        ),
        "utilisation_equal": Finding(model=float(np.mean(apart))),
    }


def _chart(
    points: Sequence[tuple[str, float, Web]],
    errors: Mapping[str, NDArray[np.float64]],
    predicted: Sequence[Prediction],
    noise: str,
) -> Chart:
    load = 100.0 * np.array([float(one.offered_load) for one in predicted])
    names = np.array([name for name, _, _ in points])
    panels = []
    for way, title in ESTIMATES.items():
        known = np.isfinite(errors[way])
        curves: list[Curve] = [
            curve(name, load[known & (names == name)], errors[way][known & (names == name)], "marks", number)
            for number, name in enumerate(SETTINGS)
        ]
        slope, offset = np.polyfit(load[known], errors[way][known], 1)
        ends = np.array([load.min(), load.max()])
        curves += [
            curve("trend", ends, offset + slope * ends, "theory", 4),
            curve("no error", ends, [0.0, 0.0], "guide"),
        ]
        panels.append(Panel("open-loop load rho_0 [%]", "model less simulation [%]", curves, title, from_zero=False))
    title = f"Figure 8: error of the calculated connection rate, exponential sizes, W_R = 44\n{noise}"
    return Chart(title, panels, 3, share_y=True, size_inches=(15.0, 6.5))
