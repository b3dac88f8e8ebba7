"""Table 7: what becomes of the packets dropped."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import CASES, MAIN, heavy
from ackclock.experiments.engset.path import KILO, PACKET_BITS, classes, curve, loss_percent, measured, rate_kbps
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting
from ackclock.recoveries import ALL_FLOWS, recovery_rows
from ackclock.replication import ResolvedDict

KINDS = ("repeated", "in_recovery", "at_beginning", "at_end", "other")
NAMES = ("TOTO", "TDTO", "TObeg", "TOend", "TOther")
PAPER = (9.9, 2.4, 23.0, 61.4, 3.4)


def scenarios(setting: Setting) -> Mapping[str, ResolvedDict]:
    """Give the one setting."""
    return heavy(setting, MAIN)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare each number of the table."""
    run = runs[MAIN]
    counts = _counts(run)
    table = classes(run)
    transfers, on_s = float(table["transfers"].sum()), float(table["on_s"].sum())
    model = CASES[MAIN].prediction
    sent_kbps = float(table["sent_packets"].sum()) * PACKET_BITS / on_s / KILO
    recoveries, timeouts, drops = counts["recoveries"], counts["timeouts"], counts["dropped_packets"]
    findings = {
        "drops": Finding(loss_percent(run)),
        "timeouts": Finding(100.0 * timeouts / drops),
        **{
            name: Finding(100.0 * counts[f"timeouts_{kind}"] / timeouts)
            for name, kind in zip(NAMES, KINDS, strict=True)
        },
        "stalled": Finding(KILO * counts["stalled_s"] / timeouts),
        "stalled_transfer": Finding(KILO * float(table["stalled_s"].sum()) / transfers),
        "TD": Finding(100.0 * counts["fast_retransmits"] / drops),
        "FR": Finding(100.0 * recoveries / counts["fast_retransmits"]),
        "sent": Finding(counts["recovery_sent"] / recoveries),
        "sent_on_end": Finding(counts["recovery_sent_on_end"] / recoveries),
        "recovery": Finding(KILO * counts["recovery_s"] / recoveries),
        "recovery_transfer": Finding(KILO * counts["recovery_s"] / transfers),
        "recovery_rate": Finding(counts["recovery_sent"] * PACKET_BITS / counts["recovery_s"] / KILO),
        "send_rate": Finding(sent_kbps),
        "h": Finding(rate_kbps(run), float(model.rate) / KILO),
        "on": Finding(measured(run, "on_mean_s", 1e-3), KILO * float(model.on_time)),
        "size": Finding(measured(run, "size_mean_packets"), 12.0),
        "rtt": Finding(_round_trip_ms(run), KILO * float(model.extended_round_trip_time)),
        "theory_h": Finding(model=float(model.rate) / KILO),
        "theory_on": Finding(model=KILO * float(model.on_time)),
    }
    place = np.arange(len(NAMES), dtype=float)
    curves = [
        curve("simulated", place, [findings[name].measure.value for name in NAMES], "marks", 0),
        curve("the paper", place, PAPER, "paper"),
    ]
    panel = Panel("kind of timeout", "part of all timeouts [%]", curves, x_ticks=NAMES)
    title = "Table 7: the timeouts at high losses, N = 134, (10M, 2M, R50), EE, F = 12, B = 150"
    return Outcome(findings, {"table": Chart(title, [panel])})


def _counts(run: Run) -> dict[str, float]:
    """Give the means over the replications, all flows together; times the replications, so that all are sums."""
    (row,) = (row for row in recovery_rows(run.resolved, run.replications) if row["name"] == ALL_FLOWS)
    return {name: len(run.replications) * found["mean"] for name, found in row.items() if name != "name"}


def _round_trip_ms(run: Run) -> Measure:
    """Give the mean of the round trips of all packets that were acknowledged."""
    flows = [one["flows"] for one in run.replications]
    total, samples = (sum(float(one[name].sum()) for one in flows) for name in ("rtt_sum_s", "rtt_samples"))
    return Measure(KILO * total / samples)
