"""The widget: messages of the page in the notebook, and the work that answers them, bounded as the lab's."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Final

from ackclock.errors import AckclockError, Fault, ScenarioError
from ackclock.lab.desk import Asked, Desk
from ackclock.lab.running import CancelledError, fault_data
from ackclock.lab.serving import begin_with
from ackclock.lab.work import KINDS
from ackclock.notebook.bundle import OURS, page
from ackclock.result import Result
from ackclock.scenario.arguments import PATH, check_arguments
from ackclock.scenario.source import read_source

Json = dict[str, Any]
Send = Callable[[Json], None]
_WHERE: Final = "ackclock.widget"


class Widget:
    """The lab's controls, path and curves for a scenario, inside a notebook; `widget` makes one.

    Parameters
    ----------
    toml : str
        The scenario's text.
    view : anywidget.AnyWidget
        What the notebook shows.
    """

    def __init__(self, toml: str, view: Any) -> None:
        self._toml = toml
        self._view = view
        self._desk = Desk("printed")
        self._turn = Lock()
        self._asked = Asked()
        view.on_msg(self._on_message)

    @property
    def toml(self) -> str:
        """The scenario's text, with what the sliders changed."""
        ran = self._desk.ran
        return self._toml if ran is None else ran.recorded.prepared.text

    @property
    def result(self) -> Result | None:
        """The result of the run that the widget shows; None before the first one is finished."""
        return None if self._desk.ran is None else self._desk.ran.result

    def __repr__(self) -> str:
        title = "no run yet" if self.result is None else repr(self.result.summary["title"])
        return f"<Widget: {title}>"

    def _repr_mimebundle_(self, **how: Any) -> Any:
        return self._view._repr_mimebundle_(**how)

    def _on_message(self, _view: Any, content: Mapping[str, Any], _buffers: Any) -> Thread | None:
        """Send the page, or begin the work that it asks for; the work before is ended."""
        if "opened" in content:
            self._view.send({"page": page(), "toml": self.toml})
        if "asks" not in content:
            return None
        cancelled = self._asked.begin(is_run=content.get("kind") == "run")
        work = Thread(target=self._answer, args=(dict(content), cancelled), daemon=True)
        work.start()
        return work

    def _answer(self, content: Json, cancelled: Event) -> None:
        """Do a piece of work, one at a time; send its lines, the answer last."""

        def tell(line: Json) -> None:
            if cancelled.is_set():
                raise CancelledError
            self._view.send({"answers": content["asks"], "line": line})

        with self._turn:
            try:
                tell(_done(content, self._desk, tell))
            except CancelledError:
                self._view.send({"answers": content["asks"], "line": {"kind": "superseded"}})
            finally:
                cancelled.set()


def widget(scenario: str | Path | None = None) -> Widget:
    """Show a scenario in a notebook with sliders, its path and its curves, which follow each change.

    Parameters
    ----------
    scenario : str or Path, optional
        The path of a TOML file, the name of a ready scenario, or TOML text (a string with a line break); the lab's
        first lesson by default.

    Returns
    -------
    Widget
        The last line of a cell shows it; `result` is the newest run's, `toml` its scenario.

    Raises
    ------
    ScenarioError
        If the scenario cannot be read, or the packages of the extra `notebook` are not installed.
    ArgumentError
        If it is neither a text nor a path.

    Notes
    -----
    A run is refused if it is expected to take more than 120 s, 1.5 GB or 200 million packets, as in the lab.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.widget("access-bufferbloat")  # doctest: +SKIP
    """
    try:
        import anywidget  # noqa: PLC0415  of the extra `notebook`
        import tomlkit  # noqa: F401, PLC0415
    except ImportError as error:
        problem = f"needs a package that is not installed: {error.name}"
        raise ScenarioError([Fault(_WHERE, problem, hint='pip install "ackclock[notebook]"')], _WHERE) from None
    check_arguments("widget", scenario=(scenario, PATH.or_none()))
    given = None if scenario is None else str(scenario)
    toml = read_source(given).text or "" if given is not None and "\n" in given else begin_with(given)[0]
    return Widget(toml, anywidget.AnyWidget(_esm=(OURS / "widget.js").read_text(encoding="utf-8")))


def _done(content: Json, desk: Desk, tell: Send) -> Json:
    """Do a piece of work; what is wrong is an answer too."""
    kind = content.get("kind")
    asked = content.get("content")
    if kind not in {"run", "window"} or not isinstance(asked, dict):
        return {"kind": "fault", "faults": [{"text": "the page asked for what there is not", "line": None}]}
    try:
        return KINDS[kind](asked)(desk, tell)
    except AckclockError as error:
        return {"kind": "fault", "faults": fault_data(error)}
    except MemoryError:
        return {"kind": "fault", "faults": [{"text": "out of memory: shorten the run", "line": None}]}
