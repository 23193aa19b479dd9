"""A word is found in its compounds, and a compound by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import COMPOUNDS_MOST as MOST
from tests.support.product import PART, WITHIN, LexicalIndex, Tokenizer, Vocabulary


class Shelf:
    """A vault of one word a chunk."""

    def __init__(self, language: str, *words: str) -> None:
        self.tokenizer = Tokenizer(language)
        documents = [
            (f"{at:03}", {"content": (word,)}) for at, word in enumerate(map(self.stem, words))
        ]
        self.index = LexicalIndex.build(documents)

    def stem(self, word: str) -> str:
        return self.tokenizer.of_spoken(word.casefold())

    def asked(self, query: str) -> dict[str, float]:
        tokens = self.tokenizer.query(query)
        weights = self.tokenizer.weights(tokens, self.index)
        return {token: weight for token, weight in weights.items() if token not in tokens}


@pytest.mark.parametrize(
    ("language", "words", "query", "found"),
    [
        pytest.param("de", ["Roggenmehl", "Roggen"], "Mehl", {"roggenmehl": WITHIN}, id="last"),
        pytest.param("de", ["Rauchmelder"], "Rauch", {"rauchmeld": WITHIN}, id="first"),
        pytest.param(
            "de", ["Arbeitszimmer", "Arbeit"], "Zimmer", {"arbeitszimm": WITHIN}, id="with-a-link"
        ),
        pytest.param(
            "de",
            ["Haftpflichtversicherungen"],
            "Versicherung",
            {"haftpflichtversicher": WITHIN},
            id="a-first-part-never-seen-alone",
        ),
        pytest.param(
            "de", ["Mehl", "Roggen"], "Roggenmehl", {"rogg": PART, "mehl": PART}, id="parts"
        ),
        pytest.param(
            "de",
            ["Arbeit", "Zimmer"],
            "Arbeitszimmer",
            {"arbeit": PART, "zimm": PART},
            id="link-out",
        ),
        pytest.param("de", ["Verstand", "Gegenstand"], "Stand", {}, id="small-words-are-no-parts"),
        pytest.param("de", ["Garten"], "Arten", {}, id="one-letter-is-no-part"),
        pytest.param("de", ["Eisen"], "Eis", {}, id="a-short-word-stands-in-too-many"),
        pytest.param("nl", ["boekenkast", "kast"], "boeken", {"boekenkast": WITHIN}, id="dutch"),
        pytest.param("sv", ["sommarhus", "sommar"], "hus", {}, id="swedish-short"),
        pytest.param("sv", ["fiskebåt", "fiske"], "båten", {}, id="swedish-three-letters"),
        pytest.param("en", ["notebook"], "book", {}, id="english-is-left-alone"),
        pytest.param("zh", ["水温"], "温", {}, id="chinese-has-its-pairs"),
    ],
)
def test_compounds(language: str, words: list[str], query: str, found: dict[str, float]) -> None:
    assert Shelf(language, *words).asked(query) == found


def test_what_was_asked_keeps_its_weight() -> None:
    shelf = Shelf("de", "Mehl", "Roggenmehl")
    tokens = shelf.tokenizer.query("Mehl Mehl")
    assert shelf.tokenizer.weights(tokens, shelf.index)["mehl"] == 2.0
    ranked = shelf.index.top(shelf.tokenizer.weights(["mehl"], shelf.index), 5)
    assert [id_ for id_, _ in ranked] == ["000", "001"]


def test_of_many_compounds_the_commonest_are_asked() -> None:
    shelf = Shelf("de", *(f"{chr(97 + at)}oggenmehl" for at in range(MOST + 4)), "toggenmehl")
    asked = shelf.asked("Mehl")
    assert len(asked) == MOST
    assert "toggenmehl" in asked


def test_words_that_are_gone_are_no_words() -> None:
    shelf = Shelf("de", "Rauchmelder", "Holz")
    assert shelf.asked("Rauch")
    shelf.index.update(["000"], [])
    assert shelf.asked("Rauch") == {}
    shelf.index.update([], [("new", {"content": ("rauchfang",)})])
    assert shelf.asked("Rauch") == {"rauchfang": WITHIN}


@given(
    words=st.sets(st.text("abc", min_size=1, max_size=6), max_size=20),
    part=st.text("abc", min_size=1, max_size=3),
)
def test_a_vocabulary_finds_what_a_look_at_each_word_finds(words: set[str], part: str) -> None:
    found = Vocabulary(sorted(words)).with_part(part)
    expected = [
        word
        for word in sorted(words)
        if (word.startswith(part) or word.endswith(part)) and len(word) > len(part)
    ]
    assert found == expected
