"""A vault of somebody else: its settings, its notes' wishes, and files that are no plain files."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.commands import call
from tests.support.product import read_templates, warn_once
from tests.support.tables import rows

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    warn_once.cache_clear()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "Atlas.md").write_text("About [[Hollin]].")
    (folder / "Hollin.md").write_text("A place.")
    return folder


def links(vault: Path) -> Result:
    return call("links", "--vault", vault, "--json")


def sources(vault: Path) -> list[str]:
    result = links(vault)
    assert result.exit_code == 0, result.output
    listed: list[dict[str, Any]] = json.loads(result.stdout)
    return sorted({link["source"] for link in listed})


def refusal(vault: Path) -> str:
    result = links(vault)
    assert result.exit_code == 2, result.output
    assert "unexpected" not in result.stderr
    assert result.stderr.startswith("error: ")
    return result.stderr


# Variables of others


@pytest.mark.parametrize(("name", "value"), rows(__file__, "a_variable_that_names_no_setting_is_a_warning"))
def test_a_variable_that_names_no_setting_is_a_warning(
    vault: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert sources(vault) == ["Atlas.md"]
    assert f"name no setting are passed over: {name};" in caplog.text
    assert caplog.text.count("passed over") == 1
    assert "secret" not in caplog.text


def test_the_warning_is_on_standard_error_once(vault: Path) -> None:
    command = [sys.executable, "-m", "notehop", "links", "--vault", str(vault), "--json"]
    variables = {"NOTEHOP_PORT": "tcp://10.0.0.7:8765", "NOTEHOP_SERVICE_HOST": "10.0.0.7"}
    found = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=True)
    assert len(json.loads(found.stdout)) == 1
    (warning,) = found.stderr.splitlines()
    assert "passed over: NOTEHOP_PORT, NOTEHOP_SERVICE_HOST; " in warning


def test_a_variable_with_a_wrong_value_is_still_refused(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_CONNECTED__MAX", "many")
    assert "NOTEHOP_CONNECTED__MAX: connected.max = 'many'" in refusal(vault)


# What a vault's own file may set


@pytest.mark.parametrize(("section", "line"), rows(__file__, "what_takes_the_machine_is_for_its_user"))
def test_what_takes_the_machine_is_for_its_user(vault: Path, section: str, line: str) -> None:
    (vault / "notehop.toml").write_text(f"[{section}]\n{line}\n")
    key = f"{section}.{line.split()[0]}"
    assert f"{key} = " in (told := refusal(vault))
    assert "cannot be set by a vault" in told


def test_a_vault_says_what_its_notes_are(vault: Path) -> None:
    (vault / "notehop.toml").write_text(
        '[vault]\nexclude = ["Atlas.md"]\n[retrieval.weights]\nsemantic = 0.5\n'
        "[retrieval.intents.person]\nsubject = 3.0\n[lexical.boosts]\ntitle = 3\n"
    )
    assert sources(vault) == []


def test_a_key_that_there_is_not_is_told_with_the_nearest(vault: Path) -> None:
    (vault / "notehop.toml").write_text("[retrieval]\ntop_kk = 3\n")
    assert "unknown setting retrieval.top_kk; keys of [retrieval]: alias_expansion" in refusal(vault)


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-of-that-name/model"])
def test_a_model_of_a_name_that_no_disk_takes(vault: Path, name: str) -> None:
    (vault / "notehop.toml").write_text(f'[embedding]\nmodel = "{name}"\n')
    assert sources(vault) == ["Atlas.md"]


# The owner's wish to keep a note out


WITHHELD = (
    "private: |\n  true",
    "private: >-\n  yes",
    "private: [true]",
    "private:\n  - true",
    "private: {since: 2024}",
    "private: maybe",
    "private: 2024-01-01",
    "private: false\nPrivate: true",
    "private: true\nprivate: false",
    "notehop: |\n  false",
    "notehop: never",
    "broken: [\nprivate: |\n  true",
    "broken: [\nprivate:\n  - yes",
    "broken: [\n{private: true,",
    "broken: [\nprivate:true",
)
PUBLIC = (
    "private: false",
    "private: No",
    "private: 0",
    'private: "off"',
    "private:",
    "private: ''",
    "private: null",
    "notehop: true",
    "notehop: yes",
    "notehop:",
    "broken: [\nprivate: false # not yet",
    "broken: [\nprivate:\nother: 1",
    "nested:\n  private: true",
)


@pytest.mark.parametrize("said", [*WITHHELD, *PUBLIC])
def test_a_note_is_indexed_if_it_is_plainly_public(vault: Path, said: str) -> None:
    (vault / "Atlas.md").write_text(f"---\n{said}\n---\nAbout [[Hollin]].")
    assert sources(vault) == (["Atlas.md"] if said in PUBLIC else [])


# Filters of the app's settings


def exclude(vault: Path, *filters: object) -> None:
    settings = {"userIgnoreFilters": list(filters)}
    (vault / ".obsidian/app.json").write_text(json.dumps(settings))


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a|a!?)+z", "^(?:(?:a{1,50}){1,50}){1,50}z"])
def test_a_filter_that_tries_all_ways_is_refused(vault: Path, pattern: str) -> None:
    (vault / f"{'a' * 120}!.md").write_text("long")
    exclude(vault, f"/{pattern}/")
    told = refusal(vault)
    assert f"the excluded-files filter /{pattern}/ takes too long" in told


@pytest.mark.parametrize("pattern", rows(__file__, "a_filter_in_the_apps_dialect_is_followed"))
def test_a_filter_in_the_apps_dialect_is_followed(vault: Path, pattern: str) -> None:
    exclude(vault, f"/{pattern}/")
    assert sources(vault) == []


@pytest.mark.parametrize("pattern", ["(" * 5_000 + ")" * 5_000, "(?R)?a", "(a(?1)?)", "x" * 3_000, "["])
def test_a_filter_that_cannot_be_read_is_refused(vault: Path, pattern: str) -> None:
    exclude(vault, f"/{pattern}/")
    assert "is no regular expression that can be read" in (told := refusal(vault))
    assert len(told) < 1_000


def test_more_filters_than_anybody_writes_are_refused(vault: Path) -> None:
    exclude(vault, *(f"folder {number}/" for number in range(1_001)))
    assert "1,001 excluded-files filters" in refusal(vault)


# Files that are no plain small files


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def large(path: Path) -> None:
    path.write_text('{"folder": "T"}' + " " * 2_000_000)


def deep(path: Path) -> None:
    path.write_text("[" * 100_000 + "]" * 100_000)


def rather_deep(path: Path) -> None:
    path.write_text('{"a":' * 100 + "1" + "}" * 100)


def folder(path: Path) -> None:
    path.mkdir()


ODD = [pipe, endless, large, deep, rather_deep, folder]


@pytest.mark.parametrize("make", ODD)
def test_filters_that_cannot_be_known_stop_the_command(vault: Path, make: Any) -> None:
    make(vault / ".obsidian/app.json")
    told = refusal(vault)
    assert "app.json: cannot be read (" in told
    assert "so the files that it excludes are not known" in told


@pytest.mark.parametrize("value", ['"Archive/"', "5", "{}"])
def test_filters_that_are_no_list_stop_the_command(vault: Path, value: str) -> None:
    (vault / ".obsidian/app.json").write_text(f'{{"userIgnoreFilters": {value}}}')
    assert "userIgnoreFilters is no list" in refusal(vault)


@pytest.mark.parametrize("make", [pipe, endless, large, folder])
def test_a_vaults_settings_are_a_plain_file(vault: Path, make: Any) -> None:
    make(vault / "notehop.toml")
    assert "notehop.toml: cannot be read: " in refusal(vault)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000 + "]" * 100_000,
        "[" + ".".join("a" * 3_000) + "]\nb = 1\n",
        "[vault]\n" + ".".join("a" * 3_000) + " = 1\n",
    ],
)
def test_a_vaults_settings_have_a_depth(vault: Path, text: str) -> None:
    (vault / "notehop.toml").write_text(text)
    assert "not valid TOML: nested deeper than 50 levels" in refusal(vault)


@pytest.mark.parametrize("make", ODD)
@pytest.mark.parametrize("name", ["templates.json", "daily-notes.json", "zk-prefixer.json"])
def test_templates_that_cannot_be_known_are_none(vault: Path, name: str, make: Any) -> None:
    make(vault / ".obsidian" / name)
    assert read_templates(vault).notes == frozenset()


@pytest.mark.parametrize("make", [pipe, endless])
def test_a_template_that_is_no_plain_file_has_no_lines(vault: Path, make: Any) -> None:
    (vault / ".obsidian/daily-notes.json").write_text('{"template": "Daily"}')
    make(vault / "Daily.md")
    assert read_templates(vault).lines == frozenset()
