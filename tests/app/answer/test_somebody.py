"""Whom "they" may mean after an answer to "who"."""

from collections.abc import Sequence

import pytest

from tests.support.product import find_person, parse_question


@pytest.mark.parametrize(
    ("question", "quote", "whom"),
    [
        ("who is the builder at Mill Row?", "Builder: Moe Brothers, with Ada", "Moe Brothers"),
        ("who is the builder at Mill Row?", "Moe Brothers came, with Ada and Lee", ""),
    ],
)
def test_a_label_of_the_question_tells_whom_its_line_names_first(
    question: str, quote: str, whom: str
) -> None:
    def named(names: Sequence[str]) -> list[str]:
        return [one for one in ("Ada", "Lee") if one in names]

    told = find_person("Mill Row", quote, parse_question(question), lambda text: [(0, len(text))], named)
    assert told == whom
