from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crosscheck import build, ns2
from crosscheck.compare import Change, compare, normalise
from crosscheck.mrg32k3a import boot_fraction

DURATION_S = 200.0

STOCK_SCRIPT = """\
ns-random {seed}
set ns [new Simulator]
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set useHeaders_ false
Agent/TCP set precisionReduce_ false
Agent/TCP set windowThresh_ 1.0
Agent/TCP set windowInit_ 1
Agent/TCP set singledup_ 0
Agent/TCP set packetSize_ 512
Agent/TCP set window_ 100000
Agent/TCP set tcpTick_ {tick}
Agent/TCP set numdupacks_ 1000000000
set n0 [$ns node]
set n1 [$ns node]
$ns simplex-link $n0 $n1 811057 0.1031 DropTail
$ns simplex-link $n1 $n0 811057 0.1031 DropTail
$ns queue-limit $n0 $n1 12
$ns queue-limit $n1 $n0 1000
set changes [open changes.txt w]
proc record flow {{
    global ns changes tcp
    set now [[$ns set scheduler_] now]
    set agent $tcp($flow)
    puts $changes "$flow $now [$agent set cwnd_] [$agent set awnd_] [$agent set ssthresh_]"
}}
for {{set flow 0}} {{$flow < 2}} {{incr flow}} {{
    set tcp($flow) [new Agent/TCP]
    set sink [new Agent/TCPSink]
    $ns attach-agent $n0 $tcp($flow)
    $ns attach-agent $n1 $sink
    $ns connect $tcp($flow) $sink
    set tracer [new Trace/Var]
    $tracer set callback_ 1
    $tracer proc handle line "record $flow"
    $tcp($flow) trace cwnd_ $tracer
    $ns at [expr {{0.1777 * $flow}}] "$tcp($flow) send -1"
}}
$ns at 200 {{close $changes; exit 0}}
$ns run
"""
"""A script as people write them, with nodes; ns-2 draws the phases of the two clocks by itself."""


def same_by_us(fractions: list[float], tick: float) -> dict[str, Any]:
    links = [
        build.link("there", 811_057.0, delay_s=0.1031, buffer_packets=12),
        build.link("back", 811_057.0, delay_s=0.1031),
    ]
    flows = [
        build.flow(
            f"flow{number}",
            [0],
            [1],
            build.sender("old-tahoe", max_window=100_000, rto=build.rto(granularity_s=tick, clock_fraction=fraction)),
            start_s=0.1777 * number,
        )
        for number, fraction in enumerate(fractions)
    ]
    return build.scenario("old-tahoe twice", links, flows, duration_s=DURATION_S)


def agreement(theirs: list[list[Change]], ours: list[list[Change]]) -> list[bool]:
    return [
        compare(normalise(their, 1.0, DURATION_S), normalise(our, 1.0, DURATION_S)).passed
        for their, our in zip(theirs, ours, strict=True)
    ]


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(("seed", "tick"), [(1, 0.01), (7, 0.1)])
def test_the_predicted_phases_of_the_clocks_give_the_windows_of_a_stock_script(
    tmp_path: Path, seed: int, tick: float
) -> None:
    ns2.run_script(STOCK_SCRIPT.format(seed=seed, tick=tick), tmp_path)
    theirs = ns2.read_changes((tmp_path / "changes.txt").read_text(), 2)
    fractions = [boot_fraction(agent, agents=2, seed=seed) for agent in range(2)]
    assert agreement(theirs, ns2.run(same_by_us(fractions, tick)).changes) == [True, True]
    others = [(fraction + 0.5) % 1.0 for fraction in fractions]
    assert agreement(theirs, ns2.run(same_by_us(others, tick)).changes) == [False, False]


@pytest.mark.usefixtures("needs_ns2")
def test_the_first_slow_start_of_figure_2_peaks_where_the_reference_says() -> None:
    links = [
        build.link("access", 100e6),
        build.link("first", 1.5e6, buffer_packets=100),
        build.link("second", 1.5e6, delay_s=0.28, buffer_packets=50),
        *(build.link(f"back{hop}", rate, delay_s=0.28 * (hop == 0)) for hop, rate in enumerate((1.5e6, 1.5e6, 100e6))),
    ]
    flow = build.flow("flow", [0, 1, 2], [3, 4, 5], build.sender("tahoe"))
    outcome = ns2.run(build.scenario("figure 2", links, [flow], duration_s=100.0))
    changes = outcome.changes[0]
    cuts = [(f"{b.time_s:.5f}", f"{a.cwnd:.3f}") for a, b in pairwise(changes) if b.cwnd < a.cwnd]
    assert cuts == [("5.64225", "455.000"), ("72.78459", "307.996")]
    counts = outcome.flows[0]
    assert (counts.fast_retransmits, counts.timeouts) == (2, 0)
    assert outcome.drops == [0, 150, 0, 0, 0, 0]
    assert counts.sent_packets - counts.retransmitted_packets >= counts.acked_packets


@pytest.mark.usefixtures("needs_ns2")
def test_what_ns2_says_of_a_faulty_script_is_told(tmp_path: Path) -> None:
    with pytest.raises(ns2.Ns2Error, match="no_such_command"):
        ns2.run_script("no_such_command", tmp_path)


@pytest.mark.usefixtures("needs_ns2")
def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(ns2.Ns2Error, match=r"more than 0\.2 s"):
        ns2.run_script("while 1 {}", tmp_path, timeout_s=0.2)


def test_an_increase_tells_the_full_value_before_it() -> None:
    text = "0 1.5 3.33333 3 2\n0 1.6 3.63333 3.3333333333333335 2\n0 1.7 1 3.3333333333333335 2\n"
    (changes,) = ns2.read_changes(text, 1)
    assert changes[0] == Change(1.5, 3.3333333333333335, 2.0, 0.0)
    assert [change.cwnd for change in changes[1:]] == [3.63333, 1.0]
    assert [change.resolution for change in changes[1:]] == pytest.approx([5e-6, 5e-6])


def test_each_flow_gets_its_own_changes() -> None:
    flows = ns2.read_changes("1 1.5 2 1 9\n0 1.6 4 3 9\n1 1.7 3 2 9\n", 2)
    assert [[change.time_s for change in changes] for changes in flows] == [[1.6], [1.5, 1.7]]


def test_where_ns2_is_missing_a_run_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ns2, "find_ns", lambda: None)
    with pytest.raises(ns2.Ns2Error, match="apt-get install ns2"):
        ns2.run_script("", tmp_path)
