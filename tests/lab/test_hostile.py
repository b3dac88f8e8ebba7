"""A hostile page on the same machine, and hostile requests: what they can do, tried."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from ackclock.lab.bounds import MOST_BYTES

BODY = json.dumps({"page": "00112233", "toml": "x"})
JSON = {"Content-Type": "application/json"}


def ask(address: str, path: str, method: str = "GET", body: str | bytes | None = None, **headers: str) -> Any:
    """Ask the server directly; `path` begins behind the token if it has no leading slash."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    target = path if path.startswith("/") else f"{parts.path}{path}"
    connection.putrequest(method, target, skip_host="Host" in headers)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        content = body.encode() if isinstance(body, str) else body
        given = {"Content-Length": str(len(content)), **JSON, **given}
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders(content if body is not None else None)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, text


def test_its_own_page_is_answered(address: str) -> None:
    assert ask(address, "")[0] == 200
    status, text = ask(address, "api/run", "POST", BODY)
    assert (status, json.loads(text)["kind"]) == (200, "fault")


def test_a_name_that_was_bound_to_this_address_is_refused(address: str) -> None:
    """DNS rebinding: the browser believes that it asks evil.example."""
    assert ask(address, "", Host="evil.example:80")[0] == 421


def test_a_request_of_another_origin_is_refused(address: str) -> None:
    assert ask(address, "api/run", "POST", BODY, Origin="http://evil.example")[0] == 403
    assert ask(address, "api/start", Sec_Fetch_Site="cross-site")[0] == 403


def test_nothing_is_answered_without_the_token(address: str) -> None:
    for path in ("/", "/index.html", "/api/start", "/x/api/start"):
        assert ask(address, path)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        *("../../../../etc/passwd", "..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/etc/passwd", "static/../app.js"),
        *("api/scenario/..%2f..%2fpresets", "api/scenario/....//x", "api/lesson/../../api", "api/lesson/%2e%2e"),
        *("uplot/../../serving.py", "lessons/1-sawtooth/text.md", "serving.py", "app.js%00.html", "\\..\\x"),
    ],
)
def test_no_file_but_those_of_the_page_can_be_read(address: str, path: str) -> None:
    status, text = ask(address, path)
    assert status in {400, 403, 404}
    assert "root:" not in text
    assert "import" not in text


@pytest.mark.parametrize("name", ["/etc/passwd", "geo-two-nodes", "tests/scenarios/newreno-modem.toml"])
def test_the_name_of_a_file_as_a_scenario_is_read_as_text(address: str, name: str) -> None:
    _, text = ask(address, "api/run", "POST", json.dumps({"page": "00112233", "toml": name}))
    assert "is not valid TOML" in json.loads(text)["faults"][0]["text"]


def test_a_scenario_that_names_a_file_is_refused(address: str) -> None:
    toml = """
[[link]]
name = "line"
rate = "1 Mbit/s"
delay_process = { kind = "trace", file = "/etc/passwd" }
[[flow]]
path = ["line"]
[run]
duration = "1 s"
"""
    _, text = ask(address, "api/run", "POST", json.dumps({"page": "00112233", "toml": toml}))
    faults = json.loads(text)["faults"]
    assert [(fault["line"], "does not read" in fault["text"]) for fault in faults] == [(5, True)]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(address: str) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.putrequest("POST", f"{parts.path}api/run")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(MOST_BYTES + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize("body", ["", "x", "[]", "{}", '{"page": 1}', '{"page": "00112233"}', "[" * 100_000])
def test_an_odd_body_is_a_fault(address: str, body: str) -> None:
    status, text = ask(address, "api/run", "POST", body)
    assert status == 400
    assert json.loads(text)["kind"] == "fault"


COSTLY = {
    "long": '[[link]]\nname="l"\nrate="10 Gbit/s"\n[[flow]]\npath=["l"]\n[run]\nduration="1e7 s"',
    "replications": '[[link]]\nname="l"\nrate="1 Gbit/s"\nloss={model="bernoulli",probability=1e-6}\n'
    '[[flow]]\npath=["l"]\n[run]\nduration="100 s"\nreplications=1000000',
    "flows": '[[link]]\nname="l"\nrate="1 Mbit/s"\n[[flow]]\npath=["l"]\ncount=1000000\n[run]\nduration="1 s"',
    "tables": "\n".join(f'[[link]]\nname="l{number}"\nrate="1 Mbit/s"' for number in range(5000)),
    "dots": f"{'a.' * 20_000}a = 1",
    "nesting": f"x = {'[' * 5000}{']' * 5000}",
    "digits": f"x = {'9' * 100_000}",
    "precision": '[[link]]\nname="l"\nrate="1 Gbit/s"\n[[flow]]\npath=["l"]\n[run]\nduration="1 s"\n'
    'precision={within="0.001%", longest="1e7 s"}',
}


@pytest.mark.parametrize("kind", COSTLY)
def test_a_costly_scenario_is_refused_within_seconds(address: str, kind: str) -> None:
    started = time.monotonic()
    _, text = ask(address, "api/run", "POST", json.dumps({"page": "00112233", "toml": COSTLY[kind]}))
    assert json.loads(text.strip().splitlines()[-1])["kind"] == "fault"
    assert time.monotonic() - started < 10.0


def test_many_requests_at_once_are_answered_one_after_the_other(address: str) -> None:
    toml = '[[link]]\nname="l"\nrate="100 Mbit/s"\n[[flow]]\npath=["l"]\nrtt="10 ms"\n[run]\nduration="20 s"'
    kinds: list[str] = []

    def one() -> None:
        _, text = ask(address, "api/run", "POST", json.dumps({"page": "0011223344", "toml": toml}))
        kinds.append(json.loads(text.strip().splitlines()[-1])["kind"])

    threads = [threading.Thread(target=one) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(kinds) <= {"superseded", "result"}
    assert kinds.count("result") >= 1
    assert kinds.count("superseded") >= 8


HOSTILE = """<!doctype html><title>hostile</title><iframe id="frame"></iframe><script>
async function attack(address, token) {
  const found = {};
  const tried = {
    read: () => fetch(address + "api/start").then((answer) => answer.text()),
    blind: () => fetch(address + "api/run", {method: "POST", mode: "no-cors", body: token}).then((one) => one.type),
    json: () => fetch(address + "api/run", {
      method: "POST", headers: {"content-type": "application/json"}, body: token}).then((answer) => answer.text()),
    script: () => new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = address + "app.js"; script.onload = () => done("ran"); script.onerror = () => fail(Error("blocked"));
      document.head.append(script); }),
    socket: () => new Promise((done, fail) => {
      const socket = new WebSocket(address.replace("http", "ws"));
      socket.onopen = () => done("open"); socket.onerror = () => fail(Error("refused")); }),
  };
  for (const [name, attempt] of Object.entries(tried)) {
    try { found[name] = String(await attempt()); } catch (error) { found[name] = "failed"; }
  }
  const frame = document.getElementById("frame");
  const loaded = new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
  frame.src = address;
  await loaded;
  try { found.frame = frame.contentDocument ? "readable" : "failed"; } catch { found.frame = "failed"; }
  const opened = window.open(address);
  await new Promise((done) => setTimeout(done, 1500));
  try { found.window = opened.document.title; } catch { found.window = "failed"; }
  return found;
}
</script>"""


@pytest.fixture
def hostile() -> Iterator[str]:
    """Serve a page at another port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(HOSTILE.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("knows_token", [False, True])
def test_a_hostile_page_reads_nothing_and_starts_nothing(
    browser: Any, address: str, hostile: str, *, knows_token: bool
) -> None:
    parts = urlsplit(address)
    target = address if knows_token else f"http://{parts.netloc}/"
    context = browser.new_context()
    page = context.new_page()
    page.goto(hostile)
    found = page.evaluate("([address, body]) => attack(address, body)", [target, BODY])
    context.close()
    assert found["read"] == "failed"
    assert found["json"] == "failed"
    assert found["script"] == "failed"
    assert found["socket"] == "failed"
    assert found["frame"] == "failed"
    assert found["window"] == "failed"
    assert found["blind"] in {"opaque", "failed"}  # it is sent, and refused


def test_the_server_listens_on_the_loopback_interface_alone(address: str) -> None:
    port = urlsplit(address).port
    hexadecimal = f":{port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:  # noqa: PTH123
        listening = [line.split()[1] for line in table if line.split()[3] == "0A" and hexadecimal in line.split()[1]]
    assert listening == [f"0100007F{hexadecimal}"]


def test_a_script_in_a_title_is_shown_as_text(lab: Any) -> None:
    with lab.another_run():
        lab.page.click("#tab-scenario")
        area = lab.page.locator("#panel-scenario textarea")
        area.fill(area.input_value().replace("One download", "<img src=x onerror=alert(1)><b>x</b>"))
    lab.page.click("#tab-numbers")
    assert "<img src=x onerror=alert(1)><b>x</b>" in lab.page.inner_text("#panel-numbers h2")
    assert lab.page.locator("#panel-numbers img").count() == 0
