"""The example notebook in a fresh kernel: every picture shows once and is not blank, every table is readable.

It needs nbclient and ipykernel, which the development environment has; without them it is skipped, and pytest says so.
"""

import base64
import importlib
import importlib.util
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

MISSING = [name for name in ("nbclient", "nbformat", "ipykernel") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; no notebook can be executed"),
    # The machinery of notebooks, not ours: jupyter_client asks for an event loop, traitlets and zmq close late.
    pytest.mark.filterwarnings("default"),
    pytest.mark.xdist_group("notebook"),  # one kernel for all tests, not one in each worker
]
NOTEBOOK = Path(__file__).parents[2] / "docs/notebooks/pictures.ipynb"
TIMEOUT_S = 300
PICTURES = (
    *("result.plot()", "result.plot(panels", "comparison.plot()", "comparison.picture()", "ackclock.plot("),
    *("advice.plot()", "data.ackclock.plot("),
)
"""Beginnings of the last lines of cells whose result is a picture."""
TABLES = (
    *("result", "comparison", "result.losses()", "result.story(", "advice", "data.ackclock", "report"),
    *("ackclock.predict(", "ackclock.scenario.load(", "data.ackclock.interval("),
)
"""The same, of cells whose result is a table."""


class Page(HTMLParser):
    """The rows of all tables of a page, each with its cells and where they are aligned, and its pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.pictures: list[bytes] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self.inside = True
        elif tag == "img":
            self.pictures.append(base64.b64decode(str(found["src"]).partition("base64,")[2]))

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.tables[-1][-1][-1] += data


def part(name: str) -> Any:
    """Import a module that may be missing, and whose types are its own affair."""
    return importlib.import_module(name)


def executed(notebook: Any) -> Any:
    """Run a notebook in a kernel of its own; an error of a cell is one of the test."""
    part("nbclient").NotebookClient(notebook, timeout=TIMEOUT_S, kernel_name="python3").execute()
    return notebook


def of_cells(*sources: str) -> Any:
    """Run cells in a fresh kernel, and return their outputs."""
    v4 = part("nbformat.v4")
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    return [cell.outputs for cell in executed(notebook).cells]


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, Any]]:
    """Give the last line and the outputs of each cell of the example."""
    cells = executed(part("nbformat").read(NOTEBOOK, 4)).cells
    return [(_last(cell.source), cell.outputs) for cell in cells if cell.cell_type == "code"]


def _last(source: str) -> str:
    """Return the last line that is not indented, and closes no bracket."""
    return [line for line in source.splitlines() if line and line[0] not in " )"][-1]


def pictures(outputs: Any) -> list[bytes]:
    return [base64.b64decode(one.data["image/png"]) for one in outputs if "image/png" in one.get("data", {})]


def assert_not_blank(content: bytes) -> None:
    """Demand lines and letters on a light ground: more colours than paper and ink, and ink in each quarter."""
    pixels = imread(BytesIO(content))[..., :3]
    height, width, _ = pixels.shape
    assert height >= 200
    assert width >= 700
    dark = pixels.min(axis=2) < 0.7
    quarters = [part for half in np.array_split(dark, 2) for part in np.array_split(half, 2, axis=1)]
    assert all(part.mean() > 0.001 for part in quarters)
    assert dark.mean() < 0.9
    assert len(np.unique((pixels[::3, ::3].reshape(-1, 3) * 255).astype(int), axis=0)) > 20


def of_kind(shown: list[tuple[str, Any]], kinds: tuple[str, ...], *, exact: bool = False) -> Iterator[tuple[str, Any]]:
    return ((line, outputs) for line, outputs in shown if (line in kinds if exact else line.startswith(kinds)))


def test_every_picture_shows_once_and_is_not_blank(shown: list[tuple[str, Any]]) -> None:
    found = list(of_kind(shown, PICTURES))
    assert len(found) == 8
    for line, outputs in found:
        assert len(outputs) == 1, line
        (content,) = pictures(outputs)
        assert_not_blank(content)


def test_every_table_is_readable(shown: list[tuple[str, Any]]) -> None:
    found = [
        one for one in shown if one[0] in TABLES or one[0].startswith(TABLES[-3:]) or one[0].startswith("result.story(")
    ]
    assert len(found) == 10
    for line, outputs in found:
        assert len(outputs) == 1, line
        page = Page(outputs[0].data["text/html"])
        assert page.tables, line
        for rows in page.tables:
            assert len(rows) >= 2, line
            joined = line.startswith("data.ackclock.interval(")  # pandas joins the cells of an index
            assert joined or len({len(row) for row in rows}) == 1, line
            cells = [cell for row in rows for cell in row]
            assert not any("object at 0x" in cell or "dtype" in cell or "nan" in cell.split() for cell in cells), line
            assert max(map(len, cells)) < 400, line


def test_each_cell_that_shows_something_is_checked(shown: list[tuple[str, Any]]) -> None:
    beginnings = (*PICTURES, *TABLES)
    assert [line for line, outputs in shown if outputs and not line.startswith(beginnings)] == []


def test_a_report_shows_its_figures(shown: list[tuple[str, Any]]) -> None:
    ((_, outputs),) = of_kind(shown, ("report",), exact=True)
    page = Page(outputs[0].data["text/html"])
    assert len(page.pictures) >= 1
    for content in page.pictures:
        assert_not_blank(content)


def test_with_pyplot_in_use_a_picture_still_shows_once_and_axes_of_one_s_own_too() -> None:
    outputs = of_cells(
        "import ackclock, matplotlib.pyplot as plt\nresult = ackclock.run('geo-two-nodes')",
        "result.plot()",
        "plt.get_fignums()",
        "figure, axes = plt.subplots(2, 1, figsize=(10, 6))\nresult.plot(panels=['cwnd', 'rtt'], axes=axes)",
        "picture = result.plot()",
    )
    for cell in (1, 3):
        (content,) = pictures(outputs[cell])
        assert_not_blank(content)
    assert outputs[2][0].data["text/plain"] == "[]"
    assert outputs[4] == []


@pytest.fixture
def kernel() -> Iterator[Any]:
    """Start a kernel, and give its client."""
    manager, client = part("jupyter_client.manager").start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def heard(kernel: Any, wanted: Any) -> Any:
    """Wait for a message of the kernel's for which a function gives something, and return that."""
    while True:
        message = kernel.get_iopub_msg(timeout=60)
        if found := wanted(message["msg_type"], message["content"]):
            return found


@pytest.mark.skipif(importlib.util.find_spec("anywidget") is None, reason="not installed: anywidget")
def test_the_widget_answers_in_a_kernel_while_its_cell_is_over(kernel: Any) -> None:
    kernel.execute("import ackclock\nmade = ackclock.widget()\nmade")
    view = "application/vnd.jupyter.widget-view+json"
    name = heard(kernel, lambda kind, content: kind == "execute_result" and content["data"][view]["model_id"])

    def send(content: dict[str, Any]) -> None:
        data = {"comm_id": name, "data": {"method": "custom", "content": content}}
        kernel.shell_channel.send(kernel.session.msg("comm_msg", data))

    def custom(kind: str, content: Any) -> Any:
        return content["data"].get("content") if kind == "comm_msg" else None

    send({"opened": True})
    toml = heard(kernel, lambda *message: (custom(*message) or {}).get("toml"))
    kinds: list[str] = []
    send({"asks": "1", "kind": "run", "content": {"toml": toml, "set": {"link.line.buffer": "20 pkt"}}})
    while not kinds or kinds[-1] != "result":
        kinds.append(heard(kernel, lambda *message: (custom(*message) or {}).get("line"))["kind"])
    assert "curves" in kinds
    kernel.execute("print(made.result.resolved.elements[0].buffer)")
    assert heard(kernel, lambda kind, content: kind == "stream" and content["text"]) == "20-packet\n"


def test_the_example_has_no_outputs_in_the_repository() -> None:
    cells = [cell for cell in part("nbformat").read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
