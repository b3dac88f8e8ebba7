"""The site: the page's files, and the questions that it asks."""

from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ackclock.errors import AckclockError, ArgumentError, ScenarioError
from ackclock.lab import lessons_read, work
from ackclock.lab.bounds import check_size
from ackclock.lab.desk import Desks
from ackclock.lab.requests import read_request
from ackclock.lab.running import fault_data, version
from ackclock.scenario.ready import ready_path, ready_titles
from ackclock.scenario.source import read_source

STATIC: Final = Path(__file__).with_name("static")
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
Answer = Callable[[Request], Awaitable[Response]]


def site(first: str) -> Starlette:
    """Make the site.

    Parameters
    ----------
    first : str
        The text of the scenario that the page begins with.

    Returns
    -------
    Starlette
        The application; a guard must stand for it towards the network.
    """
    files, desks = page_files(), Desks()
    routes = [Route(path, _file(content, media), methods=["GET"]) for path, (content, media) in files.items()]
    routes += [
        Route("/api/start", _start(first), methods=["GET"]),
        Route("/api/scenario/{name}", _scenario, methods=["GET"]),
        Route("/api/lesson/{name}", _lesson, methods=["GET"]),
    ]
    for name in work.KINDS:
        routes.append(Route(f"/api/{name}", _working(desks, name), methods=["POST"]))
    return Starlette(routes=routes, exception_handlers={AckclockError: _refused})


def page_files() -> dict[str, tuple[bytes, str]]:
    """Read the files of the page: content and media type by path; nothing else can be asked for."""
    found = {
        f"/{path.relative_to(STATIC).as_posix()}": (path.read_bytes(), TYPES[path.suffix])
        for path in sorted(STATIC.rglob("*"))
        if path.suffix in TYPES
    }
    return {"/": found["/index.html"], **found}


def _file(content: bytes, media_type: str) -> Answer:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=media_type)

    return answer


def _start(first: str) -> Answer:
    async def answer(_: Request) -> Response:
        content = {
            "version": version(),
            "scenario": first,
            "scenarios": offered_titles(),
            "lessons": lessons_read.lesson_titles(),
        }
        return JSONResponse(content)

    return answer


def offered_titles() -> dict[str, str]:
    """Give the titles of the ready scenarios that the page can open by name: they are small."""
    return {name: title for name, title in ready_titles().items() if _is_offered(name)}


@cache
def _is_offered(name: str) -> bool:
    try:
        check_size(read_source(ready_path(name)))
    except ScenarioError:
        return False
    return True


async def _scenario(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in offered_titles():
        return JSONResponse({"kind": "fault", "faults": [{"text": "there is no such scenario", "line": None}]}, 404)
    return JSONResponse({"scenario": ready_path(name).read_text(encoding="utf-8")})


async def _lesson(request: Request) -> Response:
    return JSONResponse(lessons_read.lesson(request.path_params["name"]))


def _working(desks: Desks, kind: str) -> Answer:
    async def answer(request: Request) -> Response:
        content = read_request(await request.body())
        desk = desks.of(content.get("page"))
        if desk is None:
            return JSONResponse({"kind": "fault", "faults": [{"text": "the page has no name", "line": None}]}, 400)
        lines = desk.lines(work.KINDS[kind](content), desks.machine, is_run=kind == "run")
        return StreamingResponse(lines, media_type="application/x-ndjson")

    return answer


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, AckclockError):
        raise error
    status = 400 if isinstance(error, ArgumentError) else 404
    return JSONResponse({"kind": "fault", "faults": fault_data(error)}, status)
