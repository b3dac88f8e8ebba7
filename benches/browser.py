"""The lab's page in Debian's chromium, for its tests and its benchmark."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PYTHON = Path(__file__).parents[1] / "python"
SIZES = {"wide": (1440, 900), "middle": (1024, 768), "phone": (390, 844)}
PATIENCE_MS = 30_000


def chromium() -> str | None:
    """Give the path of chromium; None if it is not installed. The one without windows takes 40% less processor time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    return next((path for name in names if (path := shutil.which(name))), None)


def why_not() -> str:
    """Say why the page cannot be tested in a browser; empty if it can."""
    if chromium() is None:
        return "no chromium: apt-get install chromium-headless-shell"
    try:
        import playwright  # noqa: F401, PLC0415
    except ImportError:
        return "playwright is not installed"
    return ""


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """Run `ackclock lab` and give the address that it prints."""
    paths = os.pathsep.join(filter(None, (str(PYTHON), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "ackclock", "lab", "--no-browser", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101  a pipe, as asked for
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def launched() -> "Iterator[Browser]":
    """Run chromium until the tests are done with it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        # A container has no user namespaces, and root no sandbox.
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Lab:
    """A page, with what its tests do again and again.

    Parameters
    ----------
    page : Page
        The page.
    """

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.faults: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)

    def open(self, address: str) -> "Lab":
        """Open an address, and wait for the first run."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-run]")
        self.settle()
        return self

    @property
    def runs(self) -> int:
        """The number of runs that are shown so far."""
        return int(self.page.evaluate("Number(document.documentElement.dataset.run ?? 0)"))

    def settle(self) -> None:
        """Wait until no run goes on."""
        self.page.wait_for_function("() => window.lab && lab.runner.current === null && !lab.runner.again")

    @contextmanager
    def another_run(self) -> Iterator[None]:
        """Wait for the run that what is within causes."""
        before = self.runs
        yield
        self.page.wait_for_function(f"() => Number(document.documentElement.dataset.run) > {before}")
        self.settle()

    def open_lesson(self, name: str) -> None:
        """Choose a lesson, and wait for its run."""
        with self.another_run():
            self.page.select_option("#lessons", name)

    @property
    def toml(self) -> str:
        """The scenario that the page holds."""
        return str(self.page.evaluate("lab.runner.toml"))

    def numbers(self) -> dict[tuple[str, str, str], float]:
        """Give the means of the last run, by kind, name and quantity."""
        found: list[dict[str, Any]] = self.page.evaluate("lab.app.result.numbers")
        return {(one["of"], one["name"], one["quantity"]): one["mean"] for one in found}

    def slider(self, path: str) -> Any:
        """Find the slider of a field."""
        return self.page.locator(f'input[type="range"][data-path="{path}"]')

    def move(self, path: str, key: str = "ArrowRight") -> None:
        """Move a slider by a key."""
        with self.another_run():
            self.slider(path).press(key)

    def tab(self, name: str) -> Any:
        """Show a tab and give its panel."""
        self.page.click(f"#tab-{name}")
        return self.page.locator(f"#panel-{name}")
