"""The closed forms of the papers, one package for each paper: numbers in, numbers out.

A model knows no scenario, no engine and no result. Arguments broadcast like numpy's, and docstrings give their units.
Each package has `MODELS`: the record of each function, with its source, the limits of its arguments and its domain.

>>> from ackclock.models import bottlenecks
>>> float(bottlenecks.slow_start_threshold(bottleneck_rate=100.0, round_trip_time=0.5, buffer=20.0))
35.0
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.models import abrupt_delay as abrupt_delay
    from ackclock.models import bottlenecks as bottlenecks
    from ackclock.models import classics as classics
    from ackclock.models import controls as controls
    from ackclock.models import engset as engset
    from ackclock.models import queues as queues
    from ackclock.models import two_way as two_way
    from ackclock.models import variable_delay as variable_delay

__all__ = ["abrupt_delay", "bottlenecks", "classics", "controls", "engset", "queues", "two_way", "variable_delay"]


def __getattr__(name: str) -> Any:
    """Import a model when it is first used, so that numpy is not loaded without need."""
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415

        return import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
