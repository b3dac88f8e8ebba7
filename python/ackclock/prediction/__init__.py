"""The models that apply to a scenario, and their predictions.

A model is asked through one function, which gives its prediction or the reasons why it has none. The models know no
scenario, and nothing here knows a result, except `predict_from_measured`, which is given a summary's flows, and
`predict_from_rounds`, which is given a trace.
"""

from ackclock.prediction.bbr import predict_bbr
from ackclock.prediction.changing_delay import predict_changing_delay
from ackclock.prediction.codel import predict_codel
from ackclock.prediction.cubic import predict_cubic
from ackclock.prediction.lone_buffer import predict_lone_buffer
from ackclock.prediction.losses import predict_from_measured
from ackclock.prediction.many_flows import predict_many_flows
from ackclock.prediction.marks import predict_dctcp
from ackclock.prediction.measured_rounds import predict_from_rounds
from ackclock.prediction.pie import predict_pie
from ackclock.prediction.random_loss import predict_random_loss
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number, Pair, Prediction, ReferenceLine
from ackclock.prediction.scene import rate_reasons, without_pings
from ackclock.prediction.short_flow import predict_short_flow
from ackclock.prediction.single_flow import predict_single_flow
from ackclock.prediction.two_way import predict_two_way
from ackclock.prediction.web import predict_web
from ackclock.scenario import Resolved

__all__ = [
    "Inapplicable",
    "Measured",
    "ModelPrediction",
    "Number",
    "Pair",
    "Prediction",
    "ReferenceLine",
    "predict_from_measured",
    "predict_from_rounds",
    "predict_resolved",
]

_QUESTIONS = (
    predict_single_flow,
    predict_many_flows,
    predict_short_flow,
    predict_two_way,
    predict_changing_delay,
    predict_random_loss,
    predict_cubic,
    predict_dctcp,
    predict_bbr,
    predict_lone_buffer,
    predict_codel,
    predict_pie,
    predict_web,
)


def predict_resolved(resolved: Resolved) -> Prediction:
    """Ask every model about a resolved scenario; pings that load no link by 1% do not count.

    Parameters
    ----------
    resolved : Resolved
        The scenario.

    Returns
    -------
    Prediction
        What applies, with its numbers, and what does not, with its reasons: nothing applies if a rate changes.
    """
    asked = without_pings(resolved)
    changes = tuple(rate_reasons(asked))
    answers = [_unless(changes, answer) for question in _QUESTIONS for answer in question(asked)]
    return Prediction(
        resolved.title,
        tuple(answer for answer in answers if isinstance(answer, ModelPrediction)),
        tuple(answer for answer in answers if isinstance(answer, Inapplicable)),
    )


def _unless(reasons: tuple[str, ...], answer: ModelPrediction | Inapplicable) -> ModelPrediction | Inapplicable:
    if reasons and isinstance(answer, ModelPrediction):
        return Inapplicable(answer.model, answer.title, reasons)
    return answer
