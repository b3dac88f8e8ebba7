"""The time in which flows are active, and what is said of flows that start late."""

from typing import Any

import numpy as np
import pytest

import ackclock

LINE = {"name": "line", "rate": "10 Mbit/s", "delay": "20 ms", "buffer": "60 pkt"}


def run(*flows: dict[str, Any], reverse_loss: float = 0.0, **changes: Any) -> ackclock.Result:
    link: dict[str, Any] = dict(LINE)
    if reverse_loss:
        loss = {"model": "bernoulli", "probability": reverse_loss}
        link |= {"rate": "100 Mbit/s", "buffer": "5000 pkt", "reverse": {"loss": loss}}
    document = {
        "title": "late",
        "link": [link],
        "flow": [{"path": ["line"], **flow} for flow in flows],
        "run": {"duration": "60 s", **changes},
    }
    return ackclock.run(document, picture=False)


def test_an_idle_time_before_the_first_start_is_not_blamed_on_losses() -> None:
    late = run({"name": "download", "start": "30 s"})
    assert late.summary["links"][0]["utilisation_fraction"]["mean"] == pytest.approx(0.5, abs=0.01)
    said = late.summary["verdict"]
    assert said.startswith("line is the bottleneck and full: utilisation 99.")
    assert "% from 30 s on;" in said
    assert "losses leave" not in said
    warning = next(one for one in late.summary["warnings"] if "download starts at 30 s" in one)
    assert 'run.warmup = "30 s" leaves that time out' in warning
    warmed = run({"name": "download", "start": "30 s"}, warmup="30 s").summary
    assert not any("starts at" in one for one in warmed["warnings"])
    assert " from 30 s" not in warmed["verdict"]


def test_a_start_within_a_twentieth_of_the_measured_time_is_not_late() -> None:
    soon = run({"name": "download", "start": "2.9 s"}).summary
    assert not any("starts at" in one for one in soon["warnings"])


def test_a_flow_that_starts_late_is_not_compared_with_those_that_were_there_before() -> None:
    shares = run({"name": "first"}, {"name": "second", "start": "48 s"}).summary
    assert "shares are unequal" not in shares["verdict"]
    assert any("second starts at 48 s" in one for one in shares["warnings"])


def test_a_transfer_that_ends_after_the_warm_up_is_judged_by_its_own_time() -> None:
    said = run({"name": "file", "size": "10 MB"}, warmup="4 s").summary["verdict"]
    assert said.startswith("line is the bottleneck and full: utilisation 9")
    assert "until the last transfer ends" in said


def test_a_transfer_that_starts_late_is_judged_between_its_ends() -> None:
    said = run({"name": "file", "size": "10 MB", "start": "20 s"}).summary["verdict"]
    assert "% from 20 s until the last transfer ends;" in said


def test_lost_acks_are_not_what_leaves_a_link_idle() -> None:
    """In slow start a window of a long path grows for seconds, and nothing of it is lost."""
    long = {"name": "download", "rtt": "2 s"}
    said = run(long, reverse_loss=0.02, duration="12 s").summary["verdict"]
    assert "line.reverse lost " in said
    assert "losses leave" not in said


def test_a_flow_has_no_window_before_its_first_data() -> None:
    """The initial window of a flow that starts after 48 of 60 s was 80% of its mean."""
    windows = [
        run({"name": "first"}, {"name": "late", "start": "48 s", "tcp": {"max_window": "20 pkt", "initial_window": iw}})
        for iw in ("10 pkt", "1000 pkt")
    ]
    means = [one.summary["flows"][1]["cwnd_mean_packets"]["mean"] for one in windows]
    assert means[0] < 6.0
    assert means[1] < 1000.0 * 12.0 / 60.0


def test_the_mean_window_is_that_of_its_trace() -> None:
    document = {
        "link": [LINE],
        "flow": [{"path": ["line"], "start": "10 s", "tcp": {"preset": "linux-cubic", "handshake": "tls"}}],
        "run": {"duration": "30 s"},
        "trace": {"cwnd": True},
    }
    found = ackclock.run(document, picture=False)
    rows = found.traces["cwnd"]
    ends = np.append(rows["time_s"].to_numpy()[1:], 30.0)
    area = np.sum(rows["cwnd"].to_numpy() * (ends - rows["time_s"].to_numpy()))
    assert found.summary["flows"][0]["cwnd_mean_packets"]["mean"] == pytest.approx(area / 30.0, rel=1e-6)
