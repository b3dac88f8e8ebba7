"""The engine's trace columns as data frames, with names where the engine counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.scenario.contract import CODES

TRACES = (
    *("cwnd", "rtt", "sequence", "queue", "queue_distribution", "drops", "losses", "delay", "recovery", "rounds"),
    *("state", "rate", "acr", "ip_queue", "cell_queue"),
)
OVERVIEW = "overview"
STATES = "state"
OVERVIEW_KINDS = CODES["overview.kind"]
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
    if column == "flow":
        return pd.Categorical.from_codes(values.astype(np.int64), categories=pd.Index(resolved.flow_names))
    if column == "link":
        return pd.Categorical.from_codes(values.astype(np.int64), categories=_link_names(resolved))
    if column == "port":
        return pd.Categorical.from_codes(values.astype(np.int64), categories=_port_names(resolved))
    if f"{trace}.{column}" in CODES:
        return pd.Categorical.from_codes(values.astype(np.int64), categories=pd.Index(CODES[f"{trace}.{column}"]))
    return values


def _link_names(resolved: Resolved) -> "pd.Index[str]":
    return pd.Index([link.name for link in resolved.elements])


def _port_names(resolved: Resolved) -> "pd.Index[str]":
    return pd.Index([] if resolved.atm is None else [port.name for port in resolved.atm.ports])


def _overview_frame(resolved: Resolved, replication: Replication) -> pd.DataFrame:
    columns = replication["traces"][OVERVIEW]
    kind, index = columns["kind"], columns["index"]
    flows = np.array(resolved.flow_names, dtype=object)
    links = np.array(_link_names(resolved), dtype=object)
    ports = np.array(_port_names(resolved), dtype=object)
    names = np.empty(len(kind), dtype=object)
    of_flows, of_ports = np.isin(kind, _OF_FLOWS), np.isin(kind, _OF_PORTS)
    of_links = ~(of_flows | of_ports)
    for chosen, known in ((of_flows, flows), (of_ports, ports), (of_links, links)):
        names[chosen] = known[index[chosen]]
    return pd.DataFrame(
        {
            "kind": pd.Categorical.from_codes(kind.astype(np.int64), categories=pd.Index(OVERVIEW_KINDS)),
            "name": pd.Categorical(names, categories=pd.unique(np.concatenate([flows, links, ports]))),
            "time_s": columns["time_s"],
            "value": columns["value"],
        }
    )
