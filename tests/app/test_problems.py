"""Every error of the tree has an exit code and a status, by its nearest class."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.container.place import NoVault
from app.problems import UNEXPECTED, exit_code, problem
from config import errors
from config.errors import NotehopError


def tree(root: type[NotehopError] = NotehopError) -> Iterator[type[NotehopError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


@pytest.mark.parametrize("kind", sorted(set(tree()), key=lambda kind: kind.__name__))
def test_every_error_has_a_problem(kind: type[NotehopError]) -> None:
    told = problem(kind("what happened; what to do"))
    assert 400 <= told.status < 600
    assert told.title
    assert told.detail == "what happened; what to do"


@pytest.mark.parametrize(
    ("error", "code", "status", "kind"),
    [
        (errors.QueryError, 2, 422, "urn:notehop:problem:query"),
        (errors.UsageError, 2, 400, "urn:notehop:problem:usage"),
        (NoVault, 2, 400, "urn:notehop:problem:usage"),
        (errors.SettingsError, 2, 500, "urn:notehop:problem:settings"),
        (errors.VaultError, 2, 503, "urn:notehop:problem:vault"),
        (errors.IndexMissing, 1, 503, "urn:notehop:problem:index-missing"),
        (errors.IndexUnwritable, 1, 503, "urn:notehop:problem:index-unwritable"),
        (errors.ModelError, 1, 503, "urn:notehop:problem:model"),
        (errors.NotehopError, 1, 500, "about:blank"),
    ],
)
def test_codes(error: type[NotehopError], code: int, status: int, kind: str) -> None:
    told = problem(error("what"))
    assert (exit_code(error("what")), told.status, told.type) == (code, status, kind)


def test_what_nobody_foresaw_is_not_told() -> None:
    told = problem(ValueError("secret"))
    assert (told.status, told.detail) == (500, UNEXPECTED)
    assert exit_code(ValueError()) == 1
