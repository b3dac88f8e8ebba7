"""Figure 3: the three laws of file sizes for F = 12."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import LAWS, curve
from ackclock.experiments.engset.table_1 import law_of
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

ABOVE = 400.0
FARTHEST = 5000.0
NAMES = {"E": "exponential (E)", "EP": "Pareto tail (EP)", "EE": "exponential tail (EE), omega = 7"}


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give none: formulas alone."""
    return {}


def outcome(_setting: Setting, _runs: Mapping[str, Run]) -> Outcome:
    """Compare the means above H, and the tails."""
    laws = {law: law_of(law, 12) for law in LAWS}
    far = np.linspace(ABOVE, FARTHEST, 2301)
    findings: dict[str, Finding] = {law: Finding(model=float(found.tail_mean)) for law, found in laws.items()}
    above = laws["EP"].survival(far) > laws["EE"].survival(far)
    findings["tail"] = Finding(model=share(above.tolist()), note=f"from {far[int(np.argmax(above))]:.0f} packets on")
    findings["larger_mean"] = Finding(model=float(laws["EE"].tail_mean > laws["EP"].tail_mean))
    x = np.geomspace(1.0, FARTHEST, 400)
    curves = []
    for number, (law, found) in enumerate(laws.items()):
        y = np.asarray(found.survival(x), dtype=float)
        curves.append(curve(NAMES[law], x, np.where(y > 1e-6, y, np.nan), "theory", number))
    panel = Panel("x [packets]", "G(x) = P(size > x)", curves, log_x=True, log_y=True, from_zero=False)
    return Outcome(findings, {"figure": Chart("Figure 3: file sizes with F = 12 packets", [panel])})
