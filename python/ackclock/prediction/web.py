"""Web-like sources that share a link: the TCP-modified Engset model (Zaragoza 2014)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite

from ackclock.errors import ModelError
from ackclock.models import engset
from ackclock.paths import Node, delay_processes, losses
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number, ReferenceLine
from ackclock.prediction.scene import NOT_AIMD, Scene, busy_hosts, early_drops, rate_reasons, stalls
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_traffic import WebTraffic
from ackclock.wording import amount, number

WEB = ("engset", "Web sources on a shared link, the TCP-modified Engset model (Zaragoza 2014)")
LARGE_WINDOW = 10**6
"""A receiver's window [pkt] that never limits a transfer: no file of the model is larger."""


@dataclass(frozen=True)
class WebSources:
    """Identical sources, each with links of its own except one.

    Parameters
    ----------
    scene : Scene
        They.
    shared : Node
        The link that they share.
    path : engset.Path
        The model's path.
    packets : float
        Mean size of a transfer [pkt].
    off_s : float
        Mean silence [s].
    long_tailed : bool
        Whether few transfers make up much of the traffic.
    """

    scene: Scene
    shared: Node
    path: engset.Path
    packets: float
    off_s: float
    long_tailed: bool

    @property
    def window(self) -> float:
        """The largest window that the receiver and the socket buffers allow [pkt]."""
        return min(self.scene.most_in_flight, LARGE_WINDOW)

    def predict(self, buffer: float | None = None) -> engset.Prediction:
        """Ask the model; with another buffer [pkt] than the link's, where one is given."""
        held = self.shared.buffer if buffer is None else buffer
        return engset.predict(
            self.path, self.packets, self.scene.count, off_time=self.off_s, window=self.window, buffer=held
        )


@question(*WEB)
def predict_web(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask for rate, duration, queue and loss of web sources."""
    found = web_sources(resolved)
    if isinstance(found, str):
        return [Inapplicable(*WEB, (found,))]
    try:
        return [_prediction(found, found.predict())]
    except ModelError as error:
        return [Inapplicable(*WEB, (str(error),))]


def web_sources(resolved: Resolved) -> WebSources | str:
    """Take a scenario as the model's, or say why it is not."""
    traffic = resolved.flows[0].traffic
    if len(resolved.flows) > 1 or not isinstance(traffic, WebTraffic):
        return (
            "no web sources, or other flows too; the model is of identical sources with transfers and silences in turn"
        )
    scene = Scene(resolved, resolved.flows[0])
    if delay_processes(resolved, scene.flow) or losses(resolved, scene.flow):
        return "the delay changes, or packets are lost at random; the model has neither"
    reasons = rate_reasons(resolved) or busy_hosts(resolved) or list(_unlike(scene))
    if reasons:
        return reasons[0]
    shared = [node for node in scene.forward if not node.private]
    if len(shared) != 1:
        return f"{number(len(shared))} shared links have a rate; the model has one"
    size = traffic.size.mean_packets
    if size < 3:
        return "transfers of less than three packets in the mean; the model begins with three"
    names = [node.name for node in scene.forward]
    path = engset.Path(
        scene.round_trip_s,
        [node.rate_bps for node in scene.forward],
        float(scene.flow.packet_bytes),
        names.index(shared[0].name),
    )
    return WebSources(scene, shared[0], path, size, traffic.off.mean_s, long_tailed=traffic.size.is_long_tailed)


def _unlike(scene: Scene) -> Iterator[str]:
    """Give the reasons why the connections are not the model's."""
    tcp = scene.flow.tcp
    if not tcp.sender.is_aimd:
        yield NOT_AIMD
    if tcp.handshake is not None:
        yield "connections begin with a handshake; the model has none"
    if tcp.sender.initial_ssthresh is not None and tcp.sender.initial_ssthresh < scene.most_in_flight:
        yield "slow start ends at initial_ssthresh; the model's goes on"
    if tcp.receiver.linux is None and tcp.sender.initial_window < tcp.receiver.ack_every:
        yield "the ACK of the first packets waits for its timer; the model has no such wait"
    yield from early_drops(scene)
    yield from stalls(scene.flow)


def _prediction(web: WebSources, found: engset.Prediction) -> ModelPrediction:
    name, link = web.scene.name, web.shared.name
    numbers = (
        Number(
            "rate_bps", "rate of a transfer (h)", float(found.rate), "bit/s", Measured("sources", (name,), "rate_bps")
        ),
        Number(
            "on_s", "duration of a transfer (ON)", float(found.on_time), "s", Measured("sources", (name,), "on_mean_s")
        ),
        Number(
            "utilisation_fraction",
            f"utilisation of {link}",
            float(found.utilisation),
            "1",
            Measured("links", (link,), "utilisation_fraction"),
        ),
        Number("offered_load_fraction", "offered load (rho_0)", float(found.offered_load), "1"),
        Number(
            "mean_queue_packets",
            f"mean queue of {link}",
            float(found.mean_queue),
            "pkt",
            Measured("links", (link,), "queue_mean_packets"),
        ),
        Number("loss_fraction", f"loss at {link}", float(found.loss), "1", Measured("links", (link,), "loss_fraction")),
    )
    return ModelPrediction(
        *WEB,
        subject=f"{number(web.scene.count)} sources, {name}",
        numbers=tuple(one for one in numbers if isfinite(one.value)),
        sentences=_sentences(web, found),
        warnings=(
            *engset.MODELS["predict"].warnings(prediction=found, long_tailed=web.long_tailed),
            *web.scene.waiting_acks(web.shared.packet_rate),
        ),
        reference_lines=_reference_lines(web, found),
    )


def _sentences(web: WebSources, found: engset.Prediction) -> tuple[str, ...]:
    threshold, active = number(float(found.threshold)), number(round(float(found.active)))
    alone = (
        f"a transfer of {number(web.packets)} packets alone on the path takes {amount(float(found.lone_on_time), 's')}"
    )
    if not bool(found.shared):
        return (f"{alone}, and {web.shared.name} carries all {number(web.scene.count)} sources at that rate",)
    return (
        f"{alone}; {web.shared.name} carries {threshold} of them at once, beyond that they share it, "
        f"and {active} of {number(web.scene.count)} sources are active in the mean",
    )


def _reference_lines(web: WebSources, found: engset.Prediction) -> tuple[ReferenceLine, ...]:
    queue = float(found.mean_queue)
    if queue <= 0.0 or (web.shared.buffer < inf and queue > web.shared.buffer):
        return ()
    return (ReferenceLine("queue", web.shared.name, queue, "mean queue, theory"),)
