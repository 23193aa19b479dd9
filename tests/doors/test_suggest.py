"""Links that a vault lacks: which are suggested, with what evidence, at each door; nothing is written."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from notehop import open_vault
from tests.support import product
from tests.support.commands import options, printed
from tests.support.notes import built
from tests.support.real_index import real_index

NOTES = {
    "Hollin Reach.md": "---\naliases: [the reach]\n---\nHollin reach gives fields back to the sea.\n",
    "Home.md": "# Home\nStart here: [[Hollin Reach]].\n",
    "Plan.md": (
        "# About Hollin Reach\nThe bid asks for money. `Hollin Reach` in code.\n\n"
        "What Hollin Reach does in the south, it does in the north. I drove home late.\n"
    ),
    "Log.md": "We walked along the Reach today. See [[Hollin Reach]] and [[Eelgrass nursery]].\n",
    "Walk.md": "Again at the reach. It was cold. Perhaps an [[eelgrass nursery]].\n",
    "Oysters.md": "Oyster beds lie on shell, and oyster shell makes new beds for the oyster.\n",
    "Cultch.md": "Shell for oyster beds waits a year. Oyster larvae settle on shell and beds.\n",
    "2026-10-01.md": "Oyster beds and shell all day, shell and oyster beds.\n",
    "2026-10-02.md": "Oyster beds and shell all day, shell and oyster beds again.\n",
    "Secret.md": "---\nprivate: true\n---\nHollin Reach pays for oyster beds and shell.\n",
    "Templates/Walk.md": "Oyster beds and shell: Hollin Reach.\n",
    ".obsidian/templates.json": '{"folder": "Templates"}',
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[product.VaultHandle]:
    with product.open_place(built(tmp_path, NOTES)) as opened:
        yield opened


def told(vault: product.VaultHandle, note: str | None = None, limit: int = 20) -> list[product.Suggestion]:
    return vault.suggest(note, limit).suggestions


def pairs(found: list[product.Suggestion], kind: str) -> list[tuple[str, str]]:
    return [(one.source, one.target) for one in found if one.kind == kind]


def test_a_name_without_a_link_is_suggested_with_its_sentence(vault: product.VaultHandle) -> None:
    first = told(vault, "Plan")[0]
    assert (first.kind, first.source, first.target) == ("mention", "Plan.md", "Hollin Reach.md")
    # Not the heading, and not the code: the first place where a link could stand.
    assert first.line == 4
    assert first.text == "What Hollin Reach does in the south, it does in the north."
    assert first.link == "[[Hollin Reach]]"
    assert 0.02 <= first.score <= 1
    assert first.uri.endswith("file=Plan.md")


def test_notes_that_name_it_are_suggested_to_the_note_named(vault: product.VaultHandle) -> None:
    found = {one.source: one for one in told(vault, "Hollin Reach") if one.kind == "mention"}
    assert set(found) == {"Plan.md", "Walk.md"}, "what is linked, private or a template is none"
    assert found["Walk.md"].link == "[[Hollin Reach|the reach]]"
    assert found["Walk.md"].text == "Again at the reach."


def test_a_property_that_says_the_name_of_a_note(tmp_path: Path) -> None:
    notes = {
        "Kyoto.md": "A town.\n",
        "2026-10-01.md": "Rain.\n",
        "Trip.md": "---\nday: '2026-10-01'\nloc: [Kyoto]\n---\nIt rained.\n",
    }
    with product.open_place(built(tmp_path, notes)) as vault:
        [one] = told(vault, "Trip")
    assert (one.target, one.line, one.text) == ("Kyoto.md", 3, "loc: Kyoto")


def test_a_word_is_no_name_because_a_note_is_called_so(vault: product.VaultHandle) -> None:
    """``home`` in a sentence is not the note Home."""
    assert ("Plan.md", "Home.md") not in pairs(told(vault, "Plan"), "mention")


def test_notes_that_speak_of_the_same_are_suggested(vault: product.VaultHandle) -> None:
    found = told(vault, "Oysters")
    assert ("Oysters.md", "Cultch.md") in pairs(found, "alike")
    shown = next(one for one in found if one.target == "Cultch.md")
    assert shown.text.startswith("Oyster beds lie on shell")
    others = {one.target for one in found}
    assert others.isdisjoint({"2026-10-01.md", "Secret.md", "Templates/Walk.md"})


def test_what_many_link_to_is_not_alike_for_that(tmp_path: Path) -> None:
    notes = {f"Bed {n}.md": f"Oyster beds lie on shell, {n} of them.\n" for n in range(12)}
    notes |= {f"Field {n}.md": f"Barley and rye in row {n}. [[Tax]]\n" for n in range(24)}
    notes |= {"Oysters.md": NOTES["Oysters.md"], "Tax.md": "Wages: file them in May.\n"}
    with product.open_place(built(tmp_path, notes)) as vault:
        assert "Tax.md" not in {one.target for one in told(vault, "Oysters", 30)}


def test_a_name_that_several_notes_link_to_and_none_has(vault: product.VaultHandle) -> None:
    for note in (None, "Walk"):
        [wanted] = [one for one in told(vault, note) if one.kind == "dangling"]
        assert (wanted.target.casefold(), wanted.notes) == ("eelgrass nursery", 2)
        assert "nursery" in wanted.text
    assert not pairs(told(vault, "Plan"), "dangling")


def test_the_whole_vault(vault: product.VaultHandle) -> None:
    found = told(vault)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert ("Plan.md", "Hollin Reach.md") in pairs(found, "mention")
    both = {frozenset(pair) for pair in pairs(found, "mention")}
    assert len(both) == len([one for one in found if one.kind != "dangling"]), "each pair once"
    assert not any("2026-10" in one.source + one.target for one in found)
    assert len(told(vault, limit=1)) == 1


def test_a_note_is_named_by_its_file_where_its_title_is_another(tmp_path: Path) -> None:
    notes = {
        "pkg.engine.md": "---\ntitle: The heart\naliases: [Pump]\n---\nIt beats.\n",
        "Pump Plus.md": "See [[Pump Plus#Price]].\n",
        "Row.md": "Pump Plus | [[Pump Plus]]\n--- | ---\na Pump Ida has | tides\n",
        "Setup.md": "Start pkg.engine first.\n",
        "Head.md": "| pkg.engine | fuel |\n| --- | --- |\n| `[[pkg.engine]]` pkg.engine | oil |\n",
    }
    with product.open_place(built(tmp_path, notes)) as vault:
        [one], [row], none = (told(vault, name) for name in ("Setup", "Row", "Head"))
    assert (row.line, row.link) == (3, "[[pkg.engine\\|Pump]]"), "in a cell, and not Pump Plus"
    assert pairs(none, "mention") == [], "the head of a table, and a line that shows the link"
    assert (one.kind, one.target, one.link) == ("mention", "pkg.engine.md", "[[pkg.engine]]")


def test_a_name_in_a_text_without_blanks_between_words(tmp_path: Path) -> None:
    notes = {"云顶茶园.md": "茶。\n", "参观.md": "我们今天参观了云顶茶园的工房。\n"}
    with product.open_place(built(tmp_path, notes)) as vault:
        for note in ("参观", "云顶茶园", None):
            [one] = told(vault, note)
            assert (one.kind, one.source, one.target) == ("mention", "参观.md", "云顶茶园.md")
            assert one.link == "[[云顶茶园]]"


def test_a_list_of_the_whole_vault_has_what_is_named_anywhere(tmp_path: Path) -> None:
    """Between notes that have nothing else in common; but no small word, no date, no file."""
    notes = {
        "Bram Teague.md": "Knows clay.\n",
        "errors.md": "What goes wrong.\n",
        "2026-03-02.md": "Rain.\n",
        **{f"Tide {n}.md": f"Low water {n}, and Bram Teague stands at mark {n}.\n" for n in (1, 2, 3)},
        "Log.md": "Of errors on 2026-03-02 nothing; see [[utils.ts]].\n",
        "Parts.md": "Bolts of [[utils.ts]].\n",
    }
    with product.open_place(built(tmp_path, notes)) as vault:
        found = told(vault)
        assert len(pairs(told(vault, "Bram Teague"), "mention")) == 3
    named = pairs(found, "mention")
    assert {target for _, target in named} == {"Bram Teague.md"}
    assert len(named) == 2, "no note is in most of the list"
    assert not pairs(found, "dangling")


def test_a_link_that_was_made_a_moment_ago(vault: product.VaultHandle) -> None:
    assert "Cultch.md" in {one.target for one in told(vault, "Oysters")}
    with (vault.place.vault / "Oysters.md").open("a") as file:
        file.write("More in [[Cultch]].\n")
    assert "Cultch.md" not in {one.target for one in told(vault, "Oysters")}


def test_what_changed_a_moment_ago_counts(vault: product.VaultHandle) -> None:
    root = vault.place.vault
    (root / "Plan.md").write_text("Nothing of the sort.\n")
    (root / "Cultch.md").write_text("---\nprivate: true\n---\nShell for oyster beds.\n")
    (root / "Walk.md").write_text("Of the nursery no more.\n")
    assert not pairs(told(vault), "dangling"), "one note alone links to it now"
    shown = vault.suggest("Hollin Reach").model_dump_json() + vault.suggest().model_dump_json()
    assert "What Hollin Reach does" not in shown
    assert "Plan.md" not in {one.source for one in told(vault, "Hollin Reach")}
    assert "Cultch" not in shown + vault.suggest("Oysters").model_dump_json()


def test_mistakes(vault: product.VaultHandle) -> None:
    with pytest.raises(product.NoteMissing, match="did you mean Oysters"):
        vault.suggest("Oyster")
    with pytest.raises(product.QueryError, match="limit"):
        vault.suggest("Oysters", 0)


def test_the_doors_say_the_same_and_write_nothing(vault: product.VaultHandle) -> None:
    place = vault.place
    before = {file: file.read_bytes() for file in place.vault.rglob("*.md")}
    expected = vault.suggest("Plan").model_dump(mode="json")["suggestions"]
    where = options(place.vault, place.layout.root)
    assert json.loads(printed("suggest", "Plan", "--json", *where))["suggestions"] == expected
    shown = printed("suggest", "Plan", *where)
    assert "Plan.md:4 -> [[Hollin Reach]] (is named there, score " in shown
    tools = {tool.metadata.get_name(): tool for tool in vault.tools()}
    said = tools["suggest_links"].call(note="Plan").content
    assert "Plan.md:4 -> [[Hollin Reach]] (is named there, score " in said
    assert "> What Hollin Reach does in the south" in said
    with TestClient(product.create_app(vault), base_url="http://127.0.0.1:8765") as client:
        reply = client.get("/suggest", params={"note": "Plan"})
        assert reply.json()["suggestions"] == expected
        assert client.get("/suggest", params={"note": "Nope"}).status_code == 404
        assert client.get("/suggest", params={"limit": 101}).status_code == 422
    assert {file: file.read_bytes() for file in place.vault.rglob("*.md")} == before


def test_a_link_is_written_into_a_note_only(tmp_path: Path) -> None:
    said = "Oyster beds lie on shell. See the Plan."
    card = {"id": "a", "type": "text", "text": said, "x": 0, "y": 0}
    board = json.dumps({"nodes": [{**card, "width": 9, "height": 9}], "edges": []})
    notes = {"Board.canvas": board, "Plan.md": "Oyster beds lie on shell, says the board.\n"}
    with product.open_place(built(tmp_path, notes | {"Bells.md": "A bell.\n"})) as vault:
        found = told(vault, "Board.canvas") + told(vault, "Plan") + told(vault)
    assert {one.source for one in found} <= {"Plan.md", "Bells.md"}
    assert "Board.canvas" in {one.target for one in found}


def test_where_nothing_is_missing(tmp_path: Path) -> None:
    place = built(tmp_path, {"A.md": "Bells.\n"})
    where = options(place.vault, place.layout.root)
    assert "No link is missing" in printed("suggest", *where)


@pytest.mark.model
def test_links_that_were_taken_out_are_suggested_again(demo: tuple[Path, Path], tmp_path: Path) -> None:
    """A fifth of the linked pairs of the demo vault, whose words are left, as by who forgets the brackets."""
    with open_vault(demo[0], index_dir=demo[1]) as opened:
        links = [(*pair, data["line"]) for *pair, data in opened.graph().edges(data=True)]
    able = sorted({tuple(sorted((source, target))) for source, target, _ in links})
    pairs = [{*pair} for pair in able[::5] if len({*pair}) == 2]
    vault = shutil.copytree(demo[0], tmp_path / "Demo")
    link = re.compile(r"\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|([^\]]*))?\]\]")
    for source, target, line in links:
        if {source, target} in pairs:
            lines = (vault / source).read_text(encoding="utf-8").split("\n")
            words = link.sub(lambda found: found[2] or found[1].split("/")[-1], lines[line - 1])
            (vault / source).write_text("\n".join([*lines[: line - 1], words, *lines[line:]]), "utf-8")
    real_index(vault, tmp_path / "index")
    with open_vault(vault, index_dir=tmp_path / "index") as opened:
        found = [
            any({one.source, one.target} == pair for one in told(opened, name, 10))
            for pair in pairs
            for name in sorted(pair)
        ]
    assert len(pairs) > 20
    assert sum(found) / len(found) > 0.8
