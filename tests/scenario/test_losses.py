"""Lossy links: from the table to the resolved law, and what a run counts."""

import pytest

import ackclock
from ackclock.scenario import Resolved, load, resolve
from ackclock.scenario.losses import (
    BernoulliLoss,
    GilbertElliottLoss,
    LossLaw,
    PacketsLoss,
    PoissonLoss,
    TimesLoss,
)

TEXT = """
[[link]]
name = "a"
rate = "1 Mbit/s"
{0}
[[flow]]
path = ["a"]
rtt = "100 ms"
tcp = {{ max_window = "10 pkt" }}
[run]
duration = "100 s"
[trace]
drops = true
"""


def resolved(table: str) -> Resolved:
    return resolve(load(TEXT.format(table)))


@pytest.mark.parametrize(
    ("table", "law", "random"),
    [
        ('model = "bernoulli", probability = 0.01', BernoulliLoss("bernoulli", 0.01), True),
        ('model = "poisson", mean_interval = "10 s"', PoissonLoss("poisson", 10.0, 0.5), True),
        (
            'model = "gilbert-elliott", to_bad = 0.01, to_good = 0.25',
            GilbertElliottLoss("gilbert-elliott", 0.01, 0.25, 0.0, 1.0),
            True,
        ),
        ('model = "packets", packets = [3, 8]', PacketsLoss("packets", (3, 8)), False),
        ('model = "times", times = ["1 s", "2500 ms"]', TimesLoss("times", (1.0, 2.5)), False),
    ],
)
def test_each_model_is_resolved_and_reads_itself_again(table: str, law: LossLaw, *, random: bool) -> None:
    form = resolved(f'loss = {{ {table}, applies_to = "data" }}')
    there, back = form.elements
    assert there.loss is not None
    assert (there.loss.law, there.loss.applies_to, back.loss) == (law, "data", None)
    assert Resolved.from_dict(form.to_dict()) == form
    assert form.is_deterministic is not random


def test_the_reverse_direction_has_a_loss_of_its_own() -> None:
    there, back = resolved('reverse = { loss = { model = "bernoulli", probability = 0.5 } }').elements
    assert there.loss is None
    assert back.loss is not None
    assert back.loss.applies_to == "all"


def test_losses_are_counted_apart_from_drops() -> None:
    result = ackclock.run(load(TEXT.format('loss = { model = "packets", packets = [100, 200] }')))
    link, flow = result.summary["links"][0], result.summary["flows"][0]
    assert (link["lost_packets"]["mean"], link["dropped_packets"]["mean"]) == (2, 0)
    assert flow["loss_fraction"]["mean"] > 0
    assert link["loss_fraction"]["mean"] == flow["loss_fraction"]["mean"]
    drops = result.traces["drops"]
    assert list(drops["sequence"]) == [99, 198]  # the 100th packet is sent again before the 200th comes
    assert all(drops["lost"])
    assert "a lost 2 packets before the queue; no buffer dropped any" in result.summary["verdict"]


def test_a_lossy_link_limits_an_unlimited_window() -> None:
    unlimited = TEXT.replace("tcp = {{ max_window", 'tcp = "newreno-rfc6582" # {{').replace(
        'rate = "', 'buffer = "unlimited"\nrate = "', 1
    )
    grows = "the queue grows as long as the run lasts"
    assert any(grows in str(warning) for warning in load(unlimited.format("")).warnings)
    lossy = load(unlimited.format('loss = { model = "bernoulli", probability = 0.01 }'))
    assert not any(grows in str(warning) for warning in lossy.warnings)
