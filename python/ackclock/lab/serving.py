"""The server of the page: on the loopback interface, at a port of its own, with a token in its address."""

import re
import secrets
import socket
import sys
import webbrowser
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread, Timer
from typing import Any, Final

from ackclock.errors import Fault, ScenarioError
from ackclock.lab.bounds import MOST_BYTES
from ackclock.scenario.source import read_source

LOOPBACK: Final = "127.0.0.1"
NAMES: Final = (LOOPBACK, "localhost")
FIRST_LESSON: Final = Path(__file__).with_name("lessons") / "1-sawtooth" / "scenario.toml"
"""The scenario that the page begins with if none is named."""
MOST_CONNECTIONS: Final = 40
OPEN_AFTER_S: Final = 0.5
GRACE_S: Final = 1
"""Time that a run has after Ctrl-C until it is ended [s]."""
SWITCH_S: Final = 5e-4
"""Time for which a thread keeps the interpreter while others wait [s]: the one that answers must not wait for runs."""
_FRAGMENT: Final = re.compile(r"[A-Za-z0-9_.=&-]*")


def serve(scenario: str | None = None, *, port: int = 0, browser: bool = True) -> None:
    """Serve the page until Ctrl-C; print its address first.

    Parameters
    ----------
    scenario : str, optional
        A TOML file, the name of a ready scenario, or the address of a page whose experiment was shared.
    port : int
        The port; 0 for one that is free.
    browser : bool
        Whether to open a browser.

    Raises
    ------
    ScenarioError
        If the scenario cannot be read, or the packages of the extra `lab` are not installed.
    OSError
        If the port is taken.
    """
    uvicorn = _server_package()
    text, fragment = begin_with(scenario)
    with closing(listening(port)) as listener:
        token, number = secrets.token_urlsafe(24), listener.getsockname()[1]
        address = f"http://{LOOPBACK}:{number}/{token}/{fragment}"
        sys.stdout.write(f"{address}\nCtrl-C ends it.\n")
        sys.stdout.flush()
        if browser:
            opener = Timer(OPEN_AFTER_S, webbrowser.open, [address])
            opener.daemon = True
            opener.start()
        settings = {
            "timeout_graceful_shutdown": GRACE_S,
            "log_level": "error",
            "access_log": False,
            "server_header": False,
            "lifespan": "off",
        }
        config = uvicorn.Config(
            application(text, token, number), limit_concurrency=MOST_CONNECTIONS, ws="none", http="h11", **settings
        )
        sys.setswitchinterval(SWITCH_S)
        Thread(target=warm_up, daemon=True).start()
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def warm_up() -> None:
    """Make a short run, so that the page's first one need not wait for imports."""
    from ackclock.lab.answers import answer, chart_of  # noqa: PLC0415
    from ackclock.lab.running import changed, prepared, run  # noqa: PLC0415

    text = FIRST_LESSON.read_text(encoding="utf-8")
    ran = run(prepared(changed(text, {"run.duration": "1 s"})), lambda _: None)
    answer(ran)
    chart_of(ran.recorded, 0.0, 1.0, 900)


def application(text: str, token: str, port: int) -> object:
    """Make the site behind its guard.

    Parameters
    ----------
    text : str
        The scenario that the page begins with.
    token : str
        The first part of every path.
    port : int
        The port at which it is reached.
    """
    from ackclock.lab.guard import Guard  # noqa: PLC0415  after the packages of the extra were found
    from ackclock.lab.site import site  # noqa: PLC0415

    return Guard(site(text), token, frozenset(f"{name}:{port}" for name in NAMES), MOST_BYTES)


def begin_with(scenario: str | None) -> tuple[str, str]:
    """Give the text of the scenario that the page begins with, and the fragment of its address.

    Parameters
    ----------
    scenario : str, optional
        As `serve` takes it.

    Raises
    ------
    ScenarioError
        If it cannot be read.
    """
    given = scenario or str(FIRST_LESSON)
    if "#" in given:
        fragment = given.partition("#")[2]
        if _FRAGMENT.fullmatch(fragment) is None:
            hint = "copy it with the button Share of the page"
            raise ScenarioError([Fault("address", "is not one that the page made", given[:60], hint=hint)], "address")
        return _text(str(FIRST_LESSON)), f"#{fragment}"
    return _text(given), ""


def _text(scenario: str) -> str:
    return read_source(Path(scenario)).text or ""


def listening(port: int) -> socket.socket:
    """Open a socket on the loopback interface; OSError if the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"{error.strerror}; --port 0 takes one that is free", f"port {port}") from None
    return listener


def _server_package() -> Any:
    try:
        import starlette  # noqa: F401, PLC0415
        import tomlkit  # noqa: F401, PLC0415
        import uvicorn  # noqa: PLC0415
    except ImportError as error:
        fault = Fault(
            "ackclock lab", f"needs a package that is not installed: {error.name}", hint='pip install "ackclock[lab]"'
        )
        raise ScenarioError([fault], "ackclock lab") from None
    return uvicorn
