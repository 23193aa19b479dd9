"""A text is kept whatever becomes of the look-up, and what it has to do with is named, with its link."""

import logging
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from notehop import open_vault
from tests.support import product
from tests.support.notes import write_notes
from tests.support.real_index import opened_with
from tests.support.tables import rows

NOW = datetime(2026, 11, 22, 9, 31)


@pytest.fixture
def place(tmp_path: Path) -> product.Place:
    return product.locate(write_notes(tmp_path / "v", {"A.md": "x"}), index_dir=tmp_path / "ix")


def connection(number: int) -> product.Connection:
    return product.Connection(
        path=f"{number}.md",
        title=f"{number}",
        folder="",
        heading="",
        snippet="",
        score=0.1,
        link=f"[[{number}]]",
        uri="obsidian://open",
    )


def kept(place: product.Place, related: Any, text: str = "Tea", **fields: Any) -> Any:
    return product.capture(place, product.CaptureQuery(text=text, **fields), related, now=NOW)


def fails(_: product.Note) -> list[product.Connection]:
    raise RuntimeError("no luck\nat all")


def missing(_: product.Note) -> list[product.Connection]:
    raise product.IndexMissing("nothing is indexed yet; run: notehop index")


@pytest.mark.parametrize(
    ("related", "reason"),
    [
        pytest.param(fails, "RuntimeError: no luck", id="fails"),
        pytest.param(missing, "nothing is indexed yet; run: notehop index", id="no-index"),
    ],
)
def test_a_look_up_that_fails_is_logged_and_no_error(
    place: product.Place, caplog: pytest.LogCaptureFixture, related: Any, reason: str
) -> None:
    with caplog.at_level(logging.WARNING):
        found = kept(place, related)
    assert found.connections == []
    assert found.message.endswith(f"; related notes could not be looked up: {reason}")
    assert (place.vault / found.filename).exists()
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert reason in record.getMessage()


def test_nothing_is_kept_once_nobody_waits(place: product.Place) -> None:
    """The first opening took so long: who was told that nothing came back captures it again."""
    gone = threading.Event()

    class Slow(product.LazyVault):
        def open(self) -> product.VaultHandle:
            gone.set()
            return super().open()

    lazy, query = Slow(place, "serve", None), product.CaptureQuery(text="Tea")
    with product.holding(product.UNWANTED, gone.is_set), pytest.raises(product.ServerTimeout):
        lazy.capture(query)
    assert [one.name for one in place.vault.rglob("*.md")] == ["A.md"]
    assert lazy.capture(query).filename


PUBLIC = "no index was built for this vault yet; on the machine of the server, notehop status says more"


@pytest.mark.parametrize(("related", "reason"), [(fails, "RuntimeError"), (missing, PUBLIC)])
def test_another_machine_is_told_no_message_that_may_name_a_path(
    place: product.Place, related: Any, reason: str
) -> None:
    before = product.elsewhere.set(True)
    try:
        message = kept(place, related).message
    finally:
        product.elsewhere.reset(before)
    assert message.endswith(f"; related notes could not be looked up: {reason}")


FILES = product.VaultFiles(
    [
        *("Home.md", "sub/Home.md", "a/Plan.md", "b/Plan.md", "x/b/Plan.md", "b/Log.md"),
        *("b/Log.md.md", "a/Tea #1.md", "a/map.png", "c/map.png.md", "Only.md", "z/v1.5.md"),
        "z/[x].md",
    ]
)


@pytest.mark.parametrize(("path", "link"), rows(__file__, "the_shortest_link_that_leads_there"))
def test_the_shortest_link_that_leads_there(path: str, link: str) -> None:
    made = product.link_to(FILES, "Inbox/New.md", path)
    assert made == link
    [parsed] = product.parse_note("Inbox/New.md", made.encode()).links
    found = product.resolve_path(FILES, "Inbox/New.md", parsed.target)
    assert (found.path, found.candidates) == (path, ())


CLAY = "The clay of the counter-wall has to lie one winter before it holds water, says Bram."


@pytest.fixture
def vault(demo: tuple[Path, Path]) -> Iterator[product.VaultHandle]:
    before = set(demo[0].rglob("*"))
    with open_vault(demo[0], index_dir=demo[1]) as opened:
        yield opened
    for path in set(demo[0].rglob("*")) - before:
        path.unlink()


@pytest.mark.model
def test_a_captured_text_finds_what_it_has_to_do_with(vault: product.VaultHandle) -> None:
    found = vault.capture(product.CaptureQuery(text=CLAY))
    assert 1 <= len(found.connections) <= 5
    paths = [one.path for one in found.connections]
    assert "Projects/Hollin Reach/Backwards from the spring tide.md" in paths
    assert len(set(paths)) == len(paths)
    assert found.filename not in paths
    scores = [one.score for one in found.connections]
    assert scores == sorted(scores, reverse=True)
    assert all(score == round(score, 4) > 0 for score in scores)
    for one in found.connections:
        assert 0 < len(one.snippet) <= 150
        assert one.link.startswith("[[")
        assert one.uri.startswith("obsidian://open?vault=Demo&file=")


@pytest.mark.model
def test_notes_that_are_linked_already_are_left_out(vault: product.VaultHandle) -> None:
    first = vault.capture(product.CaptureQuery(text=CLAY)).connections
    best = first[0]
    linked = vault.capture(product.CaptureQuery(text=f"{CLAY} See {best.link}."))
    assert best.path not in {one.path for one in linked.connections}
    assert len(linked.connections) == 5


@pytest.mark.model
def test_a_namesake_of_a_linked_note_is_related_still(tmp_path: Path) -> None:
    clay = "The clay of the counter-wall has to lie one winter.\n"
    names = {"work/Plan.md": clay, "home/Plan.md": clay, "Tide.md": f"---\naliases: [Plan]\n---\n{clay}"}
    with opened_with(tmp_path, names) as vault:
        found = vault.capture(product.CaptureQuery(text=f"{clay} See [[work/Plan]]."))
    assert {one.path for one in found.connections} == {"home/Plan.md", "Tide.md"}


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    ["tag:fish path:Daily after:soon -x", "?!", "clay " * 3_000, "😀", "-", "x" * 190_000],
    ids=["filters", "marks", "long", "emoji", "hyphen", "longest"],
)
def test_any_text_is_kept_and_looked_up(vault: product.VaultHandle, text: str) -> None:
    found = vault.capture(product.CaptureQuery(text=text))
    assert "could not be looked up" not in found.message
    assert text.strip() in (vault.place.vault / found.filename).read_text()


@pytest.mark.model
def test_a_one_line_capture_is_first_for_its_own_words(tmp_path: Path) -> None:
    notes = {f"Walk {at}.md": f"Walk {at} went to the pump house, and the key hung there." for at in range(9)}
    notes["Templates/Daily.md"] = "## Plot\n## Weight\n"
    text = "Ask Bram about marker 4 again."
    with opened_with(tmp_path, notes) as opened:
        kept = opened.capture(product.CaptureQuery(text=text))
        product.update_index(opened.place)
        hit = opened.search(text, explain=True).hits[0]
    assert (hit.path, hit.held_back) == (kept.filename, None)
