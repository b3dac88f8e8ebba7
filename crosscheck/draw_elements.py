"""Draw scenarios with lossy links, delays that change, levels of priority and sources without TCP, in turn."""

from collections.abc import Callable

from crosscheck import build
from crosscheck.draw import begin
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario, connection

DEFAULT_COUNT = 14

FIRST_NUMBER = 1000
"""The plain scenarios below the elements are those of the numbers from here on, which nothing else draws."""

KINDS: tuple[tuple[str, ...], ...] = (
    ("delay-steps",),
    ("lost-packets",),
    ("high-cbr",),
    ("ack-delay-steps", "lost-at-times", "shared-cbr"),
    ("low-cbr",),
    ("lost-acks",),
    ("delay-steps", "high-cbr", "lost-at-times"),
)
"""The elements that are added to a plain scenario, in turn."""


def draw_elements(seed: int, count: int = DEFAULT_COUNT) -> list[Scenario]:
    """Draw resolved scenarios with elements in addition to TCP and drop-tail links.

    Parameters
    ----------
    seed : int
        Chooses the scenarios; scenario i is the same whatever `count` is.
    count : int
        How many.

    Returns
    -------
    list of dict
        Resolved scenarios; the title of each says what is in it.
    """
    return [_scenario(seed, number) for number in range(count)]


def _scenario(seed: int, number: int) -> Scenario:
    """Draw a plain scenario and add elements."""
    random, scenario = begin(seed, number, FIRST_NUMBER, f"e{number:02d}")
    kinds = KINDS[number % len(KINDS)]
    scenario["title"] = "-".join([scenario["title"], *kinds])
    for kind in kinds:
        ADD[kind](random, scenario)
    return scenario


def _tcp(scenario: Scenario) -> Scenario:
    flow: Scenario = next(flow for flow in scenario["flows"] if connection(flow))
    return flow


def _return_path(scenario: Scenario) -> list[int]:
    path: list[int] = _tcp(scenario)["traffic"]["connection"]["return_path"]
    return path


def _nanoseconds(random: Mrg32k3a, low_s: float, high_s: float) -> float:
    """Draw a time in whole nanoseconds [s]."""
    return random.integer(round(low_s * 1e9), round(high_s * 1e9)) / 1e9


def _instants(random: Mrg32k3a, scenario: Scenario, low_s: float, high_s: float) -> list[float]:
    """Draw instants over the whole run, at distances within the given ones [s]."""
    instants = [_nanoseconds(random, low_s, high_s)]
    while instants[-1] < scenario["run"]["duration_s"] - high_s:
        instants.append(round(instants[-1] + _nanoseconds(random, low_s, high_s), 9))
    return instants


def _step_delay(random: Mrg32k3a, scenario: Scenario, number: int) -> None:
    """Let a link's delay change every 5 to 20 s, up and down."""
    link = scenario["elements"][number]
    longest_s = random.choice((0.05, 0.4))
    instants = [0.0, *_instants(random, scenario, 5.0, 20.0)]
    link["delay_process"] = build.delay_steps(
        link["name"], [(instant, _nanoseconds(random, 0.0, longest_s)) for instant in instants]
    )


def _add_delay_steps(random: Mrg32k3a, scenario: Scenario) -> None:
    _step_delay(random, scenario, random.choice(_tcp(scenario)["path"]))


def _add_ack_delay_steps(random: Mrg32k3a, scenario: Scenario) -> None:
    _step_delay(random, scenario, random.choice(_return_path(scenario)))


def _numbers(random: Mrg32k3a, count: int, most: int) -> list[int]:
    """Draw packet numbers, some next to one another."""
    numbers = [random.integer(2, most)]
    while len(numbers) < count:
        numbers.append(numbers[-1] + random.choice((1, random.integer(2, 10), random.integer(10, most))))
    return numbers


def _add_lost_packets(random: Mrg32k3a, scenario: Scenario) -> None:
    link = scenario["elements"][random.choice(_tcp(scenario)["path"])]
    link["loss"] = build.lost_packets(_numbers(random, 24, 600), random.choice(("all", "data")))


def _add_lost_at_times(random: Mrg32k3a, scenario: Scenario) -> None:
    link = scenario["elements"][random.choice(_tcp(scenario)["path"])]
    link["loss"] = build.lost_at(_instants(random, scenario, 4.0, 25.0), random.choice(("all", "data")))


def _add_lost_acks(random: Mrg32k3a, scenario: Scenario) -> None:
    """Lose ACKs by number on a link that data of a source share with them."""
    number = random.choice(_return_path(scenario))
    link = scenario["elements"][number]
    scenario["flows"].append(_cbr(random, number, link["rate_bps"] * random.between(0.05, 0.3)))
    link["loss"] = build.lost_packets(_numbers(random, 40, 400), random.choice(("all", "acks")))


def _cbr(random: Mrg32k3a, number: int, rate_bps: float, packet_bytes: int | None = None) -> Scenario:
    """Draw a source of packets in equal distances, in whole nanoseconds, over one link."""
    size = packet_bytes or random.integer(100, 1500)
    traffic = build.constant(round(size * 8 / rate_bps, 9), size)
    return build.source("cbr", [number], traffic, packet_bytes=size, start_s=_nanoseconds(random, 0.0, 5.0))


def _slowest(scenario: Scenario) -> int:
    path: list[int] = _tcp(scenario)["path"]
    return min(path, key=lambda number: scenario["elements"][number]["rate_bps"])


def _not_slowest(random: Mrg32k3a, scenario: Scenario) -> int:
    """Draw a link of TCP's path other than the slowest, if there is one.

    The slowest link paces the ACKs, and so what comes to it: a packet at the very instant when one before it departs.
    Whether a packet of the lower level that waits then goes first, rounding would decide.
    """
    path: list[int] = _tcp(scenario)["path"]
    slowest = _slowest(scenario)
    return random.choice([number for number in path if number != slowest] or [slowest])


def _add_high_cbr(random: Mrg32k3a, scenario: Scenario) -> None:
    """Let a source of higher priority take most of what a link has more than the slowest one."""
    tcp, slowest = _tcp(scenario), _slowest(scenario)
    number = _not_slowest(random, scenario)
    rate_bps = scenario["elements"][number]["rate_bps"]
    spare_bps = rate_bps - scenario["elements"][slowest]["rate_bps"] if number != slowest else 0.4 * rate_bps
    source = _cbr(random, number, spare_bps * random.between(0.3, 0.95), tcp["packet_bytes"])
    tcp["priority"] = tcp["traffic"]["connection"]["ack_priority"] = 1
    scenario["flows"] = [tcp, source]
    _give_levels(random, scenario, number)


def _add_low_cbr(random: Mrg32k3a, scenario: Scenario) -> None:
    """Let a source of lower priority send into a link, at times more than TCP leaves it."""
    tcp, number = _tcp(scenario), _not_slowest(random, scenario)
    source = _cbr(random, number, scenario["elements"][number]["rate_bps"] * random.between(0.1, 0.9))
    source["priority"] = 1
    scenario["flows"] = [source, tcp]
    _give_levels(random, scenario, number)


def _add_shared_cbr(random: Mrg32k3a, scenario: Scenario) -> None:
    """Let a source share the slowest link's queue and buffer with TCP."""
    number = _slowest(scenario)
    rate_bps = scenario["elements"][number]["rate_bps"]
    scenario["flows"].append(_cbr(random, number, rate_bps * random.between(0.05, 0.4)))


def _give_levels(random: Mrg32k3a, scenario: Scenario, number: int) -> None:
    """Serve a link by levels, without a limit; where it was the one that drops, packets are lost by number instead."""
    link = scenario["elements"][number]
    link.update(queue=build.queue(levels=2), buffer=None)
    if number == _slowest(scenario):
        link["loss"] = build.lost_packets(_numbers(random, 60, 500), "all")


ADD: dict[str, Callable[[Mrg32k3a, Scenario], None]] = {
    "delay-steps": _add_delay_steps,
    "ack-delay-steps": _add_ack_delay_steps,
    "lost-packets": _add_lost_packets,
    "lost-at-times": _add_lost_at_times,
    "lost-acks": _add_lost_acks,
    "high-cbr": _add_high_cbr,
    "low-cbr": _add_low_cbr,
    "shared-cbr": _add_shared_cbr,
}
