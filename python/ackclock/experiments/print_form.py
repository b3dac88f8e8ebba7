"""Makes the charts of items fit for print: symbols, colours of the paper's points, axes and legends."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel

GREEK: Final = ("alpha", "beta", "gamma", "delta", "eta", "lambda", "mu", "omega", "rho", "sigma", "tau", "Delta")
SIGNS: Final = {
    "+-": "\N{PLUS-MINUS SIGN}",
    "<=": "\N{LESS-THAN OR EQUAL TO}",
    ">=": "\N{GREATER-THAN OR EQUAL TO}",
    "us": "\N{MICRO SIGN}s",
}
"""Signs that plain text has no letter for, as a chart's words write them and as they are printed."""
CLOSE: Final = 0.4
"""Spread of a panel's numbers relative to the largest, below which an axis from 0 would hide their differences."""
_OWN: Final = frozenset({"simulation", "marks", "step"})
"""Kinds of curves that a run gives."""
_GREEK: Final = "|".join(sorted(GREEK, key=len, reverse=True))
_SYMBOL: Final = re.compile(
    rf"(?<![A-Za-z0-9_$])(?P<base>{_GREEK}|[A-Z]{{1,3}}|[a-z])_(?P<low>\(\d\)|[A-Za-z0-9]{{1,3}})(?P<prime>'?)(?![A-Za-z0-9_])"
    rf"|(?<![A-Za-z0-9_$])(?P<greek>{_GREEK})(?P<mark>'|\*)?(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_$'])(?P<primed>[A-Z])'(?![A-Za-z0-9_])"
    r"|sqrt\((?P<root>[a-z])\)|(?P<sign>\+-|<=|>=|(?<=\d )us(?![A-Za-z]))"
)


def for_print(chart: Chart) -> Chart:
    """Return a chart as it is printed.

    Letters of formulas become symbols. Points of the paper get the colour of the curve that they belong to, if there is
    one curve alone, and are in front. An axis does not begin at 0 where the differences would not be seen. Panels whose
    curves mean different things have a legend each.

    Parameters
    ----------
    chart : Chart
        As the item made it; its data stay as they are.
    """
    legends = {tuple(sorted({_meaning(panel, curve) for curve in panel.curves})) for panel in chart.panels}
    panels = tuple(_panel(panel) for panel in chart.panels)
    legend = "panel" if len(legends) > 1 else chart.legend
    return replace(chart, title=symbols(chart.title), panels=panels, legend=legend, math=True)


def symbols(text: str) -> str:
    r"""Write the letters of formulas as mathtext.

    Examples
    --------
    >>> print(symbols("load rho_0 with W_R = 44, mu' and S', for $5"))
    load $\rho_{0}$ with $W_{R}$ = 44, $\mu'$ and $S'$, for \$5
    """
    return _SYMBOL.sub(_mathtext, text.replace("$", r"\$"))


def _mathtext(found: "re.Match[str]") -> str:
    if found["sign"]:
        return SIGNS[found["sign"]]
    if found["root"]:
        return f"$\\sqrt{{{found['root']}}}$"
    if found["primed"]:
        return f"${found['primed']}'$"
    base = found["base"] or found["greek"]
    written = f"\\{base}" if base in GREEK else base if len(base) == 1 else f"\\mathrm{{{base}}}"
    low = f"_{{{found['low']}}}" if found["low"] else ""
    mark = found["prime"] or found["mark"] or ""
    return f"${written}{low}{'^*' if mark == '*' else mark}$"


def _meaning(panel: Panel, curve: Curve) -> tuple[str, str, int]:
    labels = list(dict.fromkeys(one.label for one in panel.curves))
    return (curve.label, curve.kind, labels.index(curve.label) if curve.colour is None else curve.colour)


def _panel(panel: Panel) -> Panel:
    labels = list(dict.fromkeys(curve.label for curve in panel.curves))
    measured = {curve.label for curve in panel.curves if curve.kind in _OWN}
    # The numbers that a default colour stands for are those of the labels as the item wrote them.
    curves = [
        replace(curve, colour=labels.index(curve.label))
        if curve.colour is None and curve.kind not in {"paper", "guide", "step-guide"}
        else curve
        for curve in panel.curves
    ]
    if len(measured) == 1:
        (own,) = {curve.colour for curve in curves if curve.kind in _OWN} if _one_colour(curves) else {None}
        curves = [
            replace(curve, colour=own) if curve.kind == "paper" and curve.colour is None else curve for curve in curves
        ]
    curves.sort(key=lambda curve: curve.kind == "paper")
    return replace(
        panel,
        x_label=symbols(panel.x_label),
        y_label=symbols(panel.y_label),
        title=symbols(panel.title),
        curves=tuple(_labelled(curve) for curve in curves),
        lines=tuple(replace(line, label=symbols(line.label)) for line in panel.lines),
        events=tuple(replace(one, label=symbols(one.label)) for one in panel.events),
        spans=tuple(replace(one, label=symbols(one.label)) for one in panel.spans),
        x_ticks=None if panel.x_ticks is None else tuple(map(symbols, panel.x_ticks)),
        y_ticks=None if panel.y_ticks is None else tuple(map(symbols, panel.y_ticks)),
        from_zero=panel.from_zero and not _close(panel),
    )


def _one_colour(curves: list[Curve]) -> bool:
    return len({curve.colour for curve in curves if curve.kind in _OWN}) == 1


def _labelled(curve: Curve) -> Curve:
    notes = None if curve.notes is None else tuple(map(symbols, curve.notes))
    return replace(curve, label=symbols(curve.label), notes=notes)


def _close(panel: Panel) -> bool:
    """Return whether all numbers of a panel lie near one another, so that a scale from 0 hides how they differ."""
    ends = [*_numbers(panel)]
    if not ends or any(curve.kind in {"step", "step-band"} for curve in panel.curves):
        return False
    values = np.concatenate(ends)
    values = values[np.isfinite(values)]
    return bool(values.size) and values.min() > 0.0 and values.max() - values.min() < CLOSE * values.max()


def _numbers(panel: Panel) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    for curve in panel.curves:
        yield from (np.asarray(part, dtype=float) for part in (curve.y, curve.low, curve.high) if part is not None)
    yield from (np.array([line.value]) for line in panel.lines if line.axis == "y")
