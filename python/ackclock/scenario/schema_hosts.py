"""The table of a host with a processing time."""

from typing import Annotated

from ackclock.scenario.amounts import Amount
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.schema_kinds import TIME, name_of

_TIME = Amount("50 us", (TIME,))


class Host(Table):
    """A host with one process for all TCP: it handles what arrives, data and ACKs alike, one packet after the other."""

    name: Annotated[str, name_of("server")] = entry("name by which flows say where they begin and end")
    processing: Annotated[float, _TIME] = entry("time that it takes for each data packet, and for each ACK")
    ack_processing: Annotated[float | None, _TIME] = entry(
        "time that it takes for each ACK", None, words="as `processing`"
    )

    @property
    def times_s(self) -> tuple[float, float]:
        """The times for a data packet and for an ACK [s]."""
        return self.processing, self.processing if self.ack_processing is None else self.ack_processing
