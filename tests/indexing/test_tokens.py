"""Tokens, phrases and compounds: queries and index agree; which language a text is in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.product import COMPOUNDS_MOST as MOST
from tests.support.tables import read_yaml, rows

ENGLISH = product.Tokenizer("en")

# What a text becomes, in any order.


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "a_text_becomes_these_tokens"))
def test_a_text_becomes_these_tokens(text: str, expected: str) -> None:
    assert sorted(ENGLISH(text)) == sorted(expected.split())


@pytest.mark.parametrize(("one", "other"), rows(__file__, "spellings_of_a_word_meet"))
def test_spellings_of_a_word_meet(one: str, other: str) -> None:
    assert set(ENGLISH(one)) <= set(ENGLISH(other))


@pytest.mark.parametrize(("language", "words"), rows(__file__, "a_language_stems_its_words"))
def test_a_language_stems_its_words(language: str, words: tuple[str, str]) -> None:
    one, other = words
    tokenizer = product.Tokenizer(language)
    assert tokenizer(one) == tokenizer(other)
    assert product.Tokenizer("und")(one) != product.Tokenizer("und")(other)


@pytest.mark.parametrize("language", ["zh", "ja", "ko", "ru"])
def test_english_words_are_stemmed_where_latin_letters_are_foreign(language: str) -> None:
    assert product.Tokenizer(language)("linked notes") == ["link", "note"]


@pytest.mark.parametrize(("query", "expected"), rows(__file__, "a_query_asks_for_these_tokens"))
def test_a_query_asks_for_these_tokens(query: str, expected: str) -> None:
    assert sorted(ENGLISH.query(query)) == sorted(expected.split())
    assert sorted(product.Tokenizer("zh").query("黑猫")) == sorted(["黑猫", "黑", "猫"])


@pytest.mark.parametrize(
    ("language", "query", "expected"), rows(__file__, "in_its_language_a_query_asks_for_these_tokens")
)
def test_in_its_language_a_query_asks_for_these_tokens(language: str, query: str, expected: str) -> None:
    assert sorted(product.Tokenizer(language).query(query)) == sorted(expected.split())


texts = st.text(
    st.sampled_from("abcXYZ019 éßñİŁ'’-_.+#&東京が한국ไท👍🇩🇪½ﬁ\n\u0301\u200b/:()[]|*") | st.characters(),
    max_size=60,
)


@given(text=texts, language=st.sampled_from(product.LANGUAGES))
def test_queries_and_phrases_ask_for_what_the_index_of_the_same_text_holds(text: str, language: str) -> None:
    tokenizer = product.Tokenizer(language)
    indexed, asked = tokenizer(text), tokenizer.query(text)
    assert set(asked) <= set(indexed)
    assert bool(asked) == bool(indexed)
    assert all(token and not any(map(str.isspace, token)) for token in indexed)
    assert [product.fold(token) for token in indexed] == indexed
    words = product.words_in_order(text)
    assert {tokenizer.of_phrase_word(word) for word in words} <= set(indexed)
    for start in range(len(words)):
        assert f" {' '.join(words[start : start + 3])} " in product.joined_words(text)


def test_a_blob_is_cut_and_not_taken_apart() -> None:
    tokens = ENGLISH("x1" * 200_000 + " end")
    assert tokens == [("x1" * 200_000)[: product.MAX_LENGTH], "end"]


def test_a_long_slug_is_found_by_its_words() -> None:
    slug = "-".join(["alpha", "beta", "gamma"] * 10)
    assert set(ENGLISH(slug)) == set(ENGLISH("alpha beta gamma"))


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(product.SettingsError, match=r"'xx'.*auto.*sv"):
        product.Tokenizer("xx")


def test_fields_are_tokenized_apart_and_empty_ones_left_out() -> None:
    fields = product.field_tokens(
        ENGLISH,
        title="Apollo",
        aliases=["Moon plan", "A11"],
        tags=["project/space"],
        page_type=None,
        headings=[(1, "Goals"), (2, "Crew"), (2, "Dates"), (3, "Launch"), (5, "Weather")],
        content="",
        linked=["Saturn V"],
    )
    assert fields == {
        "title": ("apollo",),
        "aliases": ("moon", "plan", "a11", "a", "11"),
        "tags": ("project", "space"),
        "h1": ("goal",),
        "h2": ("crew", "date"),
        "h3": ("launch", "weather"),
        "linked": ("saturn", "v"),
    }
    assert [field for field in product.FIELDS if field in fields] == list(fields)


SENTENCES: dict[str, list[str]] = read_yaml(Path(__file__).with_name("sentences.yaml"))


def test_short_texts_are_identified() -> None:
    """At least 19 of 20 sentences, most of 5 to 10 words; each language, taken together, always."""
    cases = [(code, text) for code, texts in SENTENCES.items() for text in texts]
    wrong = [(code, product.detect_language([text]), text) for code, text in cases]
    wrong = [case for case in wrong if case[0] != case[1]]
    assert len(wrong) <= len(cases) / 20, wrong
    together = {code: product.detect_language(texts) for code, texts in SENTENCES.items() if code != "und"}
    assert together == {code: code for code in together}


@pytest.mark.parametrize(("texts", "language"), rows(__file__, "what_a_language_is_told_by"))
@pytest.mark.parametrize("default", ["en", "de"])
def test_with_nothing_to_go_by_the_default_stands(
    texts: list[str], language: str | None, default: str
) -> None:
    assert product.detect_language(texts, default) == (language or default)


@pytest.mark.parametrize("stands", [True, False])
def test_a_phrase_stands_in_a_text(stands: bool) -> None:
    for row in rows(__file__, "it_stands_there" if stands else "it_does_not"):
        phrase, text = map(product.joined_words, row.values)
        assert (phrase in text) is stands, row.values


class Shelf:
    def __init__(self, language: str, *words: str) -> None:
        self.tokenizer = product.Tokenizer(language)
        documents = [(f"{at:03}", {"content": (word,)}) for at, word in enumerate(map(self.stem, words))]
        self.index = product.LexicalIndex.build(documents)

    def stem(self, word: str) -> str:
        return self.tokenizer.of_phrase_word(word.casefold())

    def asked(self, query: str) -> dict[str, float]:
        tokens = self.tokenizer.query(query)
        weights = self.tokenizer.weights(tokens, self.index)
        return {token: weight for token, weight in weights.items() if token not in tokens}


@pytest.mark.parametrize(("language", "words", "query", "found"), rows(__file__, "compounds"))
def test_compounds(language: str, words: list[str], query: str, found: dict[str, str]) -> None:
    weights = {"within": product.WITHIN, "kin": product.KIN, "part": product.PART}
    weights |= {"form": product.FORM, "same": 1.0}
    asked = Shelf(language, *words).asked(query)
    assert asked == {token: weights[place] for token, place in found.items()}


def test_what_was_asked_keeps_its_weight() -> None:
    shelf = Shelf("de", "Mehl", "Roggenmehl")
    tokens = shelf.tokenizer.query("Mehl Mehl")
    assert shelf.tokenizer.weights(tokens, shelf.index)["mehl"] == 2.0
    ranked = shelf.index.top(shelf.tokenizer.weights(["mehl"], shelf.index), 5)
    assert [id_ for id_, _ in ranked] == ["000", "001"]


def test_the_other_spelling_of_a_word_is_asked_where_the_vault_has_it() -> None:
    shelf = Shelf("en", "colors", "organization", "harbour")
    assert shelf.asked("Which colours do the organisations of the harbour have?") == {
        shelf.stem("color"): 1.0,
        shelf.stem("organization"): 1.0,
    }
    assert Shelf("en", "colour").asked("coloring") == {"colour": 1.0}
    assert not Shelf("de", "Color").asked("Colour")


def test_of_many_compounds_the_commonest_are_asked() -> None:
    shelf = Shelf("de", *(f"{chr(97 + at)}oggenmehl" for at in range(MOST + 4)), "toggenmehl")
    asked = shelf.asked("Mehl")
    assert len(asked) == MOST
    assert "toggenmehl" in asked


@given(
    words=st.sets(st.text("abc", min_size=1, max_size=6), max_size=20),
    part=st.text("abc", min_size=1, max_size=3),
)
def test_a_vocabulary_finds_what_a_look_at_each_word_finds(words: set[str], part: str) -> None:
    found = product.Vocabulary(sorted(words)).with_part(part)
    expected = [
        word
        for word in sorted(words)
        if (word.startswith(part) or word.endswith(part)) and len(word) > len(part)
    ]
    assert found == expected
