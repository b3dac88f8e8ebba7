"""The parts of ns-2's script for Random Early Detection, which there draws the numbers that our engine draws."""

import math
from itertools import islice

from crosscheck.draws import ns2_seeds, stream
from crosscheck.subset import Scenario, connection, has_red, link_packet_bytes

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
    array set red [list seeds,$name $seeds next,$name 0 count,$name 0 drops,$name 0 tried,$name 0 before,$name 0]
    foreach {variable handler} {ave_ red_arrival prob1_ red_draw} {
        set tracer [new Trace/Var]
        $tracer proc handle line "$handler $name"
        $queue($name) trace $variable $tracer
        # only now: the value before the first packet is not a change
        $tracer set callback_ 1
    }
}

proc red_arrival {name} {
    global red
    set red(before,$name) $red(tried,$name)
    set red(tried,$name) 0
}

# count: arrivals since the last drop, or since packets may be dropped, where the first one passes
proc red_draw {name} {
    global queue monitor red
    set red(tried,$name) 1
    set drops [$monitor($name) set pdrops_]
    if {$drops != $red(drops,$name)} {
        set count 1
    } else {
        set count [expr {$red(before,$name) ? $red(count,$name) + 1 : 2}]
    }
    set red(drops,$name) $drops
    set red(count,$name) $count
    # our engine draws no number where it cannot matter
    set probability [$queue($name) set prob1_]
    if {[$queue($name) set wait_] ? $probability < 1 : $count * $probability < 1} {
        if {$red(next,$name) == [llength $red(seeds,$name)]} { error "RED: too few seeds" }
        ns-random [lindex $red(seeds,$name) $red(next,$name)]
        incr red(next,$name)
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
    said = " ".join(f"{name} {value}" for name, value in settings.items())
    numbers = stream(f"link/{link['name']}", seed=scenario["run"]["seed"], replication=replication)
    seeds = ns2_seeds(list(islice(numbers, _most_arrivals(scenario, number))))
    return [f"set_red {number} {{{said}}} {{{' '.join(map(str, seeds))}}}"]


def _most_arrivals(scenario: Scenario, number: int) -> int:
    """Estimate the arrivals at a link from above: what it can serve of TCP, a half more, and all packets of sources."""
    rate_bps, duration_s = scenario["elements"][number]["rate_bps"], scenario["run"]["duration_s"]
    flows = [flow for flow in scenario["flows"] if number in flow["path"]]
    sizes = [flow["packet_bytes"] for flow in flows if connection(flow)] or link_packet_bytes(scenario, number)
    sources = [flow for flow in flows if not connection(flow)]
    of_sources = sum(flow["traffic"]["rate_bps"] / (8 * flow["packet_bytes"]) for flow in sources)
    most: float = 1.5 * duration_s * (rate_bps / (8 * min(sizes)) + of_sources)
    return math.ceil(most) + 100
