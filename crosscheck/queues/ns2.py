"""Play arrivals at one queue in ns-2, and read what departed and what was dropped."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from crosscheck.ns2 import run_script
from crosscheck.queues.events import Event, Events

TRACE_FILE = "trace.txt"

PROCEDURES = """\
set ns [new Simulator]
set clock [$ns set scheduler_]
set file [open {trace} w]
set bin [new Agent/Null]
Agent/TCP set syn_ false
Agent/TCP set useHeaders_ false
Agent/TCP set windowInit_ 1000000000
Agent/TCP set window_ 1000000000
Agent/TCP set maxcwnd_ 0
Agent/TCP set rtxcur_init_ 1000000000
Agent/TCP set maxrto_ 1000000000
set next 0
set seeds {{}}

proc traced {{kind target}} {{
    global file
    set trace [new Trace/$kind]
    $trace attach $file
    $trace target $target
    return $trace
}}

# the first packet of an agent is not ECN-capable: it goes elsewhere
proc add_flow {{flow bytes}} {{
    global tcp queue bin
    set tcp($flow) [new Agent/TCP]
    $tcp($flow) set fid_ $flow
    $tcp($flow) set agent_addr_ [expr {{$flow + 1}}]
    $tcp($flow) set dst_addr_ 0
    $tcp($flow) set packetSize_ $bytes
    $tcp($flow) target $bin
    $tcp($flow) reset
    $tcp($flow) advanceby 1
    $tcp($flow) target $queue
}}

proc send {{flow capable}} {{
    global tcp
    $tcp($flow) set ecn_ $capable
    $tcp($flow) advanceby 1
}}

# the generator draws our engine's next number after the seed
proc seed {{}} {{
    global seeds next
    ns-random [lindex $seeds $next]
}}

# a RED of ours draws a number for each packet that may be dropped early with a probability below 1
proc send_red {{flow capable}} {{
    global queue next
    seed
    set first [ns-random]
    seed
    send $flow $capable
    if {{[ns-random] != $first && [$queue set prob1_] < 1}} {{ incr next }}
}}

# a PI of ours draws a number for each packet while its probability is above 0
proc send_pi {{flow capable}} {{
    global queue next
    seed
    set probability [$queue set prob_]
    send $flow $capable
    if {{$probability > 0}} {{ incr next }}
}}
"""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue in ns-2's words.

    Parameters
    ----------
    discipline : str
        Its class under `Queue/`.
    settings : dict
        Its variables.
    rate_bps : float
        Rate of the link [bit/s].
    sizes : tuple of int
        Length of the packets of each flow [B].
    seeds : tuple of int
        Seeds of the generator, of which each draws the next number of our engine.
    """

    discipline: str
    settings: dict[str, object]
    rate_bps: float
    sizes: tuple[int, ...]
    seeds: tuple[int, ...] = field(default=(), repr=False)


def play(queue: Queue, arrivals: list[Event], timeout_s: float = 600.0) -> Events:
    """Let packets arrive at a queue of ns-2.

    Parameters
    ----------
    queue : Queue
        The queue.
    arrivals : list of Event
        The packets in the order of time.
    timeout_s : float
        Wall-clock limit [s].

    Returns
    -------
    Events
        The packets that departed and those that were dropped. Departures are noted as the last bit leaves.

    Raises
    ------
    crosscheck.ns2.Ns2Error
        Where ns-2 is missing, fails or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="crosscheck-") as name:
        folder = Path(name)
        run_script(script(queue, arrivals), folder, timeout_s)
        return read_events((folder / TRACE_FILE).read_text(), arrivals)


def script(queue: Queue, arrivals: list[Event]) -> str:
    """Write the Tcl script that lets packets arrive at a queue."""
    sends = {"RED": "send_red", "PI": "send_pi"}.get(queue.discipline, "send")
    lines = [
        PROCEDURES.format(trace=TRACE_FILE),
        # its timer starts as it is made
        *(f"Queue/{queue.discipline} set {name} {value}" for name, value in queue.settings.items()),
        f"set seeds {{{' '.join(map(str, queue.seeds))}}}",
        f"set queue [new Queue/{queue.discipline}]",
        "set line [new DelayLink]",
        f"$line set bandwidth_ {queue.rate_bps!r}",
        "$line set delay_ 0",
        "$queue target $line",
        "$line target [traced Deque $bin]",
        "$queue drop-target [traced Drop $bin]",
    ]
    if queue.discipline == "RED":
        lines += ["$queue link $line", "$queue reset"]
    lines += [f"add_flow {flow} {size}" for flow, size in enumerate(queue.sizes)]
    lines += [f"$ns at {one.time_s:.9f} {{{sends} {one.flow} {int(one.ect)}}}" for one in arrivals]
    end_s = (arrivals[-1].time_s if arrivals else 0.0) + 1000.0
    return "\n".join([*lines, f'$ns at {end_s!r} "close $file; exit 0"', "$ns run", ""])


def read_events(text: str, arrivals: list[Event]) -> Events:
    """Read a trace of ns-2: kind, time, two nodes, type, length, flags, flow, two addresses, number, number of all.

    Parameters
    ----------
    text : str
        The trace.
    arrivals : list of Event
        The packets that arrived: ns-2 numbers those of a flow from 1 in their order.
    """
    numbers: dict[int, list[int]] = {}
    for arrival in arrivals:
        numbers.setdefault(arrival.flow, []).append(arrival.number)
    events = Events()
    for line in text.splitlines():
        kind, time_s, *_, flags, flow, _, _, number, _ = line.split()
        marked = "E" in flags and kind == "-"
        event = Event(float(time_s), int(flow), numbers[int(flow)][int(number) - 1], ce=marked)
        (events.departures if kind == "-" else events.drops).append(event)
    return events
