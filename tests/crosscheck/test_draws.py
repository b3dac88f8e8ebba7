from itertools import islice

import pytest

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved
from crosscheck import build
from crosscheck.draws import SEED_RESOLUTION, ns2_seeds, stream
from crosscheck.mrg32k3a import Mrg32k3a


@pytest.mark.parametrize(("seed", "replication"), [(1, 0), (7, 1)])
def test_the_numbers_are_those_that_the_engine_draws(seed: int, replication: int) -> None:
    """A link loses the packets for which its stream is below the probability."""
    links = [build.link("there", 1e6) | {"loss": build.lost_randomly(0.3)}, build.link("back", 1e6)]
    source = build.source("cbr", [0], build.constant(0.01, 100), packet_bytes=100)
    scenario = build.scenario("lost", links, [source], duration_s=5.0)
    scenario["run"] |= {"seed": seed, "replications": replication + 1}
    scenario["trace"]["drops"] = True
    drops = list(run_resolved(Resolved.from_dict(scenario)))[replication]["traces"]["drops"]
    numbers = islice(stream("loss/there", seed=seed, replication=replication), 500)
    assert [int(lost) for lost in drops["sequence"]] == [packet for packet, u in enumerate(numbers) if u < 0.3]


def test_ns2_draws_a_wanted_number_after_its_seed() -> None:
    wanted = [0.0, 1e-9, 1.0 - 1e-9, *islice(stream("link/shared"), 2000)]
    found = [Mrg32k3a(seed).uniform() for seed in ns2_seeds(wanted)]
    assert found == pytest.approx(wanted, rel=0.0, abs=SEED_RESOLUTION)
