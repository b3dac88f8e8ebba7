"""Advice for the page: asked in a process of its own, which can be ended."""

import json
import subprocess
import sys
from collections.abc import Callable
from threading import Timer
from typing import Any, Final

from ackclock.errors import Fault, LimitError

LONGEST_S: Final = 120.0
"""Time after which the search for advice is ended [s]."""
LIMITS: Final = "60 s, 1.5 GB, 1e8 pkt"
"""Limits of what each of its simulations may be expected to take."""


def advice(text: str, on_step: Callable[[str], None]) -> dict[str, Any]:
    """Ask for advice on a scenario.

    Parameters
    ----------
    text : str
        The scenario, without faults.
    on_step : callable
        Gets in words what is being simulated, and is called at least once a second; it raises to end the search.

    Raises
    ------
    LimitError
        If the search takes too long, or is refused.
    """
    command = [sys.executable, "-m", "ackclock.lab.adviser"]
    with subprocess.Popen(  # noqa: S603  our own module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018, S101  pipes, as asked for above
        ending = Timer(LONGEST_S, process.kill)
        ending.start()
        try:
            process.stdin.write(json.dumps({"toml": text, "limits": LIMITS}))
            process.stdin.close()
            return _answer(process.stdout, on_step)
        finally:
            ending.cancel()
            process.kill()


def _answer(lines: Any, on_step: Callable[[str], None]) -> dict[str, Any]:
    """Read what the process writes: steps, and last the advice or what is wrong."""
    step = ""
    for line in lines:
        content: dict[str, Any] = json.loads(line)
        if content["kind"] == "step":
            step = content["text"] or step
            on_step(step)
        elif content["kind"] == "fault":
            raise LimitError(Fault("advice", content["text"]))
        else:
            return content["advice"]  # type: ignore[no-any-return]
    raise LimitError(Fault("advice", f"takes longer than {LONGEST_S:.0f} s", hint="shorten run.duration"))
