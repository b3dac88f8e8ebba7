"""The run of section 5.2 that figures 5.2 to 5.4 show, and what is to be compared with it."""

from ackclock.experiments.frame import Setting
from ackclock.experiments.two_way.atm import scenario
from ackclock.scenario import Resolved

WARMUP_S = 0.4
"""Time after which slow start is over and the cell rate is steady [s]."""
SHOWN_S = 0.5


def shown(setting: Setting) -> Resolved:
    """Give the run from t = 0 with its traces."""
    return staggered(setting, "0 s")


def staggered(setting: Setting, later: str) -> Resolved:
    """Give the run where the right connection opens later."""
    start = {} if later == "0 s" else {"flow.right.start": later}
    traces = {"trace.acr": True, "trace.ip_queue": True, "trace.sequence": True}
    return scenario(
        "abr", {"run.duration": setting.pick("1.2 s", "4 s"), "run.warmup": f"{WARMUP_S} s"} | traces | start
    )
