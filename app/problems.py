"""The one place that turns errors into what each edge shows: HTTP problem, exit code, MCP text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from notehop.config.errors import (
    CaptureFailed,
    CaptureFolder,
    IndexDamaged,
    IndexFailure,
    IndexLocked,
    IndexMismatch,
    IndexMissing,
    IndexUnwritable,
    ModelError,
    NotehopError,
    NoteMissing,
    QueryError,
    SettingsError,
    SwitchedOff,
    UsageError,
    VaultError,
)

if TYPE_CHECKING:
    from notehop.app.models import Problem

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: the work failed, the command makes no sense, Ctrl-C."""

UNEXPECTED = "an internal error; the log of the server says more"
"""What an edge tells of an error that nobody foresaw, whose text may not be for the asker."""

_STATUS: Mapping[type[NotehopError], HTTPStatus] = {
    QueryError: HTTPStatus.UNPROCESSABLE_ENTITY,
    SwitchedOff: HTTPStatus.CONFLICT,
    NoteMissing: HTTPStatus.NOT_FOUND,
    SettingsError: HTTPStatus.INTERNAL_SERVER_ERROR,
    VaultError: HTTPStatus.SERVICE_UNAVAILABLE,
    UsageError: HTTPStatus.BAD_REQUEST,
    IndexFailure: HTTPStatus.SERVICE_UNAVAILABLE,
    ModelError: HTTPStatus.SERVICE_UNAVAILABLE,
    CaptureFolder: HTTPStatus.CONFLICT,
    NotehopError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""By the nearest class; the server is not to blame only for the query and the request."""

_TYPE: Mapping[type[NotehopError], str] = {
    QueryError: "query",
    SwitchedOff: "switched-off",
    NoteMissing: "note-missing",
    SettingsError: "settings",
    VaultError: "vault",
    UsageError: "usage",
    IndexMissing: "index-missing",
    IndexMismatch: "index-mismatch",
    IndexLocked: "index-locked",
    IndexDamaged: "index-damaged",
    IndexUnwritable: "index-unwritable",
    IndexFailure: "index",
    ModelError: "model",
    CaptureFolder: "capture-folder",
    CaptureFailed: "capture",
}
"""The last part of ``urn:notehop:problem:…``: for programs, which should not read messages."""

elsewhere: ContextVar[bool] = ContextVar("elsewhere", default=False)
"""Whether who asks is on another machine: paths of this one are not for them.

Set where a request comes in, and so in its task and in the threads that work for it.
"""

_FOR_ALL = (QueryError, NoteMissing)
"""Errors that speak of what was asked, and of the vault by its own paths."""

_ELSEWHERE: Mapping[type[NotehopError], str] = {
    SettingsError: "the settings of the server are wrong",
    VaultError: "the vault cannot be read",
    UsageError: "this cannot be done as it was asked",
    IndexMissing: "no index was built for this vault yet",
    IndexFailure: "the index cannot be used",
    ModelError: "a model that this needs is missing or failed",
    CaptureFolder: "the folder for new notes cannot be used; mend it, or set capture.folder",
    CaptureFailed: "the note cannot be written",
    NotehopError: "it failed",
}
"""What others are told, by the nearest class."""

_URN = "urn:notehop:problem:"


def exit_code(error: BaseException) -> int:
    """2 for what makes no sense as asked, 1 for everything else that failed."""
    return USAGE if isinstance(error, UsageError) else FAILED


def problem(error: BaseException) -> Problem:
    """The problem detail of an error (RFC 9457); one that nobody foresaw is not quoted."""
    if not isinstance(error, NotehopError):
        return http_problem(HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED)
    status = next(_STATUS[cls] for cls in type(error).__mro__ if cls in _STATUS)
    name = next((_TYPE[cls] for cls in type(error).__mro__ if cls in _TYPE), None)
    kind = f"{_URN}{name}" if name else "about:blank"
    return _problem(kind, status, agent_text(error))


def agent_text(error: BaseException) -> str:
    """What an agent is told of an error; one that nobody foresaw is not quoted."""
    if not isinstance(error, NotehopError):
        return UNEXPECTED
    if not elsewhere.get() or isinstance(error, _FOR_ALL) or _tells_no_path(error):
        return str(error)
    told = next(_ELSEWHERE[cls] for cls in type(error).__mro__ if cls in _ELSEWHERE)
    return f"{told}; on the machine of the server, notehop status says more"


def unforeseen(error: BaseException) -> str:
    """What is told of an error of a library: its first line, and its kind alone elsewhere."""
    lines = [] if elsewhere.get() else str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _tells_no_path(error: NotehopError) -> bool:
    return type(error) in (NotehopError, UsageError) and not _PATH.search(str(error))


_PATH = re.compile(r"(?<![\w.])[/~\\]|\b[A-Za-z]:[/\\]")
"""How a path of a machine begins; paths in a vault begin with a name."""


def error_of(told: Any) -> NotehopError | None:
    """The error that a problem detail was made of; None if it was none of ours, or is no problem.

    :param told: the JSON of a reply, whatever it holds.
    """
    if not isinstance(told, dict) or not isinstance(told.get("detail"), str):
        return None
    kinds = {f"{_URN}{name}": kind for kind, name in _TYPE.items()}
    kind = kinds.get(str(told.get("type")))
    return None if kind is None else kind(told["detail"])


def http_problem(
    status: int,
    detail: str,
    errors: list[dict[str, Any]] | None = None,
    *,
    kind: str | None = None,
) -> Problem:
    """The problem detail of something that HTTP itself has a word for.

    :param kind: tells apart what has the same status; the last part of its type.
    """
    return _problem(f"{_URN}{kind}" if kind else "about:blank", status, detail, errors)


def _problem(
    kind: str, status: int, detail: str, errors: list[dict[str, Any]] | None = None
) -> Problem:
    # The command line needs exit codes only, and pydantic takes as long to load as all of it.
    from notehop.app.models import Problem

    title = HTTPStatus(status).phrase
    return Problem(type=kind, title=title, status=status, detail=detail, errors=errors)
