"""Thresholds for a path whose delay jumps, searched with the engine: D and the least timeout (Abouzeid, Roy)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

from ackclock.advice.bench import Bench, before_after, of_flows
from ackclock.advice.records import Recommendation, Rule
from ackclock.paths import delay_processes
from ackclock.prediction.scene import Scene, lone_flow
from ackclock.result import Result
from ackclock.scenario.resolved_tcp import ClassicSettings
from ackclock.wording import number, seconds

TOPIC = "spurious-retransmissions"
QUESTION = "Which thresholds avoid spurious loss detection when the delay jumps?"
_WHY = (
    "When the delay drops, packets overtake one another and bring duplicate ACKs; when it rises, ACKs come later than "
    "the timer expects. Both look like losses, and each costs half a window or more"
)
THRESHOLDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
FLOORS = (0.0, 0.5, 1.0, 1.5, 2.0, 4.0)
"""Least timeouts that are tried, in round trips of the path."""
WORTH = 0.01
"""Least relative gain in goodput for which a setting is changed."""


@dataclass(frozen=True)
class Setting:
    """A threshold of duplicate ACKs (infinite: none) and a least timeout [s]."""

    threshold: float
    least_timeout_s: float

    def changes(self, flow: str) -> dict[str, str | int]:
        """Write it as overrides."""
        threshold = "infinite" if self.threshold == inf else int(self.threshold)
        return {
            f"flow.{flow}.tcp.dupack_threshold": threshold,
            f"flow.{flow}.tcp.rto.min": f"{self.least_timeout_s:.6g} s",
        }


def advise_timers(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Search D and the least timeout for a delay that changes; None if it does not."""
    scene, _ = lone_flow(bench.resolved)
    if scene is None or not delay_processes(bench.resolved, scene.flow):
        return None
    if not isinstance(scene.flow.tcp.sender, ClassicSettings):
        return None  # it detects by itself that a delay deceived it: there is no such threshold to choose
    if not simulate:
        return Recommendation(TOPIC, QUESTION, "Needs simulation: run again without --no-simulate")
    return _search(bench, scene)


def _search(bench: Bench, scene: Scene) -> Recommendation:
    sender = scene.flow.tcp.sender
    present = Setting(inf if sender.dupack_threshold is None else sender.dupack_threshold, sender.rto.min_s)
    runs: dict[Setting, Result] = {}

    def goodput(setting: Setting) -> float:
        if setting not in runs:
            what = f"D = {setting.threshold:g} and a timeout of {seconds(setting.least_timeout_s)} at least"
            runs[setting] = bench.run(setting.changes(scene.name), what)
        return float(of_flows("goodput_bps")(runs[setting])["mean"] or 0.0)

    best = present
    for _ in range(2):
        best = max((replace(best, threshold=threshold) for threshold in _thresholds(scene)), key=goodput)
        best = max((replace(best, least_timeout_s=floor) for floor in _floors(scene, present)), key=goodput)
    goodput(present)
    chosen = _least_change(present, best, {setting: goodput(setting) for setting in runs})
    if chosen != present and not bench.resolved.is_deterministic and not _holds(bench, scene, present, chosen):
        chosen = present
    return _recommendation(scene, present, chosen, runs)


def _holds(bench: Bench, scene: Scene, present: Setting, chosen: Setting) -> bool:
    """Return whether a setting gains as much with other random numbers: the search chose the best of many runs."""
    seed = {"run.seed": bench.resolved.run.seed + 1}
    changes = [{**seed, **one.changes(scene.name)} for one in (present, chosen)]
    before, after = bench.run_all(changes, "the answer once more, with other random numbers")
    goodput = of_flows("goodput_bps")
    return (goodput(after)["mean"] or 0.0) > (1.0 + WORTH) * (goodput(before)["mean"] or 0.0)


def _thresholds(scene: Scene) -> list[float]:
    most = min(scene.max_window, 64.0)
    return [float(threshold) for threshold in THRESHOLDS if threshold < most] + [most, inf]


def _floors(scene: Scene, present: Setting) -> list[float]:
    found = {round(part * scene.round_trip_s, 6) for part in FLOORS} | {present.least_timeout_s, 1.0}
    return sorted(found)


def _least_change(present: Setting, best: Setting, tried: Mapping[Setting, float]) -> Setting:
    """Choose, among the settings that are as good as the best, the one that changes least."""

    def changed(setting: Setting) -> tuple[int, float, float]:
        same = setting.threshold == present.threshold, setting.least_timeout_s == present.least_timeout_s
        return same.count(False), 0.0 if same[0] else setting.threshold, setting.least_timeout_s

    enough = tried[best] * (1.0 - WORTH)
    return min((setting for setting, goodput in tried.items() if goodput >= enough), key=changed)


def _recommendation(scene: Scene, present: Setting, best: Setting, runs: Mapping[Setting, Result]) -> Recommendation:
    rules = (*_threshold_rules(scene, present, best), *_floor_rules(present, best))
    tried = f"{len(runs)} settings simulated"
    if best == present:
        too = "" if scene.resolved.is_deterministic else ", with other random numbers too"
        answer = f"Keep the present settings: nothing that was tried gains more than 1%{too}"
        return Recommendation(TOPIC, QUESTION, answer, rules=rules, remarks=(tried,))
    before, after = runs[present], runs[best]
    changes = best.changes(scene.name)
    if best.threshold == present.threshold:
        del changes[f"flow.{scene.name}.tcp.dupack_threshold"]
    if best.least_timeout_s == present.least_timeout_s:
        del changes[f"flow.{scene.name}.tcp.rto.min"]
    return Recommendation(
        TOPIC,
        QUESTION,
        f"{_words(present, best)}. {_WHY}",
        changes,
        rules,
        (
            before_after("goodput", "bit/s", before, after, of_flows("goodput_bps")),
            before_after("timeouts", "", before, after, of_flows("timeouts")),
            before_after("fast retransmits", "", before, after, of_flows("fast_retransmits")),
        ),
        (tried, "the best setting depends on the true loss rate: the more losses, the smaller"),
    )


def _words(present: Setting, best: Setting) -> str:
    parts = []
    if best.threshold != present.threshold:
        few = f"{number(present.threshold)} now" if present.threshold < inf else "none of them now"
        what = (
            f"{number(best.threshold)} duplicate ACKs before a fast retransmit ({few})" if best.threshold < inf else ""
        )
        parts.append(what or "no fast retransmit at all")
    if best.least_timeout_s != present.least_timeout_s:
        parts.append(f"a timeout of at least {seconds(best.least_timeout_s)} (now {seconds(present.least_timeout_s)})")
    text = " and ".join(parts)
    return text[:1].upper() + text[1:]


def _threshold_rules(scene: Scene, present: Setting, best: Setting) -> Iterator[Rule]:
    yield Rule(
        "D of the search",
        "simulations of this scenario",
        best.threshold,
        "pkt",
        valid=True,
        reason=f"the best of {len(_thresholds(scene))} for this path",
        chosen=best.threshold != present.threshold,
    )
    if scene.max_window < inf:
        yield Rule(
            "D = the window",
            "Abouzeid, Roy, section IV.C",
            scene.max_window,
            "pkt",
            valid=not _lossy(scene),
            reason="the best where nothing is ever lost: a fast retransmit is then always spurious",
        )
    yield Rule(
        "D = 3",
        "RFC 5681, section 3.2",
        3.0,
        "pkt",
        valid=False,
        reason="made for packets that keep their order, or nearly",
    )


def _floor_rules(present: Setting, best: Setting) -> Iterator[Rule]:
    yield Rule(
        "least timeout of the search",
        "simulations of this scenario",
        best.least_timeout_s,
        "s",
        valid=True,
        reason="for this path",
        chosen=best.least_timeout_s != present.least_timeout_s,
    )
    yield Rule(
        "RTO_min = 1 s",
        "RFC 6298, section 2 (2.4)",
        1.0,
        "s",
        valid=True,
        reason="against spurious timeouts, on any path",
    )


def _lossy(scene: Scene) -> bool:
    """Return whether packets can be lost at all."""
    return any(scene.resolved.elements[index].loses for index in scene.flow.crossed)
