"""Copies of one link, and the flows of one table, taken together: their findings and their rows."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ackclock.findings import Finding
from ackclock.scenario import Element, Resolved
from ackclock.scenario.copies import described_name
from ackclock.scenario.network import REVERSE

One = TypeVar("One")
_TOGETHER: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "packets": math.fsum,
    "flows": math.fsum,
    "utilisation_fraction": lambda values: math.fsum(values) / len(values),
    "loss_fraction": lambda values: math.fsum(values) / len(values),
}
"""The mean or the sum of a number of several copies; of any other the largest is taken."""
_ONE_BY_ONE: Final = frozenset({"starved"})
"""Kinds of findings that are named one by one, as they set copies apart from one another."""


def together(resolved: Resolved, findings: Iterable[Finding]) -> list[Finding]:
    """Join the findings of a kind on copies of one link or flow.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    findings : iterable of Finding
        As `ackclock.findings.find` gives them.

    Returns
    -------
    list of Finding
        In the same order. A joined one has the name of the table, and in addition the numbers "copies", of which it was
        found, and "of", all there are.
    """
    existing = copies_in(resolved)
    joined: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        name = one.element if one.kind in _ONE_BY_ONE else described_name(one.element)
        joined.setdefault((one.kind, name if name in existing else one.element), []).append(one)
    return [
        _joined(name, group, existing[name]) if name in existing else group[0] for (_, name), group in joined.items()
    ]


def copies_in(resolved: Resolved) -> dict[str, int]:
    """Count the copies of each link and flow that has any, by the name of its table."""
    names = [element.name for element in resolved.elements]
    names += [flow.name for flow in resolved.flows if flow.copies > 1]
    copies: dict[str, int] = {}
    for name in names:
        if described_name(name) != name:
            copies[described_name(name)] = copies.get(described_name(name), 0) + 1
    return copies


def element_named(resolved: Resolved, name: str) -> Element:
    """Give the element of a name; of a link that has copies the first, as all are alike."""
    link = name.removesuffix(REVERSE)
    found = resolved.elements_by_name
    return found[name] if name in found else found[f"{link}[0]{name.removeprefix(link)}"]


def copies_text(finding: Finding) -> str:
    """Name what a finding is about, for example "branch", or "36 of the 100 copies of branch"."""
    if not is_of_copies(finding):
        return finding.element
    found, every = finding.numbers["copies"], finding.numbers["of"]
    share = f"the {every:,.0f}" if found == every else f"{found:,.0f} of the {every:,.0f}"
    return f"{share} copies of {finding.element}"


def is_of_copies(finding: Finding) -> bool:
    """Return whether a finding is about several copies."""
    return "copies" in finding.numbers


def by_table(rows: Iterable[One], name: Callable[[One], str]) -> dict[str, list[One]]:
    """Sort rows by the table of the scenario that they are of, in the order of the first of each.

    Parameters
    ----------
    rows : iterable
        Rows of a summary, or flows.
    name : callable
        Gives the name of one.
    """
    tables: dict[str, list[One]] = {}
    for row in rows:
        tables.setdefault(described_name(name(row)), []).append(row)
    return tables


def row_name(row: Mapping[str, Any]) -> str:
    """Give the name of a summary's row."""
    return str(row["name"])


def _joined(name: str, group: Sequence[Finding], every: int) -> Finding:
    numbers = {
        key: _TOGETHER.get(key, max)([one.numbers[key] for one in group if key in one.numbers])
        for key in group[0].numbers
    }
    return Finding(group[0].kind, name, {**numbers, "copies": float(len(group)), "of": float(every)})
