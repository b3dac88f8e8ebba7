"""The guard lets through what comes from its own page and nothing else."""

from typing import Any

import pytest

from ackclock.lab.guard import HEADERS, Guard
from coroutines import completed

TOKEN = "s3cret"
HOST = "127.0.0.1:4711"


async def site(scope: Any, receive: Any, send: Any) -> None:
    del receive
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def ask(
    path: str = f"/{TOKEN}/x", method: str = "GET", **headers: str | list[str]
) -> tuple[int, bytes, dict[str, str]]:
    """Give status, body and headers of the answer; `host_` with an underscore at its end is the header Host."""
    given: dict[str, str | list[str]] = {"host": HOST, **headers}
    pairs = [
        (name.rstrip("_").replace("_", "-").encode(), one.encode())
        for name, value in given.items()
        for one in ([value] if isinstance(value, str) else value)
    ]
    messages: list[dict[str, Any]] = []

    async def run() -> None:
        async def send(message: Any) -> None:
            messages.append(message)

        guard = Guard(site, TOKEN, frozenset({HOST, "localhost:4711"}), 1000)
        scope = {"type": "http", "path": path, "method": method, "headers": pairs}
        await guard(scope, lambda: None, send)  # type: ignore[arg-type, return-value]

    completed(run())
    found = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], messages[1]["body"], found


def test_its_own_page_is_let_through_with_the_token_cut_off() -> None:
    status, body, _ = ask(origin=f"http://{HOST}", sec_fetch_site="same-origin")
    assert (status, body) == (200, b"/x")
    assert ask(f"/{TOKEN}/")[1] == b"/"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost:4711.evil.example", ""])
def test_another_host_is_refused(host: str) -> None:
    assert ask(host=host)[0] == 421


def test_two_hosts_are_refused() -> None:
    assert ask(host=[HOST, "evil.example"])[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:4712"])
def test_another_origin_is_refused(origin: str) -> None:
    assert ask(origin=origin)[0] == 403


@pytest.mark.parametrize("site_", ["cross-site", "same-site"])
def test_another_site_is_refused_even_with_the_token(site_: str) -> None:
    assert ask(sec_fetch_site=site_)[0] == 403


@pytest.mark.parametrize("path", ["/", "/x", "/s3cre/x", "/s3cretx/", "//s3cre", "/S3CRET/x", "/\u00e4/"])
def test_an_address_without_the_token_is_refused(path: str) -> None:
    assert ask(path)[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method: str) -> None:
    assert ask(method=method)[0] == 405


def test_a_request_of_a_form_is_refused() -> None:
    assert ask(method="POST", content_type="text/plain", content_length="2")[0] == 415
    assert ask(method="POST", content_type="application/x-www-form-urlencoded", content_length="2")[0] == 415


@pytest.mark.parametrize(("length", "status"), [("1000", 200), ("1001", 413), ("99999999999", 411), ("x", 411)])
def test_a_body_has_a_length_and_no_more_than_the_limit(length: str, status: int) -> None:
    assert ask(method="POST", content_type="application/json; charset=utf-8", content_length=length)[0] == status


def test_a_body_without_a_length_is_refused() -> None:
    assert ask(method="POST", content_type="application/json", transfer_encoding="chunked")[0] == 411


@pytest.mark.parametrize("path", [f"/{TOKEN}/x", "/no"])
def test_each_answer_has_the_headers_that_restrict_the_page(path: str) -> None:
    found = ask(path)[2]
    assert {name.decode() for name, _ in HEADERS} <= set(found)
    policy = found["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
