"""Congestion controls of your own: the base class, and what it sees.

>>> from ackclock.controls import CongestionControl
>>> class Mine(CongestionControl):
...     def on_ack(self, ack):
...         left = self.slow_start(ack)
...         self.cwnd += left / self.cwnd
...
...     def on_congestion(self, signal):
...         return max(self.cwnd / 2, 2)
>>> ackclock.run(scenario, controllers={"mine": Mine})  # doctest: +SKIP
"""

import ctypes
import inspect
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from math import ceil, inf
from types import FunctionType
from typing import Any, Final

from ackclock._engine import AckSample, Connection, Signal
from ackclock.errors import ArgumentError, Fault

__all__ = ["AckSample", "CongestionControl", "Connection", "Controllers", "Signal"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_+-]{0,63}")


class _Made(ABCMeta):
    """The class of the classes, which looks at each object once it is made."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        made = super().__call__(*arguments, **named)
        for name in ("cwnd", "ssthresh"):
            if name in vars(made):
                given = f"{name} = {vars(made)[name]!r}"
                hint = f"set self.{name} in on_ack, or the field initial_window of the flow's tcp"
                problem = f"sets self.{name}, which the sender sets before each call"
                raise ArgumentError(Fault(f"{cls.__name__}.__init__", problem, given, hint=hint))
        return made


class CongestionControl(metaclass=_Made):
    """A congestion control; each connection (each transfer of a web source) has an object of its own.

    The sender finds losses, repairs them and sends; the control says how much may be in flight. Packets are whole,
    times are in seconds. An object is made right before the first call for its connection. An exception, or a window
    that is not a number from 1 on, ends the run with an `EngineError`.

    Parameters
    ----------
    connection : Connection
        The connection; its seed is for random numbers.
    """

    cwnd: float = 10.0
    """Packets that may be in flight; set before each call, and read after `on_ack`, `on_recovery_end`
    and `on_restart`."""
    ssthresh: float = inf
    """Slow start threshold [packets]; infinite at first; set and read as `cwnd` is."""
    measures_delivery_rate: bool = False
    """Whether ACKs have a sample of the delivery rate; it costs a little, so a class asks for it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @abstractmethod
    def on_ack(self, ack: AckSample) -> None:
        """Take note of an ACK that acknowledges something, and change `cwnd` and `ssthresh`.

        While a recovery or a reduction goes on (`ack.may_grow` is false), proportional rate reduction sets cwnd after
        this call.

        Parameters
        ----------
        ack : AckSample
            What arrived, and what is known of the path.
        """

    @abstractmethod
    def on_congestion(self, signal: Signal) -> float:
        """Compute the new ssthresh at a congestion; called once for all losses of a window of data.

        Recovery brings cwnd down to it; after a timeout cwnd is one packet.

        Parameters
        ----------
        signal : Signal
            The reason: "loss", "ecn" or "timeout".

        Returns
        -------
        float
            ssthresh [packets].
        """

    def pacing_rate(self) -> float | None:
        """Give the rate at which packets leave; called when a transfer starts and after each `on_ack`.

        A class that has this method is paced. The first ten packets of a connection leave at once, as in Linux.

        Returns
        -------
        float or None
            Rate [packets/s]; None for what the flow's `pacing` says.
        """
        return None

    def undo(self, prior: float) -> float:
        """Compute the cwnd to restore after a reduction that was spurious.

        Parameters
        ----------
        prior : float
            cwnd before the reduction [packets].

        Returns
        -------
        float
            cwnd [packets].
        """
        return max(self.cwnd, prior)

    def on_recovery_end(self) -> None:
        """Take note of the end of a recovery or a reduction, once cwnd is ssthresh; both may be changed."""
        return

    def on_timeout(self, now: float, nxt: int) -> None:  # noqa: ARG002  for subclasses
        """Take note of an expiry of the retransmission timer, repeated ones included.

        Parameters
        ----------
        now : float
            Time [s].
        nxt : int
            Number of the next packet that has not been sent.
        """
        return

    def on_restart(self, now: float, idle_since: float) -> None:  # noqa: ARG002  for subclasses
        """Take note of a transmission with nothing in flight; the window may be changed.

        Parameters
        ----------
        now, idle_since : float
            Time, and time of the transmission before [s].
        """
        return

    def slow_start(self, ack: AckSample) -> int:
        """Grow cwnd as slow start does, up to ssthresh.

        Parameters
        ----------
        ack : AckSample
            The ACK.

        Returns
        -------
        int
            Acknowledged packets that are left for congestion avoidance; none if the window may not grow.
        """
        if not (ack.may_grow and ack.cwnd_limited):
            return 0
        if self.cwnd >= self.ssthresh:
            return ack.acked
        before, self.cwnd = self.cwnd, min(self.cwnd + ack.acked, self.ssthresh)
        return max(0, ack.acked - ceil(self.cwnd - before))


Controllers = Mapping[str, type[CongestionControl]]
"""Classes by the name that scenarios give as `congestion_control`."""


def check_controllers(controllers: object, taken: tuple[str, ...]) -> None:
    """Check that an argument holds classes of congestion controls, by names that are free.

    Parameters
    ----------
    controllers : object
        The argument.
    taken : tuple of str
        Names of the engine's own controls.

    Raises
    ------
    ArgumentError
        If it does not.
    """
    place = "controllers"
    if not isinstance(controllers, Mapping):
        allowed = 'a mapping of names to classes, such as {"mine": Mine}'
        raise ArgumentError(Fault(place, "is of a wrong type", repr(controllers)[:100], allowed))
    for name, found in controllers.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            allowed = "small letters, digits, -, _ and +, at most 64, a letter first"
            raise ArgumentError(Fault(place, "has a name that scenarios cannot give", repr(name)[:100], allowed))
        if name in taken:
            raise ArgumentError(Fault(place, "has the name of a control of the engine", repr(name), "another name"))
        _check_class(f'{place}["{name}"]', found)


def _check_class(place: str, found: object) -> None:
    allowed = "a subclass of ackclock.CongestionControl"
    if not (isinstance(found, type) and issubclass(found, CongestionControl)):
        hint = "give the class, not an object of it" if isinstance(found, CongestionControl) else None
        raise ArgumentError(Fault(place, "is not a congestion control", repr(found)[:100], allowed, hint))
    missing = ", ".join(sorted(found.__abstractmethods__))
    if missing:
        raise ArgumentError(
            Fault(place, f"lacks {missing}", found.__qualname__, f"{allowed} with all abstract methods")
        )
    for name in _METHODS:
        if not callable(getattr(found, name)):
            given = f"{found.__qualname__}.{name} = {repr(getattr(found, name))[:100]}"
            raise ArgumentError(Fault(place, "has something else where a method belongs", given, "a method"))
        kind = _not_run(getattr(found, name))
        if kind is not None:
            given = f"{found.__qualname__}.{name}"
            problem = f"has {kind}, of which a call runs nothing"
            raise ArgumentError(Fault(place, problem, given, "methods without yield and async"))


_METHODS: Final = tuple(name for name, value in vars(CongestionControl).items() if isinstance(value, FunctionType))


def _not_run(method: object) -> str | None:
    """Name the kind of a function whose call returns at once, before any of its code has run; None for any other."""
    if inspect.isgeneratorfunction(method) or inspect.isasyncgenfunction(method):
        return "a generator function"
    return "an async function" if inspect.iscoroutinefunction(method) else None


def interrupt(threads: list[int]) -> None:
    """Raise KeyboardInterrupt in threads that call Python now, such as those of a control that does not return.

    Parameters
    ----------
    threads : list of int
        Python's numbers of the threads.
    """
    raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    for thread in threads:
        raise_in(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
