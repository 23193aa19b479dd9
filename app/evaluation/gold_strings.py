"""Whether a text holds a known answer: both are normalised, then one is looked for in the other.

Pure. The normalisation is that of SQuAD (Rajpurkar et al., 2016: case, punctuation, articles, white
space), with what it leaves undone: marks on letters, dashes, small numbers in words, and the order
of day and month.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

Kind = Literal["open", "choice", "yes_no"]
"""``yes_no``: no note says "yes" to a question, so that the words of a note cannot hold the answer.
``choice``: the question names its answer ("A or B?"), so that who repeats it has not answered."""

_NUMBERS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
}

_ARTICLES = frozenset({"a", "an", "the"})

_YES_NO = frozenset({"yes", "no", "true", "false"})

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})\b")
_ORDINAL_DAY = re.compile(rf"\b({_MONTHS}) (\d{{1,2}})(?:st|nd|rd|th)\b")

_GLYPHS = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
"""Letters of scripts that put no space between words: each is a word of its own."""

_BETWEEN_DIGITS = re.compile(r"(?<=\d)[.](?=\d)")
_POINT = "\ue000"
"""Stands for a decimal point while punctuation goes: 3.5 is not 35."""


def normalised(text: str) -> str:
    """Return the words of ``text`` in a form in which like answers are alike, one space between."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = _BETWEEN_DIGITS.sub(_POINT, text)
    text = "".join(map(_plain, text)).replace(_POINT, ".")
    words = _GLYPHS.sub(r" \1 ", text).split()
    text = " ".join(_NUMBERS.get(word, word) for word in words if word not in _ARTICLES)
    return _ORDINAL_DAY.sub(r"\1 \2", _DAY_FIRST.sub(r"\2 \1", text))


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether a text holds one of the answers, as whole words; an answer without words is none."""
    return held_in(normalised(text), answers)


def held_in(words: str, answers: Sequence[str]) -> bool:
    """Do as :func:`holds` for a text that is normalised already."""
    padded = f" {words} "
    return any(f" {answer} " in padded for answer in map(normalised, answers) if answer)


def kind_of(question: str, answers: Sequence[str]) -> Kind:
    """What an answer that quotes can be measured by; see :data:`Kind`."""
    if all(normalised(answer) in _YES_NO for answer in answers):
        return "yes_no"
    return "choice" if holds(question, answers) else "open"


def first_words(text: str, most: int) -> str:
    """The first ``most`` words of a text."""
    return " ".join(text.split()[:most])


def _plain(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Mn":
        return ""
    if kind == "Pd" or letter in "/\u2212":
        return " "
    return "" if kind[0] in "PS" else letter
