"""The Tcl script that plays a resolved scenario in ns-2."""

import math
from collections.abc import Iterator

from crosscheck import ns2_elements, ns2_queues, ns2_red, ns2_shake
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.ns2_queues import INFINITE_RATE_BPS, UNLIMITED
from crosscheck.subset import Scenario, check, connection, has_red

CHANGES_FILE = "changes.txt"
COUNTS_FILE = "counts.txt"

SETTINGS = {
    "Agent/TCP": {
        "syn_": "false",
        "delay_growth_": "false",
        "useHeaders_": "false",
        "windowThresh_": "1.0",
        "rttvar_init_": "0",
    },
    "Agent/TCP/Newreno": {"partial_window_deflation_": "1"},
    "Agent/TCP/Sack1": {"partial_ack_": "false"},
    "Agent/TCPSink/DelAck": {"SYN_immediate_ack_": "false"},
    "Agent/TCPSink/Sack1/DelAck": {"SYN_immediate_ack_": "false"},
}
"""Class-wide settings other than ns-2.35's defaults; README.md gives the reason of each."""

AGENTS = {
    "old-tahoe": "Agent/TCP",
    "tahoe": "Agent/TCP",
    "reno": "Agent/TCP/Reno",
    "newreno": "Agent/TCP/Newreno",
    "sack1": "Agent/TCP/Sack1",
}

CLOCK_SEED = 12345

PROCEDURES = """\
set ns [new Simulator]
set clock [$ns set scheduler_]
set changes [open {changes} w]
set counts [open {counts} w]
set bin [new Agent/Null]
set traced {traced}

proc add_link {{name rate delay limit {{discipline DropTail}} {{settings ""}}}} {{
    global queue line monitor bin
    set queue($name) [new Queue/$discipline]
    $queue($name) set limit_ $limit
    foreach {{setting value}} $settings {{ $queue($name) set $setting $value }}
    set line($name) [new DelayLink]
    $line($name) set bandwidth_ $rate
    $line($name) set delay_ $delay
    $queue($name) target $line($name)
    set monitor($name) [new QueueMonitor]
    set counter [new SnoopQueue/Drop]
    $counter set-monitor $monitor($name)
    $counter target $bin
    $queue($name) drop-target $counter
}}

# routes: the number of a flow and where its packets go after the link, and so on
proc route_link {{name routes}} {{
    global line
    if {{[llength $routes] == 2}} {{
        $line($name) target [lindex $routes 1]
        return
    }}
    set fork [new Classifier/Hash/Fid 32]
    foreach {{flow next}} $routes {{
        $fork install $flow $next
        $fork set-hash 0 0 0 $flow $flow
    }}
    $line($name) target $fork
}}

proc add_flow {{flow agent sink settings sink_settings}} {{
    global tcp receiver
    set tcp($flow) [new $agent]
    $tcp($flow) set fid_ $flow
    foreach {{name value}} $settings {{ $tcp($flow) set $name $value }}
    set receiver($flow) [new $sink]
    foreach {{name value}} $sink_settings {{ $receiver($flow) set $name $value }}
}}

# reset draws boot_time_ = uniform * tcpTick_; draw_tick makes it the wanted phase
proc begin {{flow tick draw_tick threshold {{packets -1}}}} {{
    global tcp traced
    ns-random {seed}
    $tcp($flow) set tcpTick_ $draw_tick
    $tcp($flow) reset
    $tcp($flow) set tcpTick_ $tick
    if {{$threshold ne "none"}} {{ $tcp($flow) set ssthresh_ $threshold }}
    if {{$traced}} {{
        set tracer [new Trace/Var]
        $tracer set callback_ 1
        $tracer proc handle line "record $flow"
        $tcp($flow) trace cwnd_ $tracer
    }}
    if {{$packets < 0}} {{
        $tcp($flow) send -1
        return
    }}
    $tcp($flow) proc done {{}} "finished $flow"
    $tcp($flow) advanceby $packets
}}

# ns-2 goes on with the timer of a transfer that is over, and sets its window to one packet at each timeout
proc finished {{flow}} {{
    global clock counts over
    set over($flow) 1
    puts $counts "finish $flow [$clock now]"
}}

proc record {{flow}} {{
    global clock changes tcp over
    if {{[info exists over($flow)]}} return
    set agent $tcp($flow)
    puts $changes "$flow [$clock now] [$agent set cwnd_] [$agent set awnd_] [$agent set ssthresh_]"
}}

proc count {{}} {{
    global counts tcp receiver monitor
    foreach flow [lsort -integer [array names receiver]] {{
        set sent "0 0 0 0 0"
        if {{[info exists tcp($flow)]}} {{
            set agent $tcp($flow)
            set sent "[$agent set ack_] [$agent set ndatapack_] [$agent set nrexmitpack_]\\
                [$agent set nrexmit_] [$agent set ncwndcuts_]"
        }}
        puts $counts "flow $flow $sent [$receiver($flow) set bytes_]"
    }}
    foreach name [lsort -dictionary [array names monitor]] {{
        puts $counts "link $name [$monitor($name) set pdrops_]"
    }}
}}

proc finish {{}} {{
    global changes counts
    count
    close $changes
    close $counts
    exit 0
}}
"""


def script(
    scenario: Scenario, shake: ns2_shake.Shake | None = None, replication: int = 0, until_s: float = math.inf
) -> str:
    """Write the Tcl script that plays a resolved scenario in ns-2.

    Parameters
    ----------
    scenario : dict
        Resolved scenario, within what `crosscheck.subset` allows.
    shake : Shake, optional
        Tiny changes of delays, rates and starts, which part events that fall on one instant.
    replication : int
        Chooses the random numbers of random elements, from 0.
    until_s : float
        Instant at which the run ends, if the scenario does not end before [s].

    Returns
    -------
    str
        The script. It writes every change of cwnd to changes.txt, where the scenario traces it, and the counters at the
        end of the warm-up and of the run to counts.txt.
    """
    check(scenario)
    run = scenario["run"]
    lines = [
        PROCEDURES.format(
            changes=CHANGES_FILE, counts=COUNTS_FILE, seed=CLOCK_SEED, traced=int(scenario["trace"]["cwnd"])
        )
    ]
    if ns2_elements.has_elements(scenario):
        lines.append(ns2_elements.PROCEDURES)
    if any(map(has_red, scenario["elements"])):
        lines.append(ns2_red.PROCEDURES)
    lines += [f"{cls} set {name} {value}" for cls, values in SETTINGS.items() for name, value in values.items()]
    lines.append("")
    for number, link in enumerate(scenario["elements"]):
        lines += [_add_link(scenario, number), *ns2_elements.losses(number, link, replication)]
        lines += ns2_red.red_lines(scenario, number, replication)
    for number, flow in enumerate(scenario["flows"]):
        lines += ["", *_private_links(number, flow), *_add_flow(number, flow, replication)]
    lines += ["", *_routes(scenario), ""]
    lines += ns2_shake.lines(scenario, shake)
    lines.append(f"$ns at {run['warmup_s']!r} count")
    for number in range(len(scenario["elements"])):
        lines += ns2_elements.delay_changes(scenario, number)
    lines += map(_begin, range(len(scenario["flows"])), scenario["flows"], ns2_shake.starts(scenario, shake))
    lines += [f"$ns at {min(run['duration_s'], until_s)!r} finish", "$ns run", ""]
    return "\n".join(lines)


def _add_link(scenario: Scenario, number: int) -> str:
    link = scenario["elements"][number]
    rate = INFINITE_RATE_BPS if link["rate_bps"] is None else float(link["rate_bps"])
    discipline, settings = ns2_queues.discipline(link), _tcl_list(ns2_queues.settings(link))
    named = "" if discipline == "DropTail" and not settings else f" {discipline}"
    set_to = f" {{{settings}}}" if settings else ""
    limit = ns2_queues.limit(scenario, number)
    return f"add_link {number} {rate!r} {ns2_elements.first_delay(link)!r} {limit}{named}{set_to}"


def _private_delays(number: int, flow: Scenario) -> dict[str, float]:
    delays = {f"data{number}": float(flow["forward_delay_s"])}
    if tcp := connection(flow):
        delays[f"acks{number}"] = float(tcp["return_delay_s"])
    return {name: delay for name, delay in delays.items() if delay > 0.0}


def _private_links(number: int, flow: Scenario) -> list[str]:
    delays = _private_delays(number, flow).items()
    return [f"add_link {name} {INFINITE_RATE_BPS!r} {delay!r} {UNLIMITED}" for name, delay in delays]


def _add_flow(number: int, flow: Scenario, replication: int) -> list[str]:
    tcp = connection(flow)
    if tcp is None:
        return ns2_elements.add_source(number, flow, replication)
    sender, receiver = tcp["sender"], tcp["receiver"]
    delayed = receiver["ack_every"] == 2
    blocks = receiver.get("blocks")
    sink = f"Agent/TCPSink{'/Sack1' if blocks else ''}{'/DelAck' if delayed else ''}"
    sink_settings = {"packetSize_": tcp["ack_bytes"]}
    if blocks:
        sink_settings["maxSackBlocks_"] = blocks["most"]
    if delayed:
        sink_settings["interval_"] = receiver["ack_delay_s"]
    settings = _tcl_list(_sender_settings(flow["packet_bytes"], sender))
    return [f"add_flow {number} {AGENTS[sender['recovery']]} {sink} {{{settings}}} {{{_tcl_list(sink_settings)}}}"]


def _sender_settings(packet_bytes: int, sender: Scenario) -> dict[str, object]:
    rto = sender["rto"]
    never = sender["recovery"] == "old-tahoe" or sender["dupack_threshold"] is None
    settings: dict[str, object] = {
        "packetSize_": packet_bytes,
        "window_": sender["max_window"] or UNLIMITED,
        "windowInit_": sender["initial_window"],
        "windowOption_": 1 if sender["increase"] == "reciprocal" else 0,
        "precisionReduce_": int(sender["half_window"] == "fractional"),
        "numdupacks_": UNLIMITED if never else sender["dupack_threshold"],
        "singledup_": int(sender["limited_transmit"]),
        "maxburst_": sender["max_burst"] or 0,
        "minrto_": rto["min_s"],
        "maxrto_": rto["max_s"],
        "rtxcur_init_": rto["initial_s"],
        "rttvar_exp_": int(math.log2(rto["k"])),
    }
    if sender.get("ecn", "off") == "classic":
        settings["ecn_"] = 1
    if rto["sample"] == "per-ack":
        settings["timestamps_"] = "true"
    if sender["recovery"] == "newreno":
        settings["newreno_changes1_"] = int(sender["partial_ack_timer"] == "impatient")
    return settings


def _tcl_list(settings: dict[str, object]) -> str:
    return " ".join(f"{name} {value}" for name, value in settings.items())


def _begin(number: int, flow: Scenario, start_s: float) -> str:
    tcp = connection(flow)
    if tcp is None:
        return f'$ns at {start_s!r} "$source({number}) start"'
    sender = tcp["sender"]
    tick = float(sender["rto"]["granularity_s"])
    offset = max(float(sender["rto"]["clock_offset_s"]), 1e-30)
    threshold = "none" if sender["initial_ssthresh"] is None else int(sender["initial_ssthresh"])
    draw_tick = offset / Mrg32k3a(CLOCK_SEED).uniform()
    packets = "" if flow["traffic"]["size_packets"] is None else f" {flow['traffic']['size_packets']}"
    return f'$ns at {start_s!r} "begin {number} {tick!r} {draw_tick!r} {threshold}{packets}"'


def _routes(scenario: Scenario) -> list[str]:
    """Connect the agents and the links; a shared link forks by the flow's number."""
    routes: dict[str, list[str]] = {}
    first: list[str] = []
    for number, flow in enumerate(scenario["flows"]):
        for agent, names, hops in _ways(scenario, number, flow):
            first.append(f"{agent} target {hops[0]}")
            for name, following in zip(names, hops[1:], strict=True):
                routes.setdefault(name, []).append(f"{number} {following}")
    return first + [f"route_link {name} [list {' '.join(pairs)}]" for name, pairs in routes.items()]


def _ways(scenario: Scenario, number: int, flow: Scenario) -> Iterator[tuple[str, list[str], list[str]]]:
    """Give the way of the data and that of the ACKs: who sends, the names of the links, where each is entered."""
    tcp = connection(flow)
    paths = {"data": flow["path"], "acks": tcp["return_path"] if tcp else []}
    private = _private_delays(number, flow)
    owned = {kind: [name for name in private if name.startswith(kind)] for kind in paths}
    shared = {
        kind: [ns2_elements.entry(link, scenario["elements"][link], kind) for link in path]
        for kind, path in paths.items()
    }
    queues = {kind: [f"$queue({name})" for name in names] for kind, names in owned.items()}
    sink = f"$receiver({number})"
    sender = f"$tcp({number})" if tcp else f"$datagrams({number})"
    yield sender, [*map(str, paths["data"]), *owned["data"]], [*shared["data"], *queues["data"], sink]
    if tcp:
        yield sink, [*owned["acks"], *map(str, paths["acks"])], [*queues["acks"], *shared["acks"], sender]
