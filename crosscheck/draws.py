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
_NEAR = 32
_MARGIN = 5e-8  # a number closer to 0 might be met from below, by one of nearly 1

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
    first, second = (1_403_580 - 810_728) * seeds % M1, _second_component(seeds)
    return np.where(first > second, first - second, first - second + M1) / (M1 + 1.0)


def _second_component(seeds: Any) -> Any:
    return (527_612 - 1_370_589) * seeds % M2


@cache
def _table() -> tuple[Any, Any]:
    """Give the first numbers of the seeds below the size of the table in rising order, and these seeds."""
    seeds = np.arange(1, _TABLE_SIZE, dtype=np.int64)
    numbers = first_numbers(seeds)
    order = np.argsort(numbers)
    return numbers[order], seeds[order]


@cache
def _small_steps(*, wraps: bool) -> tuple[Any, Any]:
    """Give steps of a seed that change its first number by little, in rising order of the change, and these steps.

    Both components of the generator are linear in the seed, so the change is the first number after the step itself,
    where the second component of the sum does not pass its modulus, which is 22,644 below the first one's. Where it
    does, the change is less by their difference. One of the two is sure where the second components of the seed and of
    the step are in the same half: `wraps` chooses the steps for seeds in the upper half.
    """
    numbers, seeds = _table()
    multiples = np.arange(1, _STEPS, dtype=np.int64) * _TABLE_SIZE
    middle = np.searchsorted(numbers, 1.0 - first_numbers(multiples))
    near = np.clip(middle[:, None] + np.arange(-_NEAR, _NEAR), 0, len(seeds) - 1)
    steps = np.unique(seeds[near] + multiples[:, None])
    steps = steps[(_second_component(steps) >= M2 / 2) == wraps]
    changes = first_numbers(steps) - (M1 - M2) / (M1 + 1.0) * wraps
    changes = np.where(changes > 0.5, changes - 1.0, changes)
    order = np.argsort(changes)
    return changes[order], steps[order]


def ns2_seeds(wanted: Sequence[float]) -> list[int]:
    """Find seeds after which ns-2's first number is the wanted one.

    The nearest of a table of a million seeds is changed by a small step.

    Parameters
    ----------
    wanted : sequence of float
        Numbers in [0, 1).

    Returns
    -------
    list of int
        A seed for each, below 2^29.
    """
    target = np.clip(np.asarray(wanted, dtype=np.float64), _MARGIN, 1.0 - _MARGIN)
    seeds = _nearest(*_table(), target)
    missing = target - first_numbers(seeds)
    upper = _second_component(seeds) >= M2 / 2
    steps = np.where(upper, *(_nearest(*_small_steps(wraps=wraps), missing) for wraps in (True, False)))
    return [int(seed) for seed in seeds + steps]


def _nearest(numbers: Any, names: Any, wanted: Any) -> Any:
    """Give the names of the numbers, which are in rising order, that are nearest to the wanted ones."""
    above = np.clip(np.searchsorted(numbers, wanted), 1, len(numbers) - 1)
    return names[above - (wanted - numbers[above - 1] < numbers[above] - wanted)]
