"""Properties are text: found, quoted with their lines and shown; what says nothing is no hit."""

from pathlib import Path

import pytest

from tests.doors.conftest import vault as vault
from tests.doors.conftest import where as where
from tests.support.product import VaultHandle
from tests.support.real_index import opened_with, vault_of_rows
from tests.support.tables import rows

pytestmark = pytest.mark.model

NOTES = {
    "Shows/Futurama.md": (
        '---\nid: 16n2qbhtcnrblwxmx3deglu\ncategories:\n  - "[[Shows]]"\ngenre:\n  - "[[Sci-fi]]"\n'
        "rating: 7\nlast: 2023-09-12\n---\n"
    ),
    "Shows/Catan.md": "---\nmaker: Klaus Teuber\nrating: 8\nlast:\n---\n",
    "Trips/Japan trip.md": '---\nloc:\n  - "[[Kyoto]]"\nstart: 2023-09-12\n---\n\n',
    "Places/Kyoto.md": "---\ncoordinates: [35.02, 135.75]\n---\nThe old capital, full of shrines.\n",
    "Secret.md": "---\nprivate: true\nrating: 3\nsafe code: 4711\n---\n",
    "Empty idea.md": "",
    "Only a rule.md": "---\n---\n\n",
    "Templates/Show.md": "---\ntype: show\ngenre:\nrating: \"{{rating}}\"\n---\n## Plot\n",
    "Days/Monday.md": "---\ntype: show\ncreated: 2020-01-01\n---\nRain, and a pilot episode.\n",
    "Bread.md": "# Sourdough\nFeed the starter every morning, bake on Sunday.\n",
}  # fmt: skip


def lines_of(vault: Path, path: str, lines: tuple[int, int]) -> str:
    return "\n".join((vault / path).read_text().split("\n")[lines[0] - 1 : lines[1]])


@pytest.mark.parametrize(
    ("query", "path", "says", "stands"), rows(__file__, "a_property_is_found_with_its_true_lines")
)
def test_a_property_is_found_with_its_true_lines(
    vault: VaultHandle, where: tuple[Path, Path], query: str, path: str, says: str, stands: str
) -> None:
    hit = vault.search(query).hits[0]
    assert hit.path == path
    assert says in " ".join(hit.text.split())
    assert stands in lines_of(where[0], path, hit.lines)


@pytest.mark.parametrize(("question", "says", "path"), rows(__file__, "a_property_answers"))
def test_a_property_answers(
    vault: VaultHandle, where: tuple[Path, Path], question: str, says: str, path: str
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    assert says in answer.answer
    cited = next(one for one in answer.citations if one.path == path)
    assert says in lines_of(where[0], path, cited.quote_lines or cited.lines)


cards = vault_of_rows(__file__, "cards")
"""Notes that have hardly anything but properties, and link people and days in them."""


@pytest.mark.parametrize(("question", "says"), rows(__file__, "a_card_answers"))
def test_a_card_answers(cards: VaultHandle, question: str, says: str) -> None:
    assert says in cards.ask(question).answer


@pytest.mark.parametrize("results", ["chunks", "notes"])
@pytest.mark.parametrize(
    "query", ["empty idea", "Empty idea", "Only a rule", "rating", "sourdough", "path:/ show", "path:/"]
)
def test_what_says_nothing_is_no_hit(vault: VaultHandle, query: str, results: str) -> None:
    found = vault.search(query.replace("path:/ ", "").replace("path:/", "after:1990"), top_k=50,
                         results=results)  # fmt: skip
    assert found.hits or query == "Only a rule"
    assert [hit.path for hit in found.hits if not hit.text.strip()] == []
    assert not {"Empty idea.md", "Only a rule.md"} & {hit.path for hit in found.hits}


def test_what_is_private_or_for_programs_is_nowhere(vault: VaultHandle) -> None:
    told = "".join(
        vault.search(query, top_k=50).model_dump_json()
        for query in ("safe code rating", "id 16n2qbhtcnrblwxmx3deglu", "4711", "after:1990")
    )
    assert not [said for said in ("4711", "Secret", "{{rating") if said in told]
    assert "16n2qbhtcnrblwxmx3deglu" not in "".join(hit.text for hit in vault.search("id", top_k=50).hits)


def test_lists_by_filters_alone_put_templates_last(vault: VaultHandle) -> None:
    paths = [hit.path for hit in vault.search("type:show").hits]
    assert paths == ["Days/Monday.md", "Templates/Show.md"]
    asked = [hit.path for hit in vault.search("type:show path:Templates").hits]
    assert asked == ["Templates/Show.md"]


def test_a_changed_property_is_not_shown_and_a_moved_one_is_with_its_new_lines(tmp_path: Path) -> None:
    note = tmp_path / "Vault" / "Shows/Futurama.md"
    with opened_with(tmp_path, NOTES) as opened:
        note.write_text(NOTES["Shows/Futurama.md"].replace("---\nid", "---\nuid: a\nid", 1))
        hit = opened.search("rating of Futurama").hits[0]
        assert (hit.path, hit.lines) == ("Shows/Futurama.md", (4, 9))
        note.write_text(NOTES["Shows/Futurama.md"].replace("rating: 7", "rating: 9"))
        told = opened.search("rating of Futurama")
        assert [hit.path for hit in told.hits if hit.path == "Shows/Futurama.md"] == []
        assert any("Futurama.md" in warning for warning in told.warnings)
