"""Says what of a resolved scenario the kernel's path cannot play: the field, its value and the reason."""

from collections.abc import Iterator
from typing import Any

from crosscheck.linux.path import Scenario, UnplayableError, bottleneck_of, discipline_of, has_rate, losses, tcp_of

MOST_FLOWS, MOST_GROUPS = 64, 16
LEAST_PACKET_BYTES = 320
"""Smallest data packet: the kernel's segments have at least 256 B of payload by default."""
CONTROLS = frozenset(
    {"reno", "cubic", "bbr", "dctcp", "highspeed", "htcp", "hybla", "illinois", "scalable", "vegas", "westwood"}
)
"""Congestion controls that the kernel has by the same name."""
FIXED_RTO = {"max": 120.0, "initial": 1.0, "granularity": 0.001}
"""Settings of the timer that the kernel has fixed [s]."""
WRITE_BYTES = 65536
"""Data that the guest program's applications write at once."""
HTB = {"kind": "shaper", "burst_bytes": 15}
"""Token bucket behind an AQM at its bottleneck."""
LEAST_CAKE_BYTES = 4 * 2**20
"""Least buffer of a cake that is given none [B]."""
ETHERNET_PACKET, ETHERNET_BYTES, LEAST_QUANTUM = 1514, 14, 300
"""Largest packet and header on the links of the kernel's path, and cake's least quantum [B]."""
HALF_A_MICROSECOND_S = 5e-7
BURST_S = 0.15
"""Burst allowance of its PIE [s]."""
OF_THE_HOST = (
    *("sack", "loss_detection", "tail_loss_probe", "frto", "timestamps", "initial_window", "dupack_threshold", "rto"),
    *("send_buffer", "ecn"),
)
"""Settings of a sender that the kernel has once for all connections of a host."""
OF_THE_RECEIVERS = {"receive_buffer": "buffer_bytes", "receive_buffer_max": "most_buffer_bytes"}
"""The same of a receiver: fields of scenarios, and of resolved ones."""


def check_playable(scenario: Scenario) -> None:
    """Check that the kernel can play a scenario.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.

    Raises
    ------
    UnplayableError
        If it cannot; a line for each field.
    """
    faults = list(_flow_faults(scenario))
    if all(_is_selective(flow) for flow in scenario["flows"]):
        faults += [*_bottleneck_faults(scenario), *_shared_faults(scenario)]
    if faults:
        raise UnplayableError("\n".join(faults))


def _is_selective(flow: Scenario) -> bool:
    return bool(flow["traffic"]["kind"] == "tcp" and tcp_of(flow)["sender"]["machine"] == "selective")


def _bottleneck_faults(scenario: Scenario) -> Iterator[str]:
    try:
        bottleneck = bottleneck_of(scenario)
    except UnplayableError as fault:
        yield str(fault)
        return
    yield from _link_faults(scenario, bottleneck)
    yield from _path_faults(scenario, bottleneck)


def _fault(place: str, given: Any, reason: str) -> str:
    return f"{place}: {given!r} cannot be played in the kernel; {reason}"


def _flow_faults(scenario: Scenario) -> Iterator[str]:
    for flow in scenario["flows"]:
        place = f"flow.{flow['name']}"
        if flow["traffic"]["kind"] != "tcp":
            yield _fault(f"{place}.traffic.kind", flow["traffic"]["kind"], "its flows are one transfer of TCP each")
        elif tcp_of(flow)["sender"]["machine"] != "selective":
            recovery = tcp_of(flow)["sender"]["recovery"]
            yield _fault(f"{place}.tcp.recovery", recovery, "take a linux-... preset")
        else:
            yield from _tcp_faults(f"{place}.tcp", tcp_of(flow))
            yield from _memory_faults(f"{place}.tcp", scenario, flow)
            yield from _size_faults(place, flow)
    count = sum(flow["count"] for flow in scenario["flows"])
    if count > MOST_FLOWS:
        yield f"flow.count: {count} flows; the guest has at most {MOST_FLOWS}"


def _memory_faults(place: str, scenario: Scenario, flow: Scenario) -> Iterator[str]:
    """Say where packets come in pages, which are copied where losses are by number."""
    by_number = any(loss["law"]["model"] == "packets" for _, loss in losses(scenario, flow["path"]))
    if not by_number and (tcp_of(flow)["receiver"]["linux"] or {}).get("memory") == "linear":
        yield _fault(
            f"{place}.receive_skb",
            "linear",
            "packets come in the pages of the sender where no losses are by number: paged or veth",
        )


def _size_faults(place: str, flow: Scenario) -> Iterator[str]:
    if flow["start_spread_s"]:
        yield _fault(f"{place}.start_spread", flow["start_spread_s"], "starts are the scenario's own, not drawn")
    if flow["packet_bytes"] < LEAST_PACKET_BYTES:
        yield _fault(f"{place}.packet", flow["packet_bytes"], f"at least {LEAST_PACKET_BYTES} B")


def _tcp_faults(place: str, connection: Scenario) -> Iterator[str]:
    sender = connection["sender"]
    yield from _control_faults(place, sender["congestion_control"])
    allowed = ("dctcp",) if sender["congestion_control"]["name"] == "dctcp" else ("off", "classic")
    if sender["ecn"] not in allowed:
        yield _fault(f"{place}.ecn", sender["ecn"], " or ".join(allowed))
    for field in ("initial_ssthresh", "max_window"):
        if sender[field] is not None:
            yield _fault(f"{place}.{field}", sender[field], "connections begin without a limit")
    if sender["initial_window"] != int(sender["initial_window"]):
        yield _fault(f"{place}.initial_window", sender["initial_window"], "whole packets only")
    for field, fixed in FIXED_RTO.items():
        if sender["rto"][f"{field}_s"] != fixed:
            yield _fault(f"{place}.rto.{field}", sender["rto"][f"{field}_s"], f"it is {fixed} s there")
    yield from _end_faults(place, connection)


def _end_faults(place: str, connection: Scenario) -> Iterator[str]:
    """Say what is not the kernel's of the receiver, the send buffer, the handshake and the application."""
    sender = connection["sender"]
    if connection["receiver"]["linux"] is None:
        yield _fault(f"{place}.acks", "delayed", 'the kernel\'s receiver decides when to send ACKs: acks = "linux"')
    elif not connection["receiver"]["linux"]["announced"]:
        yield _fault(f"{place}.receive_window", "fixed", "the kernel's grows with what is read: autotuned")
    if sender["send_buffer"] is None:
        yield _fault(f"{place}.send_buffer", "unlimited", "the kernel's has a largest size")
    if connection["handshake"] and connection["handshake"]["client_hello_packets"]:
        yield _fault(f"{place}.handshake", "tls", "its connections send data at once: none or tcp")
    if sender["close"] != "none":
        yield _fault(f"{place}.close", sender["close"], "its connections stay open")
    write = (sender["push"] or {}).get("write_bytes")
    if write != WRITE_BYTES:
        yield _fault(f"{place}.write_size", write or "unlimited", f"its applications write {WRITE_BYTES} B at once")
    if sender["writes"] is not None:
        yield _fault(f"{place.removesuffix('.tcp')}.writes", "bursts", "its applications write all data at the start")


def _control_faults(place: str, control: Scenario) -> Iterator[str]:
    if control["name"] not in CONTROLS:
        yield _fault(f"{place}.congestion_control", control["name"], f"it has {', '.join(sorted(CONTROLS))}")
    if control["dialect"] != "linux":
        yield _fault(f"{place}.dialect", control["dialect"], 'the kernel\'s is "linux"')
    if control["parameters"]:
        yield _fault(f"{place}.parameters", control["parameters"], "its parameters are the kernel's defaults")
    slow_starts = ("hystart", "standard") if control["name"] == "cubic" else ("standard",)
    if control["slow_start"] not in slow_starts:
        yield _fault(f"{place}.slow_start", control["slow_start"], f"it has {' and '.join(slow_starts)}")


def _link_faults(scenario: Scenario, bottleneck: int) -> Iterator[str]:
    link, reverse = scenario["elements"][bottleneck], _reverse_links(scenario)
    if link["kind"] != "link":
        yield _fault(f"link.{link['name']}", link["kind"], "the bottleneck is a link that flows share")
        return
    yield from _cake_host_faults(scenario, link)
    if len(reverse) > 1:
        names = ", ".join(scenario["elements"][hop]["name"] for hop in reverse)
        yield f"link: {names} are {len(reverse)} links with a rate for ACKs; the kernel's path has one at most"
    for hop in (bottleneck, *sorted(reverse)):
        element = scenario["elements"][hop]
        place = f"link.{element['name']}"
        if element["kind"] != "link":
            yield _fault(place, element["kind"], "the return path is of links that flows share")
            continue
        unit = "bytes" if discipline_of(element["queue"]) in ("red", "cake") else "packets"
        if element["buffer"] is not None and set(element["buffer"]) != {unit}:
            yield _fault(f"{place}.buffer", element["buffer"], f"that queue is limited in {unit}")
        yield from _queue_faults(place, element, is_bottleneck=hop == bottleneck)


def _queue_faults(place: str, link: Scenario, *, is_bottleneck: bool) -> Iterator[str]:
    """Say what the queue of a link has that `netem`, or the bottleneck's AQM, has not."""
    queue = link["queue"]
    discipline = discipline_of(queue)
    if is_bottleneck and discipline not in (None, "pfifo"):
        yield from _aqm_faults(place, link)
        return
    if link["token_bucket"] is not None:
        yield _fault(f"{place}.token_bucket", link["token_bucket"]["kind"], "without an AQM its bottleneck is a line")
    if link["counting"] != "with-service":
        yield _fault(f"{place}.counting", link["counting"], "its queues hold the packet in transmission too")
    if discipline != "pfifo":
        others = " or, at the bottleneck, red, codel, pie, fq-codel, fq-pie, sfq or cake" if is_bottleneck else ""
        yield _fault(f"{place}.queue", _discipline(queue), f"its queue is drop-tail{others}")


def _aqm_faults(place: str, link: Scenario) -> Iterator[str]:
    queue = link["queue"]
    if discipline_of(queue) == "cake":
        yield from _cake_faults(place, link)
    if discipline_of(queue) == "sfq":
        yield from _sfq_faults(place, queue["scheduler"], link["buffer"])
    if queue["aqm"].get("burst_s", BURST_S) != BURST_S:
        yield _fault(f"{place}.queue.burst", queue["aqm"]["burst_s"], f"it is {BURST_S} s there")
    update_s = queue["aqm"].get("update_s")
    if update_s is not None and not _is_of_ticks(update_s):
        problem = f"its timer expires after 2 to {MOST_UPDATE_TICKS} whole milliseconds"
        yield _fault(f"{place}.queue.update", update_s, problem)
    if queue["aqm"].get("rules", "linux") != "linux":
        yield _fault(f"{place}.queue.rules", queue["aqm"]["rules"], 'the kernel\'s are "linux"')
    if link["token_bucket"] is None and link["counting"] != "waiting":
        yield _fault(f"{place}.counting", link["counting"], "an AQM there holds only packets that wait")
    if link["token_bucket"] not in (None, HTB):
        yield _fault(f"{place}.token_bucket", link["token_bucket"], "a shaper with a burst of 15 B there")


MOST_UPDATE_TICKS = 63
"""Ticks of a millisecond up to which the kernel's timer wheel rounds a time up by a tick and not by more."""


def _is_of_ticks(time_s: float) -> bool:
    ticks = round(time_s * 1e3)
    return abs(time_s * 1e3 - ticks) < 1e-6 and 2 <= ticks <= MOST_UPDATE_TICKS


MOST_SFQ_DEPTH = 127
"""Packets that may wait in a queue of the kernel's SFQ."""


def _sfq_faults(place: str, sfq: Scenario, buffer: Scenario | None) -> Iterator[str]:
    if sfq["hashed"] and sfq["queues"] & (sfq["queues"] - 1):
        yield _fault(f"{place}.queue.queues", sfq["queues"], "its divisor is a power of 2")
    if sfq["depth_packets"] > MOST_SFQ_DEPTH:
        yield _fault(f"{place}.queue.depth", sfq["depth_packets"], f"it is at most {MOST_SFQ_DEPTH}")
    if buffer is None:
        yield _fault(f"{place}.buffer", None, "its SFQ has a limit")


def cake_interval_s(queue: Scenario) -> float:
    """Give the interval that a cake's was made from by the rate of its shaper [s]: 20 targets (`tc cake rtt`)."""
    cobalt = queue["aqm"]
    target_s, packet_s = cobalt["target_s"], cobalt["mtu_s"]
    plain_s = cobalt["interval_s"] - target_s
    return float(plain_s * 20 / 19 if target_s <= 1.5 * packet_s * (1 + 1e-9) else cobalt["interval_s"])


def _cake_faults(place: str, link: Scenario) -> Iterator[str]:
    scheduler, cobalt = link["queue"]["scheduler"], link["queue"]["aqm"]
    interval_s, packet_s = cake_interval_s(link["queue"]), cobalt["mtu_s"]
    if abs(max(interval_s / 20, 1.5 * packet_s) - cobalt["target_s"]) > HALF_A_MICROSECOND_S:
        yield _fault(f"{place}.queue.target", cobalt["target_s"], "it is a twentieth of the interval there")
    if link["buffer"] is not None and link["buffer"]["bytes"] < LEAST_CAKE_BYTES:
        reason = "the memory of packets is limited there; leave the buffer out"
        yield _fault(f"{place}.buffer", link["buffer"]["bytes"], reason)
    in_time = ETHERNET_PACKET if packet_s == 0 else int(scheduler["bandwidth_bps"] / 8) >> 12
    usual = max(min(in_time, ETHERNET_PACKET), LEAST_QUANTUM)
    if abs(scheduler["quantum_bytes"] - usual) > ETHERNET_BYTES:
        yield _fault(f"{place}.queue.quantum", scheduler["quantum_bytes"], f"it is {usual} B there")


def _cake_host_faults(scenario: Scenario, link: Scenario) -> Iterator[str]:
    """Say which flows are not of the first one's host where a cake isolates hosts: the kernel's path has one sender."""
    if link["queue"]["scheduler"].get("by_host"):
        for flow in scenario["flows"]:
            if flow["host"] != scenario["flows"][0]["host"]:
                reason = 'all flows have one sender there: give them one host, or the queue isolation = "flows"'
                yield _fault(f"flow.{flow['name']}.host", flow["host"], reason)


def _reverse_links(scenario: Scenario) -> set[int]:
    paths = [tcp_of(flow)["return_path"] for flow in scenario["flows"]]
    return {hop for path in paths for hop in path if has_rate(scenario, hop)}


def _discipline(queue: Scenario) -> str:
    """Name what makes a queue another one than drop-tail."""
    parts = (queue["aqm"]["kind"], queue["scheduler"]["kind"], queue["overflow"])
    return ", ".join(part for part in parts if part not in ("none", "fifo", "arriving"))


def _path_faults(scenario: Scenario, bottleneck: int) -> Iterator[str]:
    """Say which losses and changes of delay are not behind the bottleneck, or not of the kinds that `netem` has."""
    for flow in scenario["flows"]:
        cut = flow["path"].index(bottleneck)
        behind = flow["path"][cut + 1 :]
        for hop in (*flow["path"], *tcp_of(flow)["return_path"]):
            element = scenario["elements"][hop]
            loss, process = element["loss"], element["delay_process"]
            if element.get("rate_process") is not None:
                yield _fault(
                    f"link.{element['name']}.rate_process", element["rate_process"]["law"]["kind"], "none can be"
                )
            if loss is not None and not (hop in behind and _is_playable_loss(loss)):
                reason = "losses of data behind the bottleneck, by their numbers or with a probability, can be"
                yield _fault(f"link.{element['name']}.loss", loss["law"]["model"], reason)
            if process is not None and not (hop in flow["path"][cut:] and _is_playable_process(process)):
                reason = "steps of the delay from the bottleneck on, which may reorder packets, can be"
                yield _fault(f"link.{element['name']}.delay_process", process["law"]["kind"], reason)
        if len(losses(scenario, behind)) > 1:
            yield f"link: {len(losses(scenario, behind))} links with losses behind the bottleneck; one at most"


def _is_playable_loss(loss: Scenario) -> bool:
    return loss["law"]["model"] in ("packets", "bernoulli") and loss["applies_to"] in ("data", "all")


def _is_playable_process(process: Scenario) -> bool:
    return bool(process["law"]["kind"] == "steps" and process["order"] == "overtake")


def _shared_faults(scenario: Scenario) -> Iterator[str]:
    """Say what differs between flows that the kernel has once."""
    first = scenario["flows"][0]
    for flow in scenario["flows"][1:]:
        place = f"flow.{flow['name']}"
        if flow["packet_bytes"] != first["packet_bytes"]:
            yield _fault(f"{place}.packet", flow["packet_bytes"], "all flows have one size of packets")
        yield from _host_faults(f"{place}.tcp", tcp_of(flow), tcp_of(first))
    if len({flow["path"][-1] for flow in scenario["flows"]}) > 1 and any(
        _is_special(one) for one in scenario["elements"]
    ):
        yield "flow.path: flows that part behind the bottleneck; losses and changes of delay are of all flows"
    forward = [(flow["forward_delay_s"], *flow["path"]) for flow in scenario["flows"]]
    back = [(tcp_of(flow)["return_delay_s"], *tcp_of(flow)["return_path"]) for flow in scenario["flows"]]
    groups = set(zip(forward, back, strict=True))
    if len(groups) > MOST_GROUPS:
        yield f"flow: {len(groups)} different delays; the guest has at most {MOST_GROUPS}"
    if len(set(forward)) > 1 and any(element["delay_process"] is not None for element in scenario["elements"]):
        yield "link.delay_process: the delay of the data changes for flows with different ones; the guest changes one"


def _host_faults(place: str, given: Scenario, first: Scenario) -> Iterator[str]:
    """Say which settings of two connections differ that their hosts have once."""
    reason = "all connections of a host have the same"
    for field in OF_THE_HOST:
        if given["sender"][field] != first["sender"][field]:
            yield _fault(f"{place}.{field}", given["sender"][field], reason)
    here, there = given["receiver"]["linux"], first["receiver"]["linux"]
    for field, name in OF_THE_RECEIVERS.items():
        if here and there and here[name] != there[name]:
            yield _fault(f"{place}.{field}", here[name], reason)


def _is_special(element: Scenario) -> bool:
    return element["loss"] is not None or element["delay_process"] is not None
