"""A finished point as bytes: the same replications give the same bytes, and damage is noticed."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.engine import engine_fingerprint
from ackclock.replication import Columns, DelayTables, Replication, SourceTables
from ackclock.scenario import Resolved

FORMAT = 2
_MAGIC = b"ackclock point 2\n"
_DIGEST = 16
_LENGTH = 8


def point_key(resolved: Resolved) -> str:
    """Name a point by its content: what changes its numbers changes the name, and nothing else does.

    Parameters
    ----------
    resolved : Resolved
        The scenario. Its title changes no number that is kept, and its confidence level only one that
        decides how many replications there are.

    Returns
    -------
    str
        32 hexadecimal digits of scenario, engine and format.
    """
    content = resolved.to_dict()
    del content["title"]
    if resolved.run.precision is None:
        del content["run"]["confidence"]
    text = json.dumps([FORMAT, engine_fingerprint(), content], sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST).hexdigest()


def encode(key: str, replications: Sequence[Replication]) -> bytes:
    """Write the replications of the point of a name as bytes; the CPU time, which no two runs share, is left out."""
    arrays: list[NDArray[Any]] = []
    headers = []
    for one in replications:
        header: dict[str, Any] = {name: one[name] for name in ("replication", "packets", "events")}
        header["flows"] = _listed(one["flows"], arrays)
        header["links"] = _listed(one["links"], arrays)
        header["traces"] = {
            name: _listed(columns, arrays) for name, columns in sorted(one["traces"].items()) if columns
        }
        if "delays" in one:
            delays = one["delays"]
            header["delays"] = {
                "flows": _listed(delays["flows"], arrays),
                "links": _listed(delays["links"], arrays),
                "round_trip": _listed(delays["round_trip"], arrays),
                "excess": _listed(delays["excess"], arrays),
                "wait": _listed(delays["wait"], arrays),
            }
        header["tables"] = {
            "completions": _tables(one.get("completions", {}), arrays),
            "pings": _tables(one.get("pings", {}), arrays),
            "classes": _tables(one.get("classes", {}), arrays),
        }
        header["batches"] = [_listed(one.get("flow_batches", {}), arrays), _listed(one.get("link_batches", {}), arrays)]
        header["transfers"] = [_sources(table, arrays) for table in one.get("transfers", ())]
        headers.append(header)
    text = json.dumps(headers, sort_keys=True).encode()
    body = b"".join([len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in arrays)])
    return _MAGIC + _digest(key, body) + body


def is_whole(key: str, content: bytes) -> bool:
    """Return whether bytes are the point of that name, undamaged."""
    start = len(_MAGIC) + _DIGEST
    return content[:start] == _MAGIC + _digest(key, memoryview(content)[start:])


def _digest(key: str, body: bytes | memoryview) -> bytes:
    """Give a digest of a point and its name, so that no other point is taken for it."""
    digest = hashlib.blake2b(key.encode(), digest_size=_DIGEST)
    digest.update(body)
    return digest.digest()


def decode(content: bytes) -> list[Replication]:
    """Read what `encode` wrote."""
    start = len(_MAGIC) + _DIGEST
    length = int.from_bytes(content[start : start + _LENGTH], "little")
    start += _LENGTH
    headers = json.loads(content[start : start + length])
    arrays = _Reader(content, start + length)
    return [_read_replication(header, arrays) for header in headers]


def _read_replication(header: Mapping[str, Any], arrays: "_Reader") -> Replication:
    """Read the tables in the order in which `encode` wrote them."""
    found = Replication(
        replication=header["replication"],
        packets=header["packets"],
        events=header["events"],
        cpu_s=math.nan,
        flows=arrays.columns(header["flows"]),
        links=arrays.columns(header["links"]),
        traces={name: arrays.columns(columns) for name, columns in header["traces"].items()},
    )
    if "delays" in header:
        listed = header["delays"]
        found["delays"] = DelayTables(
            flows=arrays.columns(listed["flows"]),
            links=arrays.columns(listed["links"]),
            round_trip=arrays.columns(listed["round_trip"]),
            excess=arrays.columns(listed["excess"]),
            wait=arrays.columns(listed["wait"]),
        )
    found["completions"] = arrays.tables(header["tables"]["completions"])
    found["pings"] = arrays.tables(header["tables"]["pings"])
    if classes := arrays.tables(header["tables"]["classes"]):
        found["classes"] = classes
    batches = [arrays.columns(listed) for listed in header["batches"]]
    if batches[0]:
        found["flow_batches"], found["link_batches"] = batches
    found["transfers"] = [_read_sources(table, arrays) for table in header["transfers"]]
    return found


def _tables(tables: Mapping[str, Columns], arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """Append tables; give the list of each."""
    return {name: _listed(columns, arrays) for name, columns in sorted(tables.items())}


def _sources(table: SourceTables, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """Append the tables of a source; give its numbers, and the list of each table."""
    return {
        "entry": table["entry"],
        "started": table["started"],
        "completed": table["completed"],
        "classes": _listed(table["classes"], arrays),
        "states": _listed(table["states"], arrays),
        "sequence_drops": _listed({"drops": table["sequence_drops"]}, arrays),
    }


def _read_sources(header: Mapping[str, Any], arrays: "_Reader") -> SourceTables:
    return SourceTables(
        entry=header["entry"],
        started=header["started"],
        completed=header["completed"],
        classes=arrays.columns(header["classes"]),
        states=arrays.columns(header["states"]),
        sequence_drops=arrays.columns(header["sequence_drops"])["drops"],
    )


def _listed(columns: Mapping[str, Any], arrays: list[NDArray[Any]]) -> list[list[Any]]:
    """Append the arrays; give name, type and length of each."""
    listed = []
    for name, values in columns.items():
        array = np.ascontiguousarray(values)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        arrays.append(array)
        listed.append([name, array.dtype.str, len(array)])
    return listed


class _Reader:
    """A reader of arrays from bytes, one behind the other."""

    def __init__(self, content: bytes, start: int) -> None:
        self._content = content
        self._offset = start

    def columns(self, listed: Sequence[Sequence[Any]]) -> Columns:
        """Read the next arrays, whose names, types and lengths are listed."""
        return {name: self._array(dtype, count) for name, dtype, count in listed}

    def tables(self, listed: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, Columns]:
        """Read the next tables, in the order of their names in `listed`."""
        return {name: self.columns(columns) for name, columns in listed.items()}

    def _array(self, dtype: str, count: int) -> NDArray[Any]:
        array = np.frombuffer(self._content, dtype=dtype, count=count, offset=self._offset)
        self._offset += array.nbytes
        return array


def packets_of(replications: Sequence[Replication]) -> int:
    """Count the packets that were simulated."""
    return sum(one["packets"] for one in replications)
