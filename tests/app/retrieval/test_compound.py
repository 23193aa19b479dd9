"""Queries that ask several things: which they are, and that each is searched for and answered."""

from pathlib import Path

import pytest
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from notehop import open_vault
from tests.support.notes import write_notes
from tests.support.product import CompoundRetriever, TracedQuery, split_questions
from tests.support.real_index import real_index

SEVERAL = {
    "Who owns the barn, and what does the roof cost?": ["Who owns the barn", "what does the roof cost"],
    "whose data do we take for certificates and whose for the time zones?": [
        "whose data do we take for certificates",
        "whose for the time zones",
    ],
    "What fuse version do we use, and by which criteria are hits of a lookup ordered?": [
        "What fuse version do we use",
        "by which criteria are hits of a lookup ordered",
    ],
    "How tall is the mill? Who built the weir?": ["How tall is the mill", "Who built the weir"],
    "Wem gehört die Scheune und was kostet das Dach?": ["Wem gehört die Scheune", "was kostet das Dach"],
    "qui a bâti le moulin et combien coûte le toit": ["qui a bâti le moulin", "combien coûte le toit"],
}

ONE = [
    "What is salt and pepper?",
    "when and where does the club meet?",
    "what shuts the gate, and who made it?",
    "who went to Kyoto, and on what dates?",
    "why do two beds wait, and what are the others for?",
    "By when must the rubbish go out? The one that is still open.",
    "how many and which and what and where and why",
    "the barn and the roof",
    "Which person joined in 2020 and was promoted to lead engineer?",
    "Who is the person who lives in Bergen and who owns a boat?",
    "Which books were written by Le Guin and which won a prize?",
    "Compare what Anna said and what Ben said about the roof",
    "Le projet a commencé en quelle année ?",
    "",
]


@pytest.mark.parametrize("query", SEVERAL)
def test_questions_that_stand_alone_are_told_apart(query: str):
    assert split_questions(query) == SEVERAL[query]


@pytest.mark.parametrize("query", ONE)
def test_what_asks_nothing_without_the_rest_stays_with_it(query: str):
    assert split_questions(query) == [query]


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "text", ["barn" + " " * 10_000 + "roof", "? " * 5_000, "\xa0" * 10_000, "and in " * 1_500]
)
def test_long_runs_of_blanks_and_joints_take_no_time(text: str):
    assert split_questions(text) == [text]
    assert split_questions(text[:900])


class Answering(BaseRetriever):
    """Finds what is on its list for each query."""

    def __init__(self, found: dict[str, str]) -> None:
        super().__init__()
        self.found = found

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(id_=id_, text=id_), score=1.0 / rank)
            for rank, id_ in enumerate(self.found.get(query_bundle.query_str, ""), start=1)
        ]


def test_the_hits_of_each_question_take_turns_with_those_of_the_whole():
    whole = "Who owns the barn, and what does the roof cost?"
    asked = {whole: "abcde", "Who owns the barn": "bxa", "what does the roof cost": "rb"}
    found = CompoundRetriever(Answering(asked)).retrieve(TracedQuery(whole))
    assert [hit.node.node_id for hit in found] == ["b", "r", "a", "x", "c"]
    assert [hit.score for hit in found] == [1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5]
    one = CompoundRetriever(Answering({"the barn": "ab"})).retrieve(TracedQuery("the barn"))
    assert [hit.node.node_id for hit in one] == ["a", "b"]


def test_a_note_that_answers_one_of_two_questions_is_found_and_quoted(tmp_path: Path):
    vault = tmp_path / "vault"
    barns = {
        f"Barn {n}.md": f"Barn {n} is owned by the parish; its deed says who owns the barn."
        for n in range(12)
    }
    write_notes(
        vault,
        {
            **barns,
            "Deed.md": "The barn is owned by Marta Quill since 1994.",
            "Slater.md": "Slater asks 8,400 euros for the roof, battens included.",
        },
    )
    place = real_index(vault, tmp_path / "index")
    with open_vault(vault, index_dir=place.layout.root) as opened:
        answer = opened.ask("Who owns the barn, and what does the roof cost?")
        half = opened.ask("Who owns the barn, and what does the helicopter cost?")
    assert "Slater.md" in [source.path for source in answer.sources]
    assert "8,400 euros" in answer.answer
    assert "barn" in answer.answer.lower()
    assert half.answer.startswith("I am not sure") or half.mode == "none"
