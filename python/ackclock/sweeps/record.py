"""A finished point as bytes: the same replications give the same bytes, and damage is noticed."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.engine import engine_fingerprint
from ackclock.replication import Replication, ResolvedDict, SourceTables

FORMAT = 1
_MAGIC = b"ackclock point 1\n"
_DIGEST = 16
_LENGTH = 8


def point_key(resolved: ResolvedDict) -> str:
    """Name a point by its content: what changes its numbers changes the name, and nothing else does.

    Parameters
    ----------
    resolved : mapping
        The scenario as plain data. Its title changes no number that is kept, and its confidence level only one that
        decides how many replications there are.

    Returns
    -------
    str
        32 hexadecimal digits of scenario, engine and format.
    """
    idle = set() if resolved["run"].get("precision") else {"confidence"}
    run = {name: value for name, value in resolved["run"].items() if name not in idle}
    content = {**{name: value for name, value in resolved.items() if name != "title"}, "run": run}
    text = json.dumps([FORMAT, engine_fingerprint(), content], sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST).hexdigest()


def encode(replications: Sequence[Replication]) -> bytes:
    """Write replications as bytes; the CPU time, which no two runs share, is left out."""
    arrays: list[NDArray[Any]] = []
    headers = []
    for one in replications:
        header: dict[str, Any] = {name: one[name] for name in ("replication", "packets", "events")}
        header["flows"] = _listed(one["flows"], arrays)
        header["links"] = _listed(one["links"], arrays)
        header["traces"] = {
            name: _listed(columns, arrays) for name, columns in sorted(one["traces"].items()) if columns
        }
        header["transfers"] = [_sources(table, arrays) for table in one.get("transfers", ())]
        headers.append(header)
    text = json.dumps(headers, sort_keys=True).encode()
    body = b"".join([len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in arrays)])
    return _MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest() + body


def is_whole(content: bytes) -> bool:
    """Tell whether bytes are a point, undamaged."""
    start = len(_MAGIC) + _DIGEST
    body = memoryview(content)[start:]
    return content[:start] == _MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest()


def decode(content: bytes) -> list[Replication]:
    """Read what `encode` wrote."""
    start = len(_MAGIC) + _DIGEST
    length = int.from_bytes(content[start : start + _LENGTH], "little")
    start += _LENGTH
    headers = json.loads(content[start : start + length])
    blocks = _blocks(content, start + length)
    next(blocks)
    return [
        Replication(
            replication=header["replication"],
            packets=header["packets"],
            events=header["events"],
            cpu_s=math.nan,
            flows=_read(header["flows"], blocks),
            links=_read(header["links"], blocks),
            traces={name: _read(columns, blocks) for name, columns in header["traces"].items()},
            transfers=[_read_sources(table, blocks) for table in header["transfers"]],
        )
        for header in headers
    ]


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


def _read_sources(header: Mapping[str, Any], blocks: "_Blocks") -> SourceTables:
    return SourceTables(
        entry=header["entry"],
        started=header["started"],
        completed=header["completed"],
        classes=_read(header["classes"], blocks),
        states=_read(header["states"], blocks),
        sequence_drops=_read(header["sequence_drops"], blocks)["drops"],
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


_Blocks = Any


def _blocks(content: bytes, start: int) -> _Blocks:
    """Give the next array each time it is sent a type and a length."""
    array: NDArray[Any] = np.empty(0)
    while True:
        dtype, count = yield array
        array = np.frombuffer(content, dtype=dtype, count=count, offset=start)
        start += array.nbytes


def _read(listed: Sequence[Sequence[Any]], blocks: _Blocks) -> dict[str, NDArray[Any]]:
    return {name: blocks.send((dtype, count)) for name, dtype, count in listed}


def packets_of(replications: Sequence[Replication]) -> int:
    """Count the packets that were simulated."""
    return sum(one["packets"] for one in replications)


def numbered(points: Sequence[ResolvedDict]) -> Iterator[tuple[str, ResolvedDict]]:
    """Give each different point once, with its name."""
    yield from {point_key(resolved): resolved for resolved in points}.items()
