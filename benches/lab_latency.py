"""Measure the time from a slider of the lab's page to its new curves, in a browser, for the seven lessons."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rich import box
from rich.table import Table

from ackclock.lab.lessons_read import lesson_names, lesson_path
from benches.browser import Lab, launched, served, why_not

MOVES: Final = 41
WARM: Final = 5
"""Number of the first moves that do not count: the page and the server have done nothing yet."""
BUDGET_MS: Final = 100.0

_MOVE: Final = """async (path) => {
  const root = document.documentElement;
  const range = document.querySelector(`input[type="range"][data-path="${path}"]`);
  const run = new Promise((done) => new MutationObserver((_, one) => { one.disconnect(); done(); })
    .observe(root, { attributes: true, attributeFilter: ["data-run"] }));
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  range.value = Number(range.value) + (range.dataset.back ? -1 : 1);
  range.dataset.back = range.dataset.back ? "" : "1";
  const begin = performance.now();
  range.dispatchEvent(new Event("input"));
  await run;
  await painted();
  return [performance.now() - begin, lab.app.curves.seconds * 1000];
}"""
"""Moves a slider by a step, there and back in turn; gives the time until the new curves are painted, and that of the
server [ms]."""


@dataclass(frozen=True)
class Latency:
    """Times from a slider to the new curves, for one scenario.

    Parameters
    ----------
    lesson : str
        The lesson whose scenario it is.
    times_ms : list of float
        From the slider's event to the frame that shows the new curves [ms].
    server_ms : list of float
        The part of the server in them: scenario, run, chart [ms].
    """

    lesson: str
    times_ms: list[float]
    server_ms: list[float]

    @property
    def median_ms(self) -> float:
        """Median of the times [ms]."""
        return statistics.median(self.times_ms)

    @property
    def p95_ms(self) -> float:
        """95th percentile of the times [ms]."""
        return statistics.quantiles(self.times_ms, n=20, method="inclusive")[-1]

    def record(self) -> dict[str, Any]:
        """Return the entry of bench.json."""
        return {
            "lesson": self.lesson,
            "moves": len(self.times_ms),
            "median_ms": round(self.median_ms, 1),
            "p95_ms": round(self.p95_ms, 1),
            "server_median_ms": round(statistics.median(self.server_ms), 1),
        }


def measure() -> Iterator[Latency]:
    """Move a slider of each lesson's page; the buffer of its last link that has one, else that link's rate."""
    with launched() as browser:
        for name in lesson_names():
            with served(str(lesson_path(name))) as address:
                context = browser.new_context(viewport={"width": 1440, "height": 900})
                page = Lab(context.new_page()).open(address).page
                path = page.evaluate(
                    "(() => { const all = lab.app.form.links.flatMap((link) => link.forward.controls); "
                    "return (all.filter((one) => one.label === 'buffer' && one.value !== null).at(-1) "
                    "?? all.filter((one) => one.label === 'rate').at(-1)).path; })()"
                )
                found = []
                for _ in range(WARM + MOVES):
                    found.append(page.evaluate(_MOVE, path))
                    page.wait_for_timeout(40)
                context.close()
            yield Latency(name, [one[0] for one in found[WARM:]], [one[1] for one in found[WARM:]])


def why_not_measured() -> str:
    """Return the reason why it cannot be measured; empty if it can."""
    return why_not()


def table(found: list[Latency]) -> Table:
    """Lay out the times, a row a lesson."""
    lines = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    lines.add_column("slider to curve, in chromium")
    for title in ("median\nms", "95%\nms", "budget\nms", "server\nms"):
        lines.add_column(title, justify="right", no_wrap=True)
    for one in found:
        red = "[red]" if one.median_ms > BUDGET_MS else ""
        server = statistics.median(one.server_ms)
        lines.add_row(one.lesson, f"{red}{one.median_ms:.0f}", f"{one.p95_ms:.0f}", f"{BUDGET_MS:.0f}", f"{server:.0f}")
    return lines
