"""The passages that answer best are quoted, and nothing is when nothing answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.answer import extractive
from app.answer.extractive import Quote
from app.answer.relevance import COMPARED, Named, Reading
from app.models import Source
from tests.app.answer.samples import reading, source

PLAN = "The team met twice. The atlas launch is on 14 June. Coffee was good."


def quotes(query: str, sources: Sequence[Source], how: Reading, limit: int = 5) -> list[Quote]:
    return extractive.quotes(query, [Named(one) for one in sources], how, limit)


def test_quotes_the_sentence_that_answers() -> None:
    found = quotes("When is the atlas launch?", [source(1, PLAN)], reading(), 5)
    assert [(q.source.marker, q.text) for q in found] == [
        ("[1]", "The atlas launch is on 14 June."),
    ]


def test_the_best_source_comes_first_and_says_the_same_only_once() -> None:
    found = quotes(
        "When is the atlas launch?",
        [
            source(1, "The atlas team grew."),
            source(2, "Atlas launch: 14 June."),
            source(3, "Atlas launch: 14 June."),
        ],
        reading(),
        5,
    )
    assert [q.source.marker for q in found] == ["[2]"]


def test_words_of_title_and_heading_count_less_than_the_passage() -> None:
    about = source(1, "The launch is on 14 June.", title="Atlas")
    other = source(2, "The launch is on 1 May.", title="Borealis")
    found = quotes("atlas launch", [other, about], reading(), 1)
    assert found[0].source is about


def test_several_passages_of_one_source_stand_in_text_order_with_an_ellipsis() -> None:
    text = "The atlas beta is in May. Nobody minds. The atlas launch is in June."
    found = quotes("atlas launch beta", [source(1, text)], reading(), 5)
    assert [q.text for q in found] == ["The atlas beta is in May. … The atlas launch is in June."]


def test_neighbours_are_joined_without_an_ellipsis() -> None:
    text = "The atlas beta is in May. The atlas launch is in June."
    found = quotes("atlas launch beta", [source(1, text)], reading(), 5)
    assert [q.text for q in found] == [text]


def test_the_line_above_a_list_is_quoted_when_it_makes_the_item_an_answer() -> None:
    text = "Atlas launch dates:\n- beta 2 May\n- other things"
    found = quotes("when is the atlas launch beta", [source(1, text)], reading(), 1)
    assert found[0].text.startswith("Atlas launch dates: beta 2 May")


def test_no_more_than_the_limit() -> None:
    sources = [source(n, f"atlas {word}.") for n, word in enumerate(("one", "two", "six"), 1)]
    assert len(quotes("atlas", sources, reading(), 2)) == 2


def test_nothing_answers() -> None:
    assert quotes("capital of Mongolia", [source(1, PLAN)], reading(), 5) == []
    assert quotes("capital of Mongolia", [], reading(), 5) == []
    assert quotes("what is the", [source(1, PLAN)], reading(), 5) == []


def test_likeness_finds_what_shares_no_word() -> None:
    near = reading({"We go live in summer.": 0.8, "Coffee was good.": 0.1})
    found = quotes("release date", [source(1, "Coffee was good. We go live in summer.")], near, 5)
    assert [q.text for q in found] == ["We go live in summer."]


def test_low_likeness_is_no_answer() -> None:
    near = reading({"We go live in summer.": 0.3})
    assert quotes("release date", [source(1, "We go live in summer.")], near, 5) == []


def test_only_so_many_vectors_are_compared() -> None:
    asked: list[int] = []
    plain = reading({})

    def count(query: str, texts: list[str]) -> list[float]:  # noqa: ARG001
        asked.append(len(texts))
        return [0.9] * len(texts)

    text = " ".join(f"Word{n} here." for n in range(COMPARED * 3))
    quotes("here", [source(1, text)], replace(plain, likeness=count), 5)
    assert asked == [COMPARED]


def test_another_name_of_the_note_counts_like_its_title() -> None:
    moved = source(1, "We ship in summer.", title="Borealis")
    query = "When does project atlas ship?"
    plain = extractive.quotes(query, [Named(moved)], reading({}), 5)
    known = extractive.quotes(query, [Named(moved, ["Project Atlas"])], reading({}), 5)
    assert plain == []
    assert [quote.text for quote in known] == ["We ship in summer."]


def test_who_asks_for_a_note_by_name_gets_its_beginning() -> None:
    gate = source(2, "A flap with floats.\n\nWhat the weather was like.", title="Tide gate")
    other = source(1, "Coffee was good.")
    found = extractive.quotes("SRT", [Named(other), Named(gate, ["SRT"])], reading({}), 5)
    assert [quote.text for quote in found] == ["A flap with floats."]


def test_words_that_no_note_holds_ask_for_more_of_the_others() -> None:
    """Much is known of Bram, and nothing of how tall he is."""
    sources = [source(1, "Bram runs our sites.")]
    like = {"Bram runs our sites.": 0.3}
    assert quotes("How tall bram", sources, reading(like))
    assert quotes("How tall bram", sources, reading(like, absent=frozenset({"tall", "how"}))) == []


def test_news_of_the_subject_comes_before_what_says_the_same_words() -> None:
    hub = Named(source(1, "The status of Atlas is what people ask for."), subject=True)
    new = Named(source(2, "Atlas: the bolts are in. Rain all day."), news=1)
    old = Named(source(3, "Atlas: no crane before Monday."), news=2)
    hub.source.title = "Atlas"
    found = extractive.quotes("What is the status of Atlas?", [hub, new, old], reading(), 5)
    assert found[0].text == "Atlas: the bolts are in."
    assert "Atlas: no crane before Monday." in [quote.text for quote in found]
    without = [Named(one.source) for one in (hub, new, old)]
    found = extractive.quotes("What is the status of Atlas?", without, reading(), 5)
    assert found[0].source.marker == "[1]"
