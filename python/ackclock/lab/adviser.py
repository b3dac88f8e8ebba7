"""The process that asks for advice: a scenario on standard input, lines of JSON on standard output."""

import json
import os
import sys
from threading import Event, Thread
from typing import Any, Final

SIGN_OF_LIFE_S: Final = 0.5


def main() -> None:
    """Read a scenario, and write each step of the search and the advice."""
    from ackclock.advice import advise  # noqa: PLC0415  after the limits are set
    from ackclock.errors import AckclockError  # noqa: PLC0415
    from ackclock.lab.advice_data import advice_data  # noqa: PLC0415
    from ackclock.lab.editing import source_of  # noqa: PLC0415
    from ackclock.limits import LIMIT  # noqa: PLC0415
    from ackclock.scenario.scenario import checked  # noqa: PLC0415

    request = json.loads(sys.stdin.read())
    os.environ[LIMIT] = ", ".join(filter(None, (os.environ.get(LIMIT), request["limits"])))
    done = Event()
    Thread(target=_show_life, args=(done,), daemon=True).start()
    try:
        found = advise(checked(source_of(request["toml"])), on_step=lambda what: _write({"kind": "step", "text": what}))
        _write({"kind": "advice", "advice": advice_data(found)})
    except AckclockError as error:
        _write({"kind": "fault", "text": str(error)})
    finally:
        done.set()


def _show_life(done: Event) -> None:
    """Write an empty step twice a second, so that the page notices when nobody waits any more."""
    while not done.wait(SIGN_OF_LIFE_S):
        _write({"kind": "step", "text": ""})


def _write(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
