"""Advice on a line whose long queue moves to its other direction when the first is mended."""

from typing import Any

import ackclock

LINE: dict[str, Any] = {
    "link": [
        {
            "name": "cable",
            "rate": "100 Mbit/s",
            "delay": "8 ms",
            "buffer": "500 ms",
            "reverse": {"rate": "20 Mbit/s", "buffer": "400 ms"},
        }
    ],
    "flow": [
        # Its 1036 packets fill the line over 30 ms, and not over the 0.4 s that ACKs wait behind the upload.
        {
            "name": "download",
            "path": ["cable"],
            "rtt": "30 ms",
            "tcp": {"preset": "linux-cubic", "receive_buffer": "3 MB", "receive_buffer_max": "3 MB"},
        },
        {"name": "upload", "path": ["cable.reverse"], "rtt": "30 ms"},
        {
            "name": "call",
            "path": ["cable"],
            "packet": "200 B",
            "traffic": {"kind": "constant", "rate": "50 kbit/s"},
        },
    ],
    "run": {"duration": "40 s", "warmup": "10 s"},
}


def long_queues(overrides: Any) -> set[str]:
    links = ackclock.run(LINE, overrides=overrides, picture=False).summary["links"]
    return {row["name"] for row in links if row["queueing_p95_s"]["mean"] > 0.05}


def test_the_queue_is_followed_to_the_direction_to_which_it_moves() -> None:
    assert long_queues({}) == {"cable.reverse"}
    assert "cable" in long_queues({"link.cable.reverse.queue": "fq-codel"})
    (found,) = ackclock.advise(LINE, topics=["which-queue"]).recommendations
    assert set(found.changes) >= {"link.cable.queue", "link.cable.reverse.queue"}
    assert not long_queues(found.changes)


def test_a_download_and_an_upload_over_one_line_get_buffers_that_go_together() -> None:
    """The ACKs of each wait with the data of the other: 36 packets for the upload were too many for a download."""
    line = {"name": "dsl", "rate": "24 Mbit/s", "delay": "10 ms", "buffer": "200 ms"}
    document = {
        "link": [{**line, "reverse": {"rate": "1 Mbit/s", "buffer": "1 s"}}],
        "flow": [
            {"name": "down", "path": ["dsl"], "ack": "52 B"},
            {"name": "up", "path": ["dsl.reverse"], "ack": "52 B"},
        ],
        "run": {"duration": "200 s", "warmup": "20 s"},
    }
    (found,) = ackclock.advise(document, topics=["bottleneck-buffer"]).recommendations
    assert set(found.changes) == {"link.dsl.buffer", "link.dsl.reverse.buffer"}
    busy = {row.text: row for row in found.check if row.text.endswith("is busy")}["dsl is busy"]
    assert (busy.before["mean"] or 0.0) < 0.7
    assert (busy.after["mean"] or 0.0) > 0.96
    # What each row misses is in the table, of the size that is kept too.
    rows = [row for table in found.alternatives for row in table.rows]
    assert all(row.meets != any(name.startswith("utilisation of dsl") for name in row.missed) for row in rows)
    assert all(("misses utilisation" in row.cells[-1]) != row.meets for row in rows)
