"""A few requests run, some wait, the rest is refused at once; long ones are given up."""

from __future__ import annotations

import asyncio
import threading

import pytest

from notehop.app.api.desk import Desk, Desks
from notehop.app.api.logs import request_id
from notehop.app.api.refusal import Refusal
from notehop.config import load_settings
from notehop.indexing.llm.egress import sending

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def desk(most: int = 1, waiting: int = 1, seconds: float = 10) -> Desk:
    return Desk("test", most=most, waiting=waiting, seconds=seconds)


async def test_what_is_too_much_is_refused_and_later_taken_again() -> None:
    here, enough = desk(most=2, waiting=1), threading.Event()
    running = [asyncio.ensure_future(here.run(enough.wait)) for _ in range(3)]
    await asyncio.sleep(0)
    assert here.taken == 3
    with pytest.raises(Refusal) as caught:
        await here.run(lambda: None)
    assert (caught.value.problem.status, caught.value.headers["Retry-After"]) == (503, "2")
    assert caught.value.problem.type == "urn:notehop:problem:busy"
    enough.set()
    assert await asyncio.gather(*running) == [True] * 3
    assert await here.run(lambda: "taken again") == "taken again"
    here.close()


async def test_no_more_run_at_once_than_may() -> None:
    here, turn = desk(most=2, waiting=30), threading.Lock()
    now, most = 0, 0

    def work() -> None:
        nonlocal now, most
        with turn:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.002)
        with turn:
            now -= 1

    await asyncio.gather(*(here.run(work) for _ in range(20)))
    assert most == 2
    assert here.taken == 0
    here.close()


async def test_what_takes_too_long_is_given_up_and_keeps_its_thread_until_it_ends() -> None:
    here, enough = desk(seconds=0.02), threading.Event()
    with pytest.raises(Refusal, match=r"within 0\.02 s") as caught:
        await here.run(enough.wait)
    assert caught.value.problem.type == "urn:notehop:problem:timeout"
    assert here.taken == 1
    began = threading.Event()
    with pytest.raises(Refusal):
        await here.run(began.set)
    enough.set()
    while here.taken:
        await asyncio.sleep(0.001)
    assert not began.is_set()
    here.close()


async def test_the_works_own_failure_is_told() -> None:
    here = desk()

    def fails() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await here.run(fails)
    here.close()


async def test_a_closed_desk_takes_nothing() -> None:
    desks = Desks(load_settings().server)
    desks.close()
    assert desks.closing.is_set()
    for one in (desks.answers, desks.lookups):
        with pytest.raises(Refusal) as caught:
            await one.run(lambda: None)
        assert caught.value.problem.type == "urn:notehop:problem:stopping"


async def test_work_keeps_the_id_of_its_request() -> None:
    here = desk()
    mark = request_id.set("seven")
    assert await here.run(request_id.get) == "seven"
    request_id.reset(mark)
    here.close()


async def test_what_is_stuck_is_given_up_when_the_server_goes() -> None:
    desks, enough = Desks(load_settings().server), threading.Event()
    stuck = asyncio.ensure_future(desks.lookups.run(enough.wait))
    await asyncio.sleep(0)
    desks.close()
    desks.give_up()
    with pytest.raises(Refusal) as caught:
        await stuck
    assert caught.value.problem.type == "urn:notehop:problem:stopping"
    # Its thread holds up no end of the process.
    left = [one for one in threading.enumerate() if one.name == "notehop-lookup"]
    assert left
    assert all(one.daemon for one in left)
    enough.set()


async def test_threads_serve_again_and_again() -> None:
    here = desk(most=2, waiting=0)
    names = {await here.run(threading.get_ident) for _ in range(20)}
    assert len(names) <= 2
    here.close()


async def test_a_model_is_not_asked_on_for_what_was_given_up() -> None:
    stopped = threading.Event()

    def work() -> None:
        with sending([], purpose="answer") as now:
            assert now.cancelled is not None
            for _ in range(1_000):
                if now.cancelled():
                    stopped.set()
                    return
                threading.Event().wait(0.01)

    with pytest.raises(Refusal):
        await desk(seconds=0.05).run(work)
    assert await asyncio.to_thread(stopped.wait, 20)
