"""The passages that answer best are quoted, and nothing is when nothing answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.app.answer.samples import reading, source
from tests.support.product import (
    BRIDGED,
    COMPARED,
    Named,
    Quote,
    Reading,
    Source,
    Vectors,
    extractive,
)

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
    """Those with the words of the query, and a few of a note that they name."""
    asked: list[str] = []
    plain = reading({})

    def count(query: str, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        asked.extend(texts)
        assert plain.vectors is not None
        return plain.vectors(query, texts)

    text = " ".join(f"Word{n} here, by borealis." for n in range(COMPARED * 3))
    other = source(2, " ".join(f"Nobody knows {n}." for n in range(9)), title="Borealis")
    quotes("here", [source(1, text), other], replace(plain, vectors=count), 5)
    assert len(asked) == COMPARED + BRIDGED
    assert [text for text in asked if text.startswith("Borealis:")] == [
        f"Borealis:  Nobody knows {n}." for n in range(BRIDGED)
    ]


def test_another_name_of_the_note_counts_like_its_title() -> None:
    moved = source(1, "We ship in summer.", title="Borealis")
    query = "When does project atlas ship?"
    like = reading({"We ship in summer.": 0.2})
    plain = extractive.quotes(query, [Named(moved)], like, 5)
    known = extractive.quotes(query, [Named(moved, ["Project Atlas"])], like, 5)
    assert plain == []
    assert [quote.text for quote in known] == ["We ship in summer."]


def test_who_asks_for_a_note_by_name_gets_its_beginning() -> None:
    gate = source(2, "A flap with floats.\n\nWhat the weather was like.", title="Tide gate")
    other = source(1, "Coffee was good.")
    like = reading({"A flap with floats.": 0.1})
    found = extractive.quotes("SRT", [Named(other), Named(gate, ["SRT"])], like, 5)
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


def said(quote: Quote) -> list[str]:
    return [quote.source.text[start:end] for start, end in quote.ranges]


def test_a_quote_knows_where_its_words_stand() -> None:
    text = (
        "# Atlas\n\nThe atlas beta is\nin May. Nobody minds.\n\n> The atlas launch\n> is in June.\n"
    )
    (found,) = quotes("atlas launch beta", [source(1, text)], reading())
    assert found.text == "The atlas beta is in May. … The atlas launch is in June."
    assert said(found) == ["The atlas beta is\nin May.", "The atlas launch", "is in June."]


def test_a_note_that_a_quote_names_may_say_the_rest() -> None:
    """The question names the first note only, and the second shares one word with it."""
    first = source(1, "The atlas gate was cast by borealis. Rain fell.", title="Atlas gate")
    second = source(2, "A foundry in Orrin. Its door is red.", title="Borealis")
    like = {
        "The atlas gate was cast by borealis.": 0.7,
        "A foundry in Orrin.": 0.4,
        "A meadow in Wells.": 0.4,
    }
    third = source(3, "A meadow in Wells.", title="Cumulus")
    found = quotes(
        "where is the foundry that cast the atlas gate", [first, third, second], reading(like)
    )
    assert [quote.text for quote in found] == [first.text.split(" Rain")[0], "A foundry in Orrin."]


def test_what_is_like_a_quote_gives_way_to_something_else() -> None:
    text = "The atlas launch is a date. An atlas launch needs a day. An atlas launch needs tiles."
    like = reading({})

    def vectors(query: str, texts: Sequence[str]) -> tuple[Vectors, Vectors]:  # noqa: ARG001
        rows = {"date.": (0.8, 0.6, 0), "day.": (0.8, 0.6, 0), "tiles.": (0.7, 0, 0.714)}
        found = [next(row for end, row in rows.items() if text.endswith(end)) for text in texts]
        return np.eye(1, 3, dtype=np.float32)[0], np.asarray(found, dtype=np.float32)

    how = replace(like, vectors=vectors)
    (found,) = quotes("atlas launch", [source(1, text)], how, 2)
    assert found.text == "The atlas launch is a date. … An atlas launch needs tiles."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Bram runs the sites. He ordered the atlas gate.",
            "Bram runs the sites. He ordered the atlas gate.",
            id="he",
        ),
        pytest.param(
            "It rained. He ordered the atlas gate.", "He ordered the atlas gate.", id="it-he"
        ),
        pytest.param(
            "Bram runs the sites.\n\nHe ordered the atlas gate.",
            "He ordered the atlas gate.",
            id="new-paragraph",
        ),
        pytest.param(
            f"Bram {'really ' * 40} runs it. He ordered the atlas gate.",
            "He ordered the atlas gate.",
            id="long-before",
        ),
        pytest.param(
            "Rain. Bram ordered the atlas gate.", "Bram ordered the atlas gate.", id="name"
        ),
    ],
)
def test_a_sentence_that_points_back_brings_the_one_before(text: str, expected: str) -> None:
    assert [quote.text for quote in quotes("atlas gate order", [source(1, text)], reading())] == [
        expected
    ]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        pytest.param(
            "dates of beta and launch",
            "Atlas dates:\n\n- beta 2 May\n- tea\n- launch 14 June\n- more tea\n",
            "Atlas dates:\n- beta 2 May\n- …\n- launch 14 June",
            id="list",
        ),
        pytest.param("atlas", "1. tea\n2. the atlas\n", "the atlas", id="one-item"),
        pytest.param(
            "atlas beta launch",
            "2. atlas beta\n3. atlas launch\n",
            "2. atlas beta\n3. atlas launch",
            id="numbers",
        ),
        pytest.param("atlas", "- [ ] draw the atlas\n- tea\n", "[ ] draw the atlas", id="task"),
        pytest.param(
            "atlas tiles",
            "- the atlas\n  - its tiles\n- tea",
            "- the atlas\n   - its tiles",
            id="nested",
        ),
        pytest.param(
            "when does borealis launch",
            "| name | launch |\n|---|---|\n| Atlas | May |\n| Borealis | June |\n",
            "| name | launch |\n|---|---|\n| Borealis | June |",
            id="row",
        ),
        pytest.param(
            "how is the atlas built",
            "The atlas is built so:\n\n```sh\nmake atlas\n```\n\nTea.",
            "The atlas is built so:\n\n```sh\nmake atlas\n```",
            id="code",
        ),
        pytest.param(
            "atlas launch tiles",
            "The atlas launch. Tea.\n\n- atlas tiles\n- tea\n",
            "The atlas launch.\n\n…\n\n- atlas tiles",
            id="prose-and-item",
        ),
        pytest.param(
            "atlas gate",
            "The [[Atlas|atlas]] <b>gate</b>[^1] is `<new>`.",
            "The atlas gate is `<new>`.",
            id="markup",
        ),
    ],
)
def test_how_a_quote_is_written(query: str, text: str, expected: str) -> None:
    (found,) = quotes(query, [source(1, text)], reading())
    assert found.text == expected
    words = re.findall(r"[^\W\d]+", " ".join(said(found)))
    assert set(re.findall(r"[^\W\d]+", found.text.replace("```sh", ""))) <= set(words)
