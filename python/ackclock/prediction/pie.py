"""Flows at a bottleneck with PIE: its target, the drops that hold them there, and whether its loop is stable."""

from ackclock.models import queues
from ackclock.prediction.controlled import Controlled, controlled
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, ModelPrediction, ReferenceLine
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import Pie
from ackclock.wording import plural, seconds, significant

PIE = ("pie", "Flows that PIE controls (Hollot and others 2002; Pan and others 2013; RFC 8033)")


@question(*PIE)
def predict_pie(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask which delay and which drops PIE has, and whether it is stable."""
    answer = controlled(resolved, Pie)
    if isinstance(answer, list):
        return [Inapplicable(*PIE, tuple(answer))]
    found, pie = answer
    return [_prediction(found, pie)]


def _prediction(found: Controlled, pie: Pie) -> ModelPrediction:
    name = found.bottleneck.name
    arguments = {
        "flows": found.flows,
        "bottleneck_rate": found.rate,
        "round_trip_time": found.round_trip_s,
        "target": pie.target_s,
        "alpha": pie.alpha,
        "beta": pie.beta,
        "update_interval": pie.update_s,
    }
    loop = queues.pi_loop(controller="pie", **arguments)
    packets = found.rate * pie.target_s
    return ModelPrediction(
        *PIE,
        subject=f"{plural(found.flows, 'flow')} over {name}",
        numbers=(
            found.delay_number(pie.target_s),
            found.loss_number(float(found.state(pie.target_s).drop_probability), marks=pie.ecn),
        ),
        sentences=(_stability(found, loop),),
        warnings=queues.MODELS["pi_loop"].warnings(**arguments),
        reference_lines=(ReferenceLine("queue", name, packets, "PIE's target"),),
    )


def _stability(found: Controlled, loop: queues.PiLoop) -> str:
    margins = (
        f"phase margin {significant(float(loop.phase_margin), 2)} degrees, gain margin "
        f"{significant(float(loop.gain_margin), 2)} dB, at a round trip of {seconds(found.round_trip_s)} without queue"
    )
    whose = "" if found.growth == "reno" else " if the windows grow as Reno's"
    if bool(loop.is_stable):
        return f"PIE's loop is stable with these flows{whose}: {margins}"
    return f"PIE's loop is unstable with these flows{whose}, so that the queue swings and may run empty: {margins}"
