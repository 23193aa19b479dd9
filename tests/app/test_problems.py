"""Every error of the tree has an exit code and a status, by its nearest class."""

from collections.abc import Iterator

import pytest

from tests.support.product import NotehopError, error_of, errors, exit_code, problem


def tree(root: type[NotehopError] = NotehopError) -> Iterator[type[NotehopError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


KINDS = sorted(set(tree()), key=lambda kind: kind.__name__)


@pytest.mark.parametrize(
    ("error", "code", "status", "kind"),
    [
        (errors.QueryError, 2, 422, "urn:notehop:problem:query"),
        (errors.UsageError, 2, 400, "urn:notehop:problem:usage"),
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_problem_leads_back_to_its_error(kind: type[NotehopError]) -> None:
    told = problem(kind("what happened"))
    found = error_of(told.model_dump())
    if told.type == "about:blank" or kind.retry_after:
        assert found is None
        return
    assert str(found) == "what happened"
    assert exit_code(found) == exit_code(kind("what happened"))
