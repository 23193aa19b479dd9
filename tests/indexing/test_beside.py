"""Threads beside a query: they take work where they are free, and leave none unfinished."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from tests.support.product import Beside

PATIENCE = 10.0


@pytest.fixture
def beside():
    found = Beside(1)
    yield found
    found.close()


def test_work_is_done_while_the_body_waits_for_it(beside):
    done = threading.Event()
    with beside.begun(done.set) as result:
        assert done.wait(PATIENCE)
        assert result() is None


def test_another_thread_does_it(beside):
    with beside.begun(threading.get_ident) as result:
        assert result() != threading.get_ident()


@pytest.mark.parametrize("nobody", [Beside(0), None], ids=["no threads", "all busy"])
def test_where_no_thread_is_free_the_caller_does_it(beside, nobody):
    go_on = threading.Event()
    with beside.begun(lambda: go_on.wait(PATIENCE)) as busy:
        with (nobody or beside).begun(threading.get_ident) as result:
            assert result() == threading.get_ident()
        go_on.set()
        assert busy()


def test_work_that_is_not_asked_for_is_not_done_by_the_caller():
    done = []
    with Beside(0).begun(lambda: done.append(1)):
        pass
    assert done == []


def test_the_body_ends_when_nobody_works_any_more(beside):
    go_on, ended = threading.Event(), []

    def work():
        go_on.wait(PATIENCE)
        ended.append(1)

    def body():
        with beside.begun(work):
            go_on.set()
            raise KeyError

    with pytest.raises(KeyError):
        body()
    assert ended == [1]


def test_what_the_work_raises_is_raised_where_the_result_is_asked_for(beside):
    def fails():
        raise ValueError("no")

    with beside.begun(fails) as result, pytest.raises(ValueError, match="no"):
        result()
    with beside.begun(fails):
        pass


def test_a_thread_is_free_again_after_its_work(beside):
    for _ in range(3):
        with beside.begun(threading.get_ident) as result:
            assert result() != threading.get_ident()


def test_closed_threads_are_gone_and_may_be_asked_again(beside):
    with beside.begun(threading.current_thread) as result:
        worker = result()
    beside.close()
    worker.join(PATIENCE)
    assert not worker.is_alive()
    beside.close()
    with beside.begun(threading.get_ident) as result:
        assert result() != threading.get_ident()


def test_work_without_a_thread_is_not_done_by_a_later_one(beside, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    done = []
    with monkeypatch.context() as refused:
        refused.setattr(threading.Thread, "start", refuse)
        with beside.begun(lambda: done.append("alone")) as result:
            result()
    with beside.begun(lambda: done.append("beside")) as result:
        result()
    assert done == ["alone", "beside"]
    go_on = threading.Event()
    # Nor does it make one thread count for two: the second work would wait for the first.
    with beside.begun(lambda: go_on.wait(PATIENCE)), beside.begun(threading.get_ident) as result:
        go_on.set()
        assert result() == threading.get_ident()


def test_a_machine_that_gives_no_thread_does_it_all_the_same(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    for beside in (Beside(1), Beside(1)):
        for _ in range(2):
            with beside.begun(threading.get_ident) as result:
                assert result() == threading.get_ident()


def test_work_is_done_in_the_context_of_the_caller(beside):
    request = ContextVar("request", default="none")
    request.set("seven")
    with beside.begun(lambda: (threading.get_ident(), request.get())) as result:
        thread, seen = result()
    assert thread != threading.get_ident()
    assert seen == "seven"
