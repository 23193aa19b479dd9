"""Names and negations are compared as they are meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from notehop.app.answer.wording import denied, first_word, names_of, turned, unnamed

SMALL = frozenset(("the", "a", "is", "was", "does", "do", "and", "in", "of", "to", "it"))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def content(found: Sequence[str]) -> list[str]:
    return [word for word in found if word not in SMALL]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The wall is opened.", []),
        ("The wall of Hollin Reach is opened by Bram.", ["Hollin", "Reach", "Bram"]),
        ("It ends. Then Bram comes: He waits.", ["Bram"]),
        ("NASA and HR46 agree in June.", ["NASA", "HR46"]),
        ("Davy's boat is green.", ["Davy's"]),
        ("I think I do, on 3rd May, 60m wide.", []),
        ("“Never,” says Odile.", ["Odile"]),
        ("", []),
    ],
)
def test_names_of_a_sentence(text: str, names: list[str]) -> None:
    assert names_of(text) == names


@pytest.mark.parametrize(
    ("name", "source", "there"),
    [
        ("Bram", "Bram runs it.", True),
        ("Bram's", "Bram runs it.", True),
        ("Hollander", "The Hollanders came.", True),
        ("Odile", "Bram runs it.", False),
        ("HR46", "Field HR46 is dry.", True),
        ("HR47", "Field HR46 is dry.", False),
    ],
)
def test_a_name_that_the_source_has(name: str, source: str, there: bool) -> None:
    assert (unnamed([name], words(source), words) == []) is there


def test_only_a_word_with_a_capital_may_be_a_name_at_the_beginning() -> None:
    assert first_word("“Tomasz leads it.") == "Tomasz"
    assert first_word("it is so") == ""
    assert first_word("") == ""


@pytest.mark.parametrize(
    ("sentence", "source", "against"),
    [
        ("Bram trusts drones.", "Bram does not trusts drones.", True),
        ("Bram does not like clay.", "Bram does like clay.", True),
        ("The offer was taken.", "Why the offer was not taken is in the log.", True),
        ("It is open without a licence.", "It is open without a licence.", False),
        ("The launch is in June.", "The launch is in June, not in May.", False),
        ("The launch is not in May.", "The launch is in June, not in May.", False),
        ("The gate never opens.", "The gate does not opens.", False),
        ("Das Tor ist nicht offen.", "Das Tor ist offen.", True),
        ("La porte n'est jamais ouverte.", "La porte est ouverte.", True),
        ("Mai saw the tide.", "The tide came, and Mai saw it.", False),
    ],
)
def test_a_negation_of_one_side_alone(sentence: str, source: str, against: bool) -> None:
    both = (denied(text, words, content) for text in (sentence, source))
    assert turned(*both) is against
