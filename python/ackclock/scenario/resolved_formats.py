"""Older formats of the resolved scenario: results on disk keep the one of their time."""

from typing import Any, Final

Form = dict[str, Any]

OLD_FORMATS: Final = (1, 2)
_TRACES: Final = {"delay": False, "recovery": False, "rounds": False, "overview_detail_s": None}
_OVERFLOWS: Final = {"drop-tail": "arriving", "drop-from-front": "front", "random-drop": "random"}


def in_format_3(old: Form) -> Form:
    """Convert a scenario in format 1 or 2, which had no kinds of elements and flows; format 2 added fields to format 1.

    Parameters
    ----------
    old : dict
        The JSON form; what is wrong in it stays wrong.

    Returns
    -------
    dict
        The same scenario in format 3.
    """
    channels = old.get("atm") or {"network": None, "links": []}
    ends = {link: end for end, link in enumerate(channels["links"])}
    return {
        **{name: value for name, value in old.items() if name != "links"},
        "format": 3,
        "run": {"precision": None, **old["run"]},
        "elements": [_element(link, ends.get(index)) for index, link in enumerate(old["links"])],
        "flows": [_flow(flow) for flow in old["flows"]],
        "trace": {**_TRACES, **old["trace"]},
        "atm": channels["network"],
    }


def _element(link: Form, end: int | None) -> Form:
    name, rest = link["name"], {**link}
    processing, private = rest.pop("processing", None), rest.pop("private", False)
    if processing is not None:
        return {"kind": "host", "name": name, **processing}
    if end is not None:
        return {"kind": "channel", "name": name, "end": end, "rate_bps": link["rate_bps"], "delay_s": link["delay_s"]}
    if private:
        kept = ("name", "rate_bps", "delay_s", "buffer", "counting")
        return {"kind": "private-link", **{field: link[field] for field in kept}}
    return {"kind": "link", "delay_process": None, "loss": None, **rest, "queue": _queue(link["queue"])}


def _queue(queue: Form) -> Form:
    rest = {**queue}
    discipline = rest.pop("discipline")
    fifo, no_aqm = {"kind": "fifo"}, {"kind": "none"}
    if discipline == "red":
        return {"scheduler": fifo, "overflow": rest.pop("victim"), "aqm": {"kind": "red", **rest}}
    if discipline == "priority":
        return {"overflow": rest.pop("victim"), "scheduler": {"kind": "priority", **rest}, "aqm": no_aqm}
    return {"scheduler": fifo, "aqm": no_aqm, "overflow": _OVERFLOWS.get(discipline, discipline)}


def _flow(flow: Form) -> Form:
    rest = {"priority": 0, "ack_priority": 0, "count": 1, **flow}
    traffic, size = rest.pop("traffic", None), rest.pop("size_packets")
    fields = ("return_path", "return_delay_s", "ack_bytes", "ack_priority", "sender", "receiver")
    connection = {field: rest.pop(field) for field in fields}
    if traffic is None:
        return {**rest, "traffic": {"kind": "tcp", "size_packets": size, "connection": connection}}
    return {**rest, "traffic": {**traffic, "connection": connection} if traffic["kind"] == "web" else traffic}
