"""Figure 1: a fast recovery of NewReno, packet by packet: drawn, and its order judged."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel, Span
from ackclock.experiments.engset.path import KILO
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.scenario import Resolved

FIRST: Final = 5
"""Number of the first dropped packet of the transfer, which the paper calls 1: six packets are then in flight."""
RTT_MS: Final = 50.0
SENDER, RECEIVER, DROPPED = 1.0, 0.0, 0.45
NOTE: Final = "Each packet is drawn with half of the round trip without load; the instants at the sender are the run's."
ORDER: Final = (1, 2, 3, 4, 5, 6, 1, 7, 3, 8, 9, 10, 11, 12)
"""The packets as the sender sends them, numbered as the text does: the flight 1 to 6, of which 1 and 3 are lost."""
LOST: Final = (1, 3)
Event = tuple[str, float, int]
"""Kind ("sent", "retransmitted" or "acknowledged"), time since the first drop's sending [ms], the paper's number."""


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give a short transfer that loses its fifth and sixth packet, and one that begins with the flight of the text."""
    tables = scenario_tables("engset", "web")
    ingress, shared, egress = ({"name": link["name"]} for link in tables["link"])
    lost = {"model": "packets", "packets": [FIRST, FIRST + 1]}
    tables["link"] = [
        {**ingress, "rate": "100 Mbit/s"},
        {**shared, "rate": "2 Mbit/s", "loss": lost},
        {**egress, "rate": "1000 Mbit/s"},
    ]
    flow = {name: value for name, value in tables["flow"][0].items() if name not in {"traffic", "count"}}
    flow |= {"rtt": f"{RTT_MS:g} ms", "size": "20 pkt", "tcp": {"preset": "newreno-engset"}}
    tables |= {"flow": [flow], "run": {"duration": "2 s"}, "trace": {"sequence": True}}
    return {"timeline": resolved(tables), "order": _flight()}


def _flight() -> Resolved:
    """Give a connection that begins with the text's flight, of which the first and the third packet are lost."""
    tables = scenario_tables("engset", "web")
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
    return resolved(tables)


def events(run: Run) -> list[Event]:
    """Give what the sender sends and hears, numbered as the paper does: the first dropped packet is 1."""
    frame = run.trace("sequence")
    begin = float(frame["time_s"][(frame["kind"] == "sent") & (frame["sequence"] == FIRST - 1)].iloc[0])
    # The trace counts packets from 0, and an ACK names the next packet that is expected: the last one received is one
    # before.
    rows = zip(frame["kind"].tolist(), frame["time_s"].tolist(), frame["sequence"].tolist(), strict=True)
    return [
        (kind, KILO * (time_s - begin), number - FIRST + 2 - (kind == "acknowledged"))
        for kind, time_s, number in rows
        if time_s >= begin
    ]


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Draw the timeline; compare the order of the packets, and the window at the end."""
    found = events(runs["timeline"])
    over = next(time for kind, time, number in found if kind == "acknowledged" and number > 6)
    begun = next(time for kind, time, _ in found if kind == "retransmitted")
    shown = [event for event in found if event[1] <= over + 0.3 * RTT_MS]
    sent = [event for event in shown if event[0] == "sent"]
    again = [event for event in shown if event[0] == "retransmitted"]
    heard = [event for event in shown if event[0] == "acknowledged" and event[1] > RTT_MS / 2.0]
    curves = [
        _arrows("data", [one for one in sent if one[2] not in {1, 2}], 0),
        _arrows("dropped data", [one for one in sent if one[2] in {1, 2}], 1, DROPPED),
        _arrows("retransmissions", again, 2),
        _arrows("ACKs, with the last packet that arrived in order", heard, 3, RECEIVER, -1.0),
    ]
    span = Span(begun, over, "fast recovery")
    panel = Panel(
        "time since packet 1 is sent [ms]",
        "",
        curves,
        y_ticks=("receiver", "sender"),
        spans=(span,),
        x_range=(-5.0, over + 20.0),
    )
    title = "Figure 1: a recovery of NewReno as the sender sees it, six packets in flight, 1 and 2 dropped"
    return Outcome(_findings(runs), {"timeline": Chart(title, [panel], size_inches=(16.0, 7.0))}, (NOTE,))


def _findings(runs: Mapping[str, Run]) -> dict[str, Finding]:
    """Compare the order of the packets, and the window at the end."""
    run = runs["order"]
    rows = run.trace("sequence")
    sent = rows[rows["kind"].astype(str).isin(["sent", "retransmitted"])]
    order = [int(number) + 1 for number in sent["sequence"]]
    cwnd = run.trace("cwnd")
    return {
        "order": Finding(share(_same(order)), note=f"sent: {', '.join(map(str, order[: len(ORDER)]))}"),
        "cwnd": Finding(float(cwnd["cwnd"].to_numpy()[-1]), note="the run ends just after the recovery"),
        "ssthresh": Finding(float(cwnd["ssthresh"].to_numpy()[-1])),
    }


def _same(order: Sequence[int]) -> list[bool]:
    return [one == other for one, other in zip(ORDER, [*order, *[0] * len(ORDER)], strict=False)]


def _arrows(label: str, listed: Sequence[Event], colour: int, end: float = RECEIVER, way: float = 1.0) -> Curve:
    """Make a line for each packet between sender and receiver, with its number at the sender's end."""
    fraction = (SENDER - end) / (SENDER - RECEIVER)
    x = [[time, time + way * fraction * RTT_MS / 2.0, np.nan] for _, time, _ in listed]
    notes = [text for _, _, number in listed for text in (f"{number}", "", "")]
    y = np.tile([SENDER, end, np.nan], len(listed))
    return Curve(label, np.array(x).ravel(), y, "simulation", colour, notes=notes)
