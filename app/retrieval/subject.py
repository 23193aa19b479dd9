"""Owns what a query is about: the notes whose names its words hold.

Touches: index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from app.retrieval.index_view import IndexView
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

Words = Callable[[str], Collection[str]]
"""Text -> its words as the index has them."""

_SMALL = frozenset().union(*FUNCTION_WORDS.values())
_NO_END = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "that", "the"}
    | {
        "to",
        "was",
        "were",
        "which",
        "who",
        "whose",
        "with",
        "der",
        "die",
        "das",
        "dem",
        "den",
        "des",
    }
    | {
        "mit",
        "und",
        "von",
        "zu",
        "de",
        "del",
        "di",
        "du",
        "el",
        "en",
        "et",
        "la",
        "las",
        "le",
        "les",
    }
    | {"los", "y"}
)
"""Words that a name does not end with: half of what could be a name is none, without a look."""

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]{2,}")


class Subject:
    """The notes that one query is about, looked up once.

    First those whose title or alias stands in the text, longest name first. If there are none and
    the text is to have a subject, the one of the best notes whose name shares its words with the
    text: all that the text says, or all that the name says, without regard to order and inflection.
    """

    def __init__(self, view: IndexView, text: str, words: Words | None) -> None:
        """Take the text that names the subject.

        :param words: the tokenizer of the index, for queries; None looks for whole names only.
        """
        self._view = view
        self._text = text
        self._words = words
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
            self._found = self._named() or self._near(candidates)
        return self._found

    def _named(self) -> tuple[str, ...]:
        spans = dict(_spans(self._text))
        known = self._view.named_any({name for names in spans.values() for name in names})
        found: dict[str, None] = {}
        taken: set[int] = set()
        for first, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
            paths = [path for name in spans[first, end] for path in known.get(name, ())]
            if paths and taken.isdisjoint(range(first, end)):
                taken.update(range(first, end))
                found.update(dict.fromkeys(paths))
        return tuple(found)[:MOST]

    def _near(self, candidates: Sequence[ChunkId]) -> tuple[str, ...]:
        words = self._words
        asked = set() if words is None else set(words(self._text))
        if words is None or not asked:
            return ()
        paths = dict.fromkeys(
            path for one in candidates if (path := self._view.path_of(one)) is not None
        )
        best, nearest = 0.0, ""
        for path, note in self._view.notes_at(list(paths)[:NEAR]).items():
            for name in (note.title, *note.aliases):
                own = set(words(name))
                if own and (own <= asked or asked <= own):
                    share = len(own & asked) / len(own | asked)
                    if share > best:
                        best, nearest = share, path
        return (nearest,) if nearest else ()


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
    for run in _UNSPACED.finditer(text):
        for first in range(run.start(), run.end() - 1):
            for end in range(first + 2, min(run.end(), first + 2 * WORDS) + 1):
                yield (first, end), [text[first:end]]
