"""Figure 1: a fast recovery of NewReno, packet by packet."""

from collections.abc import Mapping, Sequence

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import PAPER, curve
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.scenario import Resolved

ORDER = (1, 2, 3, 4, 5, 6, 1, 7, 3, 8, 9, 10, 11, 12)
"""The packets as the sender sends them, numbered as the text does: the flight 1 to 6, of which 1 and 3 are lost."""
LOST = (1, 3)


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give a connection that begins with the figure's flight, of which the first and the third packet are lost."""
    tables = scenario_tables(PAPER, "web")
    for link in tables["link"]:
        link.pop("private", None)
        link.pop("buffer", None)
    tables["link"][0]["loss"] = {"model": "packets", "packets": list(LOST)}
    flow = tables["flow"][0]
    del flow["traffic"], flow["count"]
    flow |= {"rtt": "500 ms", "tcp": {"preset": "newreno-engset", "max_window": "44 pkt", "initial_window": "6 pkt"}}
    flow["tcp"]["initial_ssthresh"] = "44 pkt"
    tables["run"] = {"duration": "1.6 s"}
    tables["trace"] = {"sequence": True, "cwnd": True, "losses": True}
    return {"timeline": resolved(tables)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare the order of the packets, and the window at the end."""
    run = runs["timeline"]
    rows = run.trace("sequence")
    sent = rows[rows["kind"].astype(str).isin(["sent", "retransmitted"])]
    order = [int(number) + 1 for number in sent["sequence"]]
    cwnd = run.trace("cwnd")
    findings = {
        "order": Finding(share(_same(order)), note=f"sent: {', '.join(map(str, order[: len(ORDER)]))}"),
        "cwnd": Finding(float(cwnd["cwnd"].to_numpy()[-1]), note="the run ends just after the recovery"),
        "ssthresh": Finding(float(cwnd["ssthresh"].to_numpy()[-1])),
    }
    curves = [curve("simulated", sent["time_s"], np.array(order, dtype=float), "marks", 0)]
    panel = Panel("time [s]", "packet, as the text counts", curves, "1 and 3 are lost")
    return Outcome(findings, {"timeline": Chart("Figure 1: a fast recovery of NewReno", [panel])})


def _same(order: Sequence[int]) -> list[bool]:
    return [one == other for one, other in zip(ORDER, [*order, *[0] * len(ORDER)], strict=False)]
