"""TCP connections that send files and are silent in turn: the TCP-modified Engset model, Zaragoza 2014 ("[engset]").

N sources share the multiplexing link of their `Path`. Each sends a file of F packets on average (`Exponential`,
`ExponentialPareto`, `ExponentialExponential`), then is silent for OFF seconds on average. Capacities are in bit/s,
packet sizes in bytes, file sizes, windows, queues and buffers in packets, times in seconds. Queues and buffers count
the packet in transmission. RTT_0 is the whole round trip of one packet on the empty path, transmissions included.

`predict` computes all numbers of the model; ``MODELS["predict"]`` holds the domain, and warns outside it.

>>> found = predict(Path(0.05, [100e6, 10e6, 2e6]), packets=12, sources=134)         # table 10
>>> round(float(found.rate) / 1e3, 1), round(1e3 * float(found.on_time), 1), round(100 * float(found.offered_load), 1)
(154.9, 929.6, 163.5)
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.domain import Model, models_of
from ackclock.models.engset.buffers import (
    bandwidth_delay_buffer,
    buffer_for_loss,
    delay_buffer,
    exceedance,
    mean_queue,
)
from ackclock.models.engset.chain import Superposition, rate_in_state, state_probabilities, superposition
from ackclock.models.engset.flights import Rounds, Transfer, flight_sizes, offered_load, renormalised, rounds, transfer
from ackclock.models.engset.path import Path, Saturation, saturation
from ackclock.models.engset.prediction import Prediction, predict
from ackclock.models.engset.recovery import RenoRecovery, patient_recovery_drops, reno_recovery
from ackclock.models.engset.rule import BufferRule, buffer_rule, rule_path, sources_for_load
from ackclock.models.engset.single import Round, RoundKind, SingleQueue, single_queue
from ackclock.models.engset.sizes import Exponential, ExponentialExponential, ExponentialPareto, FileSizes
from ackclock.models.engset.timeouts import Course, SpuriousTimeouts, course, spurious_timeouts

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "BufferRule",
    "Course",
    "Exponential",
    "ExponentialExponential",
    "ExponentialPareto",
    "FileSizes",
    "Path",
    "Prediction",
    "RenoRecovery",
    "Round",
    "RoundKind",
    "Rounds",
    "Saturation",
    "SingleQueue",
    "SpuriousTimeouts",
    "Superposition",
    "Transfer",
    "bandwidth_delay_buffer",
    "buffer_for_loss",
    "buffer_rule",
    "course",
    "delay_buffer",
    "exceedance",
    "flight_sizes",
    "mean_queue",
    "offered_load",
    "patient_recovery_drops",
    "predict",
    "rate_in_state",
    "reno_recovery",
    "renormalised",
    "rounds",
    "rule_path",
    "saturation",
    "single_queue",
    "sources_for_load",
    "spurious_timeouts",
    "state_probabilities",
    "superposition",
    "transfer",
]
