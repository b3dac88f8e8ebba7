"""Figure 9: the window against time with drop-tail buffers, where the retransmission is lost."""

from collections.abc import Mapping

from ackclock.charts import Chart, Panel
from ackclock.experiments.bottlenecks.path import MEGA, count_cycles, mbps, predicted, scenario, windows
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

KILO = 1e3


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the 150 s that the paper shows, in both readings of T, and steady state."""
    shown = {"trace.overview_interval": "0.25 s"}
    long = {"run.warmup": "200 s", "run.duration": setting.pick("2200 s", "20200 s"), "trace.losses": True}
    return {
        "propagation": scenario("slow-access", shown),
        "rtt": scenario("slow-access", shown, "rtt"),
        "steady": scenario("slow-access", long),
    }


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the throughput, and whether cycles lose the retransmission."""
    run, cycles = runs["propagation"], count_cycles(runs["steady"])
    model = predicted(run.resolved)
    lost = float(mbps(model.throughput_with_lost_retransmission.capped)) * MEGA / KILO
    steady = runs["steady"].flow("throughput_bps", KILO).value
    other = runs["rtt"].flow("throughput_bps", KILO).value
    findings = {
        "throughput": Finding(
            run.flow("throughput_bps", KILO),
            lost,
            f"0 to 150 s; in steady state {steady:.0f}; with the service times in T {other:.0f}. The model leaves out "
            "the wait for the timeout and the first slow start",
        ),
        "formula": Finding(
            model=100.0 * (lost / steady - 1.0), note="the model's 3 (mu T + B) / (4 T) without W'_th, in steady state"
        ),
        "disappears": Finding(
            share([cycles.cycles > 0, cycles.retransmissions_lost == cycles.cycles]),
            share([bool(model.retransmission_loss.node >= 0), bool(model.double_slow_start)]),
            f"lost in {cycles.retransmissions_lost} of {cycles.cycles} cycles; by (5) it may be lost at B",
        ),
    }
    title = f"B = 18: {run.flow('throughput_bps', KILO).value:.0f} kbit/s (the paper: 717 kbit/s)"
    panel = Panel("time [s]", "cwnd [packets]", [windows(run, "cwnd, simulated", 0)], title)
    return Outcome(findings, {"figure": Chart("Figure 9: the window with drop-tail buffers", [panel])})
