"""Faults of queue disciplines: what is wrong between the fields of their table."""

from collections.abc import Iterator

from ackclock.errors import Fault
from ackclock.scenario.network import Direction
from ackclock.scenario.places import Places
from ackclock.scenario.schema_queues import Queue, separation_of
from ackclock.scenario.source import Location
from ackclock.units import show

CODELS, PIES, COBALTS = ("codel", "fq-codel"), ("pie", "fq-pie"), ("cobalt", "cake")
"""The disciplines with CoDel, with PIE, and with COBALT."""
FAIR = ("fq", "fq-codel", "fq-pie", "drr")
"""The disciplines that give flows queues of their own."""

OF_NS2 = ("in_bytes", "by_size", "top", "bottom", "interval", "alpha", "beta")
"""The fields of RED that ns-2's rules alone have; the last five of the adaptive one."""
OF_OTHER_REDS = ("gentle", "victim", "wait", "least_queue", "first_passes", "overflow_restarts", *OF_NS2)
"""The fields of RED that Linux's rules have not."""
FIELDS_OF_DISCIPLINES: dict[str, tuple[str, ...]] = {
    **{name: ("red",) for name in Queue.model_fields if name != "discipline"},
    "victim": ("red", "priority"),
    "levels": ("priority",),
    "ecn": ("red", *CODELS, *PIES, "pi"),
    "rules": ("red", *CODELS, "sfq", "drr", "dualpi2"),
    **dict.fromkeys(("in_bytes", "by_size", "mean_packet"), ("red", "pi")),
    **dict.fromkeys(("target_queue", "factor_new", "factor_old"), ("pi",)),
    "depth": ("sfq",),
    "target": (*CODELS, *COBALTS, *PIES, "dualpi2"),
    "interval": (*CODELS, *COBALTS, "red"),
    "ce_threshold": CODELS,
    **dict.fromkeys(("isolation", "bandwidth"), ("cake",)),
    "update": (*PIES, "pi", "dualpi2"),
    **dict.fromkeys(("alpha", "beta"), (*PIES, "dualpi2", "red")),
    **dict.fromkeys(("burst", "first_update"), PIES),
    "threshold": ("step",),
    **dict.fromkeys(("coupling", "step", "ramp", "classic_share"), ("dualpi2",)),
    "queues": (*FAIR, "wfq", "sfq"),
    "separation": (*FAIR, "wfq", "sfq", "cake"),
    "quantum": (*FAIR, "sfq", "cake"),
}
"""The disciplines to which each field belongs."""
_ACTS_ON: dict[str, tuple[str, str]] = {"red": ("mean queue", "max_threshold"), "step": ("queue", "threshold")}
"""The length that a discipline acts on, and the field with the largest one that it knows [packets]."""
_CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "victim": {"red": ("arriving", "random"), "priority": ("arriving", "lowest")},
    "ecn": dict.fromkeys((*CODELS, *PIES, "pi"), ("off", "all")),
    "separation": dict.fromkeys(("cake", "sfq"), ("hash", "perfect")),
    "rules": {
        "red": ("floyd-jacobson", "ns2", "linux"),
        **dict.fromkeys((*CODELS, "dualpi2"), ("linux", "rfc")),
        "sfq": ("ns2", "linux"),
        "drr": ("ns2",),
    },
}
"""Values that some disciplines allow of a field that others have too."""


def weighs(queue: Queue) -> bool:
    """Return whether a queue gives flows shares by their weights."""
    return queue.discipline in (*FAIR, "wfq") and separation_of(queue) != "hash" and queue.rules != "ns2"


def _listed(names: tuple[str, ...]) -> str:
    *first, last = (f'"{name}"' for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def queue_faults(places: Places, location: Location, queue: Queue) -> Iterator[Fault]:
    """Find what is wrong between the fields of a queue."""
    for name, disciplines in FIELDS_OF_DISCIPLINES.items():
        if queue.gives(name) and queue.discipline not in disciplines:
            theirs = _listed(disciplines)
            kind = "discipline" if len(disciplines) == 1 else "disciplines"
            yield places.fault((*location, name), f'belongs to the {kind} {theirs}, not to "{queue.discipline}"')
    yield from _choice_faults(places, location, queue)
    if queue.gives("queues") and (separation := separation_of(queue)) != "hash":
        yield places.fault((*location, "queues"), f'belongs to the separation "hash", not to "{separation}"')
    if queue.discipline == "red":
        yield from _red_faults(places, location, queue)
    yield from _ns2_faults(places, location, queue)
    if queue.discipline == "dualpi2" and queue.rules != "rfc" and queue.gives("ramp"):
        yield places.fault((*location, "ramp"), 'needs rules = "rfc"')


def _choice_faults(places: Places, location: Location, queue: Queue) -> Iterator[Fault]:
    for name, by_discipline in _CHOICES.items():
        given, choices = getattr(queue, name), by_discipline.get(queue.discipline)
        if choices and queue.gives(name) and given not in choices:
            allowed = " | ".join(f'"{choice}"' for choice in choices)
            problem = f'is not valid for the discipline "{queue.discipline}"'
            yield places.fault((*location, name), problem, given=f'"{given}"', allowed=allowed)


def _ns2_faults(places: Places, location: Location, queue: Queue) -> Iterator[Fault]:
    """Find what SFQ and DRR have not by ns-2's rules."""
    if queue.rules != "ns2":
        return
    for name in ("quantum", "depth") if queue.discipline == "sfq" else ():
        if queue.gives(name):
            yield places.fault((*location, name), 'is of Linux\'s rules of sfq, not of rules = "ns2"')
    if queue.discipline == "drr" and separation_of(queue) == "group":
        allowed = '"hash" | "perfect"'
        yield places.fault((*location, "separation"), 'is not of rules = "ns2"', given='"group"', allowed=allowed)


def _red_faults(places: Places, location: Location, queue: Queue) -> Iterator[Fault]:
    linux, ns2 = queue.rules == "linux", queue.rules == "ns2"
    others = () if ns2 else OF_OTHER_REDS if linux else ("adaptive", *OF_NS2)
    for name in filter(queue.gives, others):
        needed = 'rules = "linux" or "ns2"' if name == "adaptive" else 'rules = "ns2"'
        yield places.fault((*location, name), "is not of Linux's rules" if linux else f"needs {needed}")
    for name in filter(queue.gives, OF_NS2[2:] if ns2 and not queue.adaptive else ()):
        yield places.fault((*location, name), "needs adaptive = true")
    yield from _adaptation_faults(places, location, queue)
    if queue.min_threshold >= queue.max_threshold:
        yield places.fault(
            (*location, "min_threshold" if queue.gives("min_threshold") else "max_threshold"),
            "min_threshold is not below max_threshold",
            given=f"{show(queue.min_threshold, 'pkt')} and {show(queue.max_threshold, 'pkt')}",
        )


def _adaptation_faults(places: Places, location: Location, queue: Queue) -> Iterator[Fault]:
    """Find steps of an adaptive RED that lie above 1; those of other disciplines may be larger."""
    for name in ("alpha", "beta"):
        given = getattr(queue, name)
        if queue.gives(name) and given > 1:
            yield places.fault((*location, name), "is too large for red", given=f"{given:g}", allowed="0 to 1")


def shaper_faults(places: Places, way: Direction) -> Iterator[Fault]:
    """Find a shaper of a queue at a link that is slower, or that has another one."""
    bandwidth, location = way.queue.bandwidth, (*way.location, "queue", "bandwidth")
    if bandwidth is None or way.queue.discipline != "cake":
        return
    given = show(bandwidth, "bit/s")
    if way.rate_bps is None:
        yield places.fault(location, "needs a link with a rate", given=given)
    elif bandwidth > way.rate_bps:
        allowed = f"at most {show(way.rate_bps, 'bit/s')}"
        yield places.fault(location, f'is above the rate of the link "{way.name}"', given=given, allowed=allowed)
    if way.bucket is not None:
        hint = "leave out one of them"
        yield places.fault(location, "is a second shaper: the link has a token_bucket", given=given, hint=hint)


def wfq_faults(places: Places, way: Direction) -> Iterator[Fault]:
    """Find weighted fair queueing at a link whose rate is not that of its virtual time."""
    if way.queue.discipline == "wfq" and (way.varying is not None or way.bucket is not None):
        hint = 'take drr, or the separation "perfect" of fq, which have weights too'
        problem = "wfq needs a link with a constant rate and without a token_bucket"
        yield places.fault((*way.location, "queue"), problem, given=None, hint=hint)


def bucket_faults(places: Places, way: Direction) -> Iterator[Fault]:
    """Find a token bucket at a link that cannot have one."""
    if way.bucket is None:
        return
    if way.rate_bps is None or way.varying is not None:
        yield places.fault((*way.location, "token_bucket"), "needs a link with a constant rate", given=None)
    if way.private:
        hint = "put it on a link that the flows share"
        yield places.fault((*way.location, "token_bucket"), "belongs to a private link", hint=hint, given=None)


def policer_faults(places: Places, location: Location, way: Direction | None, size_bytes: int) -> Iterator[Fault]:
    """Find packets that are larger than the bucket of a policer on their way."""
    if way and way.bucket and way.bucket.kind == "policer" and way.bucket.burst < size_bytes:
        yield places.fault(
            location,
            f'is larger than the token bucket of the policer "{way.name}", so none would get through',
            given=f"{size_bytes} B",
            allowed=f"at most {way.bucket.burst} B",
            hint="enlarge the burst of its token_bucket",
        )


def beyond_the_buffer(queue: Queue, packets: float) -> str | None:
    """Say which length of the queue, that a discipline acts on, a buffer does not reach; None if it reaches it.

    Parameters
    ----------
    queue : Queue
        The table.
    packets : float
        The buffer [packets].
    """
    length, field = _ACTS_ON.get(queue.discipline, ("", ""))
    if not field or getattr(queue, field) <= packets:
        return None
    largest = show(getattr(queue, field), "pkt")
    return f"the buffer of {packets:.6g} pkt is full before the {length} can reach {field}, {largest}"
