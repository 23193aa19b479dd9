"""The hostile vault is as hostile as it says: a builder that quietly builds less tests nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.vaults.hostile import Case, build_hostile, make_readable, outside_folder

EVERYWHERE = (
    "Good.md",
    "Empty.md",
    "Big.md",
    "bytes/Invalid.md",
    "bytes/Nul.md",
    "bytes/Utf16.md",
    "private/Private.md",
    "text/Long line.md",
    "yaml/Broken.md",
)


@pytest.fixture
def cases(tmp_path: Path) -> tuple[Case, ...]:
    built = build_hostile(tmp_path / "vault", big_bytes=100_000)
    make_readable(tmp_path / "vault")
    return built


def test_every_case_is_there_once_and_sorted(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    paths = [case.path for case in cases]
    assert paths == sorted(set(paths))
    assert set(EVERYWHERE) <= set(paths)
    for path in paths:
        target = tmp_path / "vault" / path
        assert target.is_symlink() or target.exists(), path


def test_what_must_not_be_read_holds_a_word_to_look_for(
    tmp_path: Path, cases: tuple[Case, ...]
) -> None:
    excluded = [case for case in cases if case.fate == "excluded"]
    assert len(excluded) == 5
    for case in excluded:
        assert "Secret: " in (tmp_path / "vault" / case.path).read_text("utf-8"), case.path
    assert "Secret: " in (outside_folder(tmp_path / "vault") / "Outside.md").read_text("utf-8")


def test_bytes_and_yaml_are_really_broken(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    assert cases
    vault = tmp_path / "vault"
    for name in ("Invalid", "Surrogate", "Binary"):
        with pytest.raises(UnicodeDecodeError):
            (vault / f"bytes/{name}.md").read_bytes().decode("utf-8")
    for name in ("Broken", "Tab", "Keys", "Object"):
        block = (vault / f"yaml/{name}.md").read_text("utf-8").split("---\n")[1]
        with pytest.raises((yaml.YAMLError, TypeError)):
            yaml.safe_load(block)
    assert len((vault / "text/Long line.md").read_text("utf-8").splitlines()[0]) > 400_000


def test_the_big_note_is_as_big_as_asked(tmp_path: Path) -> None:
    build_hostile(tmp_path / "vault", big_bytes=12_000_000)
    make_readable(tmp_path / "vault")
    assert (tmp_path / "vault/Big.md").stat().st_size > 12_000_000
