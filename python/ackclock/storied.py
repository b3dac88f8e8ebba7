"""Stories of results: of the losses that senders detected, and of single packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ackclock.choosing import listed
from ackclock.errors import ArgumentError, Fault
from ackclock.pictured import Pictured, check_repeatable
from ackclock.scenario.arguments import COUNT, NUMBER, TEXT, Allowed, check_arguments
from ackclock.stories import LOSSES, losses_of, story_of_loss, story_of_packet

if TYPE_CHECKING:
    from ackclock.stories import LossList, Story

_PACKET = Allowed(
    "a whole number from 0 on",
    lambda value: value is None or (COUNT.holds(value + 1) if NUMBER.holds(value) else False),
)

_RECORD_LOSSES: Final = "record the losses when it is run, with trace.losses = true: overrides={'trace.losses': True}"
_TABLES: Final = (
    "result.traces has what was sent, dropped and found lost, if it is recorded when it is run: "
    "overrides={'trace.sequence': True, 'trace.drops': True, 'trace.losses': True}"
)


class Storied(Pictured):
    """A finished run whose packets can be followed; parameters as of `Pictured`."""

    def losses(self, flow: str | None = None) -> LossList:
        """List the losses that the senders detected in the first replication, each with its number for `story`.

        Parameters
        ----------
        flow : str, optional
            One flow alone.

        Raises
        ------
        ArgumentError
            If there is no such flow.
        ResultError
            If the run recorded no losses and cannot be made again: its congestion control is a class, or it is of
            another version.
        LimitError
            If the run recorded no losses (``trace.losses``) and is too long to be made again for them.
        """
        self._check_told("Result.losses", flow, None, None)
        if LOSSES not in self.traces:
            check_repeatable(self, LOSSES, _RECORD_LOSSES)
        return losses_of(self.resolved, self.traces, flow)

    def story(self, flow: str | None = None, packet: int | None = None, *, loss: int | None = None) -> Story:
        """Say what happened to a packet: where it waited, was dropped and why, how that was found, what it cost.

        Parameters
        ----------
        flow : str, optional
            The flow; it may be left out if there is one, and for a loss of the list of all flows.
        packet : int, optional
            The packet's number, from 0 on.
        loss : int, optional
            In place of a packet, the number of a loss in `losses`, of that flow or of all: the packet that was found
            lost.

        Returns
        -------
        Story
            Of the first replication, which is made again up to that time with each packet recorded; the same seed
            gives the same bits.

        Raises
        ------
        ArgumentError
            If there is no such flow, or neither or both of packet and loss are given.
        ResultError
            If the packet was not sent, there is no such loss, or the run cannot be made again: its congestion control
            is a class, or it is of another version.
        LimitError
            If the run is long, or recording each packet takes more than 400 MB.

        Examples
        --------
        >>> print(result.losses())  # doctest: +SKIP
        >>> print(result.story(loss=1))  # doctest: +SKIP
        """
        name = self._check_told("Result.story", flow, packet, loss, one=True)
        check_repeatable(self, "story", _TABLES if self.resolved.programs else "run the scenario once more")
        if loss is not None:
            return story_of_loss(self.resolved, self.traces, name, loss)
        return story_of_packet(self.resolved, self.traces, str(name), int(packet or 0))

    def _check_told(
        self, function: str, flow: str | None, packet: int | None, loss: int | None, *, one: bool = False
    ) -> str | None:
        """Check what a story is asked of; return the flow, the only one if none is given and one is needed."""
        check_arguments(function, flow=(flow, TEXT.or_none()), packet=(packet, _PACKET), loss=(loss, COUNT.or_none()))
        names = self.resolved.flow_names
        if one and (packet is None) == (loss is None):
            given = "neither" if packet is None else "both"
            raise ArgumentError(Fault(f"{function}()", "needs either packet or loss", given))
        if flow is None and packet is not None and len(names) > 1:
            raise ArgumentError(Fault(f'{function}(), argument "flow"', "is needed", "nothing", listed(names)))
        if flow is not None and flow not in names:
            place = f'{function}(), argument "flow"'
            raise ArgumentError(Fault(place, "has no flow of this name", f'"{flow}"', listed(names)))
        return names[0] if flow is None and one and len(names) == 1 else flow
