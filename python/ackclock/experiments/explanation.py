"""Reasons of an item's verdict: computed from the run, then what was written down, checked against the run."""

from math import isfinite

from ackclock.experiments.criteria import Expected
from ackclock.experiments.frame import Finding
from ackclock.experiments.papers import FORMS, Form, Item
from ackclock.experiments.reproduction import ReproducedItem

_MOVED = 0.05
"""Relative change of a number after which an explanation that names it may be out of date."""


def why(reproduced: ReproducedItem, form: Form) -> str:
    """Return the reason of an item's verdict.

    The first part is computed from the run. The second is the explanation in paper.toml, which was written for the
    quick form on record. The third lists what is otherwise in this run than on that record, if anything is.

    Parameters
    ----------
    reproduced : ReproducedItem
        The item, as reproduced.
    form : str
        The form that was run.
    """
    item = reproduced.item
    parts = [found_sentence(reproduced), item.why, _otherwise(reproduced, form)]
    return " ".join(part for part in parts if part)


def found_sentence(reproduced: ReproducedItem) -> str:
    """Return which rows differ, are met partly or are not decided, with their numbers."""
    texts = []
    for verdict, word in (("differs", "Differ"), ("partly", "Partly met"), ("not decided", "Not decided")):
        rows = [row for row in reproduced.item.expected if reproduced.verdicts.get(row.key) == verdict]
        if rows:
            texts.append(f"{word}: {'; '.join(_found(row, reproduced.finding(row.key)) for row in rows)}.")
    return " ".join(texts)


def number(value: float, row: Expected) -> str:
    """Write a number of a row with its unit; for a claim in words the fraction of cases in which it holds."""
    if not isfinite(value):
        return ""
    if row.of_share():
        return {0.0: "does not hold", 1.0: "holds"}.get(value, f"holds in {100.0 * value:.3g}% of cases")
    return f"{value:.4g} {row.unit}".strip()


def on_record(item: Item, form: Form) -> str:
    """Return the verdict on record of an item in a form, as a word."""
    return item.state_of(form) or "not run"


def _found(row: Expected, finding: Finding) -> str:
    text = f"{row.key} {number(finding.judged(row.judged).value, row)}"
    return f"{text} (the paper: {row.paper:.5g})" if isfinite(row.paper) else text


def _otherwise(reproduced: ReproducedItem, form: Form) -> str:
    """List verdicts and numbers that are not those of the quick form on record, for which explanations are written."""
    item = reproduced.item
    record = item.record.get(FORMS[0], {})
    changes = []
    for row in item.expected:
        known, verdict = record.get(row.key), reproduced.verdicts.get(row.key)
        if known is None or verdict is None:
            continue
        found = reproduced.finding(row.key).judged(row.judged)
        if verdict != known.verdict:
            changes.append(f"{row.key} {verdict}, on record {known.verdict}")
        elif isfinite(found.value) and abs(found.value - known.value) > _MOVED * max(abs(known.value), 1e-12):
            changes.append(f"{row.key} {number(found.value, row)}, on record {number(known.value, row)}")
    if not changes:
        return ""
    return (
        f"The explanation was written for the quick form; in this run ({form}) it is otherwise: {'; '.join(changes)}."
    )
