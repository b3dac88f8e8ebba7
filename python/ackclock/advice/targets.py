"""Targets that advice is to meet: what the user names, and what holds otherwise."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from ackclock.errors import AdviceError, Fault, UnitError
from ackclock.findings import ENOUGH
from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Resolved
from ackclock.units import NUMBER_PATTERN, parse
from ackclock.wording import percent, seconds

NAMES = ("utilisation", "loss", "rtt-p95")
WEB_LOSS = 0.01
"""Loss that web sources may have unless the user names another: [engset, section 5.4.1] sizes buffers for it."""


@dataclass(frozen=True, slots=True)
class Targets:
    """Quantities that a change must reach.

    Parameters
    ----------
    utilisation : float
        Least utilisation of the links, as a fraction of theirs with an ample buffer [1].
    loss : float, optional
        Largest fraction of the packets that the links may drop [1].
    rtt_p95_s : float, optional
        Longest round trip that 95% of the packets may have [s], of the flow that has the longest.
    named : frozenset of str
        The targets that the user names; the others have their defaults.
    """

    utilisation: float = ENOUGH
    loss: float | None = None
    rtt_p95_s: float | None = None
    named: frozenset[str] = frozenset()

    @property
    def queue_throughput(self) -> float | None:
        """Least throughput with a queue, as a fraction of the largest that a queue gives [1]; None if unnamed."""
        return self.utilisation if "utilisation" in self.named else None

    @property
    def queue_loss(self) -> float | None:
        """Largest loss with a queue [1]; None unless named, as the transfers of web sources show what a loss costs."""
        return self.loss if "loss" in self.named else None

    @property
    def text(self) -> str:
        """The targets in words."""
        return self.text_of(f"at least {percent(self.utilisation)} of the utilisation that an ample one gives")

    @property
    def text_of_transfers(self) -> str:
        """The same of flows that are transfers with an end."""
        if self.utilisation == 1.0:
            return self.text_of("transfers as quick as with an ample one")
        return self.text_of(
            f"transfers within {percent(1.0 / self.utilisation - 1.0, 2)} of the time that they take with an ample one"
        )

    def text_of(self, first: str) -> str:
        """Put the targets into words, of which the first is given."""
        parts = [first]
        if self.loss is not None:
            parts.append(f"a loss of at most {100.0 * self.loss:.3g}%")
        if self.rtt_p95_s is not None:
            parts.append(f"round trips of at most {seconds(self.rtt_p95_s)} for 95% of the packets")
        return ", ".join(parts)


def read_targets(given: Mapping[str, str | float] | None, resolved: Resolved) -> Targets:
    """Read the targets that the user names; the others keep their defaults.

    Parameters
    ----------
    given : mapping of str to str or float, optional
        "utilisation" and "loss" as a percentage or a fraction, "rtt-p95" as a time or in seconds; None: all defaults.
    resolved : Resolved
        The scenario: web sources have a default loss.

    Returns
    -------
    Targets
        Those of the user and the defaults.

    Raises
    ------
    AdviceError
        For an unknown target, or a value out of range.

    Examples
    --------
    >>> read_targets({"utilisation": "95%", "rtt-p95": "50 ms"}, resolved)  # doctest: +SKIP
    Targets(utilisation=0.95, loss=None, rtt_p95_s=0.05)
    """
    named = {name.replace("_", "-"): value for name, value in (given or {}).items()}
    unknown = sorted(set(named) - set(NAMES))
    if unknown:
        raise AdviceError(Fault("target", "is unknown", ", ".join(unknown), ", ".join(NAMES)))
    is_web = any(flow.kind == "web" for flow in resolved.flows)
    return Targets(
        _fraction("utilisation", named["utilisation"], 1.0) if "utilisation" in named else ENOUGH,
        _fraction("loss", named["loss"], 0.5) if "loss" in named else WEB_LOSS if is_web else None,
        _time("rtt-p95", named["rtt-p95"]) if "rtt-p95" in named else None,
        frozenset(named),
    )


def refuse_impossible(targets: Targets, resolved: Resolved) -> None:
    """Refuse a round trip that is shorter than the empty path's, which is not known where rates change.

    Parameters
    ----------
    targets : Targets
        What a change must reach.
    resolved : Resolved
        The scenario.

    Raises
    ------
    AdviceError
        With the round trip of the flow that has the longest.
    """
    longest_s = targets.rtt_p95_s
    if longest_s is None or any(one.rate_process or one.token_bucket for one in resolved.elements):
        return
    trips = {flow.name: empty_round_trip_s(resolved, flow) for flow in resolved.flows if flow.connection}
    name = max(trips, key=lambda one: trips[one], default="")
    if name and longest_s < trips[name]:
        problem = f"is below the round trip of the empty path of {name}, so that no queue and no buffer can meet it"
        raise AdviceError(Fault("target rtt-p95", problem, seconds(longest_s), f"more than {seconds(trips[name])}"))


def _fraction(name: str, given: str | float, most: float) -> float:
    """Read "99%" or 0.99."""
    found = re.fullmatch(rf"\s*({NUMBER_PATTERN})\s*(%?)\s*", str(given))
    allowed = f'above 0% and at most {percent(most)}, such as "{"99%" if name == "utilisation" else "1%"}"'
    if found is None:
        raise AdviceError(Fault(f"target {name}", "is not a percentage", str(given), allowed))
    value = float(found[1]) / (100.0 if found[2] else 1.0)
    if not 0.0 < value <= most:
        raise AdviceError(Fault(f"target {name}", "is out of range", str(given), allowed))
    return value


def _time(name: str, given: str | float) -> float:
    """Read "50 ms" or 0.05."""
    allowed = 'a time above 0 s, such as "50 ms"'
    if isinstance(given, str):
        try:
            found = parse(given)
        except UnitError:
            found = None
        value = found.value if found is not None and found.unit == "s" else float("nan")
    else:
        value = float(given)
    if not (isfinite(value) and value > 0.0):
        raise AdviceError(Fault(f"target {name}", "must be a time", str(given), allowed))
    return value
