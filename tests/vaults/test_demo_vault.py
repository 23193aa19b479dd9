"""The demo vault keeps its promises: links, oddities, and questions that its notes answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from notehop.app.demo import demo_questions, demo_vault
from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.graph.fragments import Outline, outline_of_note
from notehop.indexing.graph.model import ResolvedLink, Status, Via
from notehop.indexing.graph.resolve import resolve_link
from notehop.indexing.vault.model import LinkKind, LinkSyntax, Note
from notehop.indexing.vault.parse import parse_note

KINDS = ("direct", "linked", "status", "alias", "filter", "unanswerable")

UNUSUAL = [
    ("Daily/2026-09-16.md", "Field Twelve", "alias"),
    ("Hubs/Home.md", "2025 newsletter drafts", "excluded"),
    ("Hubs/Home.md", "Salary talk", "excluded"),
    ("Inbox/Eelgrass by the hatchery.md", "Eelgrass nursery", "unresolved"),
    ("Meetings/1-1 Priya 2026-09-22.md", "Budget", "ambiguous"),
    ("Meetings/Steering group 2026-09-30.md", "Eelgrass nursery", "unresolved"),
]
"""Every link of the vault that is not simply resolved: source, target as written, what it is."""


@cache
def paths() -> tuple[str, ...]:
    root = demo_vault()
    return tuple(
        sorted(
            path.relative_to(root).as_posix()
            for path in root.rglob("*")
            if path.is_file() and ".obsidian" not in path.parts
        )
    )


@cache
def notes() -> Mapping[str, Note]:
    return {
        path: parse_note(path, (demo_vault() / path).read_bytes())
        for path in paths()
        if path.endswith(".md")
    }


def outline(path: str) -> Outline | None:
    note = notes().get(path)
    return outline_of_note(note) if note else None


@cache
def links() -> Sequence[ResolvedLink]:
    filters = json.loads((demo_vault() / ".obsidian/app.json").read_text("utf-8"))
    ignored = tuple(filters["userIgnoreFilters"])
    kept_out = {path for path, note in notes().items() if note.excluded}
    kept_out |= {path for path in paths() if path.startswith(ignored)}
    files = VaultFiles(
        paths(),
        sorted(kept_out),
        {path: note.aliases for path, note in notes().items() if path not in kept_out},
    )
    return [
        resolve_link(files, path, link, outline)
        for path, note in notes().items()
        if path not in kept_out
        for link in note.links
    ]


@cache
def questions() -> Sequence[dict[str, Any]]:
    loaded = yaml.safe_load(demo_questions().read_text("utf-8"))
    assert isinstance(loaded, list)
    return loaded


def oddity(link: ResolvedLink) -> str | None:
    if link.resolution.status is not Status.RESOLVED:
        return link.resolution.status.value
    return "alias" if link.resolution.via is Via.ALIAS else None


def test_sixty_notes_without_a_warning() -> None:
    assert len(notes()) == 60
    assert {path: note.warnings for path, note in notes().items() if note.warnings} == {}
    assert [path for path, note in notes().items() if note.excluded] == ["Areas/Salary talk.md"]
    assert sum(path.startswith("Daily/") for path in notes()) == 20


def test_links_resolve_except_those_that_must_not() -> None:
    found = [(link.source, link.link.target, odd) for link in links() if (odd := oddity(link))]
    assert sorted(found) == UNUSUAL
    assert [link.link.raw for link in links() if link.fragment_found is False] == []


def test_budget_is_ambiguous_only_where_it_stands_alone() -> None:
    targets = {
        link.link.target: (link.resolution.path, link.resolution.status)
        for link in links()
        if link.link.target.endswith("Budget")
    }
    hollin = "Projects/Hollin Reach/Budget.md"
    assert targets == {
        "./Budget": (hollin, Status.RESOLVED),
        "Hollin Reach/Budget": (hollin, Status.RESOLVED),
        "Budget": ("Projects/Shell Line/Budget.md", Status.AMBIGUOUS),
    }


def test_every_form_of_link_occurs() -> None:
    seen = Counter(
        [link.link.syntax.value for link in links()] + [link.link.kind.value for link in links()]
    )
    assert set(seen) == {item.value for item in (*LinkSyntax, *LinkKind)}
    embedded = {link.resolution.path for link in links() if link.link.kind is LinkKind.EMBED}
    assert embedded == {
        "Attachments/Hollin Reach plan.svg",
        "Projects/Hollin Reach/Budget.md",
        "Topics/Decision log.md",
    }
    fragments = [link.link.fragment for link in links() if link.link.fragment]
    assert any(text.startswith("^") for text in fragments)
    assert any(not text.startswith("^") for text in fragments)
    assert any(link.resolution.via is Via.SELF for link in links())
    assert any("%20" in link.link.raw for link in links())
    assert any("\\|" in link.link.raw for link in links())


def test_what_looks_like_a_link_and_is_none() -> None:
    targets = {link.link.target for link in links()}
    assert "logger-07" not in targets  # code block
    assert "1-1 Name 2026-01-01" not in targets  # inline code
    ledger = [link for link in links() if link.source == "Projects/Carbon Ledger.md"]
    assert "Steering group 2026-09-30" not in {link.link.target for link in ledger}  # comment


def test_canvas_names_files_that_exist() -> None:
    canvas = json.loads((demo_vault() / "Hubs/Estuary programme.canvas").read_text("utf-8"))
    named = [node["file"] for node in canvas["nodes"] if node["type"] == "file"]
    assert len(named) == 5
    assert set(named) <= set(paths())
    known = {node["id"] for node in canvas["nodes"]}
    assert {edge[end] for edge in canvas["edges"] for end in ("fromNode", "toNode")} <= known


def test_questions_are_complete() -> None:
    kinds = Counter(question["kind"] for question in questions())
    assert set(kinds) == set(KINDS)
    assert kinds["status"] == 10
    assert len(questions()) >= 30
    assert len({question["id"] for question in questions()}) == len(questions())


@pytest.mark.parametrize("question", questions(), ids=lambda question: str(question["id"]))
def test_what_a_question_expects_stands_in_the_notes(question: dict[str, Any]) -> None:
    """The paths exist, and the texts stand in the notes that are expected."""
    expect = question["expect"]
    named = [
        *expect.get("sources", {}).get("all", []),
        *expect.get("sources", {}).get("any", []),
        *expect.get("connected", []),
        *expect.get("context", []),
        *(expect[key] for key in ("hub", "latest") if key in expect),
    ]
    assert set(named) <= set(notes()), named
    text = "\n".join(notes()[path].text for path in named)
    for wanted in (*expect.get("answer_contains", []), *expect.get("context_contains", [])):
        assert wanted in text, wanted
    everything = "\n".join(note.text for note in notes().values())
    for wanted in (*expect.get("stale", []), *expect.get("context_lacks", [])):
        assert wanted in everything, wanted


@pytest.mark.parametrize(
    "question",
    [question for question in questions() if question["kind"] == "linked"],
    ids=lambda question: str(question["id"]),
)
def test_linked_notes_are_one_link_apart(question: dict[str, Any]) -> None:
    """Of the notes a linked question expects, the first links to every other one."""
    expect = question["expect"]
    first, *others = dict.fromkeys(
        [
            *expect.get("sources", {}).get("all", []),
            *expect.get("context", []),
            *expect.get("connected", []),
        ]
    )
    assert others
    targets = {link.resolution.path for link in links() if link.source == first}
    assert set(others) <= targets


@pytest.mark.parametrize(
    "question",
    [question for question in questions() if question["kind"] == "status"],
    ids=lambda question: str(question["id"]),
)
def test_latest_is_the_newest_daily_note_that_links_the_hub(question: dict[str, Any]) -> None:
    expect = question["expect"]
    daily = [
        link.source
        for link in links()
        if link.resolution.path == expect["hub"] and link.source.startswith("Daily/")
    ]
    assert len(set(daily)) >= 2
    assert max(daily) == expect["latest"]


def test_the_vault_is_where_the_package_is() -> None:
    assert (demo_vault() / ".obsidian/app.json").is_file()
    assert demo_vault().parent == Path(demo_questions()).parent
