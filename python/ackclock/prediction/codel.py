"""Flows at a bottleneck with CoDel: the drops that hold them at its target, or the sawtooth of a lone flow."""

from ackclock.models import queues
from ackclock.prediction.controlled import Controlled, controlled
from ackclock.prediction.lone_buffer import sawtooth
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number, ReferenceLine
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import Codel
from ackclock.wording import number, plural, seconds

_LONGER = (
    "CoDel leaves its dropping state whenever the queue falls below the target, and begins again with a smaller count: "
    "with several flows its queue is longer than the target, up to four times in runs, and fewer packets are dropped"
)
CODEL = ("codel", "Flows that CoDel controls (RFC 8289; Mathis 1997; RFC 9438)")


@question(*CODEL)
def predict_codel(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask which drops CoDel needs for the flows, and how busy it keeps the link of a lone one."""
    answer = controlled(resolved, Codel)
    if isinstance(answer, list):
        return [Inapplicable(*CODEL, tuple(answer))]
    found, codel = answer
    return [_lone(found, codel) if found.flows == 1 else _several(found, codel)]


def _several(found: Controlled, codel: Codel) -> ModelPrediction:
    name = found.bottleneck.name
    state = found.state(codel.target_s, codel.interval_s)
    what = "marks" if codel.ecn else "drops"
    warnings = queues.MODELS["codel_state"].warnings(
        flows=found.flows,
        bottleneck_rate=found.rate,
        round_trip_time=found.round_trip_s,
        target=codel.target_s,
        interval=codel.interval_s,
        growth=found.growth,
    )
    sentences = (
        f"as many {what} need a count of {number(float(state.count))}; a lasting queue brings CoDel there in "
        f"{seconds(float(state.settling_time))}",
    )
    if float(state.count) >= 1.0:
        warnings = (*warnings, _LONGER)
    return ModelPrediction(
        *CODEL,
        subject=f"{plural(found.flows, 'flow')} over {name}",
        numbers=(
            found.delay_number(codel.target_s),
            found.loss_number(float(state.drop_probability), marks=codel.ecn),
            Number("between_drops_s", f"time from one of the {what} to the next", 1.0 / float(state.drop_rate), "s"),
        ),
        sentences=sentences if float(state.count) >= 1.0 else (),
        warnings=warnings,
        reference_lines=(ReferenceLine("queue", name, found.rate * codel.target_s, "CoDel's target"),),
    )


def _lone(found: Controlled, codel: Codel) -> ModelPrediction:
    """Predict the sawtooth of one flow, whose queue passes the target once a cycle."""
    name = found.bottleneck.name
    buffer = float(queues.codel_lone_buffer(found.rate, found.round_trip_s, codel.target_s, codel.interval_s))
    cycle, warnings = sawtooth(found.scenes[0], found.bottleneck, buffer)
    used = Measured("links", (name,), "utilisation_fraction")
    return ModelPrediction(
        *CODEL,
        subject=f"{found.scenes[0].name} over {name}",
        numbers=(
            Number("utilisation_fraction", f"utilisation of {name}", float(cycle.utilisation), "1", used),
            Number("buffer_packets", "queue at which the window comes down", buffer, "pkt"),
            Number("period_s", "time from one loss to the next", float(cycle.period), "s"),
        ),
        sentences=(
            f"for one flow CoDel is as a buffer of {number(round(buffer, 1))} packets: it drops one packet when the "
            f"queue has been above {seconds(codel.target_s)} for {seconds(codel.interval_s)}",
        ),
        warnings=warnings,
        reference_lines=(ReferenceLine("queue", name, found.rate * codel.target_s, "CoDel's target"),),
    )
