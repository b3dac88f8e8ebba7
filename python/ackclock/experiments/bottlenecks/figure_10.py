"""Figure 10: the window against time with random-drop buffers, where the second slow start is back."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.bottlenecks.figure_9 import KILO
from ackclock.experiments.bottlenecks.path import MEGA, count_cycles, mbps, predicted, scenario, windows
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting, share
from ackclock.scenario import Resolved
from ackclock.summary import replication_values

RANDOM = {"link.feeder.queue": "random-drop", "link.satellite.queue": "random-drop"}


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Resolve the 150 s that the paper shows, many times from other seeds, and steady state."""
    long = {"run.warmup": "200 s", "run.duration": setting.pick("2200 s", "20200 s")}
    many = RANDOM | {"run.replications": setting.pick(60, 1000)}
    return {
        "many": scenario("slow-access", many | {"trace.overview_interval": "0.25 s"}),
        "longer": scenario("slow-access", many | {"run.duration": "300 s"}),
        "steady": scenario("slow-access", RANDOM | long | {"trace.losses": True}),
        "drop-tail": scenario("slow-access", {}),
        "drop-tail steady": scenario("slow-access", long),
    }


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the throughput over the seeds, and whether cycles lose the retransmission."""
    many, cycles = runs["many"], count_cycles(runs["steady"])
    values = np.array(
        [replication_values(many.resolved, one)["flow"]["throughput_bps"][0] for one in many.replications]
    )
    low, high = (float(end) / KILO for end in np.quantile(values, [0.025, 0.975]))
    mean = float(values.mean()) / KILO
    model = float(mbps(predicted(many.resolved).throughput.capped)) * MEGA / KILO
    survive = 100.0 * (1.0 - cycles.retransmissions_lost / max(cycles.cycles, 1))
    tail, steady_tail, drawn = (
        runs[name].flow("throughput_bps", KILO).value for name in ("drop-tail", "drop-tail steady", "steady")
    )
    longer = runs["longer"].flow("throughput_bps", KILO).value
    findings = {
        "throughput": Finding(
            Measure(mean, low, high),
            model,
            f"mean of {len(values)} seeds, 0 to 150 s, and the range of 95% of them; the paper shows one run and "
            f"prints no averaging time: over 300 s the mean is {longer:.0f}, in "
            f"steady state {drawn:.0f}",
        ),
        "formula": Finding(
            model=100.0 * (model / drawn - 1.0), note=f"in steady state, with alpha = 1/2: {model:.0f} for {drawn:.0f}"
        ),
        "reappears": Finding(
            survive, note=f"the retransmission is lost in {cycles.retransmissions_lost} of {cycles.cycles} cycles"
        ),
        "improves": Finding(
            share([mean > tail, drawn > steady_tail]),
            note=f"0 to 150 s: {tail:.0f} to {mean:.0f} kbit/s; in steady state {steady_tail:.0f} to {drawn:.0f}",
        ),
    }
    title = f"B = 18, one seed; mean of {len(values)} seeds {mean:.0f} kbit/s (the paper: 829 kbit/s)"
    panel = Panel("time [s]", "cwnd [packets]", [windows(many, "cwnd, simulated", 0)], title)
    return Outcome(findings, {"figure": Chart("Figure 10: the window with random-drop buffers", [panel])})
