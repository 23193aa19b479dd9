"""Owns misspelled queries: words that stand nowhere in the vault, read as words that do.

Touches: index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rapidfuzz.distance import OSA, Indel

from notehop.app.retrieval.background import Word, question_words
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.words import split_words, subwords

SHORTEST = 4
"""Letters of a word that may be misspelled: shorter ones are near to too many others."""

SHORTEST_UNKNOWN = 6
"""The same where nothing tells misspelled words from words that the vault does not use."""

LONG = 8
"""Letters from which two may be wrong, not one."""

CANDIDATES = 24
"""Words of the vault that are looked at for one of the query."""

TEXTS = 2
"""Passages that are read for a stem, to see as what word it stands there."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A query as it is searched for. ``words``: as written -> as searched for, in its order.

    ``question`` are the words of a text that was left as it is.
    """

    text: str
    words: Mapping[str, str] = field(default_factory=dict)
    question: tuple[Word, ...] | None = None


def corrected(
    text: str,
    view: Snapshot,
    tokenizer: Tokenizer,
    is_word: Callable[[str], bool] | None,
) -> Corrected:
    """Read words that stand nowhere in the vault as the nearest that do.

    Left as they are: short words, those with digits or marks in them, in capitals or camelCase
    (identifiers), of scripts without spaces, and those that are words of the language. What was
    written has no passage to lose: it stands nowhere.

    :param is_word: tells of a word, in small letters, whether it is one; None where nobody can, and
        then words have to be longer.
    """
    shortest = SHORTEST if is_word is not None else SHORTEST_UNKNOWN
    read: dict[str, str] = {}
    question = question_words(text, tokenizer, view.lexical)
    for word in question:
        if (
            word.missing
            and len(word.written) >= shortest
            and _may_be_misspelled(word.written)
            and not (is_word is not None and is_word(word.written.lower()))
        ):
            nearest = _nearest(word.written.lower(), word.tokens[0], view, tokenizer)
            if nearest is not None:
                named = word.written[0].isupper()
                read[word.written] = nearest.capitalize() if named else nearest
    if not read:
        return Corrected(text, question=question)
    either = "|".join(map(re.escape, sorted(read, key=len, reverse=True)))
    changed = re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: read[found[0]], text)
    return Corrected(changed, read)


def _may_be_misspelled(written: str) -> bool:
    inside = written[1:]
    return written.isalpha() and inside == inside.lower() and not subwords(written).characters


def _nearest(word: str, stem: str, view: Snapshot, tokenizer: Tokenizer) -> str | None:
    """The word of the vault that is nearest to one, as it is written there, in small letters."""
    edits = 1 if len(word) < LONG else 2
    near = view.lexical.near(word, stem, edits)
    frequency = {one: view.lexical.frequency(one) for one in near}
    order = sorted(near, key=lambda one: (near[one], -len(one), -frequency[one], one))
    ranks: dict[str, tuple[int, int, int]] = {}
    for written in _written(order[:CANDIDATES], view):
        distance = OSA.distance(word, written, score_cutoff=edits)
        if distance <= edits and _is_likely(word, written):
            # A letter too many or too few is likelier than another one.
            often = max((frequency.get(token, 0) for token in tokenizer(written)), default=0)
            ranks[written] = (distance, Indel.distance(word, written), -often)
    return min(ranks, key=lambda one: (ranks[one], one), default=None)


def _is_likely(word: str, meant: str) -> bool:
    """Whether a word is misspelled as words are: people know its first letter; in a short word
    another letter (`pros`, `prop`) or one too many (`mulch`, `much`) makes another word, unless two
    changed places or one was typed twice."""
    if word[0] != meant[0] and word[:2] != meant[1::-1]:
        return False
    if len(word) >= SHORTEST_UNKNOWN or len(word) < len(meant):
        return True
    return sorted(word) == sorted(meant) or _typed_once(word) == _typed_once(meant)


def _typed_once(word: str) -> str:
    return "".join(letter for letter, _ in groupby(word))


def _written(stems: Sequence[str], view: Snapshot) -> set[str]:
    """The words, in small letters, of the passages that hold the stems most."""
    ids = [id_ for stem in stems for id_, _ in view.lexical.top([stem], TEXTS)]
    chunks = view.chunks(dict.fromkeys(ids))
    notes = view.notes_at(dict.fromkeys(chunk.path for chunk in chunks.values()))
    texts = [text for chunk in chunks.values() for text in (*chunk.heading_path, chunk.text)]
    texts += [name for note in notes.values() for name in (note.title, *note.aliases, *note.tags)]
    found = set(split_words("\n".join(texts)))
    whole = {surface.lower() for surface in found if surface.isalpha()}
    parts = (subwords(surface).words for surface in found if not surface.isalpha())
    return whole.union(*parts)
