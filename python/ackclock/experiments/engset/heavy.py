"""The setting of high load and losses of sections 5.4.3 and 5.4.4: N = 134, (10M, 2M, R50), F = 12, B = 150."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from ackclock.experiments.engset.path import Law, Web, packets
from ackclock.experiments.frame import Run, Setting
from ackclock.scenario import Resolved

QUICK: Final = 600e3
SOURCES: Final = 134
BUFFER: Final = 150
MAIN: Final = "EE-44"
CASES: Final[Mapping[str, Web]] = {
    "EE-44": Web(SOURCES, law="EE", buffer=BUFFER),
    "EE-12": Web(SOURCES, law="EE", window=12, buffer=BUFFER),
    "E-44": Web(SOURCES, law="E", buffer=BUFFER),
    "EE-44-limited": Web(SOURCES, law="EE", buffer=BUFFER, max_burst=2),
    "EE-12-limited": Web(SOURCES, law="EE", window=12, buffer=BUFFER, max_burst=2),
    "EE-44-paced": Web(SOURCES, law="EE", buffer=BUFFER, ingress=2.0, egress=100.0),
}


def heavy(setting: Setting, *names: str) -> Mapping[str, Resolved]:
    """Give some of the runs; all items take the same ones."""
    number = packets(setting, QUICK)
    return {name: CASES[name].scenario(number, queue_distribution=True, recovery=True) for name in names}


def web(law: Law, buffer: int, sources: int = SOURCES) -> Web:
    """Give the setting with another buffer."""
    return Web(sources, law=law, buffer=buffer)


def events(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give timeouts, and fast recoveries that succeeded, after the warm-up."""
    frame = run.trace("recovery")
    frame = frame[frame["time_s"] >= run.resolved.run.warmup_s]
    recovered = frame["event"] == "recovery"
    return frame[~recovered], frame[recovered]
