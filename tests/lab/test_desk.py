"""A page has one piece of work at a time, the newest; what nobody waits for ends."""

import asyncio
import json
import threading
import time
from typing import Any

from ackclock.errors import ArgumentError, Fault
from ackclock.lab.desk import MOST_PAGES, Desk, Desks, Tell
from ackclock.lab.running import CancelledError
from ackclock.lab.work import run_work
from coroutines import completed

SLOW = """
[[link]]
name = "line"
rate = "1 Gbit/s"
[[flow]]
path = ["line"]
rtt = "10 ms"
tcp = { preset = "reno-ns2", max_window = "900 pkt" }
[run]
duration = "200 s"
"""


def lines(desk: Desk, work: Any, machine: asyncio.Semaphore) -> Any:
    async def collect() -> list[dict[str, Any]]:
        return [json.loads(line) async for line in desk.lines(work, machine)]

    return collect()


def test_the_answer_is_the_last_line() -> None:
    async def main() -> list[dict[str, Any]]:
        def work(_: Desk, tell: Tell) -> dict[str, Any]:
            tell({"kind": "step"})
            return {"kind": "done"}

        return await lines(Desk(), work, asyncio.Semaphore(1))  # type: ignore[no-any-return]

    assert completed(main()) == [{"kind": "step"}, {"kind": "done"}]


def test_what_is_wrong_is_an_answer() -> None:
    def work(_: Desk, __: Tell) -> dict[str, Any]:
        raise ArgumentError(Fault("place", "problem"))

    found = completed(_one(work))
    assert found == [{"kind": "fault", "faults": [{"text": "place: problem", "line": None}]}]


async def _one(work: Any) -> list[dict[str, Any]]:
    return await lines(Desk(), work, asyncio.Semaphore(1))  # type: ignore[no-any-return]


def test_a_new_request_ends_the_old_one_and_those_that_wait() -> None:
    ended = []

    def slow(_: Desk, tell: Tell) -> dict[str, Any]:
        try:
            while True:
                time.sleep(0.01)
                tell({"kind": "progress"})
        except CancelledError:
            ended.append(threading.get_ident())
            raise

    async def main() -> list[list[dict[str, Any]]]:
        desk, machine = Desk(), asyncio.Semaphore(2)
        tasks = [asyncio.create_task(lines(desk, slow, machine))]
        await asyncio.sleep(0.1)
        tasks.append(asyncio.create_task(lines(desk, slow, machine)))
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(lines(desk, lambda *_: {"kind": "done"}, machine)))
        return list(await asyncio.gather(*tasks))

    first, second, third = completed(main())
    assert first[-1] == {"kind": "superseded"}
    assert second == [{"kind": "superseded"}]
    assert third == [{"kind": "done"}]
    assert len(ended) == 1


def test_what_is_asked_of_a_run_waits_for_the_run_that_goes_on_and_the_newest_alone_is_done() -> None:
    async def main() -> list[list[dict[str, Any]]]:
        desk, machine = Desk(), asyncio.Semaphore(2)
        free = threading.Event()

        def run(_: Desk, tell: Tell) -> dict[str, Any]:
            while not free.wait(0.01):
                tell({"kind": "progress"})
            return {"kind": "result"}

        async def look(kind: str) -> list[dict[str, Any]]:
            return [json.loads(line) async for line in desk.lines(lambda *_: {"kind": kind}, machine, is_run=False)]

        tasks = [asyncio.create_task(lines(desk, run, machine))]
        await asyncio.sleep(0.05)
        for kind in ("older", "newer"):
            tasks.append(asyncio.create_task(look(kind)))
            await asyncio.sleep(0.05)
        free.set()
        return list(await asyncio.gather(*tasks))

    first, older, newer = completed(main())
    assert first[-1] == {"kind": "result"}
    assert older == [{"kind": "superseded"}]
    assert newer == [{"kind": "newer"}]


def test_a_run_of_the_engine_ends_within_half_a_second_of_the_next_request() -> None:
    async def main() -> tuple[float, list[dict[str, Any]]]:
        desk, machine = Desk(), asyncio.Semaphore(2)
        slow = asyncio.create_task(lines(desk, run_work({"toml": SLOW}), machine))
        await asyncio.sleep(0.5)
        before = time.monotonic()
        await lines(desk, lambda *_: {"kind": "done"}, machine)
        passed = time.monotonic() - before
        return passed, await slow

    passed, found = completed(main())
    assert found[-1] == {"kind": "superseded"}
    assert {line["kind"] for line in found} <= {"ready", "progress", "superseded"}
    assert passed < 0.5


def test_a_reader_that_goes_away_ends_the_work() -> None:
    ended = threading.Event()

    def slow(_: Desk, tell: Tell) -> dict[str, Any]:
        try:
            while True:
                time.sleep(0.01)
                tell({"kind": "progress"})
        except CancelledError:
            ended.set()
            raise

    async def main() -> None:
        task = asyncio.create_task(lines(Desk(), slow, asyncio.Semaphore(1)))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    completed(main())
    assert ended.is_set()


def test_the_pages_used_last_are_kept() -> None:
    desks = Desks()
    first = desks.of("0" * 16)
    for number in range(MOST_PAGES - 1):
        desks.of(f"{number:016x}".replace("0" * 16, "f" * 16))
    assert desks.of("0" * 16) is first
    for number in range(100, 100 + MOST_PAGES):
        desks.of(f"{number:016x}")
    assert desks.of("0" * 16) is not first


def test_a_page_without_a_proper_name_has_no_desk() -> None:
    assert all(Desks().of(name) is None for name in (None, 1, "", "../x", "a" * 100, "ABCDEF00"))
