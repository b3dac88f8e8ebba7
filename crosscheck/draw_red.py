"""Draw scenarios whose slowest link drops packets early by ns-2's RED, with `wait_` and `gentle_` in turn."""

from crosscheck import build
from crosscheck.draw import draw_one
from crosscheck.mrg32k3a import M2, Mrg32k3a
from crosscheck.subset import Scenario

DEFAULT_COUNT = 32

FIRST_NUMBER = 5000
"""The plain scenarios below are those of the numbers from here on, which nothing else draws."""

DURATION_S = 40.0
WARM_UP_DRAWS = 32


def draw_red(seed: int, count: int = DEFAULT_COUNT) -> list[Scenario]:
    """Draw resolved scenarios with RED.

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
    """Draw a plain scenario and give its slowest link RED; of two flows, which often meet at one instant, one stays."""
    plain = draw_one(seed, FIRST_NUMBER + number)
    random = Mrg32k3a((seed * 100_003 + 2 * FIRST_NUMBER + number) % (M2 - 1) + 1)
    for _ in range(WARM_UP_DRAWS):
        random.uniform()
    hops = len(plain["flows"][0]["path"])
    _, _, *traits = plain["title"].replace("-two-flows", "").split("-")
    scenario = plain | {"flows": plain["flows"][:1], "elements": plain["elements"][: 2 * hops]}
    scenario["run"] = plain["run"] | {"duration_s": DURATION_S}
    return scenario | {
        "title": "-".join([f"seed{seed}", f"r{number:02d}", *traits, *give_red(random, scenario, number)])
    }


def give_red(random: Mrg32k3a, scenario: Scenario, number: int) -> list[str]:
    """Give the slowest link of a scenario RED and a source of small packets, and say the traits of RED.

    Without the source, the packets of a flight that finds the link idle would come in the link's own distances, each at
    the instant of a departure, and rounding would decide which queue it finds. The buffer of every third link is full
    at times.
    """
    flow = scenario["flows"][0]
    slowest = min(flow["path"], key=lambda link: scenario["elements"][link]["rate_bps"])
    link = scenario["elements"][slowest]
    low = random.between(1.0, 8.0)
    wait, gentle, small = number % 2 == 0, number // 2 % 2 == 0, number % 3 == 0
    link["queue"] = build.red(
        low,
        low + random.between(2.0, 12.0),
        weight=random.choice((0.002, 0.02, 0.1)),
        max_probability=random.between(0.02, 0.3),
        gentle=gentle,
        wait=wait,
        mean_packet_bytes=random.choice((500, flow["packet_bytes"])),
    )
    link["counting"] = "waiting"
    link["buffer"] = {"packets": random.integer(4, 12) if small else random.integer(40, 120)}
    size = random.integer(60, 300)
    gap_s = round(size * 8 / (link["rate_bps"] * random.between(0.02, 0.1)), 9)
    source = build.source("cbr", [slowest], build.constant(gap_s, size), packet_bytes=size, start_s=random.uniform())
    scenario["flows"] = [flow, source]
    return ["red", *(["wait"] if wait else []), *(["gentle"] if gentle else []), *(["small"] if small else [])]
