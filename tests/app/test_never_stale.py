"""Files change, nothing is indexed again, and no way of asking shows what is not there any more.

The demo vault, with the real model: every test changes files of a copy and leaves it as it was.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from notehop import open_vault
from tests.support import product
from tests.support.tables import read_yaml, rows

pytestmark = pytest.mark.model

HOLLIN = "Projects/Hollin Reach/Hollin Reach.md"
TIDE = "Projects/Hollin Reach/Backwards from the spring tide.md"
QUESTION = "What is the timeline of Hollin Reach?"
QUESTIONS = [entry["question"] for entry in read_yaml(product.demo_questions())]


@pytest.fixture(scope="module")
def opened(demo: tuple[Path, Path]) -> Iterator[product.VaultHandle]:
    with open_vault(demo[0], index_dir=demo[1]) as handle:
        yield handle


@pytest.fixture
def vault(opened: product.VaultHandle) -> Iterator[Path]:
    """The vault; afterwards its files are again as they were indexed, with the same times."""
    folder = opened.place.vault
    before = {path: (path.read_bytes(), path.stat()) for path in folder.rglob("*.md")}
    yield folder
    for path in set(folder.rglob("*.md")) - before.keys():
        path.unlink()
    for path, (data, found) in before.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def edit(vault: Path, path: str, old: str, new: str) -> None:
    text = (vault / path).read_text("utf-8")
    assert old in text
    (vault / path).write_text(text.replace(old, new), "utf-8")


def every_way(opened: product.VaultHandle, query: str) -> Iterator[dict[str, Any]]:
    """The query's reply by each way of asking, in the shape of a search's."""
    for direction in ("forward", "both"):
        connected = {"direction": direction}
        answer = opened.ask(query, connected=connected).model_dump()
        yield {**answer, "hits": answer["sources"]}
        for results in ("chunks", "notes"):
            found = opened.search(query, results=results, connected=connected, explain=True)
            yield found.model_dump()
    response = opened.query_engine().query(query)
    told = response.metadata or {}
    yield {**told, "hits": told["sources"], "answer": str(response)}
    material = product.material_of(opened.retriever(top_k=8).retrieve(query), opened.name)
    yield {
        "hits": [source.model_dump() for source in material.sources],
        "connected_notes": [note.model_dump() for note in material.connected],
    }


def assert_stands(vault: Path, reply: dict[str, Any]) -> None:
    """All that a reply shows stands in the files, where it says, in notes that are not kept out."""
    for shown in [*reply["hits"], *reply["connected_notes"]]:
        note = product.parse_note(shown["path"], (vault / shown["path"]).read_bytes())
        assert note.excluded is None
        properties = [text for text, *_ in product.property_texts(note, False, len(note.text))]
        texts = [product.plain_text(note, note.body_start, len(note.text)), *properties]
        assert any(shown["text"] in text for text in texts)
        assert shown["title"] == note.title
        first, last = shown["lines"]
        lines = note.text.split("\n")
        assert 1 <= first <= last <= len(lines)
        for heading in filter(None, shown["heading"].split(" > ")):
            assert heading in {one.plain for one in note.headings}
        linked = shown.get("linked_from")
        if linked is not None:
            near = product.parse_note(linked["path"], (vault / linked["path"]).read_bytes())
            assert near.excluded is None
            assert linked["title"] == near.title
            assert (linked["line"], linked["sentence"]) in {
                (link.line, product.words_of(link.sentence)) for link in near.links
            }


def asked(opened: product.VaultHandle, query: str = QUESTION) -> list[dict[str, Any]]:
    replies = list(every_way(opened, query))
    for reply in replies:
        assert reply["hits"], reply
        assert_stands(opened.place.vault, reply)
    return replies


def shown_text(reply: dict[str, Any]) -> str:
    return yaml.safe_dump(reply, allow_unicode=True, width=100_000)


def test_an_edited_section(opened: product.VaultHandle, vault: Path) -> None:
    assert opened.ask(QUESTION).pending == 0
    edit(vault, HOLLIN, "8 April 2027, when", "9 April 2027, when")
    assert opened.ask(QUESTION).pending == 1
    for reply in asked(opened):
        assert "8 April 2027, when" not in shown_text(reply)
        for warning in reply.get("warnings", ()):
            assert "left out, changed and not indexed again yet" in warning
            assert warning.endswith("; run: notehop index")
    told = opened.ask(QUESTION)
    # What did not change in the note is still found.
    assert HOLLIN in {source.path for source in told.sources}
    assert told.warnings == [
        f"left out, changed and not indexed again yet: 1 passage of {HOLLIN}; run: notehop index"
    ]


@pytest.mark.parametrize("path", [HOLLIN, TIDE])
def test_a_deleted_note(opened: product.VaultHandle, vault: Path, path: str) -> None:
    (vault / path).unlink()
    for reply in asked(opened):
        assert path not in {one["path"] for one in [*reply["hits"], *reply["connected_notes"]]}
    assert any(path in warning for warning in opened.ask(QUESTION).warnings)


def test_a_search_warns_of_nothing_that_it_would_not_have_shown(
    opened: product.VaultHandle, vault: Path
) -> None:
    asked = {"connected": {"max": 0}}
    first, *others = [hit.path for hit in opened.search(QUESTION, top_k=8, **asked).hits]
    (vault / next(path for path in reversed(others) if path != first)).unlink()
    assert opened.search(QUESTION, top_k=8, **asked).warnings
    assert opened.search(QUESTION, top_k=1, **asked).warnings == []


@pytest.mark.parametrize("how", ["private: true", "notehop: false"])
def test_a_note_that_became_private_is_not_even_named(
    opened: product.VaultHandle, vault: Path, how: str
) -> None:
    edit(vault, TIDE, "type: plan", how)
    for reply in asked(opened):
        assert "Four jobs come before it" not in shown_text(reply)
        assert not any(TIDE in warning for warning in reply.get("warnings", ()))
    told = opened.ask("Four jobs come before the high water, one of them the clay")
    assert "left out" in told.warnings[0]
    assert "spring tide" not in told.warnings[0]


def test_lines_put_before(opened: product.VaultHandle, vault: Path) -> None:
    before = opened.ask(QUESTION, top_k=3)
    edit(vault, HOLLIN, "Hollin Reach gives", "One more line.\n\nAnd one.\n\nHollin Reach gives")
    after = opened.ask(QUESTION, top_k=3)
    asked(opened)
    assert [source.id for source in after.sources] == [source.id for source in before.sources]
    moved = [
        (new.lines[0] - old.lines[0], new.lines[1] - old.lines[1])
        for new, old in zip(after.sources, before.sources, strict=True)
        if new.path == HOLLIN
    ]
    # Properties stay where they are.
    assert set(moved) & {(4, 4), (0, 4)}
    assert set(moved) <= {(4, 4), (0, 4), (0, 0)}
    assert after.warnings == []
    assert [note.linked_from.line for note in after.connected_notes if note.path == TIDE] == [
        note.linked_from.line + 4 for note in before.connected_notes if note.path == TIDE
    ]


def test_another_title_and_another_heading(opened: product.VaultHandle, vault: Path) -> None:
    edit(vault, HOLLIN, "type: project", "title: The Realignment")
    edit(vault, HOLLIN, "## Timeline", "# Secret plan\n## Timeline")
    replies = asked(opened)
    titles = {hit["title"] for reply in replies for hit in reply["hits"] if hit["path"] == HOLLIN}
    assert titles == {"The Realignment"}
    headings = {hit["heading"] for reply in replies for hit in reply["hits"]}
    assert "Secret plan > Timeline" in headings


def test_touched_files_are_all_found(opened: product.VaultHandle, vault: Path) -> None:
    before = opened.ask(QUESTION)
    for path in vault.rglob("*.md"):
        os.utime(path, ns=(1, 1))
    after = opened.ask(QUESTION)
    assert after.warnings == []
    assert [source.id for source in after.sources] == [source.id for source in before.sources]
    assert after.connected_notes == before.connected_notes


def test_a_vault_that_is_not_there(opened: product.VaultHandle, vault: Path) -> None:
    before = opened.ask(QUESTION)
    away = vault.with_name("unmounted")
    vault.rename(away)
    try:
        told = opened.ask(QUESTION)
        vault.mkdir()
        empty = opened.search(QUESTION)
        vault.rmdir()
    finally:
        away.rename(vault)
    assert [source.id for source in told.sources] == [source.id for source in before.sources]
    for reply in (told, empty):
        (warning,) = reply.warnings
        assert warning.startswith("the vault is not there")
        assert str(vault.parent) not in warning


@pytest.mark.parametrize(("state", "remedy"), rows(__file__, "who_indexes_what_changed"))
def test_who_indexes_what_changed(
    opened: product.VaultHandle, vault: Path, state: product.Phase, remedy: str
) -> None:
    (vault / TIDE).unlink()
    watching = product.WatcherLock(opened.place.layout, "notehop serve")
    watching.acquire()
    try:
        watching.write_state(state)
        assert opened.ask(QUESTION).warnings[0].endswith(f"; {remedy}")
    finally:
        watching.release()
    assert opened.ask(QUESTION).warnings[0].endswith("; run: notehop index")


def test_whatever_happens_to_the_files(opened: product.VaultHandle, vault: Path) -> None:
    chance = random.Random(0)
    notes = sorted(vault.rglob("*.md"))
    for path in chance.sample(notes, 40):
        text = path.read_text("utf-8")
        body = text.split("---\n", 2)[-1]
        what = chance.choice(["delete", "rename", "private", "prepend", "cut", "swap", "comment"])
        if what == "delete":
            path.unlink()
        elif what == "rename":
            path.rename(path.with_name(f"New {path.name}"))
        elif what == "private":
            path.write_text(f"---\nprivate: true\n---\n{body}", "utf-8")
        elif what == "prepend":
            path.write_text(text.replace(body, f"Before.\n\n{body}"), "utf-8")
        elif what == "cut":
            path.write_text(text.replace(body, body[: len(body) // 2]), "utf-8")
        elif what == "swap":
            sections = body.split("\n## ")
            path.write_text("\n## ".join([sections[0], *reversed(sections[1:])]), "utf-8")
        else:
            path.write_text(text.replace("\n\n", "\n%%\n", 1), "utf-8")
    shown = 0
    for question in QUESTIONS[::4]:
        for reply in (
            opened.search(question, connected={"direction": "both"}).model_dump(),
            opened.search(question, results="notes").model_dump(),
        ):
            assert_stands(vault, reply)
            shown += len(reply["hits"]) + len(reply["connected_notes"])
        answer = opened.ask(question).model_dump()
        assert_stands(vault, {**answer, "hits": answer["sources"]})
    assert shown > 100
