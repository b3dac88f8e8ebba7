"""Section III: conditions for spurious losses after one step, the paper's and the exact ones, and the simulation."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.abrupt_delay.path import RATE, STEP_S, VERSIONS, Version, step, total
from ackclock.experiments.abrupt_delay.steps import rto_before
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import abrupt_delay
from ackclock.scenario import Resolved

OLD_S = 0.2
SERVICE_S = 1.0 / RATE
ROUND_S = STEP_S + SERVICE_S
"""Departure of the first packet of the round that begins at 6 s [s]: rounds begin at multiples of T_1."""
WINDOWS = (2, 6, 13, 20, 23, 26)
RISES_S = (0.21, 0.25, 0.3, 0.35, 0.3931, 0.42, 0.6)
FALLS_S = (0.0271, 0.0513, 0.1, 0.1277, 0.1511, 0.19)
THRESHOLD = 3
LEAST_WINDOWS = (2, 4, 6, 8, 10, 13, 16, 20, 24)
LEAST_RISES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2)
"""Rises of the round trip, as fractions of T_1, in the search for the least one at each window."""
FAST_RATE, FAST_WINDOW = 1250.0, 125
LEAST_FALLS = (1.5, 2.5, 3.5, 4.5, 6.5, 10.5, 20.5)
"""Falls of the round trip, in services of a packet, in the search for the least one on the faster link."""
COUNTS = {"trace.cwnd": False, "trace.sequence": False, "trace.delay": False, "trace.losses": False}


@dataclass(frozen=True)
class Case:
    """A step: the window, where in the round, and to which round trip."""

    window: int
    after_s: float
    new_s: float

    def __str__(self) -> str:
        return f"w={self.window} x={self.after_s:g} T2={self.new_s:g}"

    @property
    def model(self) -> abrupt_delay.Step:
        """The packets around it."""
        return abrupt_delay.step_in_round(self.window, RATE, OLD_S, step_instant=self.after_s)


Key = (
    tuple[Version, Case]
    | tuple[Literal["steady"], int]
    | tuple[Literal["rise"], int, float]
    | tuple[Literal["fall"], float]
)
"""A case of the scan; a window without a step; the window and the least rise; the least fall on the faster link."""


def _cases(setting: Setting) -> list[Case]:
    parts = setting.pick(6, 23)
    instants = (np.arange(parts) + 0.37) * OLD_S / parts
    return [
        Case(window, round(float(after), 7), new)
        for window in WINDOWS
        for after in instants
        for new in (*RISES_S, *FALLS_S)
    ]


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give the scan of windows, instants and round trips, for both versions; and finer ones for the least steps."""
    scan: dict[Key, Resolved] = {
        (version, case): step(
            OLD_S, case.new_s, case.window, COUNTS | {"flow.flow.tcp.preset": version}, ROUND_S + case.after_s
        )
        for case in _cases(setting)
        for version in VERSIONS
    }
    steady: dict[Key, Resolved] = {
        ("steady", window): step(OLD_S, OLD_S, window, {}) for window in (*WINDOWS, *LEAST_WINDOWS)
    }
    rises: dict[Key, Resolved] = {
        ("rise", window, rise): step(OLD_S, OLD_S * (1.0 + rise), window, COUNTS, ROUND_S + 0.97 * OLD_S)
        for window in LEAST_WINDOWS
        for rise in LEAST_RISES
    }
    # The step comes between the first and the second packet of a round.
    early = STEP_S + 1.37 / FAST_RATE
    fast: dict[str, Any] = COUNTS | {"link.path.rate": "10 Mbit/s"}
    falls: dict[Key, Resolved] = {
        ("fall", fall): step(OLD_S, OLD_S - fall / FAST_RATE, FAST_WINDOW, fast, early) for fall in LEAST_FALLS
    }
    return scan | steady | rises | falls


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the paper's conditions and the exact ones."""
    cases = _cases(setting)
    timers = {window: rto_before(runs["steady", window]) for window in (*WINDOWS, *LEAST_WINDOWS)}
    findings = {**_timeouts(runs, cases, timers), **_retransmits(runs, cases)}
    least = min(_least_rise(runs, window) for window in LEAST_WINDOWS)
    found = [fall for fall in LEAST_FALLS if total(runs["fall", fall], "fast_retransmits") > 0]
    findings["small_rise"] = Finding(
        100.0 * least,
        100.0 * float(abrupt_delay.timeout_round_trip_time(_late(2), timers[2]) / OLD_S - 1.0),
        "at w = 2, in the idle period; " + ", ".join(f"w = {w}: {_least_rise(runs, w):.0%}" for w in LEAST_WINDOWS[1:]),
    )
    fast = abrupt_delay.step_in_round(FAST_WINDOW, FAST_RATE, OLD_S, step_instant=0.37 / FAST_RATE)
    findings["small_fall"] = Finding(
        100.0 * min(found, default=np.nan) / FAST_RATE / OLD_S,
        100.0 * float(1.0 - abrupt_delay.fast_retransmit_round_trip_time(fast, THRESHOLD) / OLD_S),
        f"least of the falls tried: {min(found, default=np.nan):g} packets' services of a round trip of 250",
    )
    findings["robust"] = _robust(runs, cases)
    return Outcome(findings, {"figure": _chart(setting, runs, timers)})


def _timeouts(runs: Mapping[Key, Run], cases: list[Case], timers: Mapping[int, float]) -> dict[str, Finding]:
    rises = [case for case in cases if case.new_s > OLD_S]
    happens = {case: _timed_out(runs, case) for case in rises}
    exact = {case: abrupt_delay.spurious_timeout(case.model, case.new_s, timers[case.window]) for case in rises}
    sure = [case for case in rises if exact[case].sufficient]
    others = [case for case in rises if not exact[case].sufficient]
    figures = [case for case in rises if (case.window, case.new_s) == (13, 0.3)]
    agree = [happens[case] == bool(exact[case].happens) for case in rises]
    return {
        "surely": Finding(share([happens[case] for case in sure]), note=f"{len(sure)} cases"),
        "may": Finding(
            _mixed((case.new_s, happens[case]) for case in others),
            _mixed((case.new_s, bool(exact[case].happens)) for case in others),
            f"{sum(happens[case] for case in others)} of {len(others)} cases, which the paper's condition leaves open",
        ),
        "may_window": Finding(
            _mixed(((case.new_s, case.after_s), happens[case]) for case in others),
            _mixed(((case.new_s, case.after_s), bool(exact[case].happens)) for case in others),
        ),
        "may_instant": Finding(
            _mixed(((case.new_s, case.window), happens[case]) for case in others),
            _mixed(((case.new_s, case.window), bool(exact[case].happens)) for case in others),
        ),
        "idle_or_busy": Finding(
            share([happens[case] == (case.after_s > 12.0 * SERVICE_S) for case in figures]),
            note=f"{len(figures)} instants; in the busy period T_2 > RTO + T_1 - 1/mu = 0.392 s is needed",
        ),
        "exact_timeout": Finding(
            100.0 * share(agree),
            note=f"{sum(agree)} of {len(agree)} cases, {sum(happens.values())} of them with a timeout",
        ),
    }


def _mixed(cases: Iterable[tuple[Hashable, bool]]) -> float:
    """Give the fraction of the groups in which some cases have a timeout and some have none."""
    groups: dict[Hashable, set[bool]] = {}
    for group, happens in cases:
        groups.setdefault(group, set()).add(happens)
    return share([len(found) > 1 for found in groups.values()])


def _timed_out(runs: Mapping[Key, Run], case: Case, version: Version = "reno-abrupt-delay") -> bool:
    return total(runs[version, case], "timeouts") > 0


def _retransmits(runs: Mapping[Key, Run], cases: list[Case]) -> dict[str, Finding]:
    falls = [case for case in cases if case.new_s < OLD_S]
    happens = {case: total(runs["reno-abrupt-delay", case], "fast_retransmits") > 0 for case in falls}
    exact = [
        bool(abrupt_delay.spurious_fast_retransmit(case.model, case.new_s, THRESHOLD).happens) == happens[case]
        for case in falls
    ]
    paper = [case for case in falls if paper_conditions(case)]
    with_td = [case for case in falls if happens[case]]
    beyond = sorted({case.window for case in with_td if not paper_conditions(case)})
    return {
        "td_guaranteed": Finding(share([happens[case] for case in paper]), note=f"{len(paper)} cases"),
        "td_only": Finding(
            share([paper_conditions(case) for case in with_td]),
            note=f"{len(with_td)} cases with a TD"
            + (f"; some beyond (i) to (iii), at w = {', '.join(map(str, beyond))}" if beyond else ""),
        ),
        "exact_td": Finding(100.0 * share(exact), note=f"{sum(exact)} of {len(exact)} cases"),
    }


def paper_conditions(case: Case, threshold: int = THRESHOLD) -> bool:
    """Return whether (i) to (iii) of [abrupt-delay, section III.B] hold, with a step in the busy period.

    The idle period lasts from the end of the busy one, w/mu after the round's start, to the next start; (i) it is
    longer than D services, (ii) D packets or more follow the step, (iii) the ACKs of D of them come within it.

    Examples
    --------
    >>> [paper_conditions(Case(window, after_s, 0.1)) for window, after_s in ((13, 0.03), (13, 0.15), (26, 0.03))]
    [True, False, False]
    """
    before = int(np.ceil(case.after_s * RATE))
    busy, tie = case.window * SERVICE_S, 1e-9
    inside = [k for k in range(before, case.window) if busy - tie <= case.new_s + k * SERVICE_S < OLD_S - tie]
    long_enough = OLD_S - busy > threshold * SERVICE_S + tie
    return long_enough and 0 < before <= case.window - threshold and len(inside) >= threshold


def _robust(runs: Mapping[Key, Run], cases: list[Case]) -> Finding:
    reno, tahoe = (np.array([_sends_again(runs[version, case]) for case in cases]) for version in VERSIONS)
    return Finding(
        share([bool(tahoe.sum() < reno.sum()), not bool(np.any(tahoe & ~reno))]),
        note=f"OldTahoe in {tahoe.sum()} of {len(cases)} cases, Reno in {reno.sum()}",
    )


def _sends_again(run: Run) -> bool:
    return total(run, "spurious_timeouts") + total(run, "spurious_fast_retransmits") > 0


def _late(window: ArrayLike) -> abrupt_delay.Step:
    return abrupt_delay.step_in_round(window, RATE, OLD_S, step_instant=0.97 * OLD_S)


def _least_rise(runs: Mapping[Key, Run], window: int) -> float:
    return min((rise for rise in LEAST_RISES if total(runs["rise", window, rise], "timeouts") > 0), default=np.inf)


def _chart(setting: Setting, runs: Mapping[Key, Run], timers: Mapping[int, float]) -> Chart:
    title = "Section III: which steps cause a spurious loss detection, 1 Mbit/s, T_1 = 0.2 s"
    panels = [_rise_panel(runs, timers), _fall_panel(setting, runs, 13), _fall_panel(setting, runs, 20)]
    return Chart(title, panels, 3, size_inches=(18.0, 7.5))


def _rise_panel(runs: Mapping[Key, Run], timers: Mapping[int, float]) -> Panel:
    windows = np.array(LEAST_WINDOWS, dtype=float)
    rto = np.array([timers[window] for window in LEAST_WINDOWS])
    least = np.asarray(abrupt_delay.timeout_round_trip_time(_late(windows), rto))
    busy = abrupt_delay.step_in_round(windows, RATE, OLD_S, step_instant=0.5 * SERVICE_S)
    curves = [
        Curve("the paper: T_1 + Y_1", windows, OLD_S + rto, "theory-2", 3),
        Curve("exact, step in the idle period", windows, least, "theory", 0),
        Curve("exact, in the busy period", windows, abrupt_delay.timeout_round_trip_time(busy, rto), "theory", 2),
    ]
    for label, expired, colour in (("spurious, simulated", True, 1), ("none, simulated", False, 4)):
        places = [
            (window, OLD_S * (1.0 + rise))
            for window in LEAST_WINDOWS
            for rise in LEAST_RISES
            if (total(runs["rise", window, rise], "timeouts") > 0) is expired
        ]
        x, y = np.array(places, dtype=float).reshape(-1, 2).T
        curves.append(Curve(label, x, y, "marks", colour))
    return Panel("w, the window [packets]", "T_2 [s]", curves, "least rise for a spurious TO", y_top=0.5)


def _fall_panel(setting: Setting, runs: Mapping[Key, Run], window: int) -> Panel:
    instants = np.linspace(1e-6, OLD_S * (1.0 - 1e-6), 800)
    fall = abrupt_delay.step_in_round(window, RATE, OLD_S, step_instant=instants)
    largest = np.asarray(abrupt_delay.fast_retransmit_round_trip_time(fall, THRESHOLD))
    curves = [Curve("exact: largest T_2 for a spurious TD", 1e3 * instants, largest, "theory", 0)]
    cases = [case for case in _cases(setting) if case.window == window and case.new_s < OLD_S]
    for label, found, colour in (("spurious, simulated", True, 1), ("none, simulated", False, 4)):
        own = [c for c in cases if (total(runs["reno-abrupt-delay", c], "fast_retransmits") > 0) is found]
        x, y = (np.array([getattr(case, name) for case in own]) for name in ("after_s", "new_s"))
        curves.append(Curve(label, 1e3 * x, y, "marks", colour))
    return Panel("instant in the round [ms]", "T_2 [s]", curves, f"falls and spurious TD, w = {window}", y_top=0.22)
