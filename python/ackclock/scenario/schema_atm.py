"""The tables of an ATM network: its links with their switch ports, ABR channels, cross-traffic."""

from typing import Annotated, Literal

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, LinkNames, Number
from ackclock.scenario.schema_kinds import TIME, choice, name_of

AllocationName = Literal["two-pass", "by-ccr", "erica", "none"]
IpServiceName = Literal["channel-rate", "immediate"]

MOST_CELLS = 10**9
_RATE = Span("bit/s", 1, 1e12, "a rate from 1 bit/s to 1e12 bit/s")
_FACTOR = Number(0, 1, 0.0625, closed=True, from_low=True)


class AtmLink(Table):
    """A duplex link between hosts or switches of the ATM network; before each direction is a switch's port."""

    name: Annotated[str, name_of("trunk")] = entry(
        "name by which channels cross the link; `name.reverse` is its other direction"
    )
    rate: Annotated[float, Amount("155.52 Mbit/s", (_RATE,))] = entry("rate, headers of cells included")
    reverse_rate: Annotated[float | None, Amount("51.6 Mbit/s", (_RATE,))] = entry(
        "rate of the reverse direction", None, words="the forward rate"
    )
    delay: Annotated[float, Amount("8 ms", (TIME,))] = entry(
        "one-way propagation delay, the same in both directions", 0.0, toml="0 s"
    )
    buffer: Annotated[int | None, Count(1, MOST_CELLS, 1000, ("unlimited",))] = entry(
        "cells that the port of each direction holds, the one in transmission included", None, toml="unlimited"
    )
    efci: Annotated[int | None, Count(1, MOST_CELLS, 100, ("never",))] = entry(
        "data cells that find more cells than this are marked (EFCI)", None, toml="never"
    )
    allocation: Annotated[AllocationName, choice("allocation", AllocationName)] = entry(
        "how its ports compute explicit rates: the max-min shares, recorded as RM cells come back (two-pass) or go out "
        "(by-ccr; both are reconstructions), ERICA, or not at all",
        "two-pass",
    )
    utilisation: Annotated[float, Number(0.01, 1, 0.95, closed=True, from_low=True)] = entry(
        "part of the rate that is allocated", 1.0
    )
    interval: Annotated[float, Amount("5 ms", (Span("s", 1e-9, 1e5, "1 ns to 1e5 s"),))] = entry(
        "erica: time over which it measures", 0.005, toml="5 ms"
    )


class Abr(Table):
    """Parameters of the ABR sources of a channel (ATM Forum, TM 4.0); the defaults are the standard's."""

    pcr: Annotated[float | None, Amount("155.52 Mbit/s", (_RATE,))] = entry(
        "peak cell rate", None, words="the rate of the first link"
    )
    mcr: Annotated[float, Amount("1 Mbit/s", (Span("bit/s", 0, 1e12, "0 to 1e12 bit/s"),))] = entry(
        "minimum cell rate", 0.0, toml="0 bit/s"
    )
    icr: Annotated[float | None, Amount("3.11 Mbit/s", (_RATE,))] = entry("initial cell rate", None, words="`pcr`")
    nrm: Annotated[int, Count(2, 256, 32)] = entry("cells from one forward RM cell to the next", 32)
    mrm: Annotated[int, Count(1, 256, 2)] = entry("cells between two of them at least", 2)
    trm: Annotated[float, Amount("100 ms", (TIME,))] = entry(
        "time after which `mrm` cells are enough for the next", 0.1, toml="100 ms"
    )
    rif: Annotated[float, _FACTOR] = entry("rate increase factor", 0.0625)
    rdf: Annotated[float, _FACTOR] = entry("rate decrease factor", 0.0625)
    cdf: Annotated[float, _FACTOR] = entry("cutoff decrease factor", 0.0625)
    adtf: Annotated[float, Amount("500 ms", (TIME,))] = entry(
        "time without forward RM cells after which the rate is the initial one again", 0.5, toml="500 ms"
    )
    tbe: Annotated[int, Count(0, 16_777_215, 1000)] = entry("transient buffer exposure, in cells", 16_777_215)


class ChannelReverse(Table):
    """Differences of the far end of a channel."""

    ip_service: Annotated[IpServiceName, choice("service", IpServiceName)] = entry(
        "how the IP queue of the far end is served", "channel-rate", words="as at the near end"
    )
    ip_rate: Annotated[float | None, Amount("43.6 Mbit/s", (_RATE,))] = entry(
        "rate at which it is served, instead of `ip_service`", None, words="as at the near end"
    )
    abr: Abr = entry("the source of the far end", Abr(), words="as at the near end, field by field")


class Channel(Table):
    """A duplex virtual channel; flows cross it like a link. Data and the ACKs of the other way share each direction."""

    name: Annotated[str, name_of("vc")] = entry(
        "name by which flows cross the channel; `name.reverse` is its other direction"
    )
    path: Annotated[tuple[str, ...], LinkNames('["access", "trunk"]')] = entry(
        "ATM links that it crosses from its near end to its far end; the return path is the same, mirrored"
    )
    ip_service: Annotated[IpServiceName, choice("service", IpServiceName)] = entry(
        "how the IP queue of an end is served: at the channel's own rate, or at once, so that packets wait at the ATM "
        "layer",
        "channel-rate",
    )
    ip_rate: Annotated[float | None, Amount("43.6 Mbit/s", (_RATE,))] = entry(
        "rate at which the IP queue of each end is served, instead of `ip_service`", None, words="none"
    )
    abr: Abr = entry("the sources of both ends", Abr(), words="the standard's defaults")
    reverse: ChannelReverse = entry(
        "what is different at the far end, where the reverse direction begins", ChannelReverse(), words="nothing"
    )

    @property
    def sources(self) -> tuple[Abr, Abr]:
        """The sources of the near end and of the far one."""
        return self.abr, self.abr.override(self.reverse.abr)

    @property
    def services(self) -> tuple[IpServiceName | float, IpServiceName | float]:
        """Service of the IP queues of both ends; a number is a rate [bit/s]."""
        near = self.ip_rate or self.ip_service
        return near, self.reverse.ip_rate or (self.reverse.ip_service if self.reverse.gives("ip_service") else near)


class CrossTraffic(Table):
    """Cells at a constant rate over links of the ATM network."""

    name: Annotated[str, name_of("video")] = entry("its name")
    path: Annotated[tuple[str, ...], LinkNames('["trunk"]')] = entry("ATM links that it crosses, in order")
    rate: Annotated[float, Amount("40 Mbit/s", (_RATE,))] = entry("rate, headers of cells included")
    start: Annotated[float, Amount("1 s", (TIME,))] = entry("when it starts", 0.0, toml="0 s")
    stop: Annotated[float | None, Amount("5 s", (TIME,), ("never",))] = entry("when it stops", None, toml="never")
