"""Make the path of a scenario prone to ties: simple ratios of rates, delays in whole service times, equal sizes."""

from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario, connection

RATES_BPS = (1e6, 1.2e6, 0.75e6, 2.0**20)
"""Rates whose simple multiples the links have; at the last, times are whole in binary too, so that ns-2 is exact."""

RATIOS = (1, 1, 1.25, 1.5, 2, 3, 4)
SIZES_BYTES = (512, 1000, 1024)


def tie_prone(random: Mrg32k3a, scenario: Scenario) -> None:
    """Let packets arrive at the very instants at which others depart."""
    rate_bps, size_bytes = random.choice(RATES_BPS), random.choice(SIZES_BYTES)
    service_s = size_bytes * 8 / rate_bps
    longest = random.choice((4, 20))
    for link in scenario["elements"]:
        link["rate_bps"] = rate_bps * random.choice(RATIOS)
        link["delay_s"] = _services(random, longest, service_s)
        if link["buffer"]:
            link["buffer"] = {"packets": random.integer(4, 25)}
    for flow in scenario["flows"]:
        flow |= {"packet_bytes": size_bytes, "forward_delay_s": _services(random, longest, service_s)}
        if tcp := connection(flow):
            tcp["return_delay_s"] = _services(random, longest, service_s)
            tcp["receiver"]["ack_delay_s"] = random.choice((0.1, 0.2))
            if random.uniform() < 0.5:
                tcp["ack_bytes"] = size_bytes // 8


def _services(random: Mrg32k3a, most: int, service_s: float) -> float:
    """Draw a number of service times [s], in whole picoseconds."""
    return round(random.integer(0, most) * service_s, 12)
