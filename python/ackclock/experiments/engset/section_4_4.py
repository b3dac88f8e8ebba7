"""Section 4.4: the mean queue of one connection in the special setting."""

from collections.abc import Mapping

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import curve, over_replications
from ackclock.experiments.engset.single import SPECIAL, special_web
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting
from ackclock.models import engset
from ackclock.scenario import Resolved

OFF_S = 5.0
LARGE = 347
LAWS = ("fixed", "exponential")
Key = tuple[str, int]
"""The law of sizes and W_R."""
PAPER: Mapping[Key, float] = {
    ("fixed", 44): 21.7,
    ("fixed", 12): 3.3,
    ("exponential", 44): 21.2,
    ("exponential", 12): 2.4,
}


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give files of the fixed size of the formula, and exponential ones as the paper measured."""
    duration = setting.pick(20_000.0, 400_000.0)
    return {(law, window): special_web(window, law, duration) for law in LAWS for window in (44, 12)}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare the time averages with the formula."""
    names = [link.name for link in next(iter(runs.values())).resolved.elements]
    slow = names.index("egress")
    found = {key: _queue(run, slow) for key, run in runs.items()}
    model = {window: float(engset.single_queue(SPECIAL, LARGE, window, OFF_S).mean_queue) for window in (44, 12)}
    findings = {f"{law}_{window}": Finding(queue, model[window]) for (law, window), queue in found.items()}
    findings["delay"] = Finding(model=float(engset.single_queue(SPECIAL, LARGE, 44, OFF_S).delay) * 1e3)
    place = range(len(PAPER))
    values = [found[key].value for key in PAPER]
    curves = [
        curve("simulated", place, values, "marks", 0),
        curve("formula, for files of one size", place, [model[window] for _, window in PAPER], "marks", 1),
        curve("the paper", place, list(PAPER.values()), "paper"),
    ]
    ticks = ["fixed size\nW_R = 44", "fixed size\nW_R = 12", "exponential\nW_R = 44", "exponential\nW_R = 12"]
    panel = Panel("files of 347 packets", "mean queue at the 128 kbit/s link [packets]", curves, x_ticks=ticks)
    return Outcome(findings, {"queue": Chart("Section 4.4: the queue that one connection builds", [panel])})


def _queue(run: Run, link: int) -> Measure:
    time = run.resolved.run.measured_s
    return over_replications(run, [float(one["links"]["queue_area_packet_s"][link]) / time for one in run.replications])
