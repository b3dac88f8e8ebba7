"""An error of a model costs no run, no sweep and no prediction that is finished: it is a sentence."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ackclock
from ackclock import cli
from ackclock.errors import Fault, ModelError
from ackclock.models import classics
from ackclock.models.domain import Limits

TEXT = """
[[link]]
name = "up"
rate = "{rate}"
buffer = "{buffer}"
{loss}
[[flow]]
path = ["up"]
tcp = "newreno-rfc6582"
{delay}
[run]
duration = "{duration}"
"""
ALL_LOST = TEXT.format(
    rate="10 Mbit/s",
    buffer="50 pkt",
    loss='loss = { model = "bernoulli", probability = 1 }',
    delay='rtt = "20 ms"',
    duration="30 s",
)
SOME_LOST = ALL_LOST.replace("probability = 1 ", "probability = 0.01 ")
MODEM = TEXT.format(rate="300 bit/s", buffer="{buffer}", loss="", delay="", duration="{duration}")


def test_a_run_that_loses_every_packet_ends_with_a_table(tmp_path: Path) -> None:
    path = tmp_path / "lost.toml"
    path.write_text(ALL_LOST, encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["run", str(path), "--no-picture"])
    assert done.exit_code == 0, done.output
    assert "throughput" in done.output


def test_a_prediction_where_every_packet_is_lost_says_so() -> None:
    found = ackclock.predict(ALL_LOST)
    assert "every packet is lost" in {reason for one in found.inapplicable for reason in one.reasons}


def test_a_sweep_with_a_point_that_a_model_refuses_is_whole() -> None:
    data = ackclock.sweep(SOME_LOST, {"link.up.loss.probability": [0.01, 1.0]})
    assert data.sizes["link.up.loss.probability"] == 2


@pytest.mark.parametrize("buffer", ["1 pkt", "5 pkt", "100 pkt"])
@pytest.mark.parametrize("duration", ["100 s", "300 s", "3000 s"])
def test_a_modem_of_300_bit_a_second_is_compared(buffer: str, duration: str) -> None:
    result = ackclock.run(MODEM.format(buffer=buffer, duration=duration), picture=False)
    assert ackclock.compare(result).result is result


@pytest.mark.parametrize("error", [ModelError(Fault("p", "is odd", "7")), ZeroDivisionError("division by zero")])
def test_an_error_of_a_model_is_a_reason(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(classics, "pftk_throughput", fail)
    found = ackclock.compare(ackclock.run(SOME_LOST, picture=False))
    reasons = [reason for one in found.inapplicable if one.model in {"random-loss", "losses"} for reason in one.reasons]
    assert [reason for reason in reasons if str(error) in reason] == reasons
    assert len(reasons) == 2


def test_rounding_alone_takes_no_value_out_of_a_domain() -> None:
    """200 packets of 12,000 bits over 20 Mbit/s times 40 ms are 3 less an ulp or two."""
    closed = Limits(3.0, 16.0, low_included=True, high_included=True)
    assert (
        closed.warning("ratio", [200 * 12000 / (20e6 * 0.04), np.nextafter(3.0, 0.0), np.nextafter(16.0, 17.0)]) is None
    )
    assert closed.warning("ratio", [2.9999999]) is not None
    assert Limits(3.0, 16.0).warning("ratio", [3.0]) is not None
