"""A scenario in words: its links, its flows and its run, as tables."""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.scenario.schema import Flow, Run
from ackclock.scenario.schema_links import Link, Reverse
from ackclock.tables import TableText, html_table, rich_table
from ackclock.units import show

if TYPE_CHECKING:
    from rich.console import RenderableType

_LINK_HEADERS = ["link", "rate", "delay", "buffer", "discipline", "loss"]
_FLOW_HEADERS = ["flow", "number", "what", "TCP", "path"]


@dataclass(frozen=True)
class Description:
    """A scenario's tables and lines.

    Parameters
    ----------
    title : str
        Its title.
    tables : list of TableText
        Links and flows.
    lines : list of str
        The run, then the warnings.
    """

    title: str
    tables: list[TableText]
    lines: list[str]

    def text(self) -> Iterator["RenderableType"]:
        """Give what a console of rich prints."""
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        yield Text(self.title, style="bold")
        for table in self.tables:
            yield ""
            yield rich_table(table)
        yield ""
        for line in self.lines:
            yield Text(line, style="dim")

    def html(self) -> str:
        """Give the same for a notebook."""
        tables = "".join(map(html_table, self.tables))
        return f"<h4>{html.escape(self.title)}</h4>{tables}" + "".join(
            f"<p>{html.escape(one)}</p>" for one in self.lines
        )


def described(
    title: str, links: Iterable[Link], flows: Iterable[tuple[str, Flow]], run: Run, more: Iterable[str] = ()
) -> Description:
    """Put a scenario into tables.

    Parameters
    ----------
    title : str
        Its title.
    links : iterable of Link
        Its links; a reverse direction has a row if it is limited.
    flows : iterable of (str, Flow)
        Its flows with their names.
    run : Run
        How it is run.
    more : iterable of str
        Lines below, such as its warnings.
    """
    tables = [
        TableText(_LINK_HEADERS, [row for link in links for row in _link_rows(link)], words=frozenset({4, 5})),
        TableText(_FLOW_HEADERS, [_flow_row(name, flow) for name, flow in flows], words=frozenset({2, 3, 4})),
    ]
    return Description(title, [table for table in tables if table.rows], [_run_line(run), *more])


def _link_rows(link: Link) -> Iterator[list[str]]:
    yield _direction(link.name, link, link)
    if link.reverse != Reverse():
        yield _direction(f"{link.name}.reverse", link.reverse, link)


def _direction(name: str, table: Link | Reverse, link: Link) -> list[str]:
    rate = table.rate if table.rate is not None else link.rate
    changes = table.rate_process or link.rate_process
    written = "unlimited" if rate is None or rate == float("inf") else show(rate, "bit/s")
    delay = table.delay if table.delay or table is link else link.delay
    return [
        name,
        f"changes ({changes.kind})" if changes is not None else written,
        show(delay, "s"),
        "unlimited" if table.buffer is None else str(table.buffer),
        table.queue.discipline,
        "" if table.loss is None else table.loss.model,
    ]


def _flow_row(name: str, flow: Flow) -> list[str]:
    kind = "TCP" if flow.traffic is None else flow.traffic.kind
    size = "" if flow.size is None else f", {flow.size}"
    start = "" if not flow.start else f", from {show(flow.start, 's')} on"
    has_tcp = flow.traffic is None or kind == "web"
    return [name, str(flow.count), f"{kind}{size}{start}", flow.tcp.preset if has_tcp else "", " ".join(flow.path)]


def _run_line(run: Run) -> str:
    parts = [f"Runs {show(run.duration, 's')}"]
    parts += [f"measured from {show(run.warmup, 's')} on"] if run.warmup else []
    parts += [f"{run.replications} replications"] if run.replications > 1 else []
    return f"{', '.join(parts)}; seed {run.seed}"
