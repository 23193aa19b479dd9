"""Where templates are, as the app is set to, and what they say."""

import json
from pathlib import Path

import pytest

from tests.support.product import Templates, read_templates
from tests.support.tables import rows


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("files", "templates", "others"), rows(__file__, "where_templates_are"))
def test_where_templates_are(
    tmp_path: Path, files: dict[str, object], templates: list[str], others: list[str]
) -> None:
    for name, said in files.items():
        write(tmp_path, f".obsidian/{name}", json.dumps(said))
    found = read_templates(tmp_path)
    assert [path for path in templates if not found.contains(path)] == []
    assert [path for path in others if found.contains(path)] == []


def test_what_they_say_is_read_again_when_it_changes(tmp_path: Path) -> None:
    write(tmp_path, "Templates/Daily.md", "## Tasks\n- [ ] \n")
    write(tmp_path, "Templates/Deep/Call.md", "Who: {{name}}\n")
    assert read_templates(tmp_path).lines == {"tasks", "who"}
    write(tmp_path, "Templates/Daily.md", "## Tasks today\n")
    assert read_templates(tmp_path).lines == {"tasks today", "who"}


def test_settings_are_read_once_until_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ".obsidian/templates.json", json.dumps({"folder": "Forms"}))
    assert read_templates(tmp_path).folders == {"forms"}
    with monkeypatch.context() as closed:
        closed.delattr("notehop.app.retrieval.relevance.read_json_file")
        assert read_templates(tmp_path).folders == {"forms"}
    write(tmp_path, ".obsidian/templates.json", json.dumps({"folder": "Other forms"}))
    assert read_templates(tmp_path).folders == {"other forms"}


def test_a_vault_without_any(tmp_path: Path) -> None:
    assert read_templates(tmp_path).lines == frozenset()
    assert read_templates(tmp_path / "not mounted").lines == frozenset()


def test_a_folder_of_everything_is_no_folder_of_templates(tmp_path: Path) -> None:
    write(tmp_path, ".obsidian/templates.json", json.dumps({"folder": "Notes"}))
    for number in range(501):
        write(tmp_path, f"Notes/{number}.md", f"words of {number}")
    assert read_templates(tmp_path) == Templates()
