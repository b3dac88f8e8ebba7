"""ackclock, a TCP performance laboratory.

>>> import ackclock
>>> result = ackclock.run("geo-retransmission-loss")  # doctest: +SKIP
>>> result.flows.goodput_bps  # doctest: +SKIP
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock import scenario as scenario
    from ackclock.advice import advise as advise
    from ackclock.api import predict as predict
    from ackclock.api import resolve as resolve
    from ackclock.api import run as run
    from ackclock.comparison import compare as compare
    from ackclock.controls import CongestionControl as CongestionControl
    from ackclock.errors import AckclockError as AckclockError
    from ackclock.errors import AdviceError as AdviceError
    from ackclock.errors import ArgumentError as ArgumentError
    from ackclock.errors import EngineError as EngineError
    from ackclock.errors import LimitError as LimitError
    from ackclock.errors import LongRunWarning as LongRunWarning
    from ackclock.errors import ModelError as ModelError
    from ackclock.errors import ResultError as ResultError
    from ackclock.errors import ScenarioError as ScenarioError
    from ackclock.errors import SweepError as SweepError
    from ackclock.experiments import reproduce as reproduce
    from ackclock.mahimahi import deliveries as deliveries
    from ackclock.notebook import widget as widget
    from ackclock.pictured import plot as plot
    from ackclock.result import Result as Result
    from ackclock.sweeps import sweep as sweep

_HOMES = {
    "advise": "ackclock.advice",
    "compare": "ackclock.comparison",
    "CongestionControl": "ackclock.controls",
    "deliveries": "ackclock.mahimahi",
    "plot": "ackclock.pictured",
    "predict": "ackclock.api",
    "reproduce": "ackclock.experiments",
    "resolve": "ackclock.api",
    "run": "ackclock.api",
    "Result": "ackclock.result",
    "AckclockError": "ackclock.errors",
    "AdviceError": "ackclock.errors",
    "ArgumentError": "ackclock.errors",
    "EngineError": "ackclock.errors",
    "LimitError": "ackclock.errors",
    "LongRunWarning": "ackclock.errors",
    "ModelError": "ackclock.errors",
    "ResultError": "ackclock.errors",
    "ScenarioError": "ackclock.errors",
    "SweepError": "ackclock.errors",
    "sweep": "ackclock.sweeps",
    "widget": "ackclock.notebook",
}

__all__ = [
    "AckclockError",
    "AdviceError",
    "ArgumentError",
    "CongestionControl",
    "EngineError",
    "LimitError",
    "LongRunWarning",
    "ModelError",
    "Result",
    "ResultError",
    "ScenarioError",
    "SweepError",
    "advise",
    "compare",
    "deliveries",
    "plot",
    "predict",
    "reproduce",
    "resolve",
    "run",
    "scenario",
    "sweep",
    "widget",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import ackclock` and the command line start at once."""
    from importlib import import_module  # noqa: PLC0415

    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        found = globals()[name] = version("ackclock")
        return found
    if name == "scenario":
        return import_module("ackclock.scenario")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]


class _XarrayFinder:
    """Registration of the accessor of sweeps' data when xarray is imported, which is slow: others need not pay for it.

    It finds nothing by itself: it asks for the module in the usual way, and adds a step to its loader.
    """

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Find xarray with a loader that registers the accessor; no other module."""
        if name != "xarray" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                _register(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _register(xarray: Any) -> None:
    """Make `data.ackclock` known to xarray; its class is imported when it is first used."""
    from importlib import import_module  # noqa: PLC0415

    xarray.register_dataset_accessor("ackclock")(
        lambda data: import_module("ackclock.sweeps.accessor").SweepAccessor(data)
    )


if "xarray" in sys.modules:
    _register(sys.modules["xarray"])
else:
    sys.meta_path.insert(0, _XarrayFinder())
