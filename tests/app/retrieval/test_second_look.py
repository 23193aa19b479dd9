"""The second look: with what it asks, where its hits stand, and what they say."""

from pathlib import Path

import pytest
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from notehop import open_vault
from tests.support.fake_index import Broken, BrokenEmbedding, FakeIndex, Listed, direction, ids
from tests.support.notes import write_notes
from tests.support.product import SecondLookRetriever, SemanticRetriever, Tokenizer, TracedQuery
from tests.support.real_index import opened_with, real_index
from tests.support.scripted_llm import ScriptedLLM


class Texts(BaseRetriever):
    """Finds the same hits for whatever is asked, and remembers what that was."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.texts = texts
        self.asked: list[str] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        return [
            NodeWithScore(
                node=TextNode(id_=text, text=text, metadata={"title": text.split()[0]}), score=1.0 / rank
            )
            for rank, text in enumerate(self.texts, start=1)
        ]


QUERY = "what team was Anna's husband on"


def second_look(
    first: BaseRetriever, again: BaseRetriever, index: FakeIndex | None = None, **options: int
) -> SecondLookRetriever:
    words = Tokenizer("en").query_words
    options = {"keep": 5, "most": 4} | options
    return SecondLookRetriever(first, again, view=index or FakeIndex(), words=words, **options)


def test_the_first_hits_stay_and_what_they_lead_to_comes_before_the_others():
    again = Texts("Anna married Kris Benson.", "Kris Benson played for Pittsburgh.", "Weddings.")
    first = Texts("Anna married Kris Benson.", "Teams of the league.", "Husbands.", "Weddings.")
    assert ids(second_look(first, again, keep=2, most=2).retrieve(QUERY)) == [
        "Anna married Kris Benson.",
        "Teams of the league.",
        "Kris Benson played for Pittsburgh.",
        "Weddings.",
        "Husbands.",
    ]
    assert again.asked[0] == "team husband Kris Benson"


def test_a_second_search_that_fails_costs_nothing_but_a_warning():
    query, broken = TracedQuery(QUERY), Broken(RuntimeError("the second index is gone"))
    found = second_look(Texts("One.", "Two."), broken).retrieve(query)
    assert [hit.node.node_id for hit in found] == ["One.", "Two."]
    assert query.trace.warnings == ["the second look failed (RuntimeError: the second index is gone)"]


def test_vectors_of_the_index_are_asked_with_and_no_model():
    index = FakeIndex().add("Anna.md", 30).add("Kris.md", 15).add("Weather.md", 80)
    first = Listed(("Anna.md:0", 0.9))
    again = SemanticRetriever(index, BrokenEmbedding(), with_text=False)
    stage = second_look(first, again, index, most=1)
    query = TracedQuery("0", embedding=direction(0))
    # The first search looks at the vector that the query brought.
    assert SemanticRetriever(index, BrokenEmbedding()).retrieve(query)
    assert ids(stage.retrieve(query)) == ["Anna.md:0", "Kris.md:0"]
    assert query.trace.warnings == []


def test_a_note_of_the_first_hits_is_not_brought_again_by_another_passage():
    class Passages(Texts):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            hits = super()._retrieve(query_bundle)
            for hit in hits:
                hit.node.metadata["path"] = hit.node.get_content().split()[0] + ".md"
            return hits

    first = Passages("Anna married Kris.", "Teams of the league.")
    again = Passages("Anna was born.", "Kris played.", "Kris retired.")
    found = second_look(first, again, keep=1, most=3).retrieve(QUERY)
    assert [hit.node.node_id for hit in found] == [
        "Anna married Kris.",
        "Kris played.",
        "Teams of the league.",
    ]


HUSBANDS = ("Abel", "Bruno", "Carl", "Dirk", "Egon", "Falk", "Gero", "Hans", "Ivo", "Jens")

NOTES = {
    "Anna.md": "Anna Velden is a potter. She is married to Kris Odum.\n",
    "Kris.md": "Kris Odum pitched eleven seasons for the Ravens of Pell.\n",
    **{
        f"League/{name}.md": f"{name} was a good husband and played for a team in the south.\n"
        for name in HUSBANDS
    },
}


@pytest.fixture(scope="module")
def potter(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("second-look")
    vault = write_notes(folder / "Vault", NOTES)
    real_index(vault, folder / "index")
    return vault, folder / "index"


ASKED = "which team did the husband of Anna Velden play for?"


@pytest.mark.model
def test_a_search_finds_what_no_link_leads_to_if_it_is_asked_to(potter: tuple[Path, Path]):
    with open_vault(potter[0], index_dir=potter[1]) as vault:
        plain = vault.search(ASKED, top_k=3)
        assert "Kris.md" not in [hit.path for hit in plain.hits]
        assert all(hit.second_look is None for hit in plain.hits)
        found = vault.search(ASKED, top_k=3, second_look=True)
    led = {hit.path: hit.second_look for hit in found.hits}
    assert led["Kris.md"] is not None
    assert (led["Kris.md"].path, led["Kris.md"].title) == ("Anna.md", "Anna")
    assert "odum" in led["Kris.md"].words
    assert "second_look" in found.timings_ms


@pytest.mark.model
def test_a_language_model_is_given_more_and_a_second_look(potter: tuple[Path, Path]):
    def sources(llm: ScriptedLLM | None, **options: bool) -> list[str]:
        with open_vault(potter[0], index_dir=potter[1], llm=llm) as vault:
            return [source.path for source in vault.ask(ASKED, **options).sources]

    assert "Kris.md" not in sources(None)
    assert len(sources(None)) == 8
    llm = ScriptedLLM(says="The Ravens of Pell [1].")
    written = sources(llm)
    assert len(written) == 12
    assert written.index("Kris.md") < 9
    without = sources(llm, second_look=False)
    assert len(without) == 12
    assert "Kris.md" not in without[:9]


@pytest.mark.model
def test_a_note_made_private_a_moment_ago_is_not_asked_with(tmp_path: Path):
    with opened_with(tmp_path, NOTES) as opened:
        told = opened.search(ASKED, top_k=3, second_look=True).model_dump_json()
        assert "Anna.md" in told
        (tmp_path / "Vault" / "Anna.md").write_text(f"---\nprivate: true\n---\n{NOTES['Anna.md']}")
        told = opened.search(ASKED, top_k=3, second_look=True).model_dump_json()
        assert "Anna.md" not in told
        assert "potter" not in told
