"""Advice on socket buffers: sizes that fill the path, where one limits a flow."""

from typing import Any

import pytest

import ackclock
from ackclock.advice import Advice

TOPIC = "socket-buffer"


def long_path(tcp: dict[str, Any], **flow: Any) -> dict[str, Any]:
    """Describe a flow over 100 Mbit/s, 200 ms away: 1,667 packets fill the path."""
    link = {"name": "line", "rate": "100 Mbit/s", "delay": "100 ms", "buffer": "2000 pkt"}
    own = {"name": "backup", "path": ["line"], "tcp": {"preset": "linux-cubic", **tcp}, **flow}
    return {"link": [link], "flow": [own], "run": {"duration": "40 s", "warmup": "15 s"}}


def mean(found: Any) -> float:
    return float(found["mean"])


def sizes_mb(advice: Advice) -> dict[str, float]:
    (found,) = advice.recommendations
    assert found.topic == TOPIC
    return {field.rpartition(".")[2]: float(size.removesuffix(" MB")) for field, size in found.changes.items()}


@pytest.mark.parametrize(("which", "packet_bytes"), [("send", 1.5 * (1448 + 1280)), ("receive", 2 * 1448)])
def test_the_buffer_that_limits_gets_the_bandwidth_delay_product_in_the_kernel_s_memory(
    which: str, packet_bytes: float
) -> None:
    advice = ackclock.advise(long_path({f"{which}_buffer_max": "2 MB"}))
    assert sizes_mb(advice)[f"{which}_buffer_max"] == pytest.approx(1667 * packet_bytes / 1e6, rel=0.02)
    throughput, busy, _ = advice.recommendations[0].check
    assert mean(throughput.before) < 0.6 * mean(throughput.after)
    assert mean(busy.after) > 0.95
    assert "more throughput" in advice.recommendations[0].answer


def test_a_buffer_that_limits_once_the_other_does_not_is_raised_too() -> None:
    """2 MB hold 489 packets for sending; 4 MB hold 1,381 for receiving, which are too few as well."""
    advice = ackclock.advise(long_path({"send_buffer_max": "2 MB", "receive_buffer_max": "4 MB"}))
    assert set(sizes_mb(advice)) == {"send_buffer_max", "receive_buffer_max"}
    assert mean(advice.recommendations[0].check[1].after) > 0.95
    assert len(advice.recommendations[0].rules) == 2


def test_a_download_that_a_buffer_limits_has_its_answer_too() -> None:
    advice = ackclock.advise(long_path({"send_buffer_max": "1 MB"}, size="30000 pkt"))
    assert set(sizes_mb(advice)) == {"send_buffer_max"}
    throughput = advice.recommendations[0].check[0]
    assert mean(throughput.after) > 3.0 * mean(throughput.before)


def test_the_changes_run_as_they_are_written() -> None:
    scenario = long_path({"send_buffer_max": "2 MB"})
    changes = ackclock.advise(scenario, topics=[TOPIC]).recommendations[0].changes
    enlarged = ackclock.run(scenario, overrides=dict(changes))
    assert enlarged.links.utilisation_fraction.iloc[0] > 0.95
    assert "buffer-limit" not in {one.kind for one in enlarged.findings}


@pytest.mark.parametrize("tcp", [{}, {"send_buffer_max": "8 MB", "receive_buffer_max": "8 MB"}])
def test_buffers_that_do_not_limit_raise_no_question(tcp: dict[str, Any]) -> None:
    assert not ackclock.advise(long_path(tcp), topics=[TOPIC]).recommendations


def test_without_a_simulation_there_is_no_answer() -> None:
    assert not ackclock.advise(long_path({"send_buffer_max": "2 MB"}), topics=[TOPIC], simulate=False).recommendations
