"""The words and terms of notes and questions, and the sources with all that is known of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.material import Material, RankedHeadings, ranked_headings, to_source
from notehop.app.answer.quotes import WORD_LISTS, by_language
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact_values import DIGITS, MAX_UNIT_LETTERS, SYNONYMS, WORD
from notehop.app.answer.quotes.passages import BARE_ADDRESS, SentenceSpans, split_into_passages
from notehop.app.answer.quotes.question import Question
from notehop.app.models import Source
from notehop.app.retrieval.intents import DECIDED_BY
from notehop.app.retrieval.relevance import past_date_in_name
from notehop.indexing.tokens.words import detect_language, fold
from notehop.indexing.vault.properties import BETWEEN

SUBJECT_SIGNAL, NEWS_SIGNAL = "subject", "recent"
"""The signals that find what a question for news is about, and the newest notes with news of it."""

MAX_LABEL_WORDS = 5  # words of what may be no more than a label
MAX_NAME_LINE_WORDS = 24  # words of a line that may be names of notes alone

NAMING_PROPERTY = re.compile(r"(?:alias|aliases|tag|tags|title|cssclass|cssclasses)\b", re.IGNORECASE)
"""Properties that name a note and say nothing of it."""

VARIANT_SHARE = 0.8  # share of a word that is met in a compound
SYNONYM_SHARE = 0.6  # the same of one that says nearly the same

NormalizedVectors = NDArray[np.float32]
EmbedTogether = Callable[[str, Sequence[str]], tuple[NormalizedVectors, NormalizedVectors]]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query, folded and stemmed.

    ``weight`` is its rarity in the vault, above 0. ``absent``: no note holds it; ``missing``: although
    the query is in the language of the notes; ``common``: and an everyday word. ``as_typed`` is how the
    query has it, ``variants`` other spellings and compounds of the vault that a note may have for it,
    ``synonyms`` other words.
    """

    word: str
    weight: float
    missing: bool = False
    as_typed: str = ""
    absent: bool = False
    common: bool = False
    variants: frozenset[str] = frozenset()
    synonyms: frozenset[str] = frozenset()

    @property
    def folded(self) -> str:
        return fold(self.as_typed).casefold()

    def share_in(self, words: Collection[str]) -> float:
        """1 where it is among some words, less where they have a compound with it, or a part of it."""
        if self.word in words:
            return 1.0
        if not self.variants.isdisjoint(words):
            return VARIANT_SHARE
        return 0.0 if self.synonyms.isdisjoint(words) else SYNONYM_SHARE


def synonyms_by_token(words: Callable[[str], Sequence[str]]) -> Mapping[str, frozenset[str]]:
    """Map words, as an index has them, to others that say nearly the same; short ones, units, left out."""
    found: dict[str, frozenset[str]] = {}
    for synonyms in SYNONYMS:
        stems = frozenset(one for one in words(" ".join(sorted(synonyms))) if len(one) > MAX_UNIT_LETTERS)
        found |= {one: found.get(one, frozenset()) | stems - {one} for one in stems}
    return found


@dataclass(frozen=True, slots=True)
class TextAnalyzer:
    """Splits and compares text as the index does, so that words match here as they do there.

    ``words``: text -> its words, folded and stemmed. ``terms``: query -> those of its words that
    say something, each once. ``vectors``: (query, texts) -> their vectors of length 1, shapes (d,)
    and (n, d). ``known_names``: some names -> those that notes of the vault go by. ``has_chunks_with``:
    (words, count) -> whether so many chunks have all of them. ``language`` is that of the notes,
    ``function_words`` holds its words that say nothing, as ``words`` gives them.
    """

    words: Callable[[str], Sequence[str]]
    terms: Callable[[str], Sequence[Term]]
    sentences: SentenceSpans
    vectors: EmbedTogether
    known_names: Callable[[Sequence[str]], Collection[str]]
    has_chunks_with: Callable[[Collection[str], int], bool]
    language: str = "en"
    function_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QuotableSource:
    """A source with the other names of its note, under which a query may know it, and the headings above it.

    ``is_news_subject``: a question for news is about its note. ``news_rank``: its rank, from 1, among the
    newest notes with news of that; 0 for none. ``link_sentence`` has the link that leads to it, for a
    connected note, ``link_likeness`` is its cosine. ``begins_note``: its note begins so; ``table_head``: of
    the table, begun in an earlier chunk, whose rows it begins with; ``is_cut_off``: the list or table that it
    ends with goes on. ``is_about_person``: it is of the notes about people.
    """

    source: Source
    aliases: Sequence[str] = ()
    headings_above: RankedHeadings = ()
    is_news_subject: bool = False
    news_rank: int = 0
    link_sentence: str = ""
    link_likeness: float = 0.0
    begins_note: bool = False
    table_head: str = ""
    is_cut_off: bool = False
    is_about_person: bool = False

    @property
    def all_names(self) -> tuple[str, ...]:
        """All names of its note, the title first."""
        return self.source.title, *self.aliases

    @property
    def all_text(self) -> str:
        """Its text, with its heading and all names of its note."""
        return " ".join((self.source.heading, self.source.text, *self.all_names))

    @property
    def day(self) -> date | None:
        """The day up to today that its note is of, by its name."""
        return past_date_in_name(self.source.path)

    def passages(self, sentences: SentenceSpans) -> Sequence[Passage]:
        """Return what can be quoted of the source."""
        return split_into_passages(self.source.text, sentences, self.table_head)


_POINTER = re.compile(
    rf"(?:(?:{'|'.join(WORD_LISTS['pointing'])})(?![^\W_])[\s:,]*)+(?P<to>.*)", re.IGNORECASE
)
_RUN = re.compile(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*)*")
MAX_NAME_WORDS = 4  # words of somebody's name at most
MAX_PARTICLE_LETTERS = 3  # letters of a small one among them


def _find_names(text: str) -> list[str]:
    """Return what may be names in a text: runs of words of which the first and the last have a capital."""
    names: dict[str, None] = {}
    for run in _RUN.finditer(text):
        words = [re.sub(r"(?:['’]s?|[.'’-])$", "", one) for one in run[0].split(" ")]
        capital = [at for at, one in enumerate(words) if one[:1].isupper()]
        for at in capital:
            for end in (one for one in capital if at <= one < at + MAX_NAME_WORDS):
                if all(one in capital or len(words[one]) <= MAX_PARTICLE_LETTERS for one in range(at, end)):
                    names[" ".join(words[at : end + 1])] = None
    return list(names)


_REFERRING_WORDS, _ASKER_WORDS = by_language("refers_"), by_language("asker_")


def refers_back(text: str) -> bool:
    """Whether a question has a word for somebody, or something, of which was spoken before it."""
    return _has_word_of_language(_REFERRING_WORDS, text)


def is_about_asker(text: str) -> bool:
    """Whether a question is about who asks it: "what am I allergic to"."""
    return _has_word_of_language(_ASKER_WORDS, text)


def _has_word_of_language(patterns: Mapping[str, re.Pattern[str]], text: str) -> bool:
    found = patterns.get(detect_language([text]), patterns["en"])
    return found is not None and found.search(fold(text).casefold().replace("’", "'")) is not None


_PEOPLE = frozenset(WORD_LISTS["people"])


def is_about_person(metadata: Mapping[str, Any]) -> bool:
    """Whether the metadata of a note, its folder, type or tags, say that it is about somebody."""
    labels = " ".join((metadata.get("folder") or "", metadata.get("type") or "", *metadata.get("tags", ())))
    return not _PEOPLE.isdisjoint(re.findall(r"\w+", fold(labels).casefold()))


def find_person(
    title: str,
    quote: str,
    question: Question,
    sentences: SentenceSpans,
    known_names: Callable[[Sequence[str]], Collection[str]],
) -> str:
    """Return whom "he" may mean after an answer to "who", from the note of a title: its subject; else
    the only note that the quote names and the question does not, in all of it or in the sentence with most
    words of the question; else the only name of several words in that, or the title if it is one; empty where
    there are several, or nobody is asked for.

    :param known_names: as in :class:`TextAnalyzer`.
    """
    known_words, title_words = _word_set(f"{question.text} {title}"), _word_set(title)
    if "person" not in question.forms or (
        question.defined_term and _word_set(question.defined_term) <= title_words
    ):
        return title if "person" in question.forms else ""
    sentence_texts = [quote[begin:end] for begin, end in sentences(quote)]
    best = max(sentence_texts, key=lambda one: len(known_words & _word_set(one)), default="")
    label, _, rest = best.partition(":")
    if rest and not known_words.isdisjoint(_word_set(label)):
        quote = best = re.split("[,;(]", rest)[0]  # "Builder: Moe & Sons, with Ada"

    def new(names: Collection[str]) -> list[str]:
        own = [one for one in names if not _word_set(one) <= known_words]
        return sorted(one for one in own if not any(one in other != one for other in own))

    names_there = _find_names(best)
    notes, near = new(known_names(_find_names(quote))), new(known_names(names_there))
    only = next((one for one in (notes, near) if len(one) == 1), [])
    if not only and not notes:
        only = new([one for one in names_there if " " in one])
        only = only or [one for one in _find_names(title) if one == title and " " in one]
    return only[0] if len(only) == 1 else ""


def _word_set(text: str) -> set[str]:
    return {*WORD.findall(fold(text).casefold())}


def is_label_only(passage: Passage, analyzer: TextAnalyzer, *, alone: bool = False) -> bool:
    """Whether a passage is a link, an embed, tags or names of notes alone, and says nothing.

    :param alone: whether nothing stands beside it, which it might be a label of.
    """
    if passage.kind == "property":
        return all(NAMING_PROPERTY.match(one) for one in passage.text.split(f"{BETWEEN} "))
    if passage.kind not in ("prose", "item") or (passage.lead and passage.kind == "item"):
        return False
    text = passage.text.strip()
    if pointer := _POINTER.fullmatch(text.rstrip(".:")):
        to = pointer["to"]
        if all(map(BARE_ADDRESS.fullmatch, to.split())) or _is_only_names(to, analyzer.known_names):
            return True
    if text.rstrip("*_\"'”’)")[-1:] in ".!?:;。！？…":
        return False
    if all(one.startswith("#") for one in text.split()) or _is_only_names(text, analyzer.known_names):
        return True
    item = passage.kind == "item" or passage.entry or passage.lead
    says_something = item or ":" in text or DIGITS.search(text)
    return len(WORD.findall(text)) <= MAX_LABEL_WORDS and not (says_something or alone)


def _is_only_names(text: str, known_names: Callable[[Sequence[str]], Collection[str]]) -> bool:
    """Whether a text is nothing but names of notes, one or several."""
    words = text.split()
    if len(words) > MAX_NAME_LINE_WORDS:
        return False
    at = 0
    while at < len(words):
        names = [" ".join(words[at:end]).strip(",;·|") for end in range(at + 1, len(words) + 1)]
        known = known_names(names)
        longest = max((size for size, name in enumerate(names, 1) if name in known), default=0)
        if not longest:
            return False
        at += longest
    return True


def quotable_sources(material: Material) -> list[QuotableSource]:
    """Return what may be quoted: the sources, then the connected notes."""

    def make(source: Source, **more: Any) -> QuotableSource:
        metadata = material.metadata_of(source.marker)
        return QuotableSource(
            source,
            material.aliases_of(source.marker),
            ranked_headings(metadata),
            begins_note=metadata.get("ordinal") == 0,
            table_head=metadata.get("table_head", ""),
            is_cut_off=metadata.get("goes_on", False),
            is_about_person=is_about_person(metadata),
            **more,
        )

    quotables = []
    for source in material.sources:
        signals, metadata = source.signals or {}, material.metadata_of(source.marker)
        # The ranks that signals gave which decided the place: 0 if one gave none, or only voted.
        subject, news = (
            int(signals.get(name, {}).get("rank") or 0) * (name in (metadata.get(DECIDED_BY) or ()))
            for name in (SUBJECT_SIGNAL, NEWS_SIGNAL)
        )
        quotables.append(make(source, is_news_subject=subject > 0, news_rank=news))
    for note in material.connected:
        if material.metadata_of(note.label).get("filtered_out"):
            continue
        link_sentence = note.linked_from.sentence or note.title
        likeness = float((note.evidence or {}).get("sentence_similarity") or 0.0)
        quotables.append(make(to_source(note), link_sentence=link_sentence, link_likeness=likeness))
    return quotables
