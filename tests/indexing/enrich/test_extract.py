"""A summary without a model: the sentences that stand best for a note."""

from __future__ import annotations

import pytest

from notehop.indexing.enrich.extract import LONGEST, extract
from notehop.indexing.tokens import Tokenizer

ENGLISH = Tokenizer("en")


@pytest.mark.parametrize(
    ("title", "text", "said"),
    [
        pytest.param(
            "Tide gate",
            "# Tide gate\n\nA tide gate is a hinged lid that lets fish in and keeps the flood out."
            "\n\n"
            "## History\n\nIt rained in March. The first one was of oak.",
            "A tide gate is a hinged lid that lets fish in and keeps the flood out.",
            id="the first sentence says what it is",
        ),
        pytest.param(
            "Shopping",
            "To buy this week:\n\n- flour\n- water\n- [ ] salt, coarse\n",
            "To buy this week: flour; water; salt, coarse",
            id="a list is its line and its items",
        ),
        pytest.param(
            "Code",
            "```python\nprint('A sentence that is code is no sentence of the note.')\n```\n\n"
            "> [!note] Careful\n> This script deletes **every** file of the "
            "[archive](http://a.example) folder.\n",
            "This script deletes every file of the archive folder.",
            id="code is left out, a callout read, marks dropped",
        ),
        pytest.param(
            "Empty", "# Only a heading\n\n---\n\n| a | b |\n|---|---|\n", "", id="nothing"
        ),
        pytest.param("Word", "Moss", "Moss", id="a word"),
    ],
)
def test_what_a_note_is_summed_up_by(title: str, text: str, said: str) -> None:
    found = extract(title, [text], ENGLISH)
    assert found.startswith(said)


def test_sentences_stand_in_the_order_of_the_text() -> None:
    text = (
        "Odd words come first here. The marsh stores carbon in its mud. Carbon of the marsh is "
        "measured in cores of mud."
    )
    found = extract("Marsh carbon", [text], ENGLISH)
    sentences = [text.find(part) for part in found.split(". ")]
    assert sentences == sorted(sentences)


@pytest.mark.parametrize("language", ["zh", "ja", "de", "ru"])
def test_any_language(language: str) -> None:
    texts = {
        "zh": "潮汐是海水的周期性涨落。月亮和太阳的引力引起潮汐。今天下雨。",
        "ja": "潮汐は海面の周期的な昇降である。月と太陽の引力が潮汐を起こす。",
        "de": "Die Gezeiten sind das Steigen und Fallen des Meeres. Der Mond zieht am Wasser.",
        "ru": "Приливы — это подъём и спад уровня моря. Луна притягивает воду.",
    }
    found = extract("潮汐", [texts[language]], Tokenizer(language))
    assert found[:6] == texts[language][:6]


def test_it_is_short_and_always_the_same() -> None:
    text = "\n\n".join(
        f"Sentence number {n} speaks of tides, mud and the {n}th gate at some length, "
        f"since it is the {n}th."
        for n in range(80)
    )
    found = extract("Tides", [text], ENGLISH)
    assert 0 < len(found) <= LONGEST
    assert found == extract("Tides", [text], Tokenizer("en"))


def test_a_very_long_line_is_cut_at_a_word() -> None:
    found = extract("Long", ["word " * 2_000], ENGLISH)
    assert len(found) <= LONGEST
    assert found.endswith(" …")
