"""Table 7: what becomes of the packets dropped."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import CASES, MAIN, heavy
from ackclock.experiments.engset.path import (
    KILO,
    PACKET_BITS,
    classes,
    curve,
    loss_percent,
    measured,
    packets,
    rate_kbps,
)
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting
from ackclock.recoveries import ALL_FLOWS, recovery_rows
from ackclock.scenario import Resolved

SHIFTS_MS = (-0.4, -0.2, -0.1, 0.1, 0.2, 0.4, 0.6)
"""Changes of RTT_0 [ms]: a service time of the shared link is 1.2 ms."""
QUICK_SHIFTED = 300e3
KINDS = ("repeated", "in_recovery", "at_beginning", "at_end", "other")
NAMES = ("TOTO", "TDTO", "TObeg", "TOend", "TOther")
PAPER = (9.9, 2.4, 23.0, 61.4, 3.4)


def scenarios(setting: Setting) -> Mapping[float, Resolved]:
    """Give the one setting, and RTT_0 a little off."""
    number = packets(setting, QUICK_SHIFTED)
    found: dict[float, Resolved] = {}
    for shift in SHIFTS_MS:
        web = replace(CASES[MAIN], rtt_ms=50.0 + shift)
        found[shift] = web.scenario(number)
    return found | {0.0: heavy(setting, MAIN)[MAIN]}


def outcome(_setting: Setting, runs: Mapping[float, Run]) -> Outcome:
    """Compare each number of the table; say how far it moves with RTT_0."""
    model = CASES[MAIN].prediction
    theory = {"h": float(model.rate) / KILO, "on": KILO * float(model.on_time), "size": 12.0}
    numbers = {shift: _numbers(runs[shift]) for shift in (*SHIFTS_MS, 0.0)}
    findings = {}
    for name, found in numbers[0.0].items():
        moved = [one[name].value for one in numbers.values()]
        note = f"{min(moved):.4g} to {max(moved):.4g} as RTT_0 is moved by up to half a service time"
        findings[name] = Finding(found, theory.get(name, np.nan), note)
    findings["theory_h"] = Finding(model=theory["h"])
    findings["theory_on"] = Finding(model=theory["on"])
    return Outcome(findings, {"table": _chart(numbers)})


def _numbers(run: Run) -> dict[str, Measure]:
    """Compute the table's numbers."""
    counts, table = _counts(run), classes(run)
    # The send rate counts the packets after the first one, from its sending to that of the last: over the whole ON
    # time the paper's own numbers make 165 kbit/s, not 197.
    transfers, sending_s = float(table["transfers"].sum()), float(table["sending_s"].sum())
    recoveries, timeouts, drops = counts["recoveries"], counts["timeouts"], counts["dropped_packets"]
    # What the paper counts of "TDFR" includes recoveries that a timeout ended; it divides by those that succeeded.
    sent = counts["recovery_sent"] + counts["failed_recovery_sent"]
    time_s = counts["recovery_s"] + counts["failed_recovery_s"]
    kinds = {name: 100.0 * counts[f"timeouts_{kind}"] / timeouts for name, kind in zip(NAMES, KINDS, strict=True)}
    found = {
        "timeouts": 100.0 * timeouts / drops,
        **kinds,
        "stalled": KILO * counts["stalled_s"] / timeouts,
        "stalled_transfer": KILO * float(table["stalled_s"].sum()) / transfers,
        "TD": 100.0 * counts["fast_retransmits"] / drops,
        "FR": 100.0 * recoveries / counts["fast_retransmits"],
        "sent": sent / recoveries,
        "sent_on_end": counts["recovery_sent_on_end"] / recoveries,
        "recovery": KILO * time_s / recoveries,
        "recovery_transfer": KILO * time_s / transfers,
        "recovery_rate": sent * PACKET_BITS / time_s / KILO,
        "send_rate": (float(table["sent_packets"].sum()) - transfers) * PACKET_BITS / sending_s / KILO,
    }
    return {name: Measure(value) for name, value in found.items()} | {
        "drops": loss_percent(run),
        "h": rate_kbps(run),
        "on": measured(run, "on_mean_s", 1.0 / KILO),
        "size": measured(run, "size_mean_packets"),
        "rtt": _round_trip_ms(run),
    }


def _chart(numbers: Mapping[float, Mapping[str, Measure]]) -> Chart:
    place, shifts = np.arange(len(NAMES), dtype=float), sorted(numbers)
    own = [numbers[0.0][name].value for name in NAMES]
    kinds = [curve("simulated", place, own, "marks", 0), curve("the paper", place, PAPER, "paper", 0)]
    moved = [
        curve(f"{name}, simulated", shifts, [numbers[shift][name].value for shift in shifts], "simulation", number)
        for number, name in enumerate(("TOTO", "TDTO"))
    ]
    papers = [curve("the paper", [0.0], [PAPER[number]], "paper", number) for number in (0, 1)]
    panels = [
        Panel("kind of timeout", "part of all timeouts [%]", kinds, "RTT_0 = 50 ms", x_ticks=NAMES),
        Panel("RTT_0 less 50 ms [ms]", "part of all timeouts [%]", [*moved, *papers], "a phase effect"),
    ]
    title = "Table 7: the timeouts at high losses, N = 134, (10M, 2M, R50), EE, F = 12, B = 150"
    return Chart(title, panels, 2, size_inches=(14.0, 6.5))


def _counts(run: Run) -> dict[str, float]:
    """Give the means over the replications, all flows together; times the replications, so that all are sums."""
    (row,) = (row for row in recovery_rows(run.resolved, run.replications) if row["name"] == ALL_FLOWS)
    return {name: len(run.replications) * found["mean"] for name, found in row.items() if name != "name"}


def _round_trip_ms(run: Run) -> Measure:
    """Give the mean of the round trips of all packets that were acknowledged."""
    flows = [one["flows"] for one in run.replications]
    total, samples = (sum(float(one[name].sum()) for one in flows) for name in ("rtt_sum_s", "rtt_samples"))
    return Measure(KILO * total / samples)
