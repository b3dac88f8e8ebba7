"""Ratios stay in their range, wherever the warm-up ends: what happens to a packet counts with the packet."""

from dataclasses import replace

import numpy as np
import pytest

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved, load, resolve
from ackclock.summary import replication_values
from digest.draw import draw

DRAWN = 160
WARMUPS = (0.02, 0.11, 0.35, 0.62, 0.9, 0.985)
"""Fractions of the run; the last ones leave a measured part that is mostly edge."""


def drawn(number: int, warmup: float) -> Resolved:
    resolved = resolve(load(draw(number)))
    run = replace(resolved.run, replications=1, precision=None, warmup_s=warmup * resolved.run.duration_s)
    return replace(resolved, run=run)


@pytest.mark.parametrize("warmup", WARMUPS)
def test_ratios_of_random_scenarios_stay_in_their_range(warmup: float) -> None:
    for number in range(DRAWN):
        resolved = drawn(number, warmup)
        (run,) = run_resolved(resolved, threads=1)
        found = replication_values(resolved, run)
        flows, links = found["flow"], found["link"]
        place = f"random-{number:03d}, warm-up {warmup}"
        for table, name in (
            *((flows, each) for each in ("loss_fraction", "retransmitted_fraction")),
            *((links, each) for each in ("loss_fraction", "utilisation_fraction")),
        ):
            known = table[name][np.isfinite(table[name])]
            assert np.all((known >= 0.0) & (known <= 1.0)), (place, name, known.max())
        assert np.all(flows["goodput_bps"] >= 0.0), place
        assert np.all(flows["goodput_bps"] <= flows["throughput_bps"] * (1.0 + 1e-12)), place
        for spurious, all_of in (("spurious_timeouts", "timeouts"), ("spurious_fast_retransmits", "fast_retransmits")):
            assert np.all(flows[spurious] <= flows[all_of]), place
        rates = np.array([np.inf if one.kind == "channel" else one.rate_bps or np.inf for one in resolved.elements])
        # A packet counts for a link's throughput when its last bit leaves: one packet more than the link carries.
        edge = 8.0 * 65535 * np.array(resolved.element_copies) / resolved.run.measured_s
        assert np.all(links["throughput_bps"] <= rates * np.array(resolved.element_copies) + edge), place
