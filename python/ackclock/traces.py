"""The engine's trace columns as data frames, with names where the engine counts."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.overview import DROP, DROP_OR_LOSS, FINISH, LOSS
from ackclock.replication import Columns, Replication, grouped
from ackclock.scenario import Resolved
from ackclock.scenario.contract import CODES

TRACES = (
    *("cwnd", "rtt", "sequence", "queue", "queue_distribution", "drops", "losses", "delay", "recovery", "rounds"),
    *("state", "rate", "aqm", "acr", "ip_queue", "cell_queue"),
)
OVERVIEW = "overview"
STATES = "state"
AQM = "aqm"
OVERVIEW_KINDS = CODES["overview.kind"]
_KINDS = (*OVERVIEW_KINDS, LOSS, DROP_OR_LOSS, FINISH)
_OF_FLOWS, _OF_PORTS = (0, 3, 7), (6,)
"""The kinds whose names are those of flows, and of ports of the ATM network; the others are of links."""


def trace_frames(resolved: Resolved, replications: Sequence[Replication]) -> dict[str, pd.DataFrame]:
    """Collect the traces that the scenario asked for, and the picture's overview of replication 0.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    dict of str to DataFrame
        A frame by trace name, in order of replication and time. Flows and links are named.
    """
    frames = {
        name: _trace_frame(resolved, name, replications)
        for name in TRACES
        if _asked(resolved, name) and any(name in replication["traces"] for replication in replications)
    }
    for replication in replications:
        if OVERVIEW in replication["traces"]:
            frames[OVERVIEW] = _overview_frame(resolved, replication)
    return frames


def _asked(resolved: Resolved, name: str) -> bool:
    probes = [resolved.trace] if resolved.atm is None else [resolved.trace, resolved.atm.trace]
    return any(getattr(probe, name, False) for probe in probes)


def captures(replications: Sequence[Replication]) -> dict[str, bytes]:
    """Collect the captures: one pcapng file by link name, of the first replication that has it."""
    found: dict[str, bytes] = {}
    for replication in replications:
        for link, content in (replication["traces"].get("capture") or {}).items():
            found.setdefault(link, bytes(content))
    return found


def captured_links(resolved: Resolved) -> list[str]:
    """Name the duplex links that a scenario captures, in its order: one file each, for both directions."""
    return list(dict.fromkeys(name.removesuffix(".reverse") for name in resolved.trace.capture or ()))


def _trace_frame(resolved: Resolved, name: str, replications: Sequence[Replication]) -> pd.DataFrame:
    parts = [(one["replication"], one["traces"][name]) for one in replications if name in one["traces"]]
    lengths = [len(next(iter(columns.values()))) for _, columns in parts]
    index = np.repeat([number for number, _ in parts], lengths).astype(np.uint32)
    frame: dict[str, Any] = {"replication": index}
    for column in parts[0][1]:
        frame[column] = _named(resolved, name, column, np.concatenate([columns[column] for _, columns in parts]))
    return pd.DataFrame(frame)


def _named(resolved: Resolved, trace: str, column: str, values: NDArray[Any]) -> Any:
    names = {"flow": _flow_names, "link": _link_names, "port": _port_names}
    if column in names:
        return _categorical(values, names[column](resolved))
    if f"{trace}.{column}" in CODES:
        return _categorical(values, tuple(CODES[f"{trace}.{column}"]))
    return values


def _categorical(codes: NDArray[Any], names: tuple[str, ...]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes.astype(np.int64), dtype=_categories(names))


@lru_cache(maxsize=64)
def _categories(names: tuple[str, ...]) -> pd.CategoricalDtype:
    """Make the type of a column of names once: that costs more than to fill a short column."""
    return pd.CategoricalDtype(pd.Index(names))


def _flow_names(resolved: Resolved) -> tuple[str, ...]:
    return resolved.flow_names


def _link_names(resolved: Resolved) -> tuple[str, ...]:
    return tuple(link.name for link in resolved.elements)


def _port_names(resolved: Resolved) -> tuple[str, ...]:
    return () if resolved.atm is None else tuple(port.name for port in resolved.atm.ports)


def _overview_frame(resolved: Resolved, replication: Replication) -> pd.DataFrame:
    columns = replication["traces"][OVERVIEW]
    kind, index = _with_losses(columns, replication["links"]), columns["index"]
    known = (resolved.flow_names, _link_names(resolved), _port_names(resolved))
    names = tuple(dict.fromkeys(name for some in known for name in some))
    numbers = {name: number for number, name in enumerate(names)}
    codes = np.empty(len(kind), dtype=np.int64)
    of_flows, of_ports = np.isin(kind, _OF_FLOWS), np.isin(kind, _OF_PORTS)
    for chosen, some in zip((of_flows, ~(of_flows | of_ports), of_ports), known, strict=True):
        codes[chosen] = np.array([numbers[name] for name in some], dtype=np.int64)[index[chosen]]
    ended = {name: time for name, time in _finishes(resolved, replication) if name in numbers}
    times = np.array(list(ended.values()), dtype=float)
    kind = np.append(kind, np.full(len(ended), _KINDS.index(FINISH), dtype=kind.dtype))
    codes = np.append(codes, np.array([numbers[name] for name in ended], dtype=np.int64))
    return pd.DataFrame(
        {
            "kind": _categorical(kind, _KINDS),
            "name": _categorical(codes, names),
            "time_s": np.append(columns["time_s"], times),
            "value": np.append(columns["value"], times),
        }
    )


def _with_losses(columns: Columns, links: Columns) -> NDArray[Any]:
    """Give the kinds of rows, where the engine calls drop what a queue drops and what a link loses before it."""
    kind, index = columns["kind"].copy(), columns["index"]
    drops, none = kind == _KINDS.index(DROP), np.zeros(len(links["dropped_packets"]))  # older results lack totals
    lost, dropped = (links.get(name, none)[index[drops]] > 0 for name in ("lost_total", "dropped_total"))
    kind[drops] = np.where(lost, _KINDS.index(LOSS), kind[drops])
    kind[drops] = np.where(lost & dropped, _KINDS.index(DROP_OR_LOSS), kind[drops])
    return kind


def _finishes(resolved: Resolved, replication: Replication) -> Iterator[tuple[str, float]]:
    """Give the flows that finished, with the instant [s]; those of a large group finish with the last one."""
    times = grouped(replication["flows"], resolved.rows)["finish_s"]
    for row, time in zip(resolved.rows, times.tolist(), strict=True):
        if np.isfinite(time):
            yield from ((name, time) for name in row.names)
