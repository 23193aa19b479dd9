"""Filters on the whole product: the demo vault, the bundled model, docs/filters.md as written."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from notehop import open_vault
from tests.doors.conftest import vault as vault
from tests.doors.conftest import where as where
from tests.support.commands import call, options, printed
from tests.support.product import QueryError, SearchQuery, VaultHandle, index_dir_for, load_settings
from tests.support.tables import rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "filters.md").read_text(encoding="utf-8")
USAGE = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| `(.*)` \| `(.*\.md)` \|$", PAGE, re.MULTILINE)

pytestmark = pytest.mark.model


def block(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def paths(vault: VaultHandle, query: str, **options: Any) -> list[str]:
    found = vault.search(query, **({"top_k": 10} | options))
    assert found.warnings == []
    return [hit.path for hit in found.hits]


@pytest.mark.parametrize(("query", "first"), TABLE, ids=[query for query, _ in TABLE])
def test_the_questions_of_the_page(vault: VaultHandle, query: str, first: str) -> None:
    assert paths(vault, query)[0] == first


def test_the_request_of_the_page(vault: VaultHandle) -> None:
    found = vault.search(SearchQuery.model_validate(json.loads(block("json"))))
    assert [hit.path for hit in found.hits] == ["Projects/Pell Sluice.md"]
    assert found.warnings == []
    assert len(found.filters) == 13


@pytest.fixture
def notes(demo: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the page: the demo vault stands there as ``Notes``, and is indexed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "Notes"
    folder.symlink_to(demo[0])
    index = index_dir_for(folder.resolve(), load_settings(vault=folder).index.dir)
    index.parent.mkdir(parents=True)
    index.symlink_to(demo[1])
    return folder


@pytest.mark.usefixtures("notes")
def test_the_code_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block("python"), "docs/filters.md", "exec"), {"__name__": "__main__"})
    first, second, *answer = capsys.readouterr().out.splitlines()
    assert first.startswith("Topics/Self-regulating tide gate.md ['tag:fish'")
    assert second == "['2026-10-09', '2026-10-08']"
    assert "second spring" in " ".join(answer)


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize(
    "line", block("bash").splitlines() + re.findall(r"^notehop search '.*$", USAGE, re.MULTILINE)
)
def test_the_commands_of_the_page(line: str) -> None:
    program, *arguments = shlex.split(line)
    result = call(*arguments)
    assert program == "notehop"
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stderr
    assert ".md" in result.stdout


def test_filters_alone_list_the_newest_notes_without_a_model(
    demo: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("notehop.app.services.engine.load_query", load)
    with open_vault(demo[0], index_dir=demo[1]) as vault:
        found = vault.search("tag:daily before:2026-10-01", top_k=3)
        most = vault.search("-tag:fish -path:*.canvas", top_k=2)
        answer = vault.ask("", filters={"tag": "fish"})
        assert not vault.ready
    assert [hit.title for hit in found.hits] == ["2026-09-30", "2026-09-29", "2026-09-28"]
    assert [hit.title for hit in most.hits] == ["2026-10-09", "2026-10-08"]
    assert [hit.score for hit in found.hits] == sorted(hit.score for hit in found.hits)[::-1]
    assert found.connected_notes == []
    assert (answer.mode, answer.citations) == ("none", [])
    assert answer.answer.startswith("There is no question beside the filters.")
    assert {source.path for source in answer.sources} == {
        "Projects/Pell Sluice.md",
        "Topics/Self-regulating tide gate.md",
    }


def test_text_and_fields_say_the_same(vault: VaultHandle) -> None:
    written = vault.search('gate tag:fish path:Topics -type:book lead:x "tide gate"', connected={"max": 0})
    fields = {"tag": "fish", "path": "Topics", "phrases": "tide gate", "not": {"type": "book"}}
    given = vault.search(
        "gate tide gate", filters={**fields, "properties": {"lead": "x"}}, connected={"max": 0}
    )
    assert [hit.id for hit in written.hits] == [hit.id for hit in given.hits]
    assert sorted(written.filters) == sorted(given.filters)


def test_only_words_of_the_question_reach_the_answer(vault: VaultHandle) -> None:
    answer = vault.ask("When do elvers come? tag:fish/eel after:2020")
    assert "March to May" in answer.answer
    assert answer.filters == ["tag:fish/eel", "after:2020"]
    assert all("elvers" in s.text or "eel" in s.text.lower() for s in answer.citations)


def test_connected_notes_are_not_filtered_but_by_what_keeps_out(vault: VaultHandle) -> None:
    asked = "What is the timeline of Hollin Reach? path:Projects"
    free = {note.path for note in vault.ask(asked).connected_notes}
    assert "Meetings/1-1 Bram 2026-08-27.md" in free
    without = {note.path for note in vault.ask(f"{asked} -path:Meetings").connected_notes}
    assert without
    assert not [path for path in without if path.startswith("Meetings/")]


def test_text_that_looks_like_a_filter(vault: VaultHandle) -> None:
    found = vault.search("colour:green elvers at the tide gate of Pell Sluice", top_k=1)
    [warning] = found.warnings
    assert found.hits
    assert found.filters == []
    assert "no note has the property colour" in warning
    assert vault.search("note: elvers at the tide gate, C++", top_k=1).warnings == []
    assert (
        vault.search("colour:green elvers at the tide gate of Pell Sluice", literal=True, top_k=1).warnings
        == []
    )


def test_a_date_that_is_none_is_refused(vault: VaultHandle) -> None:
    with pytest.raises(QueryError, match="after:noon: 'noon' is no date; write 2026-10-07"):
        vault.search("eels after:noon")
    with pytest.raises(QueryError, match="after:noon: 'noon' is no date"):
        vault.search("eels", filters={"after": "noon"})
    with pytest.raises(QueryError, match=r"filters\.colour"):
        vault.search("eels", filters={"colour": "fish"})
    with pytest.raises(QueryError, match="is empty"):
        vault.search("", filters={})


@pytest.mark.parametrize("arguments", rows(__file__, "words_of_the_command_line"))
def test_words_of_the_command_line(demo: tuple[Path, Path], arguments: list[str]) -> None:
    found = json.loads(printed("search", *options(*demo), "--json", "--", *arguments))
    assert found["hits"][0]["path"] == "Projects/Pell Sluice.md"
    assert len(found["filters"]) == 2


def test_options_of_the_command_line(demo: tuple[Path, Path]) -> None:
    where = options(*demo)
    said = "--tag=fish --path=Topics --after=2020 --before=2027 --type=topic --literal"
    result = call("search", '"eels" foo:bar', *said.split(), *where)
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    assert "filters: tag:fish path:Topics after:2020 before:2027 type:topic" in shown
    assert result.stderr == ""
    wrong = call("search", "eels", "--after", "noon", *where)
    assert wrong.exit_code == 2
    assert "write 2026-10-07" in wrong.stderr
    unknown = call("search", "eels", "--tagg", "x", *where)
    assert unknown.exit_code == 2
