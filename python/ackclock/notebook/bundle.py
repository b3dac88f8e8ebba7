"""The page inside the widget: the lab's own modules, as one script that needs no server."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

OURS: Final = Path(__file__).with_name("static")
LAB: Final = Path(__file__).parents[1] / "lab" / "static"
MODULES: Final = (
    *(
        "dom.js",
        "colours.js",
        "quantities.js",
        "layout.js",
        "api.js",
        "names.js",
        "drawing.js",
        "panel.js",
        "charts.js",
    ),
    *("path.js", "controls.js", "old.js", "results.js", "runner.js", "app.js"),
)
"""The modules of the page, each after those that it imports; of two files of a name, the widget's own."""
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (async function|function|class|const) (\w+)", re.MULTILINE)


@lru_cache(maxsize=1)
def page() -> str:
    """Return the page as HTML that loads nothing."""
    styles = [_text("uplot/uPlot.min.css"), _text("style.css"), _text("panels.css"), _text("widget.css")]
    scripts = [_text("uplot/uPlot.iife.min.js"), script()]
    head = "".join(f"<style>{one}</style>" for one in styles)
    body = _text("page.html") + "".join(f"<script>{_within_html(one)}</script>" for one in scripts)
    return f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>"


def script() -> str:
    """Return the modules as one script: each is a function that gives what it exports."""
    return "const modules = {};\n" + "\n".join(map(_module, MODULES))


def _module(name: str) -> str:
    text = _text(name)
    exported = ", ".join(found[2] for found in _EXPORT.finditer(text))
    text = _IMPORT.sub(r'const {\1} = modules["\2"];', text)
    text = _EXPORT.sub(r"\1 \2", text)
    return f'modules["{name}"] = (() => {{\n{text}\nreturn {{ {exported} }};\n}})();'


def _text(name: str) -> str:
    own = OURS / name
    return (own if own.exists() else LAB / name).read_text(encoding="utf-8")


def _within_html(script_text: str) -> str:
    """Keep a script from ending its element."""
    return script_text.replace("</", "<\\/")
