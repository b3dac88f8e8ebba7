"""Buffers that let slow start pass: for Tahoe, which begins each cycle with one (Barakat, Altman 1999)."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, floor, inf

import numpy as np

from ackclock.advice.bench import Bench, before_after, lost_in_slow_start, of_flows
from ackclock.advice.records import BeforeAfter, Recommendation, Rule
from ackclock.errors import ModelError
from ackclock.models import bottlenecks
from ackclock.paths import Node
from ackclock.prediction.scene import Scene, drop_factor, lone_flow
from ackclock.result import Result
from ackclock.wording import number

TOPIC = "slow-start-buffers"
QUESTION = "Which buffers let slow start reach its threshold without a loss?"
SOURCE = "Barakat, Altman 1999, equation (4)"
_WHY = "slow start sends bursts, twice as fast as the slowest link takes them: a buffer must hold a burst"
CYCLES = 20
"""Number of TCP cycles that the check simulates; the first two are not measured."""
STEPS = 8
STEP = 1.1
"""Factor by which the buffers grow, at most `STEPS` times, while the simulation loses packets in slow start."""


def advise_slow_start(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend buffers against the double slow start; None if the question does not arise."""
    scene, _ = lone_flow(bench.resolved)
    if scene is None or not scene.flow.tcp.sender.slow_starts_after_fast_retransmit or scene.slow_acks():
        return None
    access, nodes = scene.access_and_nodes
    if any(drop_factor(node.queue) is None for node in nodes) or not _limited(scene, nodes):
        return None
    found = _cycle(scene, access, nodes, [node.buffer for node in nodes])
    if found is None:
        return None
    if not found.double_slow_start:
        return Recommendation(
            TOPIC, QUESTION, "The ones that are there: slow start reaches its threshold before they are full"
        )
    wanted = sufficient_buffers(scene, access, nodes)
    if wanted is None:
        return None
    rules = (*_exact_rules(scene, nodes, wanted), *_approximate_rules(scene, nodes, wanted))
    recommendation = Recommendation(
        TOPIC, QUESTION, _answer(nodes, found, wanted), _changes(nodes, wanted), rules, remarks=(_WHY,)
    )
    return _checked(bench, scene, nodes, wanted, recommendation) if simulate else recommendation


def sufficient_buffers(scene: Scene, access: float, nodes: list[Node]) -> list[float] | None:
    """Find the least whole buffers, none below the present, that slow start does not overflow [bottlenecks, eq. 4].

    The burst size of a node grows with its buffer in proportion, the threshold with the bottleneck's: a larger buffer
    there may ask for larger ones elsewhere, so the search goes up until nothing changes.
    """
    buffers = [node.buffer for node in nodes]
    for _ in range(100):
        found = _cycle(scene, access, nodes, buffers)
        if found is None:
            return None
        if not found.double_slow_start:
            return buffers
        needed = float(bottlenecks.required_burst_size(float(found.threshold)))
        sizes = bottlenecks.burst_sizes([node.packet_rate for node in nodes], buffers, access)
        buffers = [
            max(buffer, float(floor(needed * buffer / size) + 1)) if size < inf else buffer
            for buffer, size in zip(buffers, np.asarray(sizes).tolist(), strict=True)
        ]
    return None


def _limited(scene: Scene, nodes: list[Node]) -> bool:
    """Return whether buffers, not the receiver, end the growth of the window."""
    held = nodes[int(bottlenecks.avoidance_node([node.packet_rate for node in nodes]))] if nodes else None
    if held is None or held.buffer == inf:
        return False
    rate = min(node.packet_rate for node in nodes)
    return scene.max_window > rate * scene.round_trip_s + held.buffer


def _cycle(scene: Scene, access: float, nodes: list[Node], buffers: list[float]) -> bottlenecks.Cycle | None:
    try:
        return bottlenecks.cycle([node.packet_rate for node in nodes], buffers, scene.round_trip_s, access)
    except ModelError:
        return None


def _changes(nodes: list[Node], wanted: list[float]) -> dict[str, str]:
    return {
        f"link.{node.name}.buffer": f"{buffer:g} pkt"
        for node, buffer in zip(nodes, wanted, strict=True)
        if buffer > node.buffer
    }


def _answer(nodes: list[Node], found: bottlenecks.Cycle, buffers: list[float]) -> str:
    larger = [
        f"{number(buffer)} packets at {node.name} (now {number(node.buffer)})"
        for node, buffer in zip(nodes, buffers, strict=True)
        if buffer > node.buffer
    ]
    full = nodes[int(found.overflow.node)].name
    return (
        f"{' and '.join(larger)}. Now each slow start fills the buffer of {full} when its window is only "
        f"{number(round(float(found.overflow.window)))} packets, although it could go up to "
        f"{number(round(float(found.threshold)))}: packets are lost, and the connection starts slowly a second time"
    )


def _exact_rules(scene: Scene, nodes: list[Node], wanted: list[float]) -> Iterator[Rule]:
    for node, buffer in zip(nodes, wanted, strict=True):
        yield Rule(
            f"slow start passes {node.name}: S > W_th",
            SOURCE,
            buffer,
            "pkt",
            valid=True,
            reason="for the rates of this path",
            chosen=buffer > node.buffer,
        )
    slowest = min(nodes, key=lambda node: node.packet_rate)
    worst = float(bottlenecks.minimum_bottleneck_buffer(slowest.packet_rate, scene.round_trip_s))
    yield Rule(
        f"slow start passes {slowest.name}, whatever is before it",
        SOURCE,
        float(floor(worst) + 1),
        "pkt",
        valid=True,
        reason="the worst case, fed at twice its rate",
    )


def _approximate_rules(scene: Scene, nodes: list[Node], wanted: list[float]) -> Iterator[Rule]:
    source = "Barakat, Altman 1999, section 6"
    slowest, buffer = min(zip(nodes, wanted, strict=True), key=lambda pair: pair[0].packet_rate)
    rate, round_trip = slowest.packet_rate, scene.round_trip_s
    third = float(bottlenecks.minimum_bottleneck_buffer_approximate(rate, round_trip))
    yield Rule("mu T / 3", source, ceil(third), "pkt", valid=True, reason="approximates (4)")
    for node in nodes:
        if node.packet_rate > rate:
            quarter = float(bottlenecks.minimum_intermediate_buffer_approximate(rate, round_trip, buffer))
            yield Rule(
                f"(mu T + B) / 4 at {node.name}",
                source,
                ceil(quarter),
                "pkt",
                valid=True,
                reason="approximates (4) for a node before the slowest, whatever its rate",
            )


def _checked(
    bench: Bench, scene: Scene, nodes: list[Node], wanted: list[float], plan: Recommendation
) -> Recommendation:
    """Simulate before and after; where slow start still loses packets, try somewhat larger buffers."""
    run = _check_run(scene, nodes, wanted)
    before = bench.run(run, "the path as it is")
    buffers, after = wanted, bench.run({**run, **plan.changes}, "the new buffers")
    for _ in range(STEPS):
        if not lost_in_slow_start(after)["mean"]:
            break
        buffers = [
            float(ceil(buffer * STEP)) if buffer > node.buffer else buffer
            for node, buffer in zip(nodes, buffers, strict=True)
        ]
        after = bench.run({**run, **_changes(nodes, buffers)}, "larger buffers still")
    access, _ = scene.access_and_nodes
    found = _cycle(scene, access, nodes, [node.buffer for node in nodes])
    answer = plan.answer if found is None else _answer(nodes, found, buffers)
    refuted = _refuted(before, after)
    return replace(
        plan,
        answer=f"Keep those that are there: {refuted}" if refuted else answer,
        changes={} if refuted else _changes(nodes, buffers),
        check=_check(before, after),
        remarks=(
            *plan.remarks,
            *_remarks(wanted, buffers),
            f"simulated for {run['run.duration']}, the first two cycles not measured",
        ),
    )


def _check(before: Result, after: Result) -> tuple[BeforeAfter, ...]:
    return (
        before_after("throughput", "bit/s", before, after, of_flows("throughput_bps")),
        before_after("packets lost in slow start", "", before, after, lost_in_slow_start),
        before_after("timeouts", "", before, after, of_flows("timeouts")),
        before_after("fast retransmits", "", before, after, of_flows("fast_retransmits")),
        before_after("round trip, mean", "s", before, after, of_flows("rtt_mean_s")),
    )


def _refuted(before: Result, after: Result) -> str:
    """Say what the simulation has against the new buffers, if anything."""
    if lost_in_slow_start(after)["mean"]:
        return "even with larger ones slow start lost packets in the simulation"
    gained, present = (of_flows("throughput_bps")(run)["mean"] or 0.0 for run in (after, before))
    return "" if gained > present else "larger ones gave no more throughput in the simulation"


def _remarks(wanted: list[float], buffers: list[float]) -> Iterator[str]:
    if buffers != wanted:
        said = ", ".join(
            f"{number(new)} instead of {number(old)}" for old, new in zip(wanted, buffers, strict=True) if old != new
        )
        yield f"the simulation wanted more than the formula, {said} packets: the formula takes packets as a fluid"


def _check_run(scene: Scene, nodes: list[Node], wanted: list[float]) -> dict[str, str | bool]:
    """Choose a run of `CYCLES` cycles: in each the window grows by a packet a round trip from half to all of W_max."""
    slowest = min(node.packet_rate for node in nodes)
    largest = slowest * scene.round_trip_s + max(wanted)
    cycle = largest * (scene.round_trip_s + max(wanted) / slowest)
    return {
        "run.duration": f"{ceil(CYCLES * cycle)} s",
        "run.warmup": f"{ceil(2 * cycle)} s",
        "trace.drops": True,
    }
