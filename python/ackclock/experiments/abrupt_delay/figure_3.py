"""Figure 3: a fall of the round trip in the idle period, without a fast retransmit."""

from collections.abc import Mapping

from ackclock.experiments.abrupt_delay.path import STEP_S, WINDOWS, step, total
from ackclock.experiments.abrupt_delay.steps import chart, in_idle_period
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

OLD_S, NEW_S = 0.2, 0.1
FITTING = tuple(window for window in WINDOWS if window < 25)
"""Windows below mu T_1 = 25, which leave an idle period."""


def scenarios(setting: Setting) -> Mapping[int, Resolved]:
    """Give the fall at each window."""
    longer = {"run.duration": setting.pick("20 s", "60 s")}
    return {window: step(OLD_S, NEW_S, window, longer) for window in WINDOWS}


def outcome(_setting: Setting, runs: Mapping[int, Run]) -> Outcome:
    """Judge the fast retransmits, and whether the instant lies in an idle period."""
    findings = {
        "no_td_26": Finding(total(runs[26], "fast_retransmits")),
        "no_td": Finding(share([total(runs[window], "fast_retransmits") == 0 for window in FITTING])),
        "idle_26": Finding(
            share([in_idle_period(runs[26], STEP_S)]), note="26 > mu T_1 = 25: there is no idle period at all"
        ),
        "idle": Finding(
            share([in_idle_period(runs[window], STEP_S) for window in FITTING]),
            note="a round begins at 6.0 s, as the connection starts at 0",
        ),
    }
    shown = {f"w_m = {window}": runs[window] for window in WINDOWS}
    return Outcome(findings, {"figure": chart("Figure 3: the round trip falls from 0.2 to 0.1 s at 6.0 s", shown)})
