"""Facts of a sentence: numbers, dates, names; which kinds a question expects; what contradicts."""

import pytest

from tests.support import product
from tests.support.tables import rows


def lacks(sentence: str, source: str) -> list[str]:
    return product.missing_facts(product.facts_of(sentence), product.facts_of(source))


@pytest.mark.parametrize(("sentence", "source"), rows(__file__, "what_is_there"))
def test_what_is_there(sentence: str, source: str) -> None:
    assert lacks(sentence, source) == []


@pytest.mark.parametrize(("sentence", "source", "missing"), rows(__file__, "what_is_not"))
def test_what_is_not(sentence: str, source: str, missing: list[str]) -> None:
    assert lacks(sentence, source) == missing


@pytest.mark.parametrize(
    ("sentence", "source", "against"), rows(__file__, "another_value_in_its_place_speaks_against_it")
)
def test_another_value_in_its_place_speaks_against_it(sentence: str, source: str, against: bool) -> None:
    assert product.has_contradicting_value(product.facts_of(sentence), product.facts_of(source)) is against


def test_digits_without_end_are_a_number_like_any_other() -> None:
    key = "1" * 400
    assert lacks(f"The key is {key}.", "The key is 7.") == [key]


@pytest.mark.parametrize(("question", "forms"), rows(__file__, "the_forms_of_a_question"))
def test_the_forms_of_a_question(question: str, forms: list[str]) -> None:
    assert [*product.parse_question(question).forms] == forms


@pytest.mark.parametrize(("question", "kind"), rows(__file__, "the_kind_that_is_asked_for"))
def test_the_kind_that_is_asked_for(question: str, kind: str) -> None:
    assert product.parse_question(question).exact_kind == kind


@pytest.mark.parametrize(("question", "text", "whether"), rows(__file__, "a_passage_has_it_or_not"))
def test_a_passage_has_it_or_not(question: str, text: str, whether: bool) -> None:
    asked = product.parse_question(question)
    passage = product.Passage(text, block=0)
    assert (
        product.has_exact_value(asked, asked.exact_kind, passage, "", lambda words: words.lower().split())
        is whether
    )


@pytest.mark.parametrize(("sentence", "source", "lacks"), rows(__file__, "what_is_another"))
def test_what_is_another(sentence: str, source: str, lacks: str) -> None:
    assert product.missing_facts(product.facts_of(sentence), product.facts_of(source)) == [lacks]
    if lacks != "1.2.4":
        assert product.has_contradicting_value(product.facts_of(sentence), product.facts_of(source))


def test_how_long_is_no_time_of_day() -> None:
    assert [one.kind for one in product.facts_of("It runs for 24 h.").numbers] != ["time"]


@pytest.mark.parametrize("text", rows(__file__, "an_honest_refusal_needs_no_source"))
def test_an_honest_refusal_needs_no_source(text: str) -> None:
    assert [one.states for one in read(text)] == [False]


@pytest.mark.parametrize("text", rows(__file__, "what_states_something_still_does"))
def test_what_states_something_still_does(text: str) -> None:
    assert [one.states for one in read(text)] == [True]


def read(text: str):
    return product.split_answer(product.Draft(text, "llm"), product.sentence_spans, ("[1]",), ())
