import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock
from benches.browser import launched, why_not
from fakes import FakeJob

GOLDEN = Path(__file__).parent / "golden"


def pytest_configure() -> None:
    """Let processes that tests start end by Ctrl-C, which a shell's background jobs and all that they start ignore."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write the golden texts anew")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Give the one browser of a test process: playwright's calls that wait allow no second one."""
    if reason := why_not():
        pytest.skip(reason)
    with launched() as found:
        yield found


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the one kept under its name; with --bless, keep it."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--bless"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> type[FakeJob]:
    """Put the fake in the engine's place."""
    module = ModuleType("ackclock._engine")
    module.Job = FakeJob  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ackclock._engine", module)
    monkeypatch.setattr(FakeJob, "started", [])
    monkeypatch.setattr(FakeJob, "interrupt_after", None)
    monkeypatch.setattr(FakeJob, "polls", 0)
    monkeypatch.setattr(ackclock, "__version__", "0.0", raising=False)
    return FakeJob
