"""A note that may not be shown since a moment ago is named in no list, before anything is indexed again."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.product import BrowseQuery, NoteMissing, VaultHandle
from tests.support.real_index import opened_with

pytestmark = pytest.mark.model

NOTES = {
    "Atlas.md": (
        "The map project, planned in [[Plan]]. The way over the street is in [[lanes/Crossing|it]].\n"
    ),
    "Plan.md": "# Plan\nThe beta of [[Atlas]] starts on 2 May.\n",
    "lanes/Crossing.md": (
        "---\naliases: [Stripes]\ntags: [street]\n---\n"
        "# Crossing\nPaint for the street costs 300 euros. [[Atlas]] and [[Plan]] need it.\n"
    ),
    "Bread.md": "# Sourdough\nFeed the starter every morning, bake on Sunday.\n",
}
NOTE = "lanes/Crossing.md"
WRITTEN = {"text", "raw", "written", "sentence", "quote", "answer", "uri", "quote_uri", "asked", "query"}
"""Fields that quote the notes around it as they stand, or the question."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    with opened_with(tmp_path_factory.mktemp("withdrawn"), NOTES) as vault:
        yield vault


@pytest.fixture
def vault(opened: VaultHandle) -> Iterator[Path]:
    """The vault; afterwards it is as it was indexed."""
    folder = opened.place.vault
    kept = folder.parent / "kept"
    shutil.copytree(folder, kept)
    yield folder
    shutil.rmtree(folder)
    kept.rename(folder)


def private(vault: Path) -> None:
    (vault / NOTE).write_text("---\nprivate: true\n---\n" + NOTES[NOTE], "utf-8")


def moved_out_and_linked(vault: Path) -> None:
    """Its size and time are what they were."""
    outside = vault.parent / "outside.md"
    (vault / NOTE).replace(outside)
    (vault / NOTE).symlink_to(outside)


def folder_moved_out_and_linked(vault: Path) -> None:
    outside = vault.parent / "elsewhere"
    shutil.rmtree(outside, ignore_errors=True)
    (vault / "lanes").replace(outside)
    (vault / "lanes").symlink_to(outside)


def linked_to_a_device(vault: Path) -> None:
    (vault / NOTE).unlink()
    (vault / NOTE).symlink_to("/dev/zero")


def a_pipe(vault: Path) -> None:
    (vault / NOTE).unlink()
    os.mkfifo(vault / NOTE)


def replies(opened: VaultHandle) -> Iterator[Any]:
    yield opened.note("Atlas")
    yield opened.note("Plan")
    for direction in ("forward", "both"):
        yield opened.browse(BrowseQuery(seeds=["Atlas"], direction=direction))
    yield opened.picture()
    yield opened.picture(["Atlas"], depth=2)
    for query in ("crossing of the street", "Stripes paint"):
        for results in ("chunks", "notes"):
            yield opened.search(query, results=results, explain=True)
    yield opened.search("tag:street")
    yield opened.ask("what does paint for the street cost?", connected={"direction": "both"})
    yield opened.ask("what is Atlas?", connected={"direction": "both"}, explain=True)


def named(found: Any, field: str = "") -> list[str]:
    """The fields that name the note."""
    if isinstance(found, dict):
        return [one for key, value in found.items() for one in named(value, key)]
    if isinstance(found, list):
        return [one for value in found for one in named(value, field)]
    said = isinstance(found, str) and ("Crossing" in found or "300 euros" in found)
    return [f"{field}: {found}"] if said and (field not in WRITTEN or "300" in found) else []


def test_it_is_named_while_it_stands(opened: VaultHandle) -> None:
    assert all(named(opened.note(note).model_dump()) for note in ("Atlas", "Plan"))
    assert sum(bool(named(reply.model_dump())) for reply in replies(opened)) >= 8


@pytest.mark.parametrize(
    "withdraw", [private, moved_out_and_linked, folder_moved_out_and_linked, linked_to_a_device, a_pipe]
)
def test_no_reply_names_it(opened: VaultHandle, vault: Path, withdraw: Callable[[Path], None]) -> None:
    withdraw(vault)
    assert NOTE not in opened.graph()
    for reply in replies(opened):
        assert named(reply.model_dump()) == []
    (link,) = [one for one in opened.note("Atlas").links if "Crossing" in one.raw]
    assert (link.target, link.status) == (None, "excluded")
    for name in ("lanes/Crossing.md", "Crossing", "Stripes", "Crosing"):
        with pytest.raises(NoteMissing) as error:
            opened.note(name)
        assert "did you mean" not in str(error.value)


def test_a_note_that_is_deleted_is_a_link_to_nowhere(opened: VaultHandle, vault: Path) -> None:
    (vault / NOTE).unlink()
    (link,) = [one for one in opened.note("Atlas").links if "Crossing" in one.raw]
    assert (link.target, link.status) == (None, "unresolved")


def test_a_link_to_a_note_of_the_vault_stays_a_note(opened: VaultHandle, vault: Path) -> None:
    (vault / NOTE).replace(vault / "Elsewhere.md")
    (vault / NOTE).symlink_to(vault / "Elsewhere.md")
    assert opened.note("Crossing").path == NOTE
    (link,) = [one for one in opened.note("Atlas").links if "Crossing" in one.raw]
    assert link.target == NOTE
