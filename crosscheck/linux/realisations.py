"""Realisations of a scenario: the same path and flows, other in what no figure should depend on.

A realisation starts some microseconds later, draws other random numbers, and the delays of its ACKs vary by less than
ten microseconds. Without that, arrivals and departures meet at one instant wherever ACKs come back as far apart as
packets leave, and which of them is first is a rule of the program and not of TCP.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from crosscheck.linux.experiment import JITTER_S, TICKS_S
from crosscheck.linux.figures import Figures
from crosscheck.linux.path import Scenario, bottleneck_of, tcp_of
from crosscheck.linux.translate import before_ack_queue_s, translate

RECORDED = "recorded"
"""The realisation that is the run itself."""
SHIFTS_US = (0, 1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900)
"""Starts of realisations, after the kernel's ticks [us]; the first is the run itself."""
STATES = 8
"""Delays that ours take in turn."""
ETHERNET_BYTES = 14
"""Header of a packet that HTB counts [B]."""
MILLISECOND_S = 0.001
"""Unit of the kernel's timestamps and ticks [s]."""


def shift_name(shift_us: float) -> str:
    """Name the realisation that starts a time later [us]."""
    return f"shift {shift_us:g} us" if shift_us else RECORDED


def shifts_of(found: Mapping[str, Figures]) -> list[int]:
    """List the shifts of a run that were recorded [us]."""
    return [shift for shift in SHIFTS_US if shift_name(shift) in found]


def realise(scenario: Scenario, shift_us: float, *, copied: bool = True) -> Scenario:
    """Give the realisation of a resolved scenario that starts a time later, as our engine plays it.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    shift_us : float
        Time by which all flows start later [us]; with 0 the seed and the ACKs stay as they are.
    copied : bool
        Whether the kernel's packets are copied where some are lost by number; netem, which lost those of some recorded
        runs, copies none.

    Returns
    -------
    dict
        The same on the kernel's clock; with a shift, another seed, and ACKs whose delays vary.
    """
    by_htb = _by_htb(_with_ack_queue_at_receiver(scenario))
    copies = copied and "wire" in translate(scenario).options
    by_clock = _on_clock(_in_memory(by_htb, "linear" if copies else "veth"))
    return _shift(by_clock, shift_us) if shift_us else by_clock


def _with_ack_queue_at_receiver(scenario: Scenario) -> Scenario:
    """Let flows whose ACKs have a queue wait for their own delay in front of the receiver, as in the kernel's path.

    The receiver's timers expire at ticks, and their ACKs reach the queue at the same instants then.
    """
    return {**scenario, "flows": [_with_delay_at_receiver(scenario, flow) for flow in scenario["flows"]]}


def _with_delay_at_receiver(scenario: Scenario, flow: Scenario) -> Scenario:
    moved_s = before_ack_queue_s(scenario, flow)
    if moved_s == 0.0:
        return flow
    return {**_with(flow, {"return_delay_s": 0.0}), "forward_delay_s": flow["forward_delay_s"] + moved_s}


def phase_of_s(scenario: Scenario) -> float:
    """Compute the time after a millisecond's beginning at which the kernel's run of a scenario begins [s]."""
    clock_ms = round((TICKS_S + translate(scenario).offset_s) / MILLISECOND_S, 6)
    return round(clock_ms % 1.0 * MILLISECOND_S, 9)


def _on_clock(scenario: Scenario) -> Scenario:
    """Let a scenario begin as long after a millisecond's beginning as the kernel's run does."""
    phase_s = phase_of_s(scenario)
    clock_s = TICKS_S + translate(scenario).offset_s
    flows = [_later(_by_clock(flow, clock_s - phase_s), phase_s) for flow in scenario["flows"]]
    return {**scenario, "flows": flows, "elements": [_later_element(one, phase_s) for one in scenario["elements"]]}


def _by_htb(scenario: Scenario) -> Scenario:
    """Let packets of handshakes take as long in front of an AQM as in the kernel.

    HTB counts 14 bytes of Ethernet header, and its rate is higher by those of a data packet. So a SYN takes as long as
    73 bytes: at 2.7 Mbit/s the handshakes of 16 flows take 1.2 ms more together, after which CoDel marks other packets.
    The lengths stay where ACKs have a narrow link: netem counts no Ethernet there, and a fourth more matters.
    """
    options = translate(scenario).options
    if "aqm" not in options or "back" in options:
        return scenario
    return {**scenario, "flows": [_with(flow, _lengths_by_htb(flow)) for flow in scenario["flows"]]}


def _in_memory(scenario: Scenario, memory: str) -> Scenario:
    """Let packets come to the receivers in such memory.

    The sender is on the same machine (veth). A program that loses some by number reads and writes all packets by tun
    devices (linear).
    """
    return {**scenario, "flows": [_with_memory(flow, memory) for flow in scenario["flows"]]}


def _with_memory(flow: Scenario, memory: str) -> Scenario:
    receiver = tcp_of(flow)["receiver"]
    return _with(flow, {"receiver": {**receiver, "linux": {**receiver["linux"], "memory": memory}}})


def slowed(scenario: Scenario, latency_s: float, later_s: Mapping[int, float]) -> Scenario:
    """Let a realised scenario take as long as the kernel does beyond the path's delays.

    Parameters
    ----------
    scenario : dict
        Realised scenario.
    latency_s : float
        Time that a packet and its ACK take in the hosts and their links [s]. A negative one makes the flows' own delays
        shorter, as far as they have some.
    later_s : mapping of int to float
        Time by which each flow begins later [s].

    Returns
    -------
    dict
        The same, where the ACKs of all flows take longer.
    """
    flows = [
        _later(_with_latency(flow, latency_s), later_s.get(number, 0.0))
        for number, flow in enumerate(scenario["flows"])
    ]
    return {**scenario, "flows": flows}


def _with_latency(flow: Scenario, latency_s: float) -> Scenario:
    return_s = tcp_of(flow)["return_delay_s"] + latency_s
    if return_s >= 0.0:
        return _with(flow, {"return_delay_s": return_s})
    return {**flow, "forward_delay_s": max(0.0, flow["forward_delay_s"] + latency_s)}


def _lengths_by_htb(flow: Scenario) -> Scenario:
    connection, data = tcp_of(flow), flow["packet_bytes"]
    part = data / (data + ETHERNET_BYTES)
    ack_bytes = round((connection["ack_bytes"] + ETHERNET_BYTES) * part)
    handshake = connection["handshake"]
    if handshake is None:
        return {"ack_bytes": ack_bytes}
    syn_bytes = round((handshake["syn_bytes"] + ETHERNET_BYTES) * part)
    return {"ack_bytes": ack_bytes, "handshake": {**handshake, "syn_bytes": syn_bytes}}


def _shift(scenario: Scenario, shift_us: float) -> Scenario:
    """Let flows and steps of the delay be later, by another seed, with ACKs whose delays vary."""
    link = scenario["elements"][bottleneck_of(scenario)]
    stay_s = scenario["flows"][0]["packet_bytes"] * 8.0 / link["rate_bps"]
    # Each flow has a link of its own, so that its ACKs vary apart from those of others.
    first = len(scenario["elements"])
    links = [_jitter(stay_s, number) for number in range(len(scenario["flows"]))]
    flows = [_across(_later(flow, shift_us / 1e6), first + number) for number, flow in enumerate(scenario["flows"])]
    run = {**scenario["run"], "seed": scenario["run"]["seed"] + round(shift_us)}
    elements = [_later_steps(element, shift_us / 1e6) for element in scenario["elements"]]
    return {**scenario, "elements": [*elements, *links], "flows": flows, "run": run}


def _by_clock(flow: Scenario, clock_s: float) -> Scenario:
    """Let the timers of a flow's sender expire by a clock that shows a time at the beginning."""
    sender = tcp_of(flow)["sender"]
    return _with(flow, {"sender": {**sender, "rto": {**sender["rto"], "clock_offset_s": clock_s}}})


def _with(flow: Scenario, settings: Scenario) -> Scenario:
    """Give a flow whose connection has other settings."""
    return {**flow, "traffic": {**flow["traffic"], "connection": {**tcp_of(flow), **settings}}}


def _later(flow: Scenario, by_s: float) -> Scenario:
    """Start a flow later."""
    return {**flow, "start_s": flow["start_s"] + by_s}


def _across(flow: Scenario, hop: int) -> Scenario:
    """Let the ACKs of a flow cross one more element."""
    return _with(flow, {"return_path": [*tcp_of(flow)["return_path"], hop]})


def _later_element(element: Scenario, by_s: float) -> Scenario:
    """Let the steps of an element's delay, and the first update of its PIE, be later."""
    queue = element.get("queue") or {}
    if "first_update_s" not in (queue.get("aqm") or {}):
        return _later_steps(element, by_s)
    aqm = {**queue["aqm"], "first_update_s": queue["aqm"]["first_update_s"] + by_s}
    return {**_later_steps(element, by_s), "queue": {**queue, "aqm": aqm}}


def _later_steps(element: Scenario, by_s: float) -> Scenario:
    """Let the delay of an element step later, as the kernel's does: there all that happens after the start is later."""
    process = element.get("delay_process")
    if process is None or process["law"]["kind"] != "steps":
        return element
    steps = [[at_s + by_s if at_s else at_s, extra_s] for at_s, extra_s in process["law"]["steps_s"]]
    return {**element, "delay_process": {**process, "law": {**process["law"], "steps_s": steps}}}


@lru_cache(maxsize=256)
def _jitter(stay_s: float, number: int) -> Scenario:
    """Resolve a link whose delay is another one after each packet, about."""
    states = [
        {"delay": f"{2.0 * JITTER_S * n / STATES:.12f} s", "mean_extra": f"{stay_s:.12f} s"} for n in range(STATES)
    ]
    process = {
        "kind": "alternating",
        "order": "keep",
        "states": states,
        "transitions": [[1.0 / STATES] * STATES] * STATES,
    }
    jitter = {"name": f"jitter{number}", "rate": "unlimited", "delay_process": process}
    line = {"name": "line", "rate": "1 Mbit/s", "buffer": "10 pkt"}
    flow = {"name": "flow", "path": ["line", jitter["name"]]}
    scenarios = import_module("ackclock.scenario")
    document = {"title": "jitter", "link": [line, jitter], "flow": [flow], "run": {"duration": "10 s"}}
    elements = scenarios.resolve(scenarios.load(document)).to_dict()["elements"]
    found: Scenario = next(element for element in elements if element["name"] == jitter["name"])
    return found
