"""A request that is refused before a vault is asked: who may ask, how much, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from notehop.app.models import Problem
from notehop.app.problems import http_problem

BUSY_FOR = 2
"""Seconds after which a busy server is worth asking again: most requests take a tenth of it."""


class Refusal(Exception):
    """Carries the problem that a client is told, and the headers that go with it."""

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.headers = dict(headers or {})


def busy(waiting: int) -> Refusal:
    """Too much is asked at once.

    :param waiting: requests that wait already.
    """
    detail = f"the server is busy and {waiting} requests wait already; ask again in a moment"
    return _unavailable("busy", detail)


def too_slow(seconds: float) -> Refusal:
    """A request took longer than it may."""
    detail = f"no reply within {seconds:g} s; ask for less, or raise server.timeout_s"
    return _unavailable("timeout", detail)


def stopping() -> Refusal:
    """The server goes away."""
    return _unavailable("stopping", "the server is being stopped; ask again when it is back")


def _unavailable(kind: str, detail: str) -> Refusal:
    told = http_problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, kind=kind)
    return Refusal(told, {"Retry-After": str(BUSY_FOR)})
