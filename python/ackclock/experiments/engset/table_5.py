"""Table 5: three rules for the buffer."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import MEGA, curve
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import engset
from ackclock.scenario import Resolved

CAPACITIES = (2.0, 10.0, 50.0)
DELAY = {2.0: 100.0, 10.0: 500.0, 50.0: 2500.0}
BDP = {2.0: 50.0, 10.0: 250.0, 50.0: 1250.0}
RULE = {10.0: 200.0, 50.0: 420.0}


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give none: formulas alone. Section 5.4.1 simulates them."""
    return {}


def outcome(_setting: Setting, _runs: Mapping[str, Run]) -> Outcome:
    """Compute each rule's buffer."""
    findings, choices = {}, {}
    for capacity in CAPACITIES:
        findings[f"delay_{capacity:g}"] = Finding(model=float(engset.delay_buffer(capacity * MEGA)))
        findings[f"bdp_{capacity:g}"] = Finding(model=float(engset.bandwidth_delay_buffer(capacity * MEGA)))
    for capacity in RULE:
        choices[capacity] = engset.buffer_rule(engset.rule_path(capacity * MEGA)).largest_by_choice
        below, above = choices[capacity].tolist()
        note = "the largest over F and RTT_0; the paper prints no N"
        findings[f"rule_{capacity:g}_below"] = Finding(model=below, note=note)
        findings[f"rule_{capacity:g}_above"] = Finding(model=above, note=note)
    smaller = [found < BDP[capacity] for capacity, both in choices.items() for found in both.tolist()]
    findings["smaller"] = Finding(model=share(smaller))
    place = np.arange(3.0)
    nothing = [np.nan]
    curves = [
        curve("600 ms rule", place, list(DELAY.values()), "marks", 0),
        curve("BDP rule, 300 ms", place, list(BDP.values()), "marks", 1),
        curve(
            "TCP-Engset rule, N just below 100% load",
            place,
            nothing + [both[0] for both in choices.values()],
            "marks",
            2,
        ),
        curve(
            "TCP-Engset rule, N just above 100% load",
            place,
            nothing + [both[1] for both in choices.values()],
            "marks",
            3,
        ),
        curve("the paper, TCP-Engset rule", place, nothing + list(RULE.values()), "paper", 2),
    ]
    panel = Panel(
        "C [Mbit/s]", "buffer [packets of 1500 B]", curves, x_ticks=[f"{one:g}" for one in CAPACITIES], log_y=True
    )
    return Outcome(findings, {"table": Chart("Table 5: buffers by three rules", [panel])})
