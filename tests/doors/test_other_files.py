"""Canvases and bases of a vault: found, cited at their card and view, linked, and no danger."""

import json
from pathlib import Path
from typing import Any

import pytest

from notehop import open_vault
from tests.support import commands
from tests.support.notes import write_notes
from tests.support.product import Place, VaultHandle, locate, parse_note, update_index
from tests.support.real_index import real_index

pytestmark = pytest.mark.model

BOARD = {
    "nodes": [
        {"id": "g", "type": "group", "x": 0, "y": 0, "width": 900, "height": 900, "label": "Harbour"},
        {"id": "a", "type": "text", "x": 10, "y": 10, "width": 9, "height": 9,
         "text": "# Why we wait\nThe crane driver is away until October. %% hidden\n```\nopen"},
        {"id": "b", "type": "text", "x": 10, "y": 99, "width": 9, "height": 9,
         "text": "The lighthouse keeper is Morwenna Tregear #people, says [[Reading]]. %%"},
        {"id": "c", "type": "file", "x": 10, "y": 500, "width": 9, "height": 9, "file": "Plan.md",
         "subpath": "#Money"},
        {"id": "d", "type": "link", "x": 2000, "y": 0, "width": 9, "height": 9,
         "url": "https://example.org/tides"},
    ],
    "edges": [{"id": "e", "fromNode": "b", "toNode": "c", "label": "pays for the pier"}],
}  # fmt: skip
BOOKS = """\
filters:
  and: [file.hasTag("book"), 'status != "done"']
views:
  - type: table
    name: Unread
    filters: {or: ['pages > 300', 'file.inFolder("Reading")']}
    order: [file.name, author]
  - type: cards
    name: By shelf
    filters: {}
    order: [""]
    groupBy: {property: shelf, direction: DESC}
"""
NOTES = {
    "Plan.md": "# Plan\n## Money\nThe pier costs 4,200 pounds. See [[Board.canvas#Why we wait]].\n",
    "Board.canvas": json.dumps(BOARD),
    "Books.base": BOOKS,
    "Reading.md": "What is left to read: ![[Books.base#Unread]]\n",
}


def indexed(folder: Path, files: dict[str, str], **settings: object) -> Place:
    return real_index(write_notes(folder / "My vault", files), folder / "index", **settings)


def opened(place: Place) -> VaultHandle:
    return open_vault(place.vault, index_dir=place.layout.root)


def run(command: str, place: Place, *said: str) -> str:
    where = commands.options(place.vault, place.layout.root)
    return commands.printed(command, *said, *where, env={"COLUMNS": "200"})


def first(place: Place, query: str) -> Any:
    with opened(place) as vault:
        return vault.search(query).hits[0]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return indexed(tmp_path_factory.mktemp("other"), NOTES)


def test_a_card_is_found_and_cited_by_its_first_words_below_its_group(place: Place) -> None:
    hit = first(place, "lighthouse keeper")
    assert (hit.path, hit.title) == ("Board.canvas", "Board.canvas")
    assert hit.heading.startswith("Harbour > The lighthouse keeper is Morwenna Tregear")
    assert "crane" not in hit.text
    assert hit.uri.endswith("&file=Board.canvas")
    # What a card leaves open hides nothing of the next.
    assert first(place, "crane driver").heading == "Harbour > Why we wait"
    assert first(place, "tag:people").path == "Board.canvas"


def test_files_and_labelled_edges_of_a_canvas_are_links(place: Place) -> None:
    with opened(place) as vault:
        links = vault.note("Board.canvas").links
        assert {link.source for link in vault.note("Plan").backlinks} == {"Board.canvas"}
    found = {(one.kind, one.target, one.fragment, one.sentence) for one in links}
    assert found == {
        ("embed", "Plan.md", "Money", "Plan > Money"),
        ("link", "Plan.md", "Money", "pays for the pier → Plan > Money"),
        ("link", "Reading.md", None, "The lighthouse keeper is Morwenna Tregear #people, says Reading."),
    }


def test_a_view_is_found_and_cited_by_its_name(place: Place) -> None:
    hit = first(place, "columns author")
    assert (hit.path, hit.heading) == ("Books.base", "Unread")
    assert "pages > 300" in hit.text
    assert hit.uri.endswith("&file=Books.base%23Unread")
    shelf = first(place, "grouped shelf DESC")
    assert shelf.heading == "By shelf"
    assert "with" not in shelf.text, "nothing of what is empty"
    assert "columns" not in shelf.text


def test_links_into_them_lead_to_the_card_and_the_view(place: Place) -> None:
    printed = run("links", place)
    assert "-> Board.canvas#Why we wait  (" in printed
    assert "-> Books.base#Unread  (" in printed
    with opened(place) as vault:
        board = vault.note("Board.canvas#Why we wait")
        assert board.section == "Why we wait"
        assert "crane driver" in board.text
        assert "Morwenna" not in board.text


def test_the_command_line_names_file_and_card_without_lines(place: Place) -> None:
    printed = run("search", place, "crane driver")
    assert "Board.canvas > Harbour > Why we wait" in " ".join(printed.split())
    assert "Board.canvas:" not in printed


def test_a_change_is_seen_before_it_is_indexed_and_a_deletion_at_once(tmp_path: Path) -> None:
    place = indexed(tmp_path, NOTES)
    board = place.vault / "Board.canvas"
    board.write_text(board.read_text().replace("Morwenna", "Loveday"), encoding="utf-8")
    with opened(place) as vault:
        assert "Morwenna" not in str(vault.search("lighthouse keeper"))
        assert vault.search("crane driver").hits[0].path == "Board.canvas"
        update_index(place)
        assert "Loveday" in vault.search("lighthouse keeper").hits[0].text
        board.unlink()
        assert all(hit.path != "Board.canvas" for hit in vault.search("lighthouse keeper").hits)


def test_an_index_without_them_takes_them_in_and_one_lets_them_go(tmp_path: Path) -> None:
    off = indexed(tmp_path, NOTES, vault__canvas=False, vault__bases=False)
    assert first(off, "lighthouse keeper").path != "Board.canvas"
    on = locate(off.vault, index_dir=off.layout.root)
    update_index(on)
    assert first(on, "lighthouse keeper").path == "Board.canvas"
    update_index(off)
    assert first(off, "lighthouse keeper").path != "Board.canvas"
    with opened(off) as vault:
        (link,) = vault.note("Plan").links
        assert (link.status, link.target) == ("resolved", "Board.canvas")


HOSTILE = {
    "a.canvas": (b'{"nodes": [', "is no canvas: Expecting value"),
    "b.canvas": (b"[" * 200_000, "is no canvas: nested too deeply"),
    "c.canvas": (b"[]", "is no canvas: it holds no nodes"),
    "d.canvas": (b'{"nodes": {"x": 1}}', "is no canvas: its nodes are no list"),
    "e.canvas": (b"\xff\xfe\x00\x80", "is no canvas"),
    "f.base": (b"views: [", "is no base: line 1"),
    "g.base": (b"x: " + b"[" * 5_000, "is no base: line 1: nested deeper"),
    "h.base": (b"- a list", "is no base: line 1"),
    "i.base": (
        b"a: &a [1,1,1,1,1,1,1,1,1]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (at + 1, at + 1, b",".join([b"*%c" % at] * 9)) for at in range(97, 107)
        ),
        "more than 1,000,000 characters",
    ),
    "j.base": (
        b"a: &a %s\nviews: [%s]" % (b"x" * 1_000, b"{name: *a, filters: [*a]}," * 600),
        "is no base: line 2: more than 1,000,000 characters",
    ),
}


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    place = indexed(tmp_path, {"Plan.md": NOTES["Plan.md"]})
    for name, (data, _) in HOSTILE.items():
        (place.vault / name).write_bytes(data)
    update_index(place)
    with opened(place) as vault:
        failed = {one.path: one.reason for one in vault.status().failed}
        assert failed.keys() == HOSTILE.keys()
        for name, (_, reason) in HOSTILE.items():
            assert reason in failed[name]
        assert vault.search("pier").hits[0].path == "Plan.md"


def test_what_a_small_file_repeats_makes_no_large_note() -> None:
    file = {"id": "f", "type": "file", "file": "x" * 500_000}
    edge = {"fromNode": "f", "toNode": "f", "label": "y"}
    data = json.dumps({"nodes": [file], "edges": [edge] * 5_000}).encode()
    assert len(parse_note("A.canvas", data).text) < 11_000_000


def test_odd_canvases_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    odd: list[Any] = [
        7, {}, {"type": "text"}, {"type": "text", "text": 5}, {"type": "new", "text": "pelican"},
        {"type": "text", "id": "x", "x": 10**400, "y": "far", "text": "A heron <script>alert(1)</script>"},
        {"type": "file", "file": "No such.md"}, {"type": "group", "label": "Empty \ud800 group"},
    ]  # fmt: skip
    edges = [{"fromNode": "x", "toNode": "gone", "label": "lost"}, 3, {"label": None}]
    place = indexed(tmp_path, NOTES | {"Odd.canvas": json.dumps({"nodes": odd, "edges": edges})})
    with opened(place) as vault:
        assert vault.status().failed == []
        assert vault.search("heron").hits[0].path == "Odd.canvas"
        assert "pelican" not in vault.note("Odd.canvas").text
        (link,) = vault.note("Odd.canvas").links
        assert link.status == "unresolved"
