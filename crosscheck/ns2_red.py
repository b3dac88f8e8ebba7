"""The parts of ns-2's script for Random Early Detection, which there draws the numbers that our engine draws."""

import math
from functools import lru_cache
from itertools import islice

from crosscheck.draws import ns2_seeds, stream
from crosscheck.subset import Scenario, connection, has_red

PROCEDURES = """\
foreach {name value} {
    bytes_ false queue_in_bytes_ false adaptive_ 0 cautious_ 0 setbit_ false use_mark_p_ true
    drop_tail_ true drop_front_ false drop_rand_ false ns1_compat_ false
} { Queue/RED set $name $value }

# seeds: after each, the generator's next number is the one that our engine draws; ns-2 draws one as prob1_ changes
proc set_red {name settings seeds} {
    global queue line red
    foreach {setting value} $settings { $queue($name) set $setting $value }
    $queue($name) link $line($name)
    $queue($name) reset
    array set red [list seeds,$name $seeds next,$name 0 count,$name 0 came,$name none]
    array set red [list drops,$name 0 dropped,$name 0 tried,$name 0 before,$name 0 signals,$name 0]
    foreach {variable handler} {ave_ red_arrival prob1_ red_draw} {
        set tracer [new Trace/Var]
        $tracer proc handle line "$handler $name"
        $queue($name) trace $variable $tracer
        # only now: the value before the first packet is not a change
        $tracer set callback_ 1
    }
}

# before: whether the last packet might have been dropped early; dropped: whether it was dropped, for whatever reason
# the queue that a packet found is written as the next one comes, when curq_ is still that of the packet before
proc red_arrival {name} {
    global clock counts queue monitor red
    set red(before,$name) $red(tried,$name)
    set red(tried,$name) 0
    set red(signalled,$name) $red(signals,$name)
    set red(signals,$name) 0
    set drops [$monitor($name) set pdrops_]
    set red(dropped,$name) [expr {$drops != $red(drops,$name)}]
    set red(drops,$name) $drops
    if {!$red(dropped,$name) && $red(came,$name) ne "none"} {
        puts $counts "queue $name $red(came,$name) [$queue($name) set curq_]"
    }
    set red(came,$name) [$clock now]
}

# the number that the generator draws first after a seed: MRG32k3a, whose six words are the seed
proc first_number {seed} {
    set first [expr {(1403580 - 810728) * wide($seed) % 4294967087}]
    set second [expr {(527612 - 1370589) * wide($seed) % 4294944443}]
    return [expr {($first > $second ? $first - $second : $first - $second + 4294967087) / 4294967088.0}]
}

# count: arrivals since the last drop or mark, or since packets may be dropped, where the first one passes
# signals: whether the packet is dropped early or marked
proc red_draw {name} {
    global queue red
    set red(tried,$name) 1
    if {$red(dropped,$name) || $red(signalled,$name)} {
        set count 1
    } else {
        set count [expr {$red(before,$name) ? $red(count,$name) + 1 : 2}]
    }
    set red(count,$name) $count
    # our engine draws no number where it cannot matter
    set probability [$queue($name) set prob1_]
    set expected [expr {$count * $probability}]
    set waits [$queue($name) set wait_]
    set red(signals,$name) 1
    if {$waits ? $probability < 1 : $expected < 1} {
        if {$red(next,$name) == [llength $red(seeds,$name)]} { error "RED: too few seeds" }
        set seed [lindex $red(seeds,$name) $red(next,$name)]
        incr red(next,$name)
        ns-random $seed
        set number [first_number $seed]
        set red(signals,$name) [expr {
            $waits ? $expected >= 1 && $number * (2 - $expected) <= $probability
                   : $number * (1 - $expected) <= $probability
        }]
    }
}
"""


def red_lines(scenario: Scenario, number: int, replication: int) -> list[str]:
    """Set the RED of a link, if it has one.

    ns-2's RED draws from the default generator, which has no other use once the clocks' phases are drawn. It is seeded
    for each number, so that it draws those of the link's stream in our engine within `draws.SEED_RESOLUTION`.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    number : int
        Number of the link.
    replication : int
        Replication of our engine whose numbers ns-2 draws.

    Returns
    -------
    list of str
        Lines of Tcl; none for a link without RED.
    """
    link = scenario["elements"][number]
    if not has_red(link):
        return []
    red = link["queue"]["aqm"]
    settings: dict[str, object] = {
        "thresh_": red["min_threshold_packets"],
        "maxthresh_": red["max_threshold_packets"],
        "q_weight_": repr(red["weight"]),
        "linterm_": repr(1.0 / red["max_probability"]),
        "gentle_": str(red["gentle"]).lower(),
        "wait_": str(red["wait"]).lower(),
        "mean_pktsize_": red["mean_packet_bytes"],
    }
    if red.get("ecn", "off") == "early":
        settings |= {"setbit_": "true", "mark_p_": 1.0}
    said = " ".join(f"{name} {value}" for name, value in settings.items())
    seeds = _seeds(link["name"], scenario["run"]["seed"], replication, _most_arrivals(scenario, number))
    return [f"set_red {number} {{{said}}} {{{' '.join(map(str, seeds))}}}"]


@lru_cache(maxsize=16)
def _seeds(name: str, seed: int, replication: int, count: int) -> list[int]:
    """Find the seeds of ns-2 for the numbers of a link; shaken runs of a scenario need the same ones."""
    return ns2_seeds(list(islice(stream(f"link/{name}", seed=seed, replication=replication), count)))


def _most_arrivals(scenario: Scenario, number: int) -> int:
    """Estimate the arrivals at a link from above: data that it can serve, all ACKs, those of sources, and half more."""
    duration_s = scenario["run"]["duration_s"]
    tcp = [(flow, found) for flow in scenario["flows"] if (found := connection(flow))]
    data = [flow["packet_bytes"] for flow, _ in tcp if number in flow["path"]]
    served = _packets_in_second(scenario, number, min(data)) if data else 0.0
    acks = sum(
        min(_packets_in_second(scenario, link, flow["packet_bytes"]) for link in flow["path"])
        for flow, found in tcp
        if number in found["return_path"]
    )
    sources = [flow for flow in scenario["flows"] if number in flow["path"] and not connection(flow)]
    of_sources = sum(flow["traffic"]["rate_bps"] / (8 * flow["packet_bytes"]) for flow in sources)
    most: float = 1.5 * duration_s * (served + acks + of_sources)
    return math.ceil(most) + 100


def _packets_in_second(scenario: Scenario, number: int, packet_bytes: int) -> float:
    """Return how many packets of a size a link can serve in a second."""
    rate_bps: float | None = scenario["elements"][number]["rate_bps"]
    return math.inf if rate_bps is None else rate_bps / (8 * packet_bytes)
