"""Words that say little: common in the vault, of templates, of lists of links."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from tests.support import product
from tests.support.fake_index import FakeIndex
from tests.support.real_index import vault_of_rows
from tests.support.tables import rows


def words_of(*texts: str, language: str = "en") -> product.LexicalIndex:
    tokenizer = product.Tokenizer(language)
    return product.LexicalIndex.build(
        (str(at), {"content": tuple(tokenizer(text))}) for at, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("language", "question", "missing"), rows(__file__, "what_stands_nowhere_is_named_as_it_was_written")
)
def test_what_stands_nowhere_is_named_as_it_was_written(
    language: str, question: str, missing: list[str]
) -> None:
    texts = ("插入模板" if language == "zh" else "A template is inserted.", "Notes")
    found = product.question_words(question, product.Tokenizer(language), words_of(*texts, language=language))
    assert [word.text for word in found if word.is_missing] == missing


def test_a_word_that_the_vault_has_in_compounds_does_not_stand_nowhere() -> None:
    vocabulary = words_of("Roggenmehl und Wasser", language="de")
    (word,) = product.question_words("Welches Mehl?", product.Tokenizer("de"), vocabulary)
    assert (word.text, word.is_missing) == ("Mehl", False)


DAILY = "# {{date}}\n\n## Tasks\n- [ ] \n\n## How was the day?\n\n## Week <% tp.date.now('ww') %>\n"

LINES = frozenset(product.line_keys(DAILY))


def test_a_line_goes_by_its_letters() -> None:
    assert product.line_keys(DAILY) == ["tasks", "how was the day", "week"]


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "skeletons"))
def test_skeletons(text: str, expected: bool) -> None:
    assert product.is_skeleton(text, "Sunday walk", LINES) is expected


@pytest.mark.parametrize(("query", "expected"), rows(__file__, "who_asks_for_templates_gets_them"))
def test_who_asks_for_templates_gets_them(query: str, expected: bool) -> None:
    assert product.asks_for_templates(query) is expected


def hit(name: str, score: float, **metadata: object) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=name, metadata=metadata), score=score)


def back(*hits: NodeWithScore) -> list[NodeWithScore]:
    """With the hits of a vault's template held back."""
    view = FakeIndex().add("Templates/Day.md", 0).add("b.md", 0).add("c.md", 0)
    stage = product.TemplatePostprocessor(view=view, vault=Path("nowhere"))
    return stage.postprocess_nodes([*hits], query_bundle=product.TracedQuery("?"))


TEMPLATE = "Templates/Day.md:0"


def test_hits_held_back_keep_a_share_of_their_score() -> None:
    hits = [hit(TEMPLATE, 0.9), hit("b.md:0", 0.6), hit("c.md:0", 0.3)]
    found = back(*hits)
    places = [("b.md:0", 0.6), (TEMPLATE, 0.45), ("c.md:0", 0.3)]
    assert [(one.node.node_id, one.score) for one in found] == places
    assert found[1].node.metadata["held_back"] == product.TEMPLATE_REASON
    assert hits[0].score == 0.9
    assert "held_back" not in hits[0].node.metadata


def test_a_note_named_exactly_keeps_its_place() -> None:
    named = hit(TEMPLATE, 0.9, signals={"title": {"rank": 1}})
    assert back(named, hit("b.md:0", 0.6))[0] is named


yard = vault_of_rows(__file__, "yard")


@pytest.mark.model
@pytest.mark.parametrize(("query", "path"), rows(__file__, "what_a_note_is_filed_under_is_what_it_is_about"))
def test_what_a_note_is_filed_under_is_what_it_is_about(
    yard: product.VaultHandle, query: str, path: str
) -> None:
    assert yard.search(query).hits[0].path == path


@pytest.mark.model
def test_a_name_with_digits_is_no_part_of_it(yard: product.VaultHandle) -> None:
    assert {one.path for one in yard.ask("K7").citations} == {"Rules/Slip.md"}


def with_most_words(query: str, *texts: str) -> list[str]:
    """The ids of hits in their new order, which are their numbers."""
    hits = [hit(str(at), 1 - at / 100) for at in range(len(texts))]
    view: Any = SimpleNamespace(lexical=words_of(*texts))
    query_ = product.TracedQuery(query)
    found = product.promote_most_words(view, query_, hits, product.Tokenizer("en"))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    return [one.node.node_id for one in found]


FILLING = ("The mast.", "The deck.", "Down to the shore.", "A payment.", "The shed.", "The slip.")


def test_the_passage_with_most_words_is_among_the_first() -> None:
    order = with_most_words("the down payment of Oskar", *FILLING, "Down payment by Oskar.")
    assert order == ["0", "1", "2", "3", "6", "4", "5"]


def test_where_one_of_the_first_has_as_many_words_none_is_brought() -> None:
    texts = ("Down payment, Oskar.", *FILLING, "Down payment by Oskar.")
    assert with_most_words("the down payment of Oskar", *texts) == [*map(str, range(8))]
    assert with_most_words("of what nobody speaks", *FILLING) == [*map(str, range(6))]
