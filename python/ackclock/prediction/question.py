"""A question to a model: an error of the model is an answer, so that it costs no run that is finished."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from numpy.linalg import LinAlgError

from ackclock.errors import ModelError
from ackclock.prediction.records import Inapplicable, ModelPrediction

Answers = list[ModelPrediction | Inapplicable]
P = ParamSpec("P")


def question(model: str, title: str) -> Callable[[Callable[P, Answers]], Callable[P, Answers]]:
    """Make a function answer with the reason where a model has no value for the numbers that it is given.

    Parameters
    ----------
    model : str
        Key of the model, or of the first one that the function asks.
    title : str
        Its title.

    Returns
    -------
    callable
        A decorator of functions that return answers.
    """

    def decorate(ask: Callable[P, Answers]) -> Callable[P, Answers]:
        @wraps(ask)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Answers:
            try:
                return ask(*args, **kwargs)
            except ModelError as error:
                return [Inapplicable(model, title, (f"the model has no value for these numbers: {error}",))]
            except (ArithmeticError, LinAlgError) as error:
                return [Inapplicable(model, title, (f"the model cannot be computed for these numbers: {error}",))]

        return answer

    return decorate
