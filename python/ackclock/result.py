"""A run's result: its summary, its traces, and what it takes to run it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from ackclock import folders, storage
from ackclock.batches import kind_of_intervals
from ackclock.classes import class_rows
from ackclock.completions import COMPLETION_TIMES, completion_frame, completion_rows, completion_warnings
from ackclock.cycles import cycles_summary
from ackclock.delays import DISTRIBUTION, delay_frame
from ackclock.errors import ResultError
from ackclock.findings import Finding, find
from ackclock.pictured import REFERENCE_LINES
from ackclock.pings import ping_rows
from ackclock.precision import is_short, precision_summary, precision_warnings
from ackclock.quantities import (
    CLASS_QUANTITIES,
    COMPLETION_QUANTITIES,
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    PING_QUANTITIES,
)
from ackclock.readonly import read_only
from ackclock.recoveries import RECOVERY_QUANTITIES, recovery_rows
from ackclock.scenario import Resolved, ScenarioError
from ackclock.scenario.arguments import FLAG, PATH, check_arguments
from ackclock.scenario.tcp_names import tcp_names
from ackclock.stored import checked_summary
from ackclock.storied import Storied
from ackclock.summary import Summary, flow_rows, link_rows
from ackclock.tables import Printed
from ackclock.traces import OVERVIEW, captured_links, captures, trace_frames
from ackclock.transfers import ACTIVE, SEQUENCE_DROPS, TRANSFERS, source_rows, transfer_frames
from ackclock.trust import trust_warnings
from ackclock.unmarked import unmarked_warnings
from ackclock.verdict import run_warnings, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.prediction import ReferenceLine
    from ackclock.replication import Replication


class Result(Storied, Printed):
    """Result of one scenario.

    Parameters
    ----------
    summary : Summary
        Quantities of flows and links, warnings and the verdict, as `--json` prints them. It is read-only;
        `copy.deepcopy` makes a copy that can be changed.
    resolved : Resolved
        The scenario that was run; running it again gives the same summary, bit for bit.
    version : str
        The version of ackclock that ran it.
    traces : mapping of str to DataFrame, optional
        A data frame by trace name, in which flows and links are named; reading one gives a copy.
    captures : mapping of str to bytes, optional
        A pcapng file by link name.
    """

    def __init__(
        self,
        summary: Summary,
        resolved: Resolved,
        version: str,
        traces: Mapping[str, pd.DataFrame] | None = None,
        captures: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__(summary, resolved, version, traces)
        self.captures: Mapping[str, bytes] = read_only(dict(captures or {}))

    @classmethod
    def from_replications(
        cls,
        resolved: Resolved,
        replications: Sequence[Replication],
        *,
        version: str,
        warnings: Sequence[str] = (),
    ) -> Result:
        """Summarise finished replications.

        Parameters
        ----------
        resolved : Resolved
            The scenario that was run.
        replications : sequence of Replication
            The finished replications, at least one.
        version : str
            The version of ackclock.
        warnings : sequence of str
            What the reader must check before trusting the numbers.
        """
        flows, links = flow_rows(resolved, replications), link_rows(resolved, replications)
        completed, precision = completion_rows(resolved, replications), precision_summary(resolved, replications)
        summary = Summary(
            title=resolved.title,
            tcp=tcp_names(resolved),
            duration_s=resolved.run.duration_s,
            warmup_s=resolved.run.warmup_s,
            replications=len(replications),
            seed=resolved.run.seed,
            deterministic=resolved.is_deterministic,
            intervals=kind_of_intervals(resolved, len(replications), flows),
            loss_cycles=cycles_summary(resolved, replications),
            precision=precision,
            flows=flows,
            links=links,
            recoveries=recovery_rows(resolved, replications),
            warnings=[
                *warnings,
                *run_warnings(resolved, flows, links, len(replications)),
                *unmarked_warnings(resolved, flows, links),
                *completion_warnings(resolved, replications),
                *trust_warnings(resolved, replications, flows),
                *precision_warnings(precision, len(replications)),
            ],
            verdict=verdict(resolved, flows, links, completed),
            version=version,
        )
        of_some = {
            "classes": class_rows(resolved, replications),
            "completions": completed,
            "pings": ping_rows(resolved, replications),
            "sources": source_rows(resolved, replications),
        }
        summary |= cast("Summary", {name: rows for name, rows in of_some.items() if rows})
        frames = trace_frames(resolved, replications) | transfer_frames(resolved, replications)
        frames |= completion_frame(resolved, replications)
        delays = delay_frame(resolved, replications)
        if delays is not None:
            frames[DISTRIBUTION] = delays
        return cls(summary, resolved, version, frames, captures(replications))

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Read a result that `save` wrote; its traces are read when they are asked for.

        Raises
        ------
        ResultError
            The folder holds no result, or one that is not whole.
        """
        check_arguments("Result.load", folder=(folder, PATH))
        folder = Path(folder)
        content = storage.read_result(folder)
        traces = storage.StoredTraces(folder)
        try:
            resolved = Resolved.from_dict(content["resolved"])
            summary = checked_summary(content["summary"], resolved)
        except ScenarioError as error:
            message = f"{folder}: the result's scenario cannot be read; {error}"
            raise ResultError(message) from None
        except ResultError as error:
            raise ResultError(f"{folder / storage.RESULT}: cannot read the result; {error}") from None
        found = storage.read_captures(folder, captured_links(resolved))
        return cls(summary, resolved, str(content["version"]), traces, found)

    @property
    def seed(self) -> int:
        """The seed of all random streams."""
        return self.resolved.run.seed

    @property
    def interrupted(self) -> bool:
        """Return whether the run ended before all replications had finished."""
        if self.summary["deterministic"]:
            return False
        precision, finished = self.summary.get("precision"), self.summary["replications"]
        if precision is not None:
            return is_short(precision) and finished < precision["most"]
        return finished < self.resolved.run.replications

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The facts that the verdict words: each with its kind, the link or flow, and its numbers."""
        summary = self.summary
        return find(self.resolved, summary["flows"], summary["links"], summary.get("completions", ()))

    @property
    def flows(self) -> pd.DataFrame:
        """The flows' quantities: a row a flow; columns hold the mean and, with `_low` and `_high`, its interval."""
        return _frame(self.summary["flows"], FLOW_QUANTITIES)

    @property
    def links(self) -> pd.DataFrame:
        """The links' quantities: a row a link; columns hold the mean and, with `_low` and `_high`, its interval."""
        return _frame(self.summary["links"], LINK_QUANTITIES)

    @property
    def classes(self) -> pd.DataFrame:
        """Classes of packets at links: a row a link and class; columns as in `flows`.

        Notes
        -----
        The classes are the levels of a priority queue, or L4S and classic traffic of dualpi2; of a queue that gives
        flows queues of their own the [[flow]], up to 64 (the others are one row). Empty if no link has such a queue,
        or without `run.delays`.
        """
        rows = self.summary.get("classes", [])
        frame = _frame(rows, CLASS_QUANTITIES)
        pairs = [(row["link"], row["name"]) for row in rows]
        return frame.set_axis(pd.MultiIndex.from_tuples(pairs, names=["link", "class"]), axis="index")

    @property
    def completions(self) -> pd.DataFrame:
        """Completion times: a row a [[flow]] with a size and a group of web sources; columns as in `flows`.

        Notes
        -----
        `fct` is the flow completion time, from the first packet sent to the last one delivered in order; `fct_acked`
        lasts until the last ACK, which may wait for the timer of a delayed ACK. `slowdown` is the flow completion time
        relative to the least that the empty path allows: its one-way delay, and a service time of its slowest link for
        each further packet. Transfers that did not finish are counted in `unfinished` and in nothing else.
        """
        return _frame(self.summary.get("completions", []), COMPLETION_QUANTITIES)

    @property
    def completion_times(self) -> pd.DataFrame:
        """Distributions of completion times: a row a bucket, quantity, [[flow]] and replication."""
        return self._measured(COMPLETION_TIMES)

    @property
    def pings(self) -> pd.DataFrame:
        """Round trips and losses of pings: a row a [[flow]] that pings; columns as in `flows`."""
        return _frame(self.summary.get("pings", []), PING_QUANTITIES)

    @property
    def recoveries(self) -> pd.DataFrame:
        """Recoveries from losses: a row a flow that detected a loss, and one of all flows; columns as in `flows`.

        Notes
        -----
        Each timeout is of one kind, the first that fits [engset, section 5.4.3]: `repeated` (TOTO, of a packet whose
        timer expired before), `in_recovery` (TDTO), `at_end` (TOend, all of the transfer has been sent),
        `at_beginning` (TObeg, its first two packets), `other`. `stalled_s` is the time since the packet sent last, over
        all timeouts. A fast recovery counts where it succeeds; `recovery_sent_on_end` are the packets sent on
        its last ACK, `recovery_sent` those before, retransmissions included. A timeout or fast retransmit is `spurious`
        where the packet's last copy was not dropped.
        """
        return _frame(self.summary.get("recoveries", []), RECOVERY_QUANTITIES)

    @property
    def transfers(self) -> pd.DataFrame:
        """Measurements of web sources of their transfers, by size: a row a class of sizes, [[flow]] and replication."""
        return self._measured(TRANSFERS)

    @property
    def active(self) -> pd.DataFrame:
        """Time for which each number of web sources was active: a row a number, [[flow]] and replication."""
        return self._measured(ACTIVE)

    @property
    def sequence_drops(self) -> pd.DataFrame:
        """Drops of web sources' packets by their number within the transfer, from 1 on."""
        return self._measured(SEQUENCE_DROPS)

    @property
    def delay_distribution(self) -> pd.DataFrame:
        """All delays over the replications: a row a flow or link and value, with the number of packets.

        Notes
        -----
        ``kind`` is "rtt", "delay" (one-way) or "queueing" of a flow, or "wait" at a link; ``delay_s`` is within 0.8%.

        Raises
        ------
        ResultError
            Delays were not measured.
        """
        if DISTRIBUTION not in self.traces:
            message = f"{DISTRIBUTION}: nothing was measured; run.delays was off, or the result is an older one"
            raise ResultError(message)
        return self.traces[DISTRIBUTION]

    def _measured(self, name: str) -> pd.DataFrame:
        if name not in self.traces:
            kind = "a size that it finished" if name == COMPLETION_TIMES else "traffic of the kind web"
            message = f"{name}: nothing was measured; no flow of the scenario has {kind}"
            raise ResultError(message)
        return self.traces[name]

    def save(self, folder: str | Path, *, picture: bool = True, reference_lines: Sequence[ReferenceLine] = ()) -> None:
        """Write result.json, traces/*.parquet, captures/*.pcapng and the picture (png, svg).

        Parameters
        ----------
        folder : str or Path
            Where to; created where it is missing. An earlier result there is replaced once all is written; a file that
            ackclock did not make there, or that was changed since, is not.
        picture : bool
            Whether to draw the picture, where an overview was recorded.
        reference_lines : sequence of ReferenceLine, optional
            Lines of the theory in the picture.

        Raises
        ------
        ResultError
            Something cannot be written, or another file has the name; what the folder held before is still there.
        """
        check_arguments(
            "Result.save",
            folder=(folder, PATH),
            picture=(picture, FLAG),
            reference_lines=(reference_lines, REFERENCE_LINES),
        )
        folder = Path(folder)
        writers: dict[str, folders.Writer] = {
            f"{storage.TRACE_FOLDER}/{name}.parquet": storage.trace_writer(frame) for name, frame in self.traces.items()
        }
        for link, name in storage.capture_names(list(self.captures)).items():
            writers[f"{storage.CAPTURE_FOLDER}/{name}"] = storage.capture_writer(self.captures[link])
        if picture and OVERVIEW in self.traces:
            writers |= dict.fromkeys(storage.PICTURES, self.plot(reference_lines).save)
        resolved = self.resolved.to_dict()
        content = {"summary": self.summary, "resolved": resolved, "seed": self.seed, "version": self.version}
        writers[storage.RESULT] = storage.json_writer(content)
        folders.write_files(folder, writers, storage.KIND)

    def __repr__(self) -> str:
        return f"<Result {self.summary['title']!r}: {self.summary['verdict']}>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from ackclock.report import as_text  # noqa: PLC0415  only people need it

        yield from as_text(self.summary, self.resolved.run.confidence)

    def _repr_html_(self) -> str:
        from ackclock.report import as_html  # noqa: PLC0415  only notebooks need it

        return as_html(self.summary, self.resolved.run.confidence)


def _frame(rows: Sequence[Mapping[str, Any]], quantities: Sequence[str]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {}
    for key in ("rate_bps", "drain_s"):
        if rows and key in rows[0]:
            columns[key] = [float("inf") if row[key] is None else row[key] for row in rows]
    for key in quantities:
        for suffix, part in (("", "mean"), ("_low", "low"), ("_high", "high")):
            columns[key + suffix] = [float("nan") if row.get(key) is None else _number(row[key][part]) for row in rows]
    return pd.DataFrame(columns, index=pd.Index([row["name"] for row in rows], name="name"))


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
