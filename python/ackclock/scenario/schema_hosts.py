"""The table of a host with a processing time."""

from typing import Annotated

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Text

_TIME = Amount("50 us", (Span("s", 0, 1e5, "0 to 1e5 s"),))


class Host(Table):
    """A host with one process for all TCP: it handles what arrives, data and ACKs alike, one packet after the other."""

    name: Annotated[str, Text(64, "server", "[A-Za-z0-9_][A-Za-z0-9_-]*", "a name of letters, digits, _ and -")] = (
        entry("name by which flows say where they begin and end")
    )
    processing: Annotated[float, _TIME] = entry("time that it takes for each data packet, and for each ACK")
    ack_processing: Annotated[float | None, _TIME] = entry(
        "time that it takes for each ACK", None, words="as `processing`"
    )

    @property
    def times_s(self) -> tuple[float, float]:
        """For a data packet, and for an ACK [s]."""
        return self.processing, self.processing if self.ack_processing is None else self.ack_processing
