"""Figure 1: a rise of the round trip without a timeout, w_m = 26."""

from collections.abc import Mapping
from typing import Literal

from ackclock.experiments.abrupt_delay.path import PER_ROUND, WINDOWS, step, total
from ackclock.experiments.abrupt_delay.steps import chart, rto_before
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

Stamps = Literal["time stamps", "no time stamps"]
STAMPS: Mapping[Stamps, Mapping[str, str]] = {"time stamps": {}, "no time stamps": PER_ROUND}
Key = tuple[int, Stamps]
"""The window, and whether there are time stamps."""
OLD_S, NEW_S = 0.2, 0.3


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give the rise at each window, with and without time stamps."""
    longer = {"run.duration": setting.pick("20 s", "60 s")}
    return {
        (window, stamps): step(OLD_S, NEW_S, window, {**longer, **changes})
        for window in WINDOWS
        for stamps, changes in STAMPS.items()
    }


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the timeouts at the printed window."""
    run, other = runs[26, "time stamps"], runs[26, "no time stamps"]
    findings = {
        "no_timeout": Finding(
            total(run, "timeouts"),
            note="the link is never idle (26 > mu T_1 = 25): ACKs stop for T_2 - T_1 + 1/mu = 0.108 s at most",
        ),
        "rto_before": Finding(rto_before(run), note="T_1 and the packet that waits at the link, 0.208 s"),
        "without_time_stamps": Finding(share([total(other, "timeouts") == 0.0])),
    }
    shown = {"w_m = 26": run, "w_m = 26, without time stamps": other}
    return Outcome(
        findings, {"figure": chart("Figure 1: the round trip rises from 0.2 to 0.3 s at 6 s, w_m = 26", shown)}
    )
