"""Owns what a query is about: the notes whose names its words hold.

Touches: index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from app.retrieval.index_view import IndexView
from app.retrieval.intent_rules import AROUND
from app.retrieval.intents import bare
from indexing.stores.model import ChunkId
from indexing.tokens.function_words import FUNCTION_WORDS

MOST = 3
"""Notes that one query can be about: "Atlas and Budget" is about two."""

WORDS = 8
"""Words of the longest name that is looked for."""

LONGEST = 40
"""Words of a query that are looked at: what is longer is a text and names no subject."""

NEAR = 10
"""Best notes among which a name is looked for that the query holds only in part."""

COVERED = 0.5
"""Share of what a query with an intent is about that a name has to cover: a question for the status
of the insurance claim for the car is none about the car."""

Words = Callable[[str], Collection[str]]
"""Text -> its words as the index has them."""

_SMALL = frozenset().union(*FUNCTION_WORDS.values())
_NO_END = frozenset(
    (
        "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "that",
        "the", "to", "was", "were", "which", "who", "whose", "with", "der",
        "die", "das", "dem", "den", "des", "mit", "und", "von", "zu", "de", "del", "di", "du",
        "el", "en", "et", "la", "las", "le", "les", "los", "y",
    )
)  # fmt: skip
"""Words that a name does not end with: half of what could be a name is none, without a look."""

_RUN = 64
"""Characters of a query in which names that stand without blanks around them are looked for."""

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]{2,}")


class Subject:
    """The notes that one query is about, looked up once.

    First those whose title or alias stands in the text, longest name first. If there are none and
    the text is to have a subject, the one of the best notes whose name shares its words with the
    text: all that the text says, or all that the name says, without regard to order and inflection.
    """

    def __init__(
        self,
        view: IndexView,
        text: str,
        words: Words | None,
        *,
        covered: float = 0.0,
        left_out: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Take the text that names the subject.

        :param words: the tokenizer of the index, for queries; None looks for whole names only.
        :param covered: share of the text's words that a name has to cover, 0 to 1.
        :param left_out: tells of a path whether its note is no subject.
        """
        self._view = view
        self._text = text
        self._words = words
        self._covered = covered
        self._left_out = left_out
        self._found: tuple[str, ...] | None = None

    @property
    def found(self) -> tuple[str, ...]:
        """The paths of the notes that were found; none if no signal asked for them."""
        return self._found or ()

    def notes(self, candidates: Sequence[ChunkId]) -> tuple[str, ...]:
        """Return the paths of the notes, at most three.

        :param candidates: what the signals found, best first.
        """
        if self._found is None:
            rank = {path: at for at, path in enumerate(self._paths(candidates))}
            self._found = self._named(rank) or self._near(list(rank))
        return self._found

    def _paths(self, candidates: Sequence[ChunkId]) -> list[str]:
        paths = dict.fromkeys(self._view.paths_of(candidates))
        return [path for path in paths if path is not None]

    def _named(self, rank: Mapping[str, int]) -> tuple[str, ...]:
        spans = dict(_spans(self._text))
        known = self._view.named_any({name for names in spans.values() for name in names})
        least = self._covered * _weight(self._text)
        found: dict[str, None] = {}
        taken: set[int] = set()
        for first, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
            if _weight(self._text[first:end]) < least:
                continue
            paths = {path for name in spans[first, end] for path in known.get(name, ())}
            paths = {path for path in paths if not self._left_out(path)}
            if len(paths) > MOST:
                # A name of many notes is that of the one which the rest of the query fits.
                paths = {path for path in paths if path in rank}
            if paths and taken.isdisjoint(range(first, end)):
                taken.update(range(first, end))
                ordered = sorted(paths, key=lambda path: (rank.get(path, len(rank)), path))
                found.update(dict.fromkeys(ordered))
        return tuple(found)[:MOST]

    def _near(self, paths: Sequence[str]) -> tuple[str, ...]:
        words = self._words
        asked = set() if words is None else set(words(self._text))
        if words is None or not asked:
            return ()
        best, nearest = 0.0, ""
        for path, note in self._view.notes_at(paths[:NEAR]).items():
            if self._left_out(path):
                continue
            for name in (note.title, *note.aliases):
                own = set(words(name))
                if own and (own <= asked or asked <= own):
                    share = len(own & asked) / len(own | asked)
                    if share > best and share >= self._covered:
                        best, nearest = share, path
        return (nearest,) if nearest else ()


def _weight(text: str) -> int:
    """How many words of a text say something; characters where none stand between blanks."""
    words = [bare(word).lower() for word in text.split()]
    if len(words) == 1 and _UNSPACED.search(text):
        return len(words[0])
    return sum(bool(word) and word not in _SMALL and word not in AROUND for word in words)


def _spans(text: str) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Yield each stretch of characters that may be a name, with the ways to read it."""
    words = list(re.finditer(r"\S+", text))[:LONGEST]
    for at in range(len(words)):
        for last in range(at, min(at + WORDS, len(words))):
            first, end = words[at].start(), words[last].end()
            name = bare(text[first:end])
            plain = name.lower()
            if not name or plain in _SMALL or plain.rpartition(" ")[2] in _NO_END:
                continue
            owner = [name[:-2]] if name.endswith(("'s", "’s")) else []
            yield (first, end), [name, *owner]
    for run in _UNSPACED.finditer(text[:_RUN]):
        for first in range(run.start(), run.end() - 1):
            for end in range(first + 2, min(run.end(), first + 2 * WORDS) + 1):
                yield (first, end), [text[first:end]]
