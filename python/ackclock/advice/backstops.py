"""Buffers behind an AQM: the AQM bounds the wait, and the buffer only holds what comes before it reacts."""

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.advice.knobs import Knob
from ackclock.findings import Row, mean
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import Cobalt, Codel, DualPi2, Pi, Pie, Red, RedLinux, Step
from ackclock.wording import seconds

NEAR = 3.0
"""Ratio of the mean wait to an AQM's target up to which it keeps the wait near it: PIE's swings, and it is a mean."""


@dataclass(frozen=True, slots=True)
class Backstop:
    """A buffer behind the AQM of its queue, in a run.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    knob : Knob
        The buffer.
    links : sequence of mapping
        The summary's rows.
    """

    resolved: Resolved
    knob: Knob
    links: Sequence[Row]

    def is_bounded(self) -> bool:
        """Return whether the queue has an AQM that keeps the mean wait near its target, or below.

        Of a threshold that marks, and of RED that does, the target is the queue from which on each packet is marked: a
        smaller buffer would lose packets in place of that.
        """
        return self._target_s is not None and self._wait_s <= NEAR * self._target_s

    def overflows(self) -> bool:
        """Return whether the full buffer drops as many packets as the AQM drops and marks, or more."""
        by_buffer = sum(mean(row, "dropped_by_buffer_packets") for row in self._rows)
        by_aqm = sum(mean(row, "dropped_by_aqm_packets") for row in self._rows)
        return by_buffer > 0.0 and by_buffer >= by_aqm + self._marked

    def job(self) -> str:
        """Say whose job the delay is, and how well it is done."""
        title = self.resolved.elements_by_name[self.knob.names[0]].queue.title
        wait, target = seconds(self._wait_s), seconds(self._target_s or 0.0)
        return f"the delay is {title}'s job, and packets wait {wait} on average (target {target})"

    @property
    def _marked(self) -> float:
        """The packets that the AQM marked."""
        return sum(mean(row, "marked_packets") for row in self._rows)

    @property
    def _rows(self) -> list[Row]:
        return [row for row in self.links if row["name"] in self.knob.names]

    @property
    def _wait_s(self) -> float:
        """The mean wait, of equal links the longest [s]."""
        return max(mean(row, "queue_mean_packets") for row in self._rows) / self.knob.packet_rate

    @property
    def _target_s(self) -> float | None:
        """The wait that the AQM aims at [s]; None of one that aims at none."""
        match self.resolved.elements_by_name[self.knob.names[0]].queue.aqm:
            case Codel(target_s=aim) | Cobalt(target_s=aim) | Pie(target_s=aim) | DualPi2(target_s=aim):
                return aim
            case Pi(target_packets=packets):
                return packets / self.knob.packet_rate
            case Step(threshold_packets=packets) | Red(max_threshold_packets=packets) if self._marked > 0.0:
                return packets / self.knob.packet_rate
            case RedLinux(max_threshold_bytes=length, mean_packet_bytes=packet) if self._marked > 0.0:
                return length / packet / self.knob.packet_rate
            case _:
                return None
