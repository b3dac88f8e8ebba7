"""The story of one packet and of one loss: what happened to it, by which rule it was found, and what it cost."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ackclock.errors import Fault, LimitError, ResultError
from ackclock.recording import with_traces
from ackclock.scenario import Resolved
from ackclock.stories.followed import followed, followed_to_its_end
from ackclock.stories.journeys import Journey
from ackclock.stories.told import probe_times, stories
from ackclock.tables import Printed, TableText, html_table, rich_table
from ackclock.wording import plural, seconds

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

Traces = Mapping[str, pd.DataFrame]
WHAT: Final = "story"
LOSSES: Final = "losses"
"""The trace of the losses that senders detected."""
MOST_ROWS: Final = 40
_WANTED: Final = ("cwnd", "sequence", "losses", "state", "recovery")
_UNLIMITED: Final = 1e9
_INSTEAD: Final = "ask for a packet that arrived"


@dataclass(frozen=True, repr=False)
class Story(Printed):
    """The events of one packet, in order, and what its loss cost.

    Parameters
    ----------
    flow : str
        The flow.
    packet : int
        The packet's number, from 0 on.
    events : tuple of (float, str)
        Instant [s] and what happened then.
    cost : tuple of str
        What its loss cost, a sentence each: time, window; empty if nothing was lost.
    facts : mapping of str to object
        The same as numbers: `sent_s`, `arrived_s`, `acknowledged_s`, `copies`, and of a loss `found_s`, `recovery_s`
        (when the recovery began), `cause`, `spurious`, `repaired_s`, `cwnd_before`, `cwnd_after`, `ssthresh_after`,
        `recovered_s`, `window_back_s`, `next_transfer_s` (when a web source began its next transfer, by a connection
        of its own); None if it did not happen in the run.
    """

    flow: str
    packet: int
    events: tuple[tuple[float, str], ...]
    cost: tuple[str, ...]
    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return {
            "flow": self.flow,
            "packet": self.packet,
            "events": [list(event) for event in self.events],
            "cost": list(self.cost),
            **self.facts,
        }

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        yield Text(f"Packet {self.packet} of {self.flow}", style="bold")
        width = max((len(f"{time_s:.4f}") for time_s, _ in self.events), default=0)
        yield from (Text(f"{time_s:{width}.4f} s  {text}") for time_s, text in self.events)
        yield from (Text(f"{line}.") for line in self.cost)

    def __repr__(self) -> str:
        return f"<Story of packet {self.packet} of {self.flow}: {plural(len(self.events), 'event')}>"

    def _repr_html_(self) -> str:
        rows = [[f"{time_s:.4f}", text] for time_s, text in self.events]
        table = TableText(["time [s]", f"packet {self.packet} of {self.flow}"], rows, words=frozenset({1}))
        return html_table(table) + "".join(f"<p>{html.escape(line)}.</p>" for line in self.cost)


@dataclass(frozen=True, repr=False)
class LossList(Printed):
    """The losses that senders detected, each with its number.

    Parameters
    ----------
    table : DataFrame
        A row a detection: number, flow, time_s, packet, rule ("timeout" or "fast-retransmit"), spurious, slow_start.
    """

    table: pd.DataFrame

    def to_dict(self) -> list[dict[str, Any]]:
        """Give plain data for JSON: a row a detection."""
        content: list[dict[str, Any]] = self.table.to_dict("records")  # type: ignore[assignment]
        return content

    def _text(self) -> TableText:
        rows = [
            [str(row["number"]), f"{row['time_s']:.4f}", row["flow"], str(row["packet"]), row["rule"], _remarks(row)]
            for row in self.table.head(MOST_ROWS).to_dict("records")
        ]
        more = len(self.table) - len(rows)
        note = (
            f"{plural(more, 'more loss', 'more losses')} below; --json, or `table` in Python, has all." if more else ""
        )
        return TableText(["loss", "found at s", "flow", "packet", "rule", ""], rows, note, frozenset({2, 4, 5}))

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        if not len(self.table):
            yield "No loss was detected."
            return
        text = self._text()
        yield rich_table(text)
        if text.note:
            yield text.note

    def __repr__(self) -> str:
        return f"<LossList: {plural(len(self.table), 'loss', 'losses')}>"

    def _repr_html_(self) -> str:
        return html_table(self._text()) if len(self.table) else "<p>No loss was detected.</p>"


def _remarks(row: Mapping[Any, Any]) -> str:
    found = ("slow start" if row["slow_start"] else "", "spurious" if row["spurious"] else "")
    return ", ".join(filter(None, found))


def losses_of(resolved: Resolved, traces: Traces, flow: str | None) -> LossList:
    """List the losses that a flow, or each flow, detected in the first replication.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Its traces; what is missing is recorded now.
    flow : str, optional
        The flow.
    """
    known = traces if LOSSES in traces else with_traces(resolved, traces, (LOSSES,), WHAT)
    rows = _first(known[LOSSES])
    if flow is not None:
        rows = rows[rows["flow"] == flow]
    number = np.arange(1, len(rows) + 1)
    names = {"sequence": "packet", "cause": "rule"}
    found = rows.reset_index(drop=True).rename(columns=names).assign(number=number)
    found = found.astype({"flow": str, "rule": str})
    return LossList(found[["number", "flow", "time_s", "packet", "rule", "spurious", "slow_start"]])


def story_of_loss(resolved: Resolved, traces: Traces, flow: str | None, loss: int) -> Story:
    """Give the story of a loss by its number in `losses_of`: that of the packet that was found lost.

    Raises
    ------
    ResultError
        If there are fewer losses.
    """
    table = losses_of(resolved, traces, flow).table
    if not 1 <= loss <= len(table):
        whose = f"of {flow}" if flow is not None else "of all flows"
        allowed = f"1 to {len(table)}" if len(table) else "none: no loss was detected"
        raise ResultError(str(Fault(WHAT, f"there is no loss {whose} with this number", str(loss), allowed)))
    row = table.iloc[loss - 1]
    return story_of_packet(resolved, traces, str(row["flow"]), int(row["packet"]), near_s=float(row["time_s"]))


def story_of_packet(resolved: Resolved, traces: Traces, flow: str, packet: int, near_s: float | None = None) -> Story:
    """Give the story of a packet in the first replication.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Its traces; what is missing is recorded now.
    flow : str
        The flow.
    packet : int
        The packet's number, from 0 on; the numbers of a web source go on from transfer to transfer.
    near_s : float, optional
        An instant between the packet's first copy and its acknowledgment [s], for the transfer that is meant.

    Raises
    ------
    ResultError
        If the packet was not sent, or the flow has no TCP.
    LimitError
        If the run is long, if recording each packet takes too much memory, or if the scenario has ATM channels.
    """
    if resolved.atm is not None:
        problem = "does not follow packets through ATM channels, whose cells are not packets"
        raise LimitError(Fault(WHAT, problem))
    kept = with_traces(resolved, traces, _WANTED, WHAT)
    own = {name: _of_flow(_first(kept[name]), flow) for name in _WANTED if name in kept}
    start, end = _life(own["sequence"], flow, packet, near_s, resolved.run.duration_s)
    number = resolved.flow_names.index(flow)
    is_acknowledged = next(row for row in resolved.flows if flow in row.names).connection is not None
    if not is_acknowledged:
        seen = followed_to_its_end(resolved, (number, packet), start, WHAT, _INSTEAD)
    else:
        seen = followed(resolved, start, end, WHAT, instead=_INSTEAD)
    own_journeys = [one for one in seen.journeys if (one.flow, one.number) == (number, packet)]
    copies = [one for one in own_journeys if not one.answer and start <= one.sent <= end]
    echoes = [one for one in own_journeys if one.answer]
    told = stories(seen.resolved, seen.traces, [*copies, *echoes])[(number, packet)]
    arrived = min((one.ended for one in copies if not one.dropped and one.ended < inf), default=None)
    events = [(time_s, text) for time_s, text in told.plain() if time_s <= end]
    facts: dict[str, Any] = {
        "sent_s": start,
        "arrived_s": arrived,
        "acknowledged_s": end if any(text.startswith("acknowledged") for _, text in events) else None,
        "copies": len(copies),
    }
    dropped = [one.ended for one in copies if one.dropped]
    probes = probe_times(seen.resolved, seen.traces.get("state"))[number]
    repairs = [one for one in copies if one.again and one.sent not in probes]
    detection = _detection(own["losses"], packet, (start, end), repairs, near_s)
    if not dropped and detection is None:
        return Story(flow, packet, tuple(events), (), facts)
    if not is_acknowledged:
        return Story(flow, packet, tuple(events), ("Nothing sends it again: the flow has no acknowledgments",), facts)
    recovery = _recovery(own, detection, repairs)
    if detection is not None:
        recovery["found_s"] = _found_s(detection, packet, repairs, near_s)
    return Story(flow, packet, tuple(events), tuple(_cost(facts, recovery, resolved)), {**facts, **recovery})


def _first(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["replication"] == frame["replication"].min()] if len(frame) else frame


def _of_flow(frame: pd.DataFrame, flow: str) -> pd.DataFrame:
    return frame[frame["flow"] == flow]


def _life(sequence: pd.DataFrame, flow: str, packet: int, near_s: float | None, run_end: float) -> tuple[float, float]:
    """Find when a packet was first sent and when it was acknowledged [s]; without an ACK the end of the run."""
    kinds = sequence["kind"].astype(str).to_numpy()
    times, numbers = sequence["time_s"].to_numpy(), sequence["sequence"].to_numpy()
    first = times[(kinds == "sent") & (numbers == packet)]
    if near_s is not None:
        first = first[first <= near_s][-1:]
    if not len(first):
        sent = numbers[kinds == "sent"]
        allowed = f"0 to {sent.max()}" if len(sent) else "none: it has no TCP, or sent nothing"
        raise ResultError(str(Fault(WHAT, f"flow {flow} has not sent this packet", str(packet), allowed)))
    acked = times[(kinds == "acknowledged") & (numbers > packet) & (times >= first[0])]
    return float(first[0]), float(acked[0]) if len(acked) else run_end


def _detection(
    losses: pd.DataFrame, packet: int, life: tuple[float, float], repairs: Sequence[Journey], near_s: float | None
) -> Any:
    """Find the detection of a packet's loss: its own, or the one that began the recovery in which it was sent again."""
    start, end = life
    within = losses[losses["time_s"] <= end]
    own = within[(within["sequence"] == packet) & (within["time_s"] >= start)]
    if near_s is not None and (own["time_s"] == near_s).any():
        return own[own["time_s"] == near_s].iloc[0]
    if repairs:
        before = own[own["time_s"] <= repairs[0].sent]
        begun = within[within["time_s"] <= repairs[0].sent]
        if len(before):
            return before.iloc[0]
        if len(begun):
            return begun.iloc[-1]
    return own.iloc[0] if len(own) else None


def _found_s(detection: Any, packet: int, repairs: Sequence[Journey], near_s: float | None) -> float:
    """Give when a packet was found lost [s]: by its own detection, unless its repair was in flight then.

    Of a packet that a recovery finds lost later the sender records nothing but that it is sent again.
    """
    is_own = int(detection["sequence"]) == packet
    if is_own and (near_s == detection["time_s"] or not _is_in_flight(repairs, detection)):
        return float(detection["time_s"])
    return repairs[0].sent


def _is_in_flight(repairs: Sequence[Journey], detection: Any) -> bool:
    """Return whether a packet that is found lost has been sent again by then, and that copy is not lost."""
    before = [one for one in repairs if one.sent < detection["time_s"]]
    return bool(before) and not before[-1].dropped


def _recovery(own: Traces, detection: Any, repairs: Sequence[Journey]) -> dict[str, Any]:
    """Measure the recovery that a detection began: the windows before and after it, and how long they took."""
    found: dict[str, Any] = {
        "found_s": None,
        "recovery_s": None if detection is None else float(detection["time_s"]),
        "cause": None if detection is None else str(detection["cause"]),
        "spurious": None if detection is None else bool(detection["spurious"]),
        "repaired_s": repairs[-1].sent if repairs else None,
    }
    if detection is None:
        return found
    begun = found["recovery_s"]
    recovered, following = _recovered(own["sequence"], begun), _next_transfer(own, begun)
    windows = own["cwnd"]
    times, cwnd = windows["time_s"].to_numpy(), windows["cwnd"].to_numpy(dtype=float)
    before = cwnd[max(0, int(np.searchsorted(times, begun, side="left")) - 1)]
    found |= {"cwnd_before": float(before), "recovered_s": recovered, "next_transfer_s": following}
    found |= {"cwnd_after": None, "ssthresh_after": None, "window_back_s": None}
    if recovered is None:
        return found
    # The ACK that ends a recovery may begin the next one, which reduces the windows once more.
    at_once = (own["losses"]["time_s"] == recovered).any()
    place = int(np.searchsorted(times, recovered, side="left" if at_once else "right")) - 1
    threshold = float(windows["ssthresh"].iloc[place])
    is_own = times[place:] < (inf if following is None else following)
    back = times[place:][(cwnd[place:] >= before) & is_own]
    return found | {
        "cwnd_after": float(cwnd[place]),
        "ssthresh_after": threshold if threshold < _UNLIMITED else None,
        "window_back_s": float(back[0]) if len(back) else None,
    }


def _recovered(sequence: pd.DataFrame, found_s: float) -> float | None:
    """Find when all that had been sent as the loss was found was acknowledged [s] (RFC 6582: the recovery point)."""
    kinds = sequence["kind"].astype(str).to_numpy()
    times, numbers = sequence["time_s"].to_numpy(), sequence["sequence"].to_numpy()
    sent = numbers[(kinds == "sent") & (times <= found_s)]
    acked = times[(kinds == "acknowledged") & (times > found_s) & (numbers > sent[-1])] if len(sent) else []
    return float(acked[0]) if len(acked) else None


def _next_transfer(own: Traces, found_s: float) -> float | None:
    """Find when the next transfer of a web source began, whose connection has no ssthresh yet [s].

    Nothing is in flight then, unlike where a reduction is undone.
    """
    windows, sequence = own["cwnd"], own["sequence"]
    unlimited = windows["ssthresh"].to_numpy() >= _UNLIMITED
    begins = windows["time_s"].to_numpy()[1:][unlimited[1:] & ~unlimited[:-1]]
    for begin in begins[begins > found_s].tolist():
        before = sequence[sequence["time_s"] < begin]
        is_ack = before["kind"] == "acknowledged"
        if before["sequence"][is_ack].max() > before["sequence"][~is_ack].max():
            return float(begin)
    return None


def _cost(facts: Mapping[str, Any], recovery: Mapping[str, Any], resolved: Resolved) -> Iterator[str]:
    """Say what a loss cost, in time and in window."""
    if facts["arrived_s"] is not None and recovery.get("found_s") is not None:
        late = facts["arrived_s"] - facts["sent_s"]
        waited = max(0.0, recovery["found_s"] - facts["sent_s"])
        yield f"Time: it arrived {seconds(late)} after it was first sent; {seconds(waited)} until the loss was found"
    elif facts["arrived_s"] is not None:
        yield f"Time: it arrived {seconds(facts['arrived_s'] - facts['sent_s'])} after it was first sent"
    else:
        yield f"Time: it had not arrived when the run ended, at {seconds(resolved.run.duration_s)}"
    if recovery.get("cwnd_before") is None:
        return
    begun = recovery["recovery_s"]
    when = "the loss was found" if begun == recovery["found_s"] else f"the recovery began, at {begun:.4f} s"
    before = f"Window: cwnd was {plural(round(recovery['cwnd_before'], 1), 'packet')} when {when}"
    if recovery["recovered_s"] is None:
        yield f"{before}; the recovery had not ended when the run ended"
        return
    length = seconds(recovery["recovered_s"] - begun)
    threshold = recovery["ssthresh_after"]
    after = f"{round(recovery['cwnd_after'], 1):g} when the recovery ended, {length} later"
    limit = "" if threshold is None else f", with ssthresh {threshold:g}"
    back = recovery["window_back_s"]
    never = "not in this run" if recovery["next_transfer_s"] is None else "not in this transfer"
    again = never if back is None else f"{seconds(back - begun)} after the recovery began"
    yield f"{before}, {after}{limit}; as large as before: {again}"
