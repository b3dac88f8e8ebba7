"""The parts of ns-2's script for lossy links, delays that change, levels of priority and sources without TCP."""

from crosscheck.subset import Scenario, connection, has_levels, link_packet_bytes

PROCEDURES = """\
Queue/SimpleIntServ set qlimit0_ 1000000000
Queue/SimpleIntServ set qlimit1_ 1000000000

# a random stream of an element for a run; each new generator takes the next stream
proc stream {run} {
    set generator [new RNG]
    for {set passed 0} {$passed < $run} {incr passed} { $generator next-substream }
    return $generator
}

# error models come before the queue, as after lossmodel
proc lose {name model} {
    global queue loss bin
    $model drop-target $bin
    $model target [expr {[info exists loss($name)] ? $loss($name) : $queue($name)}]
    set loss($name) $model
}

proc lose_packets {name numbers} {
    set model [new ErrorModel/List]
    $model unit pkt
    $model droplist $numbers
    lose $name $model
}

# a period without end: the first packet from the instant on, and no other
proc lose_at {name instant} {
    set model [new ErrorModel/Periodic]
    $model unit time
    $model set offset_ $instant
    $model set period_ 1e18
    lose $name $model
}

proc lose_randomly {name probability run} {
    set model [new ErrorModel]
    set uniform [new RandomVariable/Uniform]
    $uniform use-rng [stream $run]
    $model unit pkt
    $model set rate_ $probability
    $model ranvar $uniform
    lose $name $model
}

proc set_delay {name value} {
    global line delay
    $line($name) set delay_ $value
    set delay($name) $value
}

proc add_source {flow bytes application settings} {
    global datagrams source receiver
    set datagrams($flow) [new Agent/UDP]
    $datagrams($flow) set fid_ $flow
    $datagrams($flow) set packetSize_ $bytes
    set receiver($flow) [new Agent/LossMonitor]
    $receiver($flow) set bytes_ 0
    set source($flow) [new Application/Traffic/$application]
    $source($flow) set packetSize_ $bytes
    foreach {name value} $settings { $source($flow) set $name $value }
    $source($flow) attach-agent $datagrams($flow)
}
"""

INSTANT_RATE_BPS = 1e18
"""Rate within a burst of one packet, which makes ns-2's exponential on-off source a Poisson one [bit/s]."""


def has_elements(scenario: Scenario) -> bool:
    """Return whether a scenario has any of these elements."""
    links = any(link["loss"] or link["delay_process"] or has_levels(link) for link in scenario["elements"])
    return links or not all(map(connection, scenario["flows"]))


def first_delay(link: Scenario) -> float:
    """Propagation delay of a link at time zero [s]."""
    process = link["delay_process"]
    return float(link["delay_s"]) + (float(process["law"]["steps_s"][0][1]) if process else 0.0)


def delay_changes(scenario: Scenario, number: int) -> list[str]:
    """Set the delay of a link at each of its later steps.

    ns-2 reads the delay as a transmission begins, our engine as it ends. On a link with packets of one size that is the
    same packet if ns-2's step comes a service time earlier.
    """
    link = scenario["elements"][number]
    process = link["delay_process"]
    if not process:
        return []
    service_s = _service_s(scenario, number) if link["rate_bps"] else 0.0
    steps = process["law"]["steps_s"][1:]
    return [f'$ns at {at - service_s!r} "set_delay {number} {link["delay_s"] + delay!r}"' for at, delay in steps]


def _service_s(scenario: Scenario, number: int) -> float:
    """Time that a link takes to transmit a packet, where all have one size [s]."""
    (packet_bytes,) = link_packet_bytes(scenario, number)
    return float(packet_bytes * 8 / scenario["elements"][number]["rate_bps"])


def losses(number: int, link: Scenario, run: int) -> list[str]:
    """Put the error models of a link before its queue; ns-2 counts packets from 0, a scenario from 1."""
    loss = link["loss"]
    if not loss:
        return []
    law = loss["law"]
    match law["model"]:
        case "packets":
            return [f"lose_packets {number} {{{' '.join(str(packet - 1) for packet in law['numbers'])}}}"]
        case "times":
            return [f"lose_at {number} {float(instant)!r}" for instant in reversed(law["times_s"])]
        case _:
            return [f"lose_randomly {number} {float(law['probability'])!r} {run}"]


def entry(number: int, link: Scenario, kind: str) -> str:
    """Return where the data or the ACKs enter a link: at its error models, if these apply to such packets."""
    loss = link["loss"]
    lossy = loss is not None and loss["applies_to"] in {"all", kind}
    return f"$loss({number})" if lossy else f"$queue({number})"


def add_source(number: int, flow: Scenario, run: int) -> list[str]:
    """Make the source of a flow without TCP, its agent and its sink."""
    application, settings = _application(flow["traffic"], flow["packet_bytes"])
    said = " ".join(f"{name} {value!r}" for name, value in settings.items())
    lines = [f"add_source {number} {flow['packet_bytes']} {application} {{{said}}}"]
    if application != "CBR":
        lines.append(f"$source({number}) use-rng [stream {run}]")
    return lines


def _application(traffic: Scenario, packet_bytes: int) -> tuple[str, dict[str, float]]:
    """Name ns-2's source and its settings.

    A burst of ns-2 is a number of packets with a gap after each. Ours begins with a packet and ends when its time is
    over: in the mean it has half a packet more than gaps. So half a gap of the silence belongs to ns-2's burst.
    """
    rate_bps = float(traffic["rate_bps"])
    gap_s = packet_bytes * 8 / rate_bps
    match traffic["kind"]:
        case "constant":
            return "CBR", {"rate_": rate_bps}
        case "poisson":
            return "Exponential", {"rate_": INSTANT_RATE_BPS, "burst_time_": 0.0, "idle_time_": gap_s}
        case _:
            on_s, off_s = traffic["on"]["mean_s"], traffic["off"]["mean_s"]
            burst = {"burst_time_": on_s + gap_s / 2, "idle_time_": off_s - gap_s / 2}
            return "Exponential", {"rate_": rate_bps, **burst}
