"""Give the slowest link of a scenario ns-2's RED: packets are dropped early, each with a random number."""

from crosscheck import build
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario


def give_red(random: Mrg32k3a, scenario: Scenario) -> None:
    """Give the slowest link of the first flow RED, `wait_` and `gentle_` or not, and a source of small packets.

    Without the source, the packets of a flight that finds the link idle would come in the link's own distances, each at
    the instant of a departure, and rounding would decide which queue it finds. The source makes that rare and not
    impossible: after an idle time a packet can enter service with it at one instant. RED's average keeps such a tie for
    about 1 / weight arrivals. Some buffers are full at times.
    """
    flow = scenario["flows"][0]
    slowest = min(flow["path"], key=lambda link: scenario["elements"][link]["rate_bps"])
    link = scenario["elements"][slowest]
    low = random.between(1.0, 8.0)
    link["queue"] = build.red(
        low,
        low + random.between(2.0, 12.0),
        weight=random.choice((0.002, 0.02, 0.1)),
        max_probability=random.between(0.02, 0.3),
        gentle=random.choice((True, False)),
        wait=random.choice((True, False)),
        mean_packet_bytes=random.choice((500, flow["packet_bytes"])),
    )
    link["counting"] = "waiting"
    least, most = random.choice(((4, 12), (40, 120), (40, 120)))
    link["buffer"] = {"packets": random.integer(least, most)}
    size = random.integer(60, 300)
    gap_s = round(size * 8 / (link["rate_bps"] * random.between(0.02, 0.1)), 9)
    source = build.source("cbr", [slowest], build.constant(gap_s, size), packet_bytes=size, start_s=random.uniform())
    scenario["flows"] = [*scenario["flows"], source]
