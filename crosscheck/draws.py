"""The random numbers of our engine's elements, and seeds that make ns-2 draw the same ones."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from crosscheck.mrg32k3a import M1, M2

_WORD = (1 << 64) - 1

_TABLE_SIZE = 1 << 20
_STEPS = 256

SEED_RESOLUTION = 1e-7
"""Largest distance of the first number after a seed of `ns2_seeds` from the wanted one; most are 30 times closer."""


def stream(name: str, *, seed: int = 1, replication: int = 0) -> Iterator[float]:
    """Give the numbers that an element of our engine draws, uniform in [0, 1): xoshiro256++ (`base::RandomStream`).

    Parameters
    ----------
    name : str
        Kind and name of the element, such as "link/shared".
    seed, replication : int
        Seed and replication of the run.
    """
    mixed = 0xCBF2_9CE4_8422_2325
    for byte in seed.to_bytes(8, "little") + replication.to_bytes(8, "little") + name.encode():
        mixed = (mixed ^ byte) * 0x0000_0100_0000_01B3 & _WORD
    a, b, c, d = islice(_split_mix(mixed), 4)
    while True:
        yield ((_rotated(a + d & _WORD, 23) + a & _WORD) >> 11) / 2.0**53
        shifted = b << 17 & _WORD
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c, d = c ^ shifted, _rotated(d, 45)


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & _WORD


def _split_mix(state: int) -> Iterator[int]:
    while True:
        state = state + 0x9E37_79B9_7F4A_7C15 & _WORD
        mixed = (state ^ state >> 30) * 0xBF58_476D_1CE4_E5B9 & _WORD
        mixed = (mixed ^ mixed >> 27) * 0x94D0_49BB_1331_11EB & _WORD
        yield mixed ^ mixed >> 31


def first_numbers(seeds: Any) -> Any:
    """Give the first number that ns-2 draws after each seed: `mrg32k3a.Mrg32k3a(seed).uniform()` of arrays."""
    first = (1_403_580 - 810_728) * seeds % M1
    second = (527_612 - 1_370_589) * seeds % M2
    return np.where(first > second, first - second, first - second + M1) / (M1 + 1.0)


@cache
def _table() -> tuple[Any, Any]:
    """Give the first numbers of the seeds below the size of the table in rising order, and these seeds."""
    seeds = np.arange(1, _TABLE_SIZE, dtype=np.int64)
    numbers = first_numbers(seeds)
    order = np.argsort(numbers)
    return numbers[order], seeds[order]


def ns2_seeds(wanted: Sequence[float]) -> list[int]:
    """Find seeds after which ns-2's first number is the wanted one.

    A sum of two seeds draws the sum of their numbers, except for a few parts in a million where a modulus is passed. So
    of the seeds in a table and the same with multiples of the table's size added, the nearest is found by search.

    Parameters
    ----------
    wanted : sequence of float
        Numbers in [0, 1).

    Returns
    -------
    list of int
        A seed for each, below 2^28.
    """
    order = np.argsort(wanted)
    target = np.asarray(wanted, dtype=np.float64)[order]  # a search for rising numbers stays in the cache
    numbers, seeds = _table()
    best, nearest = np.zeros(target.shape, dtype=np.int64), np.full(target.shape, np.inf)
    for step in range(_STEPS):
        added = step * _TABLE_SIZE
        place = np.searchsorted(numbers, (target - first_numbers(np.int64(added))) % 1.0) if step else None
        place = np.searchsorted(numbers, target) if place is None else place
        for neighbour in (place - 1, place):
            candidate = seeds[np.clip(neighbour, 0, len(seeds) - 1)] + added
            distance = np.abs(first_numbers(candidate) - target)
            better = distance < nearest
            best, nearest = np.where(better, candidate, best), np.where(better, distance, nearest)
    return [int(seed) for seed in best[np.argsort(order)]]
