"""Lists of notes, and of their open tasks, in a vault whose notes are filed by properties that link."""

import pytest

from tests.support.product import VaultHandle
from tests.support.real_index import vault_of_rows
from tests.support.tables import rows

pytestmark = pytest.mark.model


filed = vault_of_rows(__file__, "notes")


@pytest.mark.parametrize(("question", "tasks"), rows(__file__, "open_tasks"))
def test_tasks_of_what_a_note_is_filed_under(filed: VaultHandle, question: str, tasks: list[str]) -> None:
    lines = filed.ask(question).answer.splitlines()
    assert {one[2:].rpartition(" [")[0] for one in lines if one.startswith("- ")} == {*tasks}


@pytest.mark.parametrize(("question", "said"), rows(__file__, "says"))
def test_what_is_listed(filed: VaultHandle, question: str, said: str) -> None:
    assert " ".join(filed.ask(question).answer.split()).startswith(said)


@pytest.mark.parametrize("question", rows(__file__, "without_filters"))
def test_what_is_searched_for(filed: VaultHandle, question: str) -> None:
    answer = filed.ask(question)
    assert answer.filters == []
    assert not any("dated" in one for one in answer.warnings)


@pytest.mark.parametrize(("question", "row"), rows(__file__, "rows_quoted"))
def test_the_row_that_is_meant_is_quoted(filed: VaultHandle, question: str, row: str) -> None:
    lines = [one for one in filed.ask(question).answer.splitlines() if one.startswith("> |")]
    assert [one[2:] for one in lines[2:]] == [row]


@pytest.mark.parametrize(("question", "line"), rows(__file__, "named"))
def test_what_is_told_of_a_note_in_a_list(filed: VaultHandle, question: str, line: str) -> None:
    answer = filed.ask(question)
    assert f"\n{line}" in answer.answer
    assert all(claim.flag is None and not claim.lacks for claim in answer.claims)
