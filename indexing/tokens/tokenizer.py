"""The tokenizer: text -> stemmed and folded tokens, the same for index and query. And which words of a vault
hold a word that is asked for, or are held by it, or are spelled much alike."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import Stemmer
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from notehop.config.errors import SettingsError
from notehop.indexing.tokens.words import (
    FUNCTION_WORDS,
    LANGUAGES,
    MAX_LENGTH,
    STEMMED,
    Subwords,
    fold,
    phrase_words,
    split_words,
    subwords,
)

if TYPE_CHECKING:
    from notehop.indexing.stores.lexical import LexicalIndex

# The language that words in Latin letters are in where a language has none.
_LATIN = dict.fromkeys(("ru", "zh", "ja", "ko"), "en")

FIELDS = ("title", "aliases", "tags", "page_type", "h1", "h2", "h3", "content", "linked")

# Of what this package makes of a text, whatever the language: raise the number with any change of what
# comes out. Indexes made by different rules do not mix.
RULES = f"2, snowball {Stemmer.version()}"

FORM = 0.5  # weight of another form of a word that the vault has

_CACHED = 100_000  # surfaces remembered, some 30 MB: about those of 10,000 notes


class Tokenizer:
    """Text -> tokens, for one language; threads may share it.

    ``und`` and the unspaced languages are not stemmed; words in Latin letters are taken as English
    in Chinese, Japanese, Korean and Russian vaults, those in Cyrillic as Russian everywhere.

    :raises SettingsError: for a language that is not in :data:`notehop.indexing.tokens.words.LANGUAGES`.
    """

    def __init__(self, language: str = "en") -> None:
        if language not in LANGUAGES:
            raise SettingsError(f"lexical.language is {language!r}; it can be auto, {', '.join(LANGUAGES)}")
        self.language = language
        latin = _LATIN.get(language, language)
        none = frozenset[str]()
        self._stop = FUNCTION_WORDS.get(language, none) | FUNCTION_WORDS.get(latin, none)
        self._elides = latin != "en"
        self._latin = _stemmer(latin)
        self._cyrillic = _stemmer("und" if language == "und" else "ru")
        self._endings = STEMMED.get(latin, {}).get("endings", {})
        # A stemmer keeps a buffer of its own and must not be entered twice at once.
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, ...]] = {}
        # Other spellings of a word, and its other forms.
        self._alike: dict[str, dict[str, float]] = {}
        for table, weight in (("forms", FORM), ("spellings", 1.0)):
            for alike in STEMMED.get(latin, {}).get(table, "").split():
                stems = [*map(self._stem, alike.split("/"))]
                for one in stems:
                    own = {two: weight for two in stems if two != one}
                    self._alike[one] = self._alike.get(one, {}) | own

    def __call__(self, text: str) -> list[str]:
        """The tokens of ``text``, for the index; in text order, repeats kept; [] for no words."""
        known = self._known
        tokens: list[str] = []
        for surface in split_words(text):
            found = known.get(surface)
            tokens += self._learn(surface) if found is None else found
        return tokens

    def query(self, text: str) -> list[str]:
        """The tokens of a query: those of :meth:`__call__` without function words, which would weigh much in
        a small vault. They stay if nothing else does ("The Who"), and where they stand in capitals among
        words that do not ("vitamin A", "the IT team").

        Of an unspaced run the pairs are asked for; a character alone where it stands alone, and in
        Chinese, where many words are one character (known-item search in 547 Chinese man pages: 90
        instead of 88 in 100 among the first ten; in 800 Japanese ones 87 instead of 88).
        """
        return [token for _, tokens in self.query_words(text) for token in tokens]

    def query_words(self, text: str) -> list[tuple[str, tuple[str, ...]]]:
        """The tokens of :meth:`query` by words, or the units of an unspaced run: (as written, tokens)."""
        words: list[tuple[str, tuple[str, ...]]] = []
        surfaces = split_words(text)
        shouting = text.isupper()
        for at, surface in enumerate(map(self._unelided, surfaces)):
            found = _remembered(surface) if len(surface) <= MAX_LENGTH else subwords(surface)
            if found.characters:
                units = found.kept + (found.characters if self.language == "zh" else ())
                words += ((unit, (unit,)) for unit in units)
            elif self._joins_small_words(surface):
                continue
            elif (at or len(surface) > 1) and not shouting and surface.isupper() and surface != "I":
                words.append((surface, self._tokens(found)))
            else:
                content = tuple(word for word in found.words if word not in self._stop)
                words.append((surface, self._tokens(Subwords(found.kept, content))))
        found_words = [word for word in words if word[1]]
        return found_words or [(one, tokens) for one in surfaces if (tokens := tuple(self(one)))]

    def _unelided(self, surface: str) -> str:
        """A word without the small one before its apostrophe (*œufs* of *d'œufs*); English has none such."""
        small, _, rest = surface.replace("’", "'").partition("'")
        elided = self._elides and len(rest) > 1 and fold(small.casefold()) in self._stop
        return rest if elided else surface

    def _joins_small_words(self, surface: str) -> bool:
        """Whether a word joins function words alone (*est-ce*, *C'è*); English has others so: *to-do*."""
        joined = "'" in surface or "’" in surface or (self.language != "en" and "-" in surface)
        return joined and self._stop.issuperset(phrase_words(surface))

    def of_phrase_word(self, word: str) -> str:
        """The token in the index of a word of :func:`notehop.indexing.tokens.words.words_in_order`."""
        return word if word[:1] == "." or word[-1:] in "+#" else self._stem(word)

    def weights(self, tokens: Iterable[str], words: LexicalIndex) -> dict[str, float]:
        """The weights of the tokens of :meth:`query`, with compounds that the vault has, and other spellings
        (`colour`, `color`), which weigh as much; other forms (`broke`) weigh less beside the word."""
        weights = compound_weights(tokens, self.language, self._stem, words)
        other = {
            two: weight * (part if words.frequency(one) else 1.0)
            for one, weight in weights.items()
            for two, part in self._alike.get(one, {}).items()
        }
        return {one: weight for one, weight in other.items() if words.frequency(one)} | weights

    def forms_of(self, token: str) -> frozenset[str]:
        """The other forms of an irregular word of the index."""
        own = self._alike.get(token, {})
        return frozenset(one for one, weight in own.items() if weight < 1.0)

    def compounds(self, word: str, words: LexicalIndex) -> list[str]:
        """The compounds of a vault that begin or end with a word, or begin with its first part and end with
        its last (`Haupthahn`: `Hauptwasserhahn`), whatever the vault's language; the shortest first."""
        known = _Compounds(self._stop, self._stem, words)
        found = {*known.holding(word), *known.around(word)}
        return sorted(found, key=lambda one: (len(one), -words.frequency(one), one))

    def _stem(self, word: str) -> str:
        """The stem of a word in small letters whose accents were folded before; what is no function word
        stays none (`DEEE`, `Seite`)."""
        stemmer = self._cyrillic if "\u0400" <= word[:1] < "\u0530" else self._latin
        if stemmer is None:
            return word
        written = word
        for plain, accented in self._endings.items():
            if word.endswith(plain):
                word = word[: -len(plain)] + accented
                break
        with self._lock:
            stem = fold(stemmer.stemWord(word))
        return written if stem in self._stop and written not in self._stop else stem

    def _learn(self, surface: str) -> tuple[str, ...]:
        if surface.isascii() and surface.isalpha() and surface[1:].islower():
            # Most words by far, in a quarter of the time; the rest of the rules come to the same.
            tokens: tuple[str, ...] = (self._stem(surface.lower()[:MAX_LENGTH]),)
        else:
            found = subwords(surface)
            if found.characters:
                # Runs seldom come again, and what repeats within one is to be counted.
                return found.kept + found.characters
            tokens = self._tokens(found)
        if len(surface) <= MAX_LENGTH:
            if len(self._known) >= _CACHED:
                self._known = {}
            self._known[surface] = tokens
        return tokens

    def _tokens(self, found: Subwords) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*found.kept, *map(self._stem, found.words))))


_remembered = lru_cache(maxsize=10_000)(subwords)


def _stemmer(language: str) -> Stemmer.Stemmer | None:
    # Its own cache of 10,000 words would repeat that of the tokenizer.
    return Stemmer.Stemmer(STEMMED[language]["stemmer"], 0) if language in STEMMED else None


def field_tokens(
    tokenizer: Tokenizer,
    *,
    title: str,
    aliases: Iterable[str],
    tags: Iterable[str],
    page_type: str | None,
    headings: Sequence[tuple[int, str]],
    content: str,
    linked: Iterable[str] = (),
) -> dict[str, tuple[str, ...]]:
    """The tokens of a chunk by field, in the order of :data:`FIELDS`; empty fields are left out.

    :param headings: (rank, text), rank from 1; the field h3 holds those of rank 3 and deeper.
    :param linked: names of the notes that its properties link to.
    """
    by_rank = ([text for at, text in headings if min(at, 3) == rank] for rank in (1, 2, 3))
    texts = ([title], aliases, tags, [page_type or ""], *by_rank, [content], linked)
    found = ((field, tokenizer("\n".join(said))) for field, said in zip(FIELDS, texts, strict=True))
    return {field: tuple(tokens) for field, tokens in found if tokens}


# German, Dutch and Swedish write `Roggenmehl` as one word, so that `Mehl` alone does not meet it. What is a
# word is told by the vault's own words: nothing of it is in the index.
COMPOUNDING = frozenset({"de", "nl", "sv"})
# Weight of a compound that holds a word asked for: it is found, after the word itself. Compounds are many
# and rare, so that more would outweigh the word (docs/decisions/words.md).
WITHIN = 0.1
KIN = 0.6  # the same of what is no compound, but a word of its family (allergisch, Allergie)
PART = 0.4  # weight of a word that is part of a compound asked for
MOST = 16  # compounds looked for a word, the commonest first: a word in more is too common to tell
_WORD = 4  # letters of a word that is looked for in compounds: shorter ones stand in too many others
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
            met = [
                (other, (KIN if _are_kin(token, other) else WITHIN) * weight)
                for other in compounds.holding(token)
            ]
            met += [(other, PART * weight) for other in compounds.held_by(token)]
            for other, much in met:
                added[other] = max(added.get(other, 0.0), much)
    return {**added, **weights}


def _are_kin(token: str, other: str) -> bool:
    """Whether a longer word differs from one by an ending alone."""
    return len(token) > _UNKNOWN and other.startswith(token) and len(other) < len(token) + _PIECE


class _Compounds:
    """Which compounds a vault has. ``small`` words are no pieces of any."""

    def __init__(self, small: frozenset[str], stem: Callable[[str], str], words: LexicalIndex) -> None:
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

    def around(self, token: str) -> list[str]:
        """The compounds that have another word between the first part of a compound and its last."""
        found = []
        for other in self._words.tokens_with(token[:_WORD]) if token.isalpha() else ():
            for cut in range(_WORD, len(token) - _WORD + 1):
                first, last = token[:cut], token[cut:]
                between = other.removeprefix(first).removesuffix(last)
                if f"{first}{between}{last}" == other and any(map(self._is_known, _without_link(between))):
                    found.append(other)
        return found

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
