"""The rows of the table: each scenario with its own TCP, and some with that of today's hosts."""

from dataclasses import dataclass
from typing import Any

from benches.checkout import Checkout

BUDGET_STEPS = {"one-bulk-flow": 1.0, "hundred-bulk-flows": 2.5, "ten-node-path": 3.7, "web134": 3.7, "web100000": 7.4}
"""The most that a packet is meant to cost, in steps of the calibration: a wish, on which no test depends."""
NS2_TCP = "sack1-ns2"
"""The preset that ns-2 runs next to the TCP of today: its own sender with selective acknowledgment."""


@dataclass(frozen=True)
class Row:
    """A scenario, and the TCP that its flows have.

    Parameters
    ----------
    name : str
        Of the row.
    scenario : str
        Name of the file in `benches/scenarios`, without `.toml`.
    tcp : str, optional
        The preset that takes the place of the scenario's.
    most : float, optional
        What a packet is meant to cost at most, as a multiple of its cost with the scenario's own TCP.
    in_ns2 : bool
        Whether ns-2 can run the scenario.
    changes : tuple of str
        Other settings that take the place of the scenario's, as `--set` has them.
    base : str, optional
        The row whose cost is compared with; that of the scenario's own TCP if none is named.
    """

    name: str
    scenario: str
    tcp: str | None = None
    most: float | None = None
    in_ns2: bool = True
    changes: tuple[str, ...] = ()
    base: str | None = None

    def resolved(self, checkout: Checkout) -> dict[str, Any]:
        """Resolve the scenario of this row."""
        return checkout.resolve(checkout.scenarios()[self.scenario], self.tcp, self.changes)

    @property
    def compared_with(self) -> str:
        """Return the name of the row whose cost is compared with this one's."""
        return self.base or self.scenario

    def for_ns2(self, checkout: Checkout) -> dict[str, Any] | None:
        """Resolve the scenario that ns-2 runs next to it, with as many ACKs; None if it cannot."""
        if not self.in_ns2:
            return None
        if self.tcp is None:
            return self.resolved(checkout)
        form = checkout.resolve(checkout.scenarios()[self.scenario], NS2_TCP)
        for flow, own in zip(form["flows"], self.resolved(checkout)["flows"], strict=True):
            receiver, own_receiver = (one["traffic"]["connection"]["receiver"] for one in (flow, own))
            receiver["ack_every"] = own_receiver["ack_every"]
        return form


TODAY = (
    Row("linux-cubic-one", "one-bulk-flow", "linux-cubic", 1.8),
    Row("linux-cubic-hundred", "hundred-bulk-flows", "linux-cubic", 1.8),
    Row("linux-cubic-web134", "web134", "linux-cubic", 1.8, in_ns2=False),
    Row("linux-bbr-one", "one-bulk-flow", "linux-bbr", 3.0),
    Row("linux-bbr-hundred", "hundred-bulk-flows", "linux-bbr", 3.0),
    Row("linux-bbr-web134", "web134", "linux-bbr", 3.0, in_ns2=False),
    Row(
        "linux-cubic-fq-codel",
        "hundred-bulk-flows",
        "linux-cubic",
        1.8,
        in_ns2=False,
        changes=('link.bottleneck.queue="fq-codel"',),
        base="linux-cubic-hundred",
    ),
    Row("linux-cubic-web100000", "web100000", "linux-cubic", in_ns2=False),
)
"""Scenarios with the TCP of today's hosts, and with their queues."""


def rows(checkout: Checkout) -> list[Row]:
    """List all rows, the scenarios' own TCP first."""
    return [*(Row(name, name) for name in checkout.scenarios()), *TODAY]
