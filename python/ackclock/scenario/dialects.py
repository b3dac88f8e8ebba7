"""The rules in which Linux and the RFCs differ, of the sender with selective acknowledgment: rows of data.

`dialect` sets all of them, and a field that is given sets its own. docs/tcp.md has the same rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ackclock.scenario.machines import SelectiveDialectName


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that Linux and the RFCs have otherwise.

    Parameters
    ----------
    what : str
        The subject of the rule.
    field : str
        The field of the TCP table that chooses it alone; empty for a rule that only `dialect` chooses.
    linux, rfc : str
        Its values, as they are written in TOML; in words for a rule without a field.
    clause : str
        The RFC's clause.
    kernel : str
        The kernel's function.
    """

    what: str
    field: str
    linux: str
    rfc: str
    clause: str
    kernel: str

    def value(self, dialect: SelectiveDialectName) -> str:
        """Give its value in a dialect."""
        return self.linux if dialect == "linux" else self.rfc


RULES: Final[tuple[Rule, ...]] = (
    Rule("retransmission timeout", "rto.rules", "linux", "rfc6298", "RFC 6298 (2.2), (2.3)", "`tcp_rtt_estimator`"),
    Rule("its floor; Linux's is that of the variation", "rto.min", "200 ms", "1 s", "RFC 6298 (2.4)", "`TCP_RTO_MIN`"),
    Rule("its largest value", "rto.max", "120 s", "60 s", "RFC 6298 (2.5)", "`TCP_RTO_MAX`"),
    Rule("clock of its timer", "rto.granularity", "1 ms", "0 s", "RFC 6298 section 4", "`mod_timer`"),
    Rule("window after a spurious reduction", "undo", "linux", "rfc4015", "RFC 4015 (5)", "`tcp_undo_cwnd_reduction`"),
    Rule(
        "growth of a window that is not used",
        "cwnd_validation",
        "linux",
        "rfc7661",
        "RFC 7661 section 4.3",
        "`tcp_is_cwnd_limited`",
    ),
    Rule("initial window", "initial_window", "10 pkt", "rfc6928", "RFC 6928 section 2", "`TCP_INIT_CWND`"),
    Rule(
        "end of CUBIC's slow start",
        "slow_start",
        "hystart",
        "hystart++",
        "RFC 9438 section 4.10, RFC 9406",
        "`hystart_update`",
    ),
    Rule(
        "growth in standard slow start for each ACK",
        "",
        "the packets that it acknowledges",
        "one packet",
        "RFC 5681 section 3.1 (2)",
        "`tcp_slow_start`",
    ),
    Rule("CUBIC's window", "", "whole packets, jiffies", "real numbers", "RFC 9438 section 4", "`bictcp_update`"),
    Rule("HighSpeed's window", "", "a table", "the formulas", "RFC 3649 section 5", "`hstcp_aimd_vals`"),
)
"""All of them, in the order of docs/tcp.md."""

_OF_THE_CONTROL: Final = frozenset({"slow_start"})
"""Fields whose value depends on the congestion control too, which chooses them if they are not given."""


def ruled(tcp: Mapping[str, Any], dialect: SelectiveDialectName) -> dict[str, Any]:
    """Replace the fields in which the dialects differ.

    Parameters
    ----------
    tcp : mapping
        A TCP table, complete for its machine.
    dialect : str
        The dialect whose values they get.

    Returns
    -------
    dict
        The table with these values.
    """
    table = {**tcp, "dialect": dialect, "rto": dict(tcp["rto"])}
    for rule in RULES:
        name, _, inner = rule.field.partition(".")
        if inner:
            table[name][inner] = rule.value(dialect)
        elif name and name not in _OF_THE_CONTROL:
            table[name] = rule.value(dialect)
    return table


def table_lines() -> Iterator[str]:
    """Write the rows as a table of Markdown."""
    yield "| rule | field | Linux | RFC | clause | in the kernel |"
    yield "|---|---|---|---|---|---|"
    for rule in RULES:
        linux, rfc = (f'`"{value}"`' if rule.field else value for value in (rule.linux, rule.rfc))
        field = f"`{rule.field}`" if rule.field else "`dialect` alone"
        yield f"| {rule.what} | {field} | {linux} | {rfc} | {rule.clause} | {rule.kernel} |"
