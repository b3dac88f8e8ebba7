"""The command: what it serves, what it prints, what it refuses."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from ackclock.errors import ScenarioError
from ackclock.lab import serving
from ackclock.lab.lessons_read import lesson_names, lesson_path
from ackclock.scenario.ready import ready_path
from benches.browser import served


def test_it_begins_with_the_first_lesson_a_ready_scenario_or_a_file(tmp_path: Path) -> None:
    assert serving.begin_with(None) == (lesson_path(lesson_names()[0]).read_text(encoding="utf-8"), "")
    assert serving.begin_with("geo-two-nodes") == (ready_path("geo-two-nodes").read_text(encoding="utf-8"), "")
    (tmp_path / "mine.toml").write_text("# with faults\n", encoding="utf-8")
    assert serving.begin_with(str(tmp_path / "mine.toml")) == ("# with faults\n", "")


def test_it_begins_with_the_experiment_of_an_address() -> None:
    assert serving.begin_with("http://127.0.0.1:9/tok/#s=Ab-_9")[1] == "#s=Ab-_9"
    assert serving.begin_with("#s=Ab-_9")[1] == "#s=Ab-_9"


@pytest.mark.parametrize("address", ["x#s=<script>", "#s=a b", '#"'])
def test_an_address_that_the_page_did_not_make_is_refused(address: str) -> None:
    with pytest.raises(ScenarioError, match="is not one that the page made"):
        serving.begin_with(address)


def test_a_scenario_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ScenarioError, match="there is no such file"):
        serving.begin_with("no-such-scenario")


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(ScenarioError, match=r'needs a package .*tomlkit; pip install "ackclock\[lab\]"'):
        serving.serve()


def test_each_address_has_a_token_of_its_own_that_cannot_be_guessed() -> None:
    with served() as first, served() as second:
        tokens = [address.split("/")[3] for address in (first, second)]
    assert tokens[0] != tokens[1]
    assert all(len(token) >= 32 for token in tokens)
    assert first.startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_an_error_without_a_traceback() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-m", "ackclock", "lab", "--no-browser", "--port", str(taken.getsockname()[1])]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert "--port 0 takes one that is free" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_browser_is_opened_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(serving, "OPEN_AFTER_S", 0.0)
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(serving, "warm_up", lambda: None)

    class Server:
        def __init__(self, _: object) -> None: ...
        def run(self, sockets: list[socket.socket]) -> None:
            assert sockets[0].getsockname()[0] == "127.0.0.1"

    monkeypatch.setattr("uvicorn.Server", Server)
    monkeypatch.setattr("sys.setswitchinterval", lambda _: None)
    serving.serve(browser=False)
    assert opened == []
    serving.serve()
    for _ in range(100):
        if opened:
            break
        time.sleep(0.01)
    assert opened[0].startswith("http://127.0.0.1:")


SLOW = """
[[link]]
name = "line"
rate = "1 Gbit/s"
[[flow]]
path = ["line"]
rtt = "10 ms"
tcp = { preset = "reno-ns2", max_window = "900 pkt" }
[run]
duration = "1500 s"
"""


def test_ctrl_c_ends_it_within_seconds_though_a_run_goes_on() -> None:
    command = [sys.executable, "-m", "ackclock", "lab", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        address = process.stdout.readline().strip()
        body = json.dumps({"page": "00112233", "toml": SLOW}).encode()
        request = urllib.request.Request(f"{address}api/run", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.loads(answer.readline())["kind"] == "ready"
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert time.monotonic() - started < 10.0
    assert process.returncode == 0
