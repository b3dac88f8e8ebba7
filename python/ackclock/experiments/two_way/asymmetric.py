"""The run of section 5.3 that figures 5.5 to 5.8 show."""

from typing import Final

from ackclock.experiments.frame import Setting
from ackclock.experiments.two_way.atm import LENGTH, LINE_MBPS, SEGMENT_S, USER_SHARE, scenario
from ackclock.models import two_way
from ackclock.scenario import Resolved

RATES: Final = (51.6, 155.0)
"""Cell rates of 1L and 1R [Mbit/s]."""
WINDOWS: Final = (14, 28)
USER: Final = tuple(rate * USER_SHARE for rate in RATES)
WARMUP_S: Final = 1.0
ENDS: Final = {"1L": "vc", "1R": "vc.reverse"}

_PER_SECOND = [rate / LINE_MBPS / SEGMENT_S for rate in RATES]
MODEL: Final = [float(part) for part in two_way.efficiency(WINDOWS, LENGTH * SEGMENT_S, _PER_SECOND)]
"""Efficiencies of 1L and 1R by (4.2)."""


def shown(setting: Setting) -> Resolved:
    """Give the run from t = 0 with its traces."""
    traces = {"trace.acr": True, "trace.ip_queue": True, "trace.sequence": True}
    changes = {"run.duration": setting.pick("4 s", "20 s"), "run.warmup": f"{WARMUP_S} s"}
    return scenario("asymmetric", changes | traces)
