"""One transfer of a given size over an empty path: Cardwell's latency of short flows, and its handshake."""

from math import inf, prod

from ackclock.models import classics
from ackclock.paths import delay_processes, empty_round_trip_s, losses, nodes
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import NOT_AIMD, NOT_FILLING, Scene, busy_hosts, control_of, other_than_one
from ackclock.scenario import Resolved
from ackclock.scenario.losses import BernoulliLoss
from ackclock.scenario.resolved_tcp import SelectiveSettings
from ackclock.wording import amount, number, plural, seconds

SHORT_FLOW = ("short-flow", "The latency of a short transfer (Cardwell, Savage, Anderson 2000)")
LARGE_WINDOW = 1e9
LINUX_ACK_DELAY_S = 0.0405
"""Mean delay of an ACK that waits for a second packet: 40 ms, and up to the end of the next one (`TCP_DELACK_MIN`)."""


@question(*SHORT_FLOW)
def predict_short_flow(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask how long a transfer takes."""
    scene = Scene(resolved, resolved.flows[0])
    reasons = other_than_one(resolved) or busy_hosts(resolved)
    size = scene.flow.size_packets
    if not reasons and size is None:
        reasons.append("the flow has no end; the model is of a transfer of a given size")
    probability = _loss_probability(resolved, scene)
    if not reasons and probability is None:
        reasons.append("packets are not lost independently, each with the same probability")
    if not reasons:
        reasons += _other_growth(scene, probability)
    if reasons or size is None or probability is None:
        return [Inapplicable(*SHORT_FLOW, tuple(reasons))]
    return [_prediction(scene, size, probability)]


def _loss_probability(resolved: Resolved, scene: Scene) -> float | None:
    """Compute the probability that a link on the path loses a data packet; None for other laws of loss."""
    laws = losses(resolved, scene.flow)
    known = [law.probability for law in laws if isinstance(law, BernoulliLoss)]
    return 1.0 - prod(1.0 - one for one in known) if len(known) == len(laws) else None


def _other_growth(scene: Scene, probability: float | None) -> list[str]:
    """Say whether the window is not Reno's; without losses it is in the slow start of any that grows until one."""
    sender = scene.flow.tcp.sender
    if control_of(scene) == "hybla":
        return ["Hybla's slow start is faster on long paths; the model's doubles the window in a round trip"]
    threshold = inf if sender.initial_ssthresh is None else sender.initial_ssthresh
    if threshold < min(scene.most_in_flight, scene.flow.size_packets or inf):
        return [f"slow start ends at a window of {number(threshold)} (initial_ssthresh); the model's goes on"]
    if delay_processes(scene.resolved, scene.flow):
        return ["the delay changes; the model has a constant round trip"]
    if sender.is_aimd:
        return []
    if probability != 0.0:
        return [NOT_AIMD]
    return [] if sender.grows_until_loss else [NOT_FILLING]


def _prediction(scene: Scene, packets: int, probability: float) -> ModelPrediction:
    tcp, sender = scene.flow.tcp, scene.flow.tcp.sender
    handshake = _handshake_s(scene, probability)
    short = _shorter_s(scene, packets)
    transfer = _transfer_s(scene, packets, probability) - short
    until_last_ack = Measured("flows", (scene.name,), "fct_acked_mean_s")
    what = "transfer, to the last ACK" if tcp.handshake is None else "handshake and transfer, to the last ACK"
    numbers = [Number("transfer_s", what, handshake + transfer, "s", until_last_ack)]
    if probability == 0.0:
        whole = handshake + _whole_rounds_s(scene, packets) - short
        numbers.append(Number("transfer_whole_rounds_s", f"{what}, in whole round trips", whole, "s", until_last_ack))
    if tcp.handshake is not None:
        numbers.append(Number("handshake_s", "handshake alone", handshake, "s"))
    set_up = "without set-up" if tcp.handshake is None else "after its handshake"
    return ModelPrediction(
        *SHORT_FLOW,
        subject=scene.name,
        numbers=tuple(numbers),
        sentences=(
            f"{plural(packets, 'packet')} over an empty path, {set_up}, from a first window of "
            f"{number(sender.initial_window)}; {_losses_in_words(probability)}",
        ),
        warnings=_warnings(scene, packets),
    )


def _shorter_s(scene: Scene, packets: int) -> float:
    """Compute how much sooner the last packet arrives for its length [s]: from the bottleneck on, where it waits."""
    path, bottleneck = scene.forward, scene.bottleneck
    first = 0 if packets == 1 or bottleneck is None else path.index(bottleneck)
    full_packets = scene.flow.missing_bits / scene.packet_bits
    return sum((full_packets / node.packet_rate for node in path[first:]), start=0.0)


def _rate(scene: Scene) -> float:
    return inf if scene.bottleneck is None else scene.bottleneck.packet_rate


def _pipe(scene: Scene) -> float:
    return inf if scene.bottleneck is None else scene.bottleneck.packet_rate * scene.round_trip_s


def _window(scene: Scene) -> float:
    """Give the largest window that counts: one beyond the pipe is no faster, the rest of it waits at the bottleneck."""
    return min(scene.most_in_flight, max(_pipe(scene), scene.flow.tcp.sender.initial_window), LARGE_WINDOW)


def _transfer_s(scene: Scene, packets: int, probability: float) -> float:
    tcp = scene.flow.tcp
    sender = tcp.sender
    found = classics.short_flow_latency(
        packets,
        scene.round_trip_s,
        probability,
        sender.least_timeout_s(scene.round_trip_s),
        _window(scene),
        initial_window=sender.initial_window,
        packets_per_ack=tcp.packets_per_ack,
    )
    # The formula is continuous in the number of rounds, so that of a few packets it has less than one.
    return max(float(found.transfer), scene.round_trip_s) + _ack_delays_s(scene, packets, probability)


def _ack_delays_s(scene: Scene, packets: int, probability: float) -> float:
    """Compute how long ACKs are delayed with nothing else in flight [s]: the first one, and the last one.

    The first one is delayed if the first window is too small for an ACK, Cardwell's E[T_delack]. The last one is if the
    packets behind the ACK before it are too few; with losses they are unknown. Linux's receivers acknowledge the
    packets of short transfers at once, unless they answered a hello before; and any acknowledges a FIN at once.
    """
    sender, receiver = scene.flow.tcp.sender, scene.flow.tcp.receiver
    is_known = probability == 0.0 and not _closes(scene)
    if receiver.linux is not None:
        return LINUX_ACK_DELAY_S if is_known and _acknowledges_pairs(scene) and packets % 2 > 0 else 0.0
    first = sender.initial_window < receiver.ack_every
    rest = packets - int(sender.initial_window) if first else packets
    last = is_known and rest > 0 and rest % receiver.ack_every > 0
    return receiver.ack_delay_s * (first + last)


def _whole_rounds_s(scene: Scene, packets: int) -> float:
    """Compute the duration in whole round trips [s]; where ACKs are for several packets, whole ACKs open the window."""
    tcp, rate = scene.flow.tcp, _rate(scene)
    limit = min(scene.most_in_flight, LARGE_WINDOW)
    # A last packet with the FIN leaves with the one before it, whatever cwnd is (`tcp_cwnd_test`).
    free = int(_closes(scene) and packets > 1)
    rounds, left, window = _whole_acks(scene, packets - free, min(limit, rate * scene.round_trip_s))
    found = classics.lossless_transfer_time(
        left, scene.round_trip_s, rate, limit, initial_window=window, packets_per_ack=tcp.packets_per_ack
    )
    waits_s = _ack_delays_s(scene, packets, 0.0) + _waits_for_pairs_s(scene, packets - free)
    return rounds * scene.round_trip_s + float(found) + free / rate + waits_s


def _closes(scene: Scene) -> bool:
    """Return whether the last packet has a FIN."""
    sender = scene.flow.tcp.sender
    return isinstance(sender, SelectiveSettings) and sender.close == "tcp"


def _acknowledges_pairs(scene: Scene) -> bool:
    """Return whether a receiver by Linux's rules acknowledges each second packet from the first one on.

    It does once it has answered a hello (`inet_csk_in_pingpong_mode`). Behind an odd window a packet is left, whose ACK
    is late, and this mode ends.
    """
    tcp = scene.flow.tcp
    answers = tcp.receiver.linux is not None and tcp.handshake is not None and tcp.handshake.client_hello_packets > 0
    return answers and tcp.sender.initial_window % 2 == 0


def _waits_for_pairs_s(scene: Scene, packets: int) -> float:
    """Compute how much later the rounds of slow start begin as the first ACK of each is for two packets [s]."""
    rate, window, left = _rate(scene), scene.flow.tcp.sender.initial_window, float(packets)
    rounds = 0
    while _acknowledges_pairs(scene) and left > window and window < _window(scene):
        left, window, rounds = left - window, 2.0 * window, rounds + 1
    return rounds / rate


def _whole_acks(scene: Scene, packets: int, top: float) -> tuple[int, int, float]:
    """Follow slow start by the ACKs of whole packets, up to the last round or to a window that fills the path.

    Returns
    -------
    tuple of int, int and float
        Rounds, packets that are left after them, and the window [pkt]. Nothing is followed where each packet opens the
        window, as the model's rounds are whole there.
    """
    every, window = int(scene.flow.tcp.packets_per_ack), scene.flow.tcp.sender.initial_window
    rounds, left, held = 0, packets, 0
    while every > 1 and window < top and left > int(window) - held:
        sent = int(window) - held
        left, rounds = left - sent, rounds + 1
        acks, held = divmod(held + sent, every)
        if acks == 0:
            acks, held = 1, 0
        window += acks
    return rounds, left, window


def _handshake_s(scene: Scene, probability: float) -> float:
    """Compute the mean duration of the handshake [s]: a round trip, and one more for the hellos of TLS."""
    resolved, flow, tcp = scene.resolved, scene.flow, scene.flow.tcp
    handshake = tcp.handshake
    if handshake is None:
        return 0.0
    syn = empty_round_trip_s(resolved, flow, (handshake.syn_bytes, handshake.syn_bytes))
    time = float(classics.handshake_latency(syn, probability, syn_timeout=handshake.timeout_s))
    there, back = handshake.client_hello_packets, handshake.server_hello_packets
    if there == 0:
        return time
    size = flow.packet_bytes
    hellos = empty_round_trip_s(resolved, flow, (size, size))
    for path, count in ((flow.path, there), (tcp.return_path, back)):
        pace = min((node.packet_rate for node in nodes(resolved, path, size)), default=inf)
        hellos += (count - 1) / pace
    # RFC 6298 section 2.2: after the first round trip R the timeout is R + 4 R / 2.
    timeout = max(3.0 * syn, tcp.sender.least_timeout_s(syn))
    lost = 1.0 - (1.0 - probability) ** there
    return time + float(classics.handshake_latency(hellos, lost, syn_timeout=timeout))


def _losses_in_words(probability: float) -> str:
    return f"{amount(probability, '1')} of the packets are lost" if probability > 0.0 else "no packet is lost"


def _warnings(scene: Scene, packets: int) -> tuple[str, ...]:
    bottleneck, sender = scene.bottleneck, scene.flow.tcp.sender
    found = []
    most = min(packets / 2.0, scene.most_in_flight)
    if bottleneck is not None and bottleneck.buffer < inf and most > _window(scene) + bottleneck.buffer:
        full = number(bottleneck.buffer)
        found.append(f"slow start may overflow {bottleneck.name}'s {full} packets; the model has no loss")
    receiver = scene.flow.tcp.receiver
    if receiver.linux is None and receiver.ack_every > 1 and receiver.ack_delay_s < scene.round_trip_s:
        found.append(
            f"delayed ACKs leave between round trips too, {seconds(receiver.ack_delay_s)} after a packet; the model "
            "has the first and the last one alone"
        )
    early = isinstance(sender, SelectiveSettings) and sender.congestion_control.slow_start != "standard"
    if early and min(packets, scene.most_in_flight) > _pipe(scene):
        found.append("HyStart may end slow start before the link is busy; the model's goes on")
    if bottleneck is not None:
        found += scene.waiting_acks(min(bottleneck.packet_rate, scene.most_in_flight / scene.round_trip_s))
    return tuple(found)
