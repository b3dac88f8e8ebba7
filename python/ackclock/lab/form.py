"""The controls of the page: each field that it offers, with its value now, and the drawing of the path."""

from typing import Any

from ackclock.groups import by_table, element_named
from ackclock.scenario import Element, Resolved, ResolvedFlow, Scenario, preset_names
from ackclock.scenario.copies import described_name
from ackclock.scenario.losses import Loss
from ackclock.scenario.network import flow_names
from ackclock.scenario.override import written_value
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_links import Link, Reverse
from ackclock.scenario.schema_queues import NAMES
from ackclock.units import Quantity, show

Json = dict[str, Any]
_SHOWN = frozenset({"s", "bit/s", "B", "pkt"})
"""Units in which a value is written with a prefix."""


def form_of(scenario: Scenario, resolved: Resolved) -> Json:
    """List the controls of links, flows and the run, and the path that each flow takes.

    Parameters
    ----------
    scenario : Scenario
        As the user wrote it.
    resolved : Resolved
        The same in SI units.

    Returns
    -------
    dict
        Plain data: `links` and `flows` with their controls, `run`, and the names of the choices. A control has its
        dotted path, its label, its kind ("slider", "choice" or "text"), its value in SI units and as it is written.
    """
    names = flow_names([flow.name for flow in scenario.flows])
    rows = by_table(resolved.flows, lambda row: row.name)
    flows = [(name, flow, rows[name][0]) for name, flow in zip(names, scenario.flows, strict=True)]
    return {
        "title": scenario.title,
        "links": [
            *(_link(link, resolved) for link in scenario.links),
            *(_channel(channel.name, resolved) for channel in scenario.atm.channels if channel is not None),
        ],
        "flows": [_flow(scenario, name, flow, row, resolved) for name, flow, row in flows],
        "run": [
            _slider("run.duration", "duration", "s", scenario.run.duration),
            _slider("run.warmup", "warm-up", "s", scenario.run.warmup),
            _slider("run.seed", "seed", "", scenario.run.seed),
        ],
        "duration_s": resolved.run.duration_s,
        "random": not resolved.is_deterministic,
        "choices": {"discipline": list(NAMES), "preset": list(preset_names())},
    }


def _link(link: Link, resolved: Resolved) -> Json:
    forward, reverse = (
        _direction(f"link.{link.name}{suffix}", table, element_named(resolved, f"{link.name}{suffix}"))
        for suffix, table in (("", link), (".reverse", link.reverse))
    )
    if link.copies > 1:
        forward["controls"].append(_slider(f"link.{link.name}.copies", "copies", "", link.copies))
    return {"name": link.name, "forward": forward, "reverse": reverse}


def _channel(name: str, resolved: Resolved) -> Json:
    """Describe an ATM channel, which is drawn like a link and has no controls."""
    forward, reverse = (resolved.elements_by_name[f"{name}{suffix}"] for suffix in ("", ".reverse"))
    drawn = [{"name": one.name, "controls": [], **_drawn(one, "drop-tail")} for one in (forward, reverse)]
    return {"name": name, "forward": drawn[0], "reverse": drawn[1]}


def _direction(path: str, table: Link | Reverse, element: Element) -> Json:
    controls = [
        _rate(f"{path}.rate", element),
        _slider(f"{path}.delay", "delay", "s", element.delay_s),
        _quantity(f"{path}.buffer", "buffer", table.buffer, "pkt"),
    ]
    if element.kind != "private-link":
        controls.append(_choice(f"{path}.queue", "discipline", "discipline", table.queue.discipline))
        controls.append(_loss(f"{path}.loss", table.loss))
    return {"name": described_name(element.name), "controls": controls, **_drawn(element, table.queue.discipline)}


def _rate(path: str, element: Element) -> Json:
    """Make the control of a link's rate; one that changes is the business of its process."""
    if element.rate_process is not None:
        return {"path": path, "label": "rate", "kind": "text", "value": None, "text": "changes"}
    return _slider(path, "rate", "bit/s", element.rate_bps, none="unlimited")


def _drawn(element: Element, discipline: str) -> Json:
    buffer = element.buffer
    return {
        "rate_bps": element.rate_bps,
        "delay_s": element.delay_s,
        "buffer": None if buffer is None else str(buffer),
        "buffer_packets": None if buffer is None else element.capacity_packets(1500.0),
        "discipline": discipline,
    }


def _flow(scenario: Scenario, name: str, flow: Flow, row: ResolvedFlow, resolved: Resolved) -> Json:
    kind = row.kind
    path = f"flow.{name}"
    controls = []
    if kind in {"tcp", "web"}:
        tcp = written_value(scenario.source, f"{path}.tcp")
        is_table = isinstance(tcp, dict)
        controls.append(_choice(f"{path}.tcp.preset" if is_table else f"{path}.tcp", "TCP", "preset", flow.tcp.preset))
    controls.append(_slider(f"{path}.count", "number", "", flow.count))
    controls.append(_slider(f"{path}.start", "start", "s", flow.start))
    if kind == "tcp":
        size = flow.size
        controls.append(_quantity(f"{path}.size", "size", size, "pkt"))
    if kind in {"tcp", "web"} and flow.two_way_propagation is None:
        controls.append(_slider(f"{path}.rtt", "least RTT", "s", flow.rtt, none="the links'"))
    elif flow.two_way_propagation is not None:
        controls.append(_slider(f"{path}.two_way_propagation", "propagation", "s", flow.two_way_propagation))
    names = [element.name for element in resolved.elements]
    return {
        "name": name,
        "kind": kind,
        "count": flow.count,
        "tcp": flow.tcp.preset if kind in {"tcp", "web"} else None,
        "controls": controls,
        "path": [described_name(names[index]) for index in row.path if resolved.elements[index].kind != "host"],
        "return_path": [
            described_name(names[index]) for index in row.return_path if resolved.elements[index].kind != "host"
        ],
    }


def _quantity(path: str, label: str, value: Quantity | None, unit: str) -> Json:
    if value is None:
        return _slider(path, label, unit, None, none="unlimited")
    return _slider(path, label, value.unit, value.value, none="unlimited")


def _choice(path: str, label: str, choices: str, value: str) -> Json:
    return {"path": path, "label": label, "kind": "choice", "choices": choices, "value": value, "text": value}


def _loss(path: str, loss: Loss | None) -> Json:
    """Make the control of random losses: a probability, of a law that loses data or ACKs alone one of its fields."""
    if loss is not None and loss.model != "bernoulli":
        return {"path": path, "label": "loss", "kind": "text", "value": None, "text": loss.model}
    value = 0.0 if loss is None or loss.probability is None else loss.probability
    of_all = loss is None or loss.applies_to == "all"
    control = _slider(path if of_all else f"{path}.probability", "loss", "1", value)
    return {**control, "text": f"{value:g}"}


def _slider(path: str, label: str, unit: str, value: float | None, none: str = "") -> Json:
    text = none if value is None else show(value, unit) if unit in _SHOWN else f"{value}"  # type: ignore[arg-type]
    return {"path": path, "label": label, "kind": "slider", "unit": unit, "value": value, "text": text, "none": none}
