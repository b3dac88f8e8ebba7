"""Sizes that depend on each other, and what a small buffer may not do: starve flows, lose calls, idle by chance."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

import ackclock
from ackclock.advice import Recommendation
from ackclock.advice.judge import LEAST_SHARE, Judge
from ackclock.advice.knobs import Knob
from ackclock.advice.lengths import Length, length_for
from ackclock.advice.sizes import search_each
from ackclock.advice.targets import Targets
from ackclock.advice.trials import Trials
from ackclock.result import Result
from advising import recommended
from fakes import make_flow, make_resolved

if TYPE_CHECKING:
    from ackclock.advice.bench import Bench


def searched(scenario: Any, **arguments: Any) -> Recommendation:
    return recommended(scenario, "bottleneck-buffer", **arguments)


def run(scenario: Any, **overrides: Any) -> Result:
    return ackclock.run(scenario, overrides=overrides, picture=False)


TWO: dict[str, Any] = {
    "link": [
        {"name": "a", "rate": "25 Mbit/s", "delay": "5 ms", "buffer": "300 pkt"},
        {"name": "b", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "60 pkt"},
    ],
    "flow": [{"name": "long", "count": 3, "path": ["a", "b"]}, {"name": "cross", "path": ["a"]}],
    "run": {"duration": "60 s", "warmup": "10 s"},
}
PRESENT = {"a": 300, "b": 60}


def test_the_tables_of_two_sizes_say_which_size_the_other_has() -> None:
    found = searched(TWO)
    sizes = {place: int(found.changes[f"link.{place}.buffer"].removesuffix(" pkt")) for place in "ab"}
    for table, place, other in zip(found.alternatives, "ab", "ba", strict=True):
        assert table.elsewhere == f"{sizes[other]} packets at {other}"
        assert table.table.note == f"With {sizes[other]} packets at {other}, unless a row says otherwise."
        (chosen,) = (row for row in table.rows if row.chosen)
        assert (chosen.size_packets, chosen.others) == (sizes[place], {other: sizes[other]})
        for row in table.rows:
            (size,) = row.others.values()
            assert (f"with {size:.0f} packets at {other}" in row.note) == (size != sizes[other])
        here = [row for row in table.rows if row.size_packets == PRESENT[place]]
        (present,) = (row for row in here if row.others[other] == PRESENT[other])
        assert present.note.startswith("now")
    after = run(TWO, **{"run.duration": "200 s"}, **found.changes).links.utilisation_fraction
    assert after["b"] > 0.985


class Runs:
    """A bench whose runs are the sizes themselves."""

    def __init__(self, spent_after: int) -> None:
        self.left = spent_after

    @property
    def spent(self) -> bool:
        return self.left < 2

    def run_all(self, changes: Sequence[Mapping[str, str]], what: str, length: Length) -> list[tuple[int, ...]]:
        self.left -= len(changes)
        return [tuple(int(one[key].removesuffix(" pkt")) for key in sorted(one)) for one in changes]


class Rule:
    """A judge of sizes."""

    def __init__(self, passes: Callable[[int, int], bool]) -> None:
        self.passes = passes

    def most(self, knob: Knob) -> int:
        return knob.ample

    def missed(self, sizes: tuple[int, int]) -> list[str]:
        return [] if self.passes(*sizes) else ["too few"]


def found_by(passes: Callable[[int, int], bool], spent_after: int = 1000) -> tuple[dict[str, float] | None, bool]:
    """Search two sizes of which 1000 packets are ample, and return whether the search has settled."""
    knobs = [Knob("buffer", (name,), (name,), (name,), 300.0, 50, 1000, 100.0) for name in "ab"]
    trials = Trials(cast("Bench", Runs(spent_after)), Length(1.0, 0.0, 1), tuple(knobs))
    _, sizes, is_settled = search_each(trials, cast("Judge", Rule(passes)))
    return (None if sizes is None else {knob.place: size for knob, size in sizes.items()}), is_settled


def test_two_sizes_are_lowered_in_step_first() -> None:
    """With the other ample one of them could be 10, and the other would have to be 990."""
    sizes, is_settled = found_by(lambda a, b: a + b >= 200 or (a >= 10 and b >= 990))
    assert is_settled
    assert sizes is not None
    assert 200 <= sizes["a"] + sizes["b"] <= 230
    assert min(sizes.values()) >= 80


def test_a_size_is_searched_again_with_what_the_other_needs() -> None:
    """The link a needs 90 packets where b holds less than 30, and 400 where b holds more."""
    sizes, is_settled = found_by(lambda a, b: b >= 20 and a >= (90 if b < 30 else 400))
    assert is_settled
    assert sizes is not None
    assert 90 <= sizes["a"] <= 93
    assert sizes["b"] == 20


def test_sizes_that_do_not_depend_on_each_other_are_searched_alone() -> None:
    assert found_by(lambda a, b: a >= 25 and b >= 7) == ({"a": 25.0, "b": 7.0}, True)


def test_a_size_holds_with_the_neighbour_above_of_the_other_too() -> None:
    """The link a passes with 64 packets while b has 20, by chance: it does not while b has 22."""
    sizes, _ = found_by(lambda a, b: b >= 20 and (a >= 200 or (b == 20 and 64 <= a < 80)))
    assert sizes is not None
    assert 200 <= sizes["a"] <= 206


def test_a_buffer_has_room_for_more_than_the_packet_in_transmission() -> None:
    assert found_by(lambda a, b: True) == ({"a": 2.0, "b": 2.0}, True)


@pytest.mark.parametrize("spent_after", [20, 26, 30, 40])
def test_a_search_that_is_over_has_the_last_sizes_that_hold(spent_after: int) -> None:
    sizes, is_settled = found_by(lambda a, b: b >= 20 and a >= (90 if b < 30 else 400), spent_after)
    assert not is_settled
    assert sizes is not None
    assert sizes["b"] >= 20
    assert sizes["a"] >= (90 if sizes["b"] < 30 else 400)


def test_no_sizes_are_found_where_none_in_step_are_enough() -> None:
    assert found_by(lambda a, b: False) == (None, True)


@pytest.mark.parametrize("seed", range(10))
def test_noise_leaves_sizes_that_hold(seed: int) -> None:
    """Sizes are found wherever ample ones hold, however the runs between scatter."""
    noise = random.Random(seed)
    drawn: dict[tuple[int, int], bool] = {}

    def passes(a: int, b: int) -> bool:
        return drawn.setdefault((a, b), min(a / 40.0, b / 70.0) * noise.gauss(1.0, 0.05) >= 1.0)

    sizes, _ = found_by(passes)
    assert sizes is not None
    assert passes(int(sizes["a"]), int(sizes["b"]))
    assert sizes["a"] <= 80
    assert sizes["b"] <= 140


def test_a_link_of_acks_alone_has_no_utilisation_to_meet() -> None:
    """The ACKs fill their link whatever its buffer: a short one keeps the download's windows even."""
    link = {"name": "dsl", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "200 pkt"}
    document = {
        "link": [{**link, "reverse": {"rate": "200 kbit/s", "buffer": "20 pkt"}}],
        "flow": [{"name": "down", "path": ["dsl"]}],
        "run": {"duration": "60 s", "warmup": "10 s"},
    }
    found = searched(document)
    assert "of the utilisation of dsl that an ample one gives" in found.answer
    missed = {text for table in found.alternatives for row in table.rows for text in row.missed}
    assert missed == {"utilisation of dsl"}
    after = run(document, **{"run.duration": "200 s"}, **found.changes)
    assert after.links.utilisation_fraction["dsl"] >= 0.985
    assert found.changes["link.dsl.reverse.buffer"] == "2 pkt"


MANY: dict[str, Any] = {
    "link": [{"name": "l", "rate": "50 Mbit/s", "delay": "5 ms", "buffer": "400 pkt"}],
    "flow": [{"name": "d", "count": 50, "path": ["l"]}],
    "run": {"duration": "60 s", "warmup": "10 s"},
}


def starved(result: Result) -> int:
    rates = result.flows.throughput_bps
    return int((rates < LEAST_SHARE * rates.mean()).sum())


def test_a_size_that_starves_flows_is_not_advised() -> None:
    found = searched(MANY)
    assert any("share of d" in row.missed for row in found.alternatives[0].rows)
    assert starved(run(MANY, **found.changes)) <= 5
    assert starved(run(MANY, **{"link.l.buffer": "8 pkt"})) > 25


def test_a_size_that_loses_a_call_is_not_advised() -> None:
    """Small buffers keep the link busy for twenty downloads, and lose the call."""
    call = {"name": "call", "path": ["l"], "packet": "200 B", "traffic": {"kind": "constant", "rate": "100 kbit/s"}}
    document = {
        "link": [{"name": "l", "rate": "20 Mbit/s", "delay": "1 ms", "buffer": "200 pkt"}],
        "flow": [{"name": "d", "count": 20, "path": ["l"]}, call],
        "run": {"duration": "60 s", "warmup": "10 s"},
    }
    found = searched(document)
    rows = found.alternatives[0].rows
    (ample,) = (row.size_packets for row in rows if row.note == "ample")

    def lost(buffer: str) -> float:
        return float(run(document, **{"link.l.buffer": buffer}).flows.loss_fraction["call"])

    most = lost(f"{ample:g} pkt") + 0.05
    assert lost(str(found.changes["link.l.buffer"])) <= most
    missed = [row.size_packets for row in rows if "loss of call" in row.missed]
    assert missed
    assert all(lost(f"{size:g} pkt") > most for size in missed)


SITES: dict[str, Any] = {
    "link": [
        {"name": "uplink", "rate": "100 Mbit/s", "delay": "2 ms", "buffer": "300 pkt"},
        {"name": "site", "copies": 20, "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "100 pkt"},
    ],
    "flow": [{"name": "d", "count": 2, "path": ["uplink", "site"]}],
    "run": {"duration": "30 s", "warmup": "5 s"},
}


def test_all_copies_of_a_link_are_judged_together() -> None:
    """Some copies drop packets in a run and others do not: the mean over some of them depends on who got more."""
    found = searched(SITES)
    assert set(found.changes) == {"link.uplink.buffer", "link.site.buffer"}
    table = next(one for one in found.alternatives if "each copy of site" in one.place)
    used = [row.utilisation_fraction["mean"] or 0.0 for row in table.rows if row.meets]
    assert used == pytest.approx([0.5] * len(used), rel=0.02)


def test_the_scenario_s_own_warm_up_is_the_least_of_a_search() -> None:
    resolved = make_resolved([make_flow("a"), make_flow("b")])
    own = resolved.run.warmup_s
    assert own == 20.0
    quick = length_for(resolved, 2.0, 2.0, Targets())
    assert quick.warmup_s >= own


@pytest.mark.parametrize("warmup_s", [0.0, 3.3, 101.0, 125.0, 205.0, 1000.0, 2000.0])
@pytest.mark.parametrize("rate_bps", [1.5e6, 1e8])
def test_a_search_measures_after_its_warm_up_however_that_is_rounded(warmup_s: float, rate_bps: float) -> None:
    links = [{**one, "rate_bps": rate_bps} for one in make_resolved().to_dict()["elements"]]
    resolved = make_resolved([make_flow("a", count=20, start_spread_s=1.0)], links=links)
    run_of_user = replace(resolved.run, warmup_s=warmup_s, duration_s=3000.0)
    found = length_for(replace(resolved, run=run_of_user), 2.0, 2.0, Targets())
    bare = length_for(replace(resolved, run=replace(run_of_user, warmup_s=0.0)), 2.0, 2.0, Targets())
    assert found.duration_s - found.warmup_s >= 0.5 * (bare.duration_s - bare.warmup_s)


def test_a_judge_compares_with_ample_sizes() -> None:
    """The reference itself misses nothing but what it is asked for."""
    reference = run(MANY)
    assert not Judge(Targets(), (("l",),), reference).missed(reference)
    few = run(MANY, **{"link.l.buffer": "2 pkt"})
    missed = Judge(Targets(), (("l",),), reference).missed(few)
    assert missed[0].startswith("the utilisation of l is only")
    assert missed[1].endswith("of the 50 flows of d get less than 2% of the mean with ample sizes")


def test_a_link_before_a_full_one_is_judged_by_that_one() -> None:
    """The second link is full with ample buffers, and it carries all that the first one carries."""
    links = [
        {"name": name, "rate": rate, "delay": "10 ms", "buffer": "200 pkt"}
        for name, rate in (("feeder", "25 Mbit/s"), ("line", "20 Mbit/s"))
    ]
    document = {
        "link": links,
        "flow": [{"name": "f", "path": ["feeder", "line"]}],
        "run": {"duration": "60 s", "warmup": "10 s"},
    }
    reference, few = run(document), run(document, **{"link.feeder.buffer": "4 pkt", "link.line.buffer": "4 pkt"})
    assert reference.links.utilisation_fraction["line"] > 0.98 > reference.links.utilisation_fraction["feeder"]
    both = Judge(Targets(), (("line",), ("feeder",)), reference)
    assert both.names_of_missed(few) == ("utilisation of line",)
    assert Judge(Targets(), (("feeder",),), reference).names_of_missed(few) == ("utilisation of feeder",)
