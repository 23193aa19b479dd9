"""How the words of notes and questions are read, and what of a note is read for an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.material import Material, RankedHeadings, as_source, ranked_headings
from notehop.app.answer.quotes import WORD_LISTS, by_language
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact import DIGITS, SAID_ALIKE, UNIT, WORD
from notehop.app.answer.quotes.passages import NAME, SentenceSpans, passages
from notehop.app.answer.quotes.question import Question
from notehop.app.models import Source
from notehop.app.retrieval.intents import DECIDED_BY
from notehop.app.retrieval.relevance import noted_on
from notehop.indexing.tokens.words import detect_language, fold
from notehop.indexing.vault.properties import BETWEEN

SUBJECT, NEWS = "subject", "recent"
"""The signals that find what a question for news is about, and the newest notes with news of it."""

SHORT = 5  # words of what may be no more than a label
LONGEST_NAMES = 24  # words of a line that may be names of notes alone

NAMING = re.compile(r"(?:alias|aliases|tag|tags|title|cssclass|cssclasses)\b", re.IGNORECASE)
"""Properties that name a note and say nothing of it."""

MET = 0.8  # share of a word that is met in a compound
ALIKE = 0.6  # the same of one that says nearly the same

Vectors = NDArray[np.float32]
Compare = Callable[[str, Sequence[str]], tuple[Vectors, Vectors]]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query, folded and stemmed.

    ``weight`` is its rarity in the vault, above 0. ``absent``: no note holds it; ``missing``: although
    the query is in the language of the notes; ``common``: and an everyday word. ``written`` is how the
    query has it, ``met`` other spellings and compounds of the vault that a note may have for it, ``alike``
    other words.
    """

    word: str
    weight: float
    missing: bool = False
    written: str = ""
    absent: bool = False
    common: bool = False
    met: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()

    @property
    def plain(self) -> str:
        return fold(self.written).casefold()

    def share_in(self, words: Collection[str]) -> float:
        """1 where it is among some words, less where they have a compound with it, or a part of it."""
        if self.word in words:
            return 1.0
        if not self.met.isdisjoint(words):
            return MET
        return 0.0 if self.alike.isdisjoint(words) else ALIKE


def tokens_alike(words: Callable[[str], Sequence[str]]) -> Mapping[str, frozenset[str]]:
    """A word, as an index has it -> others that say nearly the same; units, which are short, left out."""
    found: dict[str, frozenset[str]] = {}
    for said in SAID_ALIKE:
        stems = frozenset(one for one in words(" ".join(sorted(said))) if len(one) > UNIT)
        found |= {one: found.get(one, frozenset()) | stems - {one} for one in stems}
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """How text is read: as the index reads it, so that words match here as they do there.

    ``words``: text -> its words, folded and stemmed. ``terms``: query -> those of its words that
    say something, each once. ``vectors``: (query, texts) -> their vectors of length 1, shapes (d,)
    and (n, d). ``named`` gives those of some names that notes of the vault go by, ``holding`` whether so
    many chunks have all of some words. ``language`` is that of the notes, ``small`` holds its words that
    say nothing, as ``words`` gives them.
    """

    words: Callable[[str], Sequence[str]]
    terms: Callable[[str], Sequence[Term]]
    sentences: SentenceSpans
    vectors: Compare
    named: Callable[[Sequence[str]], Collection[str]]
    holding: Callable[[Collection[str], int], bool]
    language: str = "en"
    small: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Named:
    """A source with the other names of its note, under which a query may know it, and the headings above it.

    ``subject``: its note is what a question for news is about. ``news``: its rank, from 1, among the newest
    notes with news of that; 0 for none. ``linked`` is the sentence whose link leads to it, for a connected
    note, ``link_likeness`` its cosine. ``opens``: its note begins so; ``table_head``: of an earlier table;
    ``goes_on``: so does the list or table that it ends with. ``person``: it is of the notes about people.
    """

    source: Source
    names: Sequence[str] = ()
    above: RankedHeadings = ()
    subject: bool = False
    news: int = 0
    linked: str = ""
    link_likeness: float = 0.0
    opens: bool = False
    table_head: str = ""
    goes_on: bool = False
    person: bool = False

    @property
    def called(self) -> tuple[str, ...]:
        """All names of its note, the title first."""
        return self.source.title, *self.names

    @property
    def all_text(self) -> str:
        """Its text, with its heading and all names of its note."""
        return " ".join((self.source.heading, self.source.text, *self.called))

    @property
    def day(self) -> date | None:
        """The day up to today that its note is of, by its name."""
        return noted_on(self.source.path)

    def passages(self, sentences: SentenceSpans) -> Sequence[Passage]:
        """What can be quoted of the source."""
        return passages(self.source.text, sentences, self.table_head)


_POINTER = re.compile(
    rf"(?:(?:{'|'.join(WORD_LISTS['pointing'])})(?![^\W_])[\s:,]*)+(?P<to>.*)", re.IGNORECASE
)
_RUN = re.compile(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*)*")
LONGEST_NAME = 4  # words of somebody's name at most
PARTICLE = 3  # letters of a small one among them


def _names_in(text: str) -> list[str]:
    """What may be names in a text: runs of words of which the first and the last have a capital."""
    found: dict[str, None] = {}
    for run in _RUN.finditer(text):
        words = [re.sub(r"(?:['’]s?|[.'’-])$", "", one) for one in run[0].split(" ")]
        capital = [at for at, one in enumerate(words) if one[:1].isupper()]
        for at in capital:
            for end in (one for one in capital if at <= one < at + LONGEST_NAME):
                if all(one in capital or len(words[one]) <= PARTICLE for one in range(at, end)):
                    found[" ".join(words[at : end + 1])] = None
    return list(found)


_REFERS, _ASKS = by_language("refers_"), by_language("asker_")


def refers(text: str) -> bool:
    """Whether a question has a word for somebody, or something, of which was spoken before it."""
    return _has(_REFERS, text)


def says_asker(text: str) -> bool:
    """Whether a question is about who asks it: "what am I allergic to"."""
    return _has(_ASKS, text)


def _has(patterns: Mapping[str, re.Pattern[str]], text: str) -> bool:
    found = patterns.get(detect_language([text]), patterns["en"])
    return found is not None and found.search(fold(text).casefold().replace("’", "'")) is not None


_PEOPLE = frozenset(WORD_LISTS["people"])


def is_of_people(about: Mapping[str, Any]) -> bool:
    """Whether the metadata of a note, its folder, type or tags, say that it is about somebody."""
    said = " ".join((about.get("folder") or "", about.get("type") or "", *about.get("tags", ())))
    return not _PEOPLE.isdisjoint(re.findall(r"\w+", fold(said).casefold()))


def somebody_in(
    title: str,
    quote: str,
    question: Question,
    sentences: SentenceSpans,
    named: Callable[[Sequence[str]], Collection[str]],
) -> str:
    """Whom "he" may mean after an answer to "who", from the note of a title: whom that note is about; else
    the only note that the quote names and the question does not, in all of it or in the sentence with most
    words of the question; else the only name of several words in that, or the title if it is one; empty where
    there are several, or nobody is asked for.

    :param named: as in :class:`Reading`.
    """
    asked, of_it = _plain(f"{question.text} {title}"), _plain(title)
    if "person" not in question.forms or (question.about and _plain(question.about) <= of_it):
        return title if "person" in question.forms else ""
    said = [quote[begin:end] for begin, end in sentences(quote)]
    best = max(said, key=lambda one: len(asked & _plain(one)), default="")
    label, _, told = best.partition(":")
    if told and not asked.isdisjoint(_plain(label)):
        quote = best = re.split("[,;(]", told)[0]  # "Builder: Moe & Sons, with Ada"

    def new(names: Collection[str]) -> list[str]:
        own = [one for one in names if not _plain(one) <= asked]
        return sorted(one for one in own if not any(one in other != one for other in own))

    there = _names_in(best)
    notes, near = new(named(_names_in(quote))), new(named(there))
    only = next((one for one in (notes, near) if len(one) == 1), [])
    if not only and not notes:
        only = new([one for one in there if " " in one])
        only = only or [one for one in _names_in(title) if one == title and " " in one]
    return only[0] if len(only) == 1 else ""


def _plain(text: str) -> set[str]:
    return {*WORD.findall(fold(text).casefold())}


def is_bare(passage: Passage, reading: Reading, *, alone: bool = False) -> bool:
    """Whether a passage is a link, an embed, tags or names of its note alone: nothing said.

    :param alone: whether nothing stands beside it, which it might be a label of.
    """
    if passage.kind == "property":
        return all(NAMING.match(one) for one in passage.text.split(f"{BETWEEN} "))
    if passage.kind not in ("prose", "item") or (passage.lead and passage.kind == "item"):
        return False
    text = passage.text.strip()
    if pointer := _POINTER.fullmatch(text.rstrip(".:")):
        to = pointer["to"]
        if all(map(NAME.fullmatch, to.split())) or _names_alone(to, reading.named):
            return True
    if text.rstrip("*_\"'”’)")[-1:] in ".!?:;。！？…":
        return False
    if all(one.startswith("#") for one in text.split()) or _names_alone(text, reading.named):
        return True
    item = passage.kind == "item" or passage.entry or passage.lead
    said = item or ":" in text or DIGITS.search(text)
    return len(WORD.findall(text)) <= SHORT and not (said or alone)


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


def evidence_of(material: Material) -> list[Named]:
    """What may be quoted: the sources, then the connected notes."""

    def named(source: Source, **more: Any) -> Named:
        about = material.of(source.marker)
        return Named(
            source,
            material.names(source.marker),
            ranked_headings(about),
            opens=about.get("ordinal") == 0,
            table_head=about.get("table_head", ""),
            goes_on=about.get("goes_on", False),
            person=is_of_people(about),
            **more,
        )

    found = []
    for source in material.sources:
        signals, about = source.signals or {}, material.of(source.marker)
        # The ranks that signals gave which decided the place: 0 if one gave none, or only voted.
        subject, news = (
            int(signals.get(name, {}).get("rank") or 0) * (name in (about.get(DECIDED_BY) or ()))
            for name in (SUBJECT, NEWS)
        )
        found.append(named(source, subject=subject > 0, news=news))
    for note in material.connected:
        if material.of(note.label).get("filtered_out"):
            continue
        linked = note.linked_from.sentence or note.title
        likeness = float((note.evidence or {}).get("sentence_similarity") or 0.0)
        found.append(named(as_source(note), linked=linked, link_likeness=likeness))
    return found
