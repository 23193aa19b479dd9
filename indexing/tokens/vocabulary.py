"""Compounds: which words of a vault hold a word that is asked for, or are held by it; and words that
are spelled much alike. Pure.

German, Dutch and Swedish write `Roggenmehl` as one word, so that `Mehl` alone does not meet it. What is
a word is told by the vault's own words: nothing of it is in the index.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from notehop.indexing.tokens.languages import FUNCTION_WORDS

if TYPE_CHECKING:
    from notehop.indexing.stores.lexical import LexicalIndex

COMPOUNDING = frozenset({"de", "nl", "sv"})  # languages whose compounds are looked into
# Weight of a compound that holds a word asked for: it is found, after the word itself. Compounds are many
# and rare, so that more would outweigh the word (docs/decisions/words.md).
WITHIN = 0.1
PART = 0.4  # weight of a word that is part of a compound asked for
MOST = 16  # compounds looked for a word, the commonest first: a word in more is too common to tell
_WORD = (
    4  # letters of a word that is looked for in compounds: shorter ones stand in too many others
)
_PIECE = 3  # letters of the shortest piece that the vault has as a word of its own (Rat-haus)
_UNKNOWN = 5  # letters from which a piece may be a word that the vault has not
# Between the pieces: Arbeit-s-zimmer, Stern-en-himmel, Kind-er-garten, Hund-e-hütte; Dutch and
# Swedish have of these s, n, en, e, er and o.
_LINKS = ("", "s", "es", "n", "en", "er", "e", "o")


def compound_weights(
    tokens: Iterable[str], language: str, stem: Callable[[str], str], words: LexicalIndex
) -> dict[str, float]:
    """Weigh the tokens of a query, each as often as it stands there, with those that it meets by
    compounds, if the vault's language is one of :data:`COMPOUNDING`.

    :returns: token -> weight, those that are met first; what was asked keeps its whole weight.
    """
    weights = {token: float(times) for token, times in Counter(tokens).items()}
    if language not in COMPOUNDING:
        return weights
    added: dict[str, float] = {}
    compounds = _Compounds(FUNCTION_WORDS[language], stem, words)
    for token, weight in weights.items():
        if token.isalpha() and len(token) >= _WORD:
            met = [(other, WITHIN * weight) for other in compounds.holding(token)]
            met += [(other, PART * weight) for other in compounds.held_by(token)]
            for other, much in met:
                added[other] = max(added.get(other, 0.0), much)
    return {**added, **weights}


class _Compounds:
    """Which compounds a vault has. ``small`` words are no pieces of any."""

    def __init__(
        self, small: frozenset[str], stem: Callable[[str], str], words: LexicalIndex
    ) -> None:
        self._small, self._stem, self._words = small, stem, words

    def holding(self, token: str) -> list[str]:
        """The compounds that begin or end with a word, those in most chunks first."""
        found = []
        for other in filter(str.isalpha, self._words.tokens_with(token)):
            first, last = other.removesuffix(token), other.removeprefix(token)
            # Endings of the word itself are no piece.
            after = [last[len(link) :] for link in _LINKS if last.startswith(link)]
            if (
                first != other
                and first not in self._small
                and (len(first) >= _UNKNOWN or any(map(self._is_known, _without_link(first))))
            ) or (last != other and (len(token) >= _UNKNOWN or any(map(self._is_known, after)))):
                found.append(other)
        return sorted(found, key=lambda other: (-self._words.frequency(other), other))[:MOST]

    def held_by(self, token: str) -> tuple[str, ...]:
        """The two words of a compound, if the vault has both: the longest last one."""
        for cut in range(_PIECE, len(token) - _PIECE + 1):
            last = token[cut:]
            if last in self._small or not self._words.frequency(last):
                continue
            for first in _without_link(token[:cut]):
                known, is_piece = self._stem(first), len(first) >= _PIECE
                if is_piece and first not in self._small and self._words.frequency(known):
                    return known, last
        return ()

    def _is_known(self, piece: str) -> bool:
        frequency = self._words.frequency
        is_piece = len(piece) >= _PIECE and piece not in self._small
        return is_piece and bool(frequency(piece) or frequency(self._stem(piece)))


def _without_link(piece: str) -> list[str]:
    return [piece[: len(piece) - len(link)] for link in _LINKS if piece.endswith(link)]


class Vocabulary:
    """Words as one text, in which those with a part are found without looking at each."""

    def __init__(self, words: Iterable[str]) -> None:
        self._text = "\n".join(("", *words, ""))

    def with_part(self, part: str) -> list[str]:
        """The words that begin or end with ``part`` and are longer, in order."""
        found, text = [], self._text
        at = text.find(part)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            begins, ends = at == start, text.endswith(part, start, end)
            if (begins or ends) and end - start > len(part):
                found.append(text[start:end])
            at = text.find(part, end)
        return found


ENDING = 5  # letters that a stem may lack of the word: `dependency` stands as `depend` in an index
SHORTEST = 3


class NearWords:
    """Stems by their length. 100,000 take 40 ms to sort, and a look 2 ms."""

    def __init__(self, stems: Iterable[str]) -> None:
        self._by_length: defaultdict[int, list[str]] = defaultdict(list)
        for stem in filter(str.isalpha, stems):
            self._by_length[len(stem)].append(stem)

    def near(self, word: str, stem: str, edits: int) -> dict[str, int]:
        """The stems that a word may be meant for: stem -> edits (letters left out, added, exchanged or
        swapped with the next), the fewest that were counted, at most so many.

        Of a word that is spelled wrong, the stem may be wrong as well, so that its beginning counts
        beside it. Most that are found are words of another ending: look at those.
        """
        found: dict[str, int] = {}
        for length in range(max(SHORTEST, len(word) - ENDING), len(word) + edits + 1):
            stems = self._by_length.get(length, ())
            for form in {word[:length], stem}:
                if abs(len(form) - length) > edits:
                    continue
                near = extract(form, stems, scorer=OSA.distance, score_cutoff=edits, limit=None)
                for other, distance, _ in near:
                    found[other] = min(distance, found.get(other, distance))
        return found
