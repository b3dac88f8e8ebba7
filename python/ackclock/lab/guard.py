"""The guard in front of the site: who may ask, how much, and what the browser may do with the answers."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content Security Policy: nothing but the site's own files, no script within the page, in no other page's frame."""
HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)
_LETTERS_OF_A_REQUEST: Final = 8


class Guard:
    """An application that lets through what comes from its own page and refuses all else.

    Parameters
    ----------
    site : application
        What answers the requests that are let through, with the token cut off their paths.
    token : str
        The first part of every path.
    hosts : frozenset of str
        The values that the header Host may have, such as "127.0.0.1:8080".
    most_bytes : int
        Largest body of a request [B].
    """

    def __init__(self, site: Application, token: str, hosts: frozenset[str], most_bytes: int) -> None:
        self._site = site
        self._token = token
        self._hosts = hosts
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with the headers that restrict the page."""
        if scope["type"] == "lifespan":
            await self._site(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a socket that nothing here opens

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(guarded, *refusal)
            return
        path = scope["path"].removeprefix(f"/{self._token}") or "/"
        await self._site({**scope, "path": path, "raw_path": path.encode()}, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Give the status and the reason for which a request is refused; None if it is not."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if len(host := headers.get("host", [])) != 1 or host[0] not in self._hosts:
            return 421, "the header Host is not this server's address"
        origins = {f"http://{name}" for name in self._hosts}
        if any(origin not in origins for origin in headers.get("origin", ())):
            return 403, "the request comes from another page"
        if any(site not in {"same-origin", "none"} for site in headers.get("sec-fetch-site", ())):
            return 403, "the request comes from another site"
        token: str = scope["path"].lstrip("/").partition("/")[0]
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return 403, "the address lacks the token that `ackclock lab` printed"
        return self._body_refusal(scope["method"], headers)

    def _body_refusal(self, method: str, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        if method in {"GET", "HEAD"}:
            return None
        if method != "POST":
            return 405, "only GET and POST are answered"
        if headers.get("content-type", [""])[0].partition(";")[0].strip().lower() != "application/json":
            return 415, "a request has the content type application/json"
        length = headers.get("content-length", [""])[0]
        if not (length.isascii() and length.isdigit() and len(length) <= _LETTERS_OF_A_REQUEST):
            return 411, "a request states its length"
        if int(length) > self._most_bytes:
            return 413, f"a request has at most {self._most_bytes:,} bytes"
        return None


async def _refuse(send: Send, status: int, reason: str) -> None:
    content = f"{reason}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
