"""Translates a resolved scenario into an experiment of the kernel's, or says what the kernel cannot play and why."""

from bisect import bisect
from collections.abc import Iterator
from math import ceil
from operator import itemgetter

from crosscheck.linux.experiment import JITTER_S, Experiment, KernelFlow
from crosscheck.linux.path import (
    Scenario,
    around,
    bottleneck_of,
    delay_s,
    discipline_of,
    losses,
    payload_bytes,
    reverse_of,
    syn_bytes,
    tcp_of,
)
from crosscheck.linux.refusals import cake_interval_s, check_playable

TIMES_OF_AQMS = {"target": "target", "interval": "interval", "ce_threshold": "ce_threshold"}
"""Words of `tc` for the times of an AQM, and our names."""
TICK_S = 0.001
"""Time by which a timer of a few ticks expires late, at the end of the tick (`calc_index`) [s]."""
ETHERNET_BYTES = 14
"""Header of a packet on the links of the kernel's path [B]."""
MOST_QUEUES = {"fq_codel": 65536, "fq_pie": 2048, "sfq": 65536}
"""Most queues that the kernel hashes flows into: fq_pie updates the probabilities of 2048 at once, and more later."""
MOST_SFQ_FLOWS = 1024
"""Queues of the kernel's SFQ that may hold packets at once."""
MOST_BURST = 1_000_000
"""Largest burst of tc's RED [packets]."""
UNLIMITED_BYTES = 2_000_000_000
UNLIMITED_PACKETS = 1_000_000
"""Limits of a queue without a limit."""


def translate(scenario: Scenario, shift_us: float = 0.0) -> Experiment:
    """Translate a scenario into an experiment.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    shift_us : float
        Time by which the kernel does everything later than its ticks [us]; it draws other random numbers then, and the
        delays of ACKs vary.

    Returns
    -------
    Experiment
        The same path, flows and settings. Connections that have no handshake in the scenario begin as long before their
        data as it takes.

    Raises
    ------
    UnplayableError
        If a field has a value that the kernel's path cannot have.
    """
    check_playable(scenario)
    index = bottleneck_of(scenario)
    link, run = scenario["elements"][index], scenario["run"]
    flows = list(_flows(scenario, index))
    offset_s = max(0.0, -min(flow.connect_s for flow in flows))
    shifted = tuple(
        KernelFlow(
            flow.name, flow.control, flow.connect_s + offset_s, flow.payload_bytes, flow.forward_s, flow.return_s
        )
        for flow in flows
    )
    return Experiment(
        name=scenario["title"],
        flows=shifted,
        rate_bps=round(link["rate_bps"]),
        buffer_packets=(link["buffer"] or {}).get("packets", UNLIMITED_PACKETS),
        packet_bytes=scenario["flows"][0]["packet_bytes"],
        duration_s=run["duration_s"] + offset_s,
        warmup_s=run["warmup_s"] + offset_s,
        offset_s=offset_s,
        options={**_options(scenario, index), **_realisation(scenario, shift_us)},
        forward_steps=tuple(
            (at_s + offset_s, forward_s + _unserved_s(scenario, scenario["flows"][0], index))
            for at_s, forward_s in _steps(scenario, index)
        ),
        shift_us=shift_us,
    )


def _flows(scenario: Scenario, bottleneck: int) -> Iterator[KernelFlow]:
    rate_bps = float(scenario["elements"][bottleneck]["rate_bps"])
    for flow in scenario["flows"]:
        size, connection = flow["traffic"]["size_packets"], tcp_of(flow)
        before, _ = around(scenario, flow, bottleneck)
        own_s = connection["return_delay_s"] - before_ack_queue_s(scenario, flow)
        back_s = own_s + delay_s(scenario, connection["return_path"])
        forward_s = _forward_s(scenario, flow, bottleneck, 0.0) + _unserved_s(scenario, flow, bottleneck)
        # What is before the bottleneck is on the return path in the kernel's path.
        at_bottleneck_s = flow["start_s"] + before
        earlier_s = 0.0
        if not connection["handshake"]:
            handshake_s = before + forward_s + back_s + _syn_service_s(scenario, flow, rate_bps)
            ack_bytes = int(flow["packet_bytes"]) - payload_bytes(flow)
            earlier_s = handshake_s + ack_bytes * 8.0 / rate_bps
        for number in range(flow["count"]):
            yield KernelFlow(
                name=f"{flow['name']}[{number}]" if flow["count"] > 1 else flow["name"],
                control=connection["sender"]["congestion_control"]["name"],
                connect_s=at_bottleneck_s - earlier_s,
                payload_bytes=None if size is None else size * payload_bytes(flow) - _missing_bytes(flow),
                forward_s=forward_s,
                return_s=back_s + before,
            )


def _unserved_s(scenario: Scenario, flow: Scenario, bottleneck: int) -> float:
    """Compute the time that a packet takes at our bottleneck and not at the kernel's [s].

    In front of an AQM the kernel has HTB, which lets a packet go as its time of service begins, and the next one as
    that is over, like our shaper. A line transmits it first.
    """
    link = scenario["elements"][bottleneck]
    if link["token_bucket"] is not None or discipline_of(link["queue"]) == "pfifo":
        return 0.0
    return float(flow["packet_bytes"] * 8.0 / link["rate_bps"])


def _missing_bytes(flow: Scenario) -> int:
    """Count the bytes by which the last packet of a transfer is shorter than the others."""
    last = tcp_of(flow)["sender"]["last_packet_bytes"]
    return 0 if last is None else int(flow["packet_bytes"]) - int(last)


def _syn_service_s(scenario: Scenario, flow: Scenario, rate_bps: float) -> float:
    """Sum the transmission times of a SYN and its answer [s]."""
    back = reverse_of(scenario, flow)
    bits = 8.0 * syn_bytes(flow)
    answer_s = bits / scenario["elements"][back]["rate_bps"] if back is not None else 0.0
    return bits / rate_bps + answer_s


def _options(scenario: Scenario, bottleneck: int) -> dict[str, str]:
    flow, link = scenario["flows"][0], scenario["elements"][bottleneck]
    sender, receiver = tcp_of(flow)["sender"], tcp_of(flow)["receiver"]["linux"]
    control = sender["congestion_control"]
    back = reverse_of(scenario, flow)
    hystart = control["slow_start"] == "hystart"
    return {
        "rack": str(int(sender["loss_detection"] == "rack")),
        "tlp": "3" if sender["tail_loss_probe"] else "0",
        "frto": "2" if sender["frto"] else "0",
        "ts": str(int(sender["timestamps"])),
        "iw": str(int(sender["initial_window"])),
        "route": f"rto_min+{sender['rto']['min_s'] * 1e3:.0f}ms",
        "sysctl": f"tcp_reordering={sender['dupack_threshold']}",
        "sack": str(int(sender["sack"])),
        "ecn": str(int(sender["ecn"] != "off")),
        "rcvbuf": str(receiver["buffer_bytes"]),
        "rcvmost": str(receiver["most_buffer_bytes"]),
        "sndbuf": str(sender["send_buffer"]["buffer_bytes"]),
        "sndmost": str(sender["send_buffer"]["most_buffer_bytes"]),
        **({"mod": "tcp_cubic/parameters/hystart=0"} if control["name"] == "cubic" and not hystart else {}),
        **(_reverse_options(scenario["elements"][back]) if back is not None else {}),
        **_loss_options(scenario),
        **_queue_options(link),
    }


def _queue_options(link: Scenario) -> dict[str, str]:
    """Give the words of `tc` for an AQM, joined by plus signs."""
    queue, aqm = link["queue"], link["queue"]["aqm"]
    discipline = discipline_of(queue)
    if discipline in (None, "pfifo"):
        return {}
    if discipline == "red":
        return {"aqm": "+".join(_red_words(link))}
    if discipline == "cake":
        return {"aqm": "+".join(_cake_words(queue))}
    if discipline == "sfq":
        return {"aqm": "+".join(_sfq_words(link))}
    limit = link["buffer"]["packets"] if link["buffer"] else UNLIMITED_PACKETS
    times = {name: aqm.get(f"{field}_s") for name, field in TIMES_OF_AQMS.items()}
    given = [f"{name}+{round(at * 1e6)}us" for name, at in times.items() if at is not None]
    if "update_s" in aqm:
        given += [f"tupdate+{round((aqm['update_s'] - TICK_S) * 1e6)}us"]
    given += [f"{name}+{round(16 * aqm[name])}" for name in ("alpha", "beta") if name in aqm]
    if queue["scheduler"]["kind"] == "fq":
        # The kernel's lengths count the header of the link. Flows that are to share no queue get as many as it has.
        given += [f"quantum+{queue['scheduler']['quantum_bytes'] + ETHERNET_BYTES}"]
        given += [f"flows+{queue['scheduler']['queues'] or MOST_QUEUES[str(discipline)]}"]
    ecn = ["ecn"] if aqm["ecn"] else ["noecn"] if discipline == "fq_codel" else []
    return {"aqm": "+".join([str(discipline), f"limit+{limit}", *given, *ecn])}


def _sfq_words(link: Scenario) -> Iterator[str]:
    """Give the words of `tc sfq`, whose quantum counts the header of the link."""
    sfq = link["queue"]["scheduler"]
    limit = link["buffer"]["packets"] if link["buffer"] else UNLIMITED_PACKETS
    yield from ("sfq", "limit", str(limit), "quantum", str(sfq["quantum_bytes"] + ETHERNET_BYTES))
    yield from ("depth", str(sfq["depth_packets"]), "flows", str(MOST_SFQ_FLOWS))
    yield from ("divisor", str(sfq["queues"] if sfq["hashed"] else MOST_QUEUES["sfq"]))


def _cake_words(queue: Scenario) -> Iterator[str]:
    """Give the words of `tc cake`, whose bytes count the header of the link, and whose `rtt` is CoDel's interval."""
    scheduler, cobalt = queue["scheduler"], queue["aqm"]
    packet_s = cobalt["mtu_s"]
    bandwidth = scheduler["bandwidth_bps"]
    # A packet of 1514 B takes the kernel's shaper as long as one without the header takes ours.
    scaled = [] if bandwidth is None else ["bandwidth", f"{round(bandwidth + 8 * ETHERNET_BYTES / packet_s)}bit"]
    yield from ("cake", *(scaled or ["unlimited"]), "besteffort")
    yield from (
        "triple-isolate" if scheduler["by_host"] else "flows",
        "rtt",
        f"{round(cake_interval_s(queue) * 1e6)}us",
    )


def _red_words(link: Scenario) -> Iterator[str]:
    """Give the words of `tc red`, whose bytes count the header of the link too."""
    red = link["queue"]["aqm"]
    scale = 1 + ETHERNET_BYTES / red["mean_packet_bytes"]
    limit = round(link["buffer"]["bytes"] * scale) if link["buffer"] else UNLIMITED_BYTES
    low, high = (round(red[f"{name}_threshold_bytes"] * scale) for name in ("min", "max"))
    packet = red["mean_packet_bytes"]
    least = ceil(low / packet)
    burst = next(
        burst for burst in range(max(least, 1), MOST_BURST) if _weight_log(low, burst, packet) >= red["weight_log"]
    )
    yield from ("red", f"limit+{limit}", f"min+{low}", f"max+{high}", f"avpkt+{packet}", f"burst+{burst}")
    # A probability of 1 overflows the 32 bits in which tc keeps it.
    yield from (f"probability+{min(red['max_probability'], 0.999999)}", f"bandwidth+{round(link['rate_bps'])}bit")
    if red["adaptive"]:
        yield "adaptative"
    if red["ecn"] != "off":
        yield "ecn"
    if red["ecn"] == "early":
        yield "harddrop"


def _weight_log(low_bytes: int, burst: int, packet_bytes: int) -> int:
    """Compute the weight that tc takes for a burst (`tc_red_eval_ewma`), as a power of 1/2."""
    longest = burst + 1 - low_bytes / packet_bytes
    weights = (log for log in range(1, 32) if longest <= (1 - (1 - 0.5**log) ** burst) * 2**log)
    return next(weights, 0) if longest >= 1 else 0


def _realisation(scenario: Scenario, shift_us: float) -> dict[str, str]:
    seed = {"seed": str(scenario["run"]["seed"] + round(shift_us))}
    return {**seed, "jitter": f"{JITTER_S * 1e3:.6f}ms"} if shift_us else seed


def _reverse_options(link: Scenario) -> dict[str, str]:
    limit = link["buffer"]["packets"] if link["buffer"] else UNLIMITED_PACKETS
    return {"back": str(round(link["rate_bps"])), "backbuf": str(limit)}


def _loss_options(scenario: Scenario) -> dict[str, str]:
    for _, loss in losses(scenario, scenario["flows"][0]["path"]):
        law = loss["law"]
        if law["model"] == "bernoulli":
            return {"loss": f"loss+{law['probability'] * 100:.9g}%"}
        # Our links count the SYN, which a flow without a handshake does not send.
        counted = "+syn=1" if tcp_of(scenario["flows"][0])["handshake"] else ""
        return {"wire": "drop=" + ",".join(map(str, law["numbers"])) + counted}
    return {}


def _steps(scenario: Scenario, bottleneck: int) -> Iterator[tuple[float, float]]:
    """Give the instants at which the forward delay changes, with all of the delay from then on."""
    flow = scenario["flows"][0]
    instants = {at_s for steps in _processes(scenario, flow) for at_s, _ in steps if at_s > 0.0}
    for at_s in sorted(instants):
        yield at_s, _forward_s(scenario, flow, bottleneck, at_s)


def _forward_s(scenario: Scenario, flow: Scenario, bottleneck: int, at_s: float) -> float:
    """Sum the delays of a flow from the bottleneck on, at an instant [s]."""
    _, after = around(scenario, flow, bottleneck)
    extra_s = (steps[bisect(steps, at_s, key=itemgetter(0)) - 1][1] for steps in _processes(scenario, flow))
    return float(flow["forward_delay_s"] + after + sum(extra_s) + before_ack_queue_s(scenario, flow))


def before_ack_queue_s(scenario: Scenario, flow: Scenario) -> float:
    """Give a flow's own delay of ACKs, which ends at their queue, if they have one [s].

    In the kernel's path the delay of ACKs is behind their queue. So this part of it is in front of the receiver there:
    ACKs of flows with unlike round trips meet in the queue as ours do.
    """
    return 0.0 if reverse_of(scenario, flow) is None else float(tcp_of(flow)["return_delay_s"])


def _processes(scenario: Scenario, flow: Scenario) -> Iterator[list[tuple[float, float]]]:
    """Give the steps of the delays that change on a flow's path; the first one of each is at 0 s."""
    for hop in flow["path"]:
        process = scenario["elements"][hop]["delay_process"]
        if process is not None:
            yield process["law"]["steps_s"]
