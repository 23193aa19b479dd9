"""How the words of notes and questions are read, and what of a note is read for an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.passages import BETWEEN, NAME, WORD_LISTS, Passage, SentenceSpans, passages
from notehop.app.answer.question import DIGITS
from notehop.app.models import Source

SHORT = 5  # words of what may be no more than a label
LONGEST_NAMES = 24  # words of a line that may be names of notes alone

NAMING = re.compile(r"(?:alias|aliases|tag|tags|title|cssclass|cssclasses)\b", re.IGNORECASE)
"""Properties that name a note and say nothing of it."""

MET = 0.8  # share of a word that is met in a compound

Vectors = NDArray[np.float32]
Compare = Callable[[str, Sequence[str]], tuple[Vectors, Vectors]]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query, folded and stemmed.

    ``weight`` is its rarity in the vault, above 0. ``absent``: no note holds it; ``missing``: although
    the query is in the language of the notes; ``common``: and an everyday word. ``written`` is how the
    query has it, ``met`` other spellings and compounds of the vault that a note may have for it.
    """

    word: str
    weight: float
    missing: bool = False
    written: str = ""
    absent: bool = False
    common: bool = False
    met: frozenset[str] = frozenset()

    def share_in(self, words: Collection[str]) -> float:
        """1 where it is among some words, less where they have a compound with it, or a part of it."""
        if self.word in words:
            return 1.0
        return 0.0 if self.met.isdisjoint(words) else MET


@dataclass(frozen=True, slots=True)
class Reading:
    """How text is read: as the index reads it, so that words match here as they do there.

    ``words``: text -> its words, folded and stemmed. ``terms``: query -> those of its words that
    say something, each once. ``vectors``: (query, texts) -> their vectors of length 1, shapes (d,)
    and (n, d); None where no model is at hand. ``language`` is that of the notes, ``small`` holds its
    words that say nothing, as ``words`` gives them. ``named`` gives those of some names that notes of
    the vault go by.
    """

    words: Callable[[str], Sequence[str]]
    terms: Callable[[str], Sequence[Term]]
    sentences: SentenceSpans
    vectors: Compare | None = None
    language: str = "en"
    small: frozenset[str] = frozenset()
    named: Callable[[Sequence[str]], Collection[str]] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A source with the other names of its note, under which a query may know it.

    ``subject``: its note is what a question for news is about. ``news``: its rank, from 1, among the newest
    notes with news of that; 0 for none. ``linked`` is the sentence whose link leads to it, for a connected
    note, ``link_likeness`` its cosine. ``opens``: its note begins so; ``table_head``: of an earlier table.
    """

    source: Source
    names: Sequence[str] = ()
    subject: bool = False
    news: int = 0
    linked: str = ""
    link_likeness: float = 0.0
    opens: bool = False
    table_head: str = ""

    def passages(self, sentences: SentenceSpans) -> Sequence[Passage]:
        """What can be quoted of the source."""
        return passages(self.source.text, sentences, self.table_head)


_WORD = re.compile(r"[^\W\d_]+")
_POINTER = re.compile(
    rf"(?:(?:{'|'.join(WORD_LISTS['pointing'])})(?![^\W_])[\s:,]*)+(?P<to>.*)", re.IGNORECASE
)


def is_bare(passage: Passage, reading: Reading) -> bool:
    """Whether a passage is a link, an embed, tags or names of its note alone: nothing said."""
    if passage.kind == "property":
        return all(NAMING.match(one) for one in passage.text.split(f"{BETWEEN} "))
    if passage.kind not in ("prose", "item") or (passage.lead and passage.kind == "item"):
        return False
    text = passage.text.strip()
    if pointer := _POINTER.fullmatch(text.rstrip(".:")):
        to = pointer["to"]
        if all(map(NAME.fullmatch, to.split())) or (
            reading.named and _names_alone(to, reading.named)
        ):
            return True
    if text.rstrip("*_\"'”’)")[-1:] in ".!?:;。！？…":
        return False
    words = _WORD.findall(text)
    if all(one.startswith("#") for one in text.split()):
        return True
    if reading.named is not None and _names_alone(text, reading.named):
        return True
    item = passage.kind == "item" or passage.entry or passage.lead
    said = item or ":" in text or DIGITS.search(text)
    return len(words) <= SHORT and not said


def _names_alone(text: str, named: Callable[[Sequence[str]], Collection[str]]) -> bool:
    """Whether a text is nothing but names of notes, one or several."""
    words = text.split()
    if len(words) > LONGEST_NAMES:
        return False
    at = 0
    while at < len(words):
        names = [" ".join(words[at:end]).strip(",;·|") for end in range(at + 1, len(words) + 1)]
        known = named(names)
        longest = max((size for size, name in enumerate(names, 1) if name in known), default=0)
        if not longest:
            return False
        at += longest
    return True
