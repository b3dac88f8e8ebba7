"""One connection that is alone on its path: the runs of sections 3.3 to 4.4."""

from typing import Final

import pandas as pd

from ackclock.experiments.engset.path import KILO, MEGA, PAPER
from ackclock.experiments.frame import Run, resolved, scenario_tables
from ackclock.models import engset
from ackclock.scenario import Resolved

SPECIAL: Final = engset.Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
"""The special setting: (100M, 1.5M, 128k, D300, P576)."""


def lone_path(capacity: float, rtt_ms: float) -> engset.Path:
    """Give the model's path with a slowest link of `capacity` [Mbit/s]."""
    rates = (100e6, 10e6, MEGA * capacity) if capacity < 10.0 else (100e6, MEGA * capacity, 1e9)
    return engset.Path(rtt_ms / KILO, rates)


def lone(  # noqa: PLR0913  the letters of a setting
    capacity: float,
    rtt_ms: float,
    window: int,
    size: int | None,
    *,
    duration: str = "60 s",
    ingress: float = 100.0,
    **traces: bool,
) -> Resolved:
    """Resolve a connection that sends a file, or without end, over a slowest link of `capacity` [Mbit/s]."""
    tables = scenario_tables(PAPER, "web")
    rates = (ingress, 10.0, capacity) if capacity < 10.0 else (ingress, capacity, 1000.0)
    for link, rate in zip(tables["link"], rates, strict=True):
        link.pop("private", None)
        link.pop("buffer", None)
        link["rate"] = f"{rate:g} Mbit/s"
    flow = tables["flow"][0]
    del flow["traffic"], flow["count"]
    flow |= {"rtt": f"{rtt_ms:g} ms", "tcp": {"preset": "newreno-engset", "max_window": f"{window} pkt"}}
    if size is not None:
        flow["size"] = f"{size} pkt"
    tables["run"] = {"duration": duration}
    tables["trace"] = {name: True for name in traces if traces[name]}
    return resolved(tables)


def special(window: int, size: int) -> Resolved:
    """Resolve a single file in the special setting."""
    changes = {
        "flow.transfer.size": f"{size} pkt",
        "flow.transfer.tcp": {"preset": "newreno-engset", "max_window": f"{window} pkt"},
        "trace.losses": True,
    }
    return resolved(scenario_tables(PAPER, "slow-egress"), changes)


def special_web(window: int, law: str, duration_s: float) -> Resolved:
    """Resolve files and silences of 5 s in turn in the special setting."""
    tables = scenario_tables(PAPER, "slow-egress")
    flow = tables["flow"][0]
    del flow["size"]
    size = {"law": law, "mean": "347 pkt"} | ({"min": "3 pkt"} if law != "fixed" else {})
    flow["traffic"] = {"kind": "web", "size": size, "off": "5 s"}
    flow["tcp"] = {"preset": "newreno-engset", "max_window": f"{window} pkt"}
    tables["run"] = {"duration": f"{duration_s:g} s", "warmup": "100 s", "replications": 4}
    return resolved(tables)


def finish_ms(run: Run) -> float:
    """Give when the transfer was over [ms]."""
    return KILO * float(run.replications[0]["flows"]["finish_s"][0])


def queue_of(run: Run, link: str) -> pd.DataFrame:
    """Give the queue of a link at each change."""
    frame = run.trace("queue")
    return frame[frame["link"] == link]
