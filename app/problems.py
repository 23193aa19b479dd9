"""The one place that turns errors into what each edge shows: HTTP problem, exit code, MCP text."""

from __future__ import annotations

import re
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from notehop.config.errors import NotehopError, UsageError

if TYPE_CHECKING:
    from notehop.app.models import Problem

FAILED, INTERRUPTED = 1, 130
"""Exit codes beside 0 and those of our errors: the work failed, Ctrl-C."""

UNEXPECTED = "an internal error; the log of the server says more"
"""What an edge tells of an error that nobody foresaw, whose text may not be for the asker."""

elsewhere: ContextVar[bool] = ContextVar("elsewhere", default=False)
"""Whether who asks is on another machine: paths of this one are not for them. Set where a request
comes in, and so in its task and in the threads that work for it."""

_URN = "urn:notehop:problem:"


def exit_code(error: BaseException) -> int:
    """That of one of our errors, 1 for any other."""
    return error.exit_code if isinstance(error, NotehopError) else FAILED


def problem(error: BaseException) -> Problem:
    """The problem detail of an error (RFC 9457); one that nobody foresaw is not quoted."""
    if not isinstance(error, NotehopError):
        return http_problem(HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED)
    return http_problem(error.status, agent_text(error), kind=error.problem_type)


def agent_text(error: BaseException) -> str:
    """What an agent is told of an error; one that nobody foresaw is not quoted."""
    if not isinstance(error, NotehopError):
        return UNEXPECTED
    plain = type(error) in (NotehopError, UsageError) and not _PATH.search(str(error))
    if not elsewhere.get() or error.public is None or plain:
        return str(error)
    return f"{error.public}; on the machine of the server, notehop status says more"


def reason_of(error: BaseException) -> str:
    """Why something failed, on a line: what an error of ours says; of another its kind and, on this machine,
    the beginning of what it says."""
    ours = isinstance(error, NotehopError)
    told = agent_text(error) if ours else "" if elsewhere.get() else str(error)[:300]
    lines = told.strip().splitlines()[:1]
    return lines[0] if ours and lines else ": ".join([type(error).__name__, *lines])


_PATH = re.compile(r"(?<![\w.])[/~\\]|\b[A-Za-z]:[/\\]")
"""How a path of a machine begins; paths in a vault begin with a name."""


def error_of(told: Any) -> NotehopError | None:
    """The error that the JSON of a problem detail was made of; None if none of ours, or one that passes."""
    if not isinstance(told, dict) or not isinstance(told.get("detail"), str):
        return None
    kinds = NotehopError.__subclasses__()
    for one in kinds:
        kinds += one.__subclasses__()
    named = {f"{_URN}{one.problem_type}": one for one in kinds if "problem_type" in vars(one)}
    kind = named.get(str(told.get("type")))
    return None if kind is None or kind.retry_after else kind(told["detail"])


def failure_of(told: Problem) -> NotehopError:
    """The error that ended an answer: as :func:`error_of`, else one of no kind."""
    return error_of(told.model_dump()) or NotehopError(told.detail)


def http_problem(
    status: int, detail: str, errors: list[dict[str, Any]] | None = None, *, kind: str | None = None
) -> Problem:
    """The problem detail of something that HTTP has a word for; ``kind`` is the end of its type."""
    # The command line needs exit codes only, and pydantic takes as long to load as all of it.
    from notehop.app.models import Problem

    return Problem(
        type=f"{_URN}{kind}" if kind else "about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        errors=errors,
    )
