"""The words that tell a theme from the rest of the vault. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import log

from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.tokens.words import split_words

MOST = 8
"""Words of a theme: more do not fit a line, and say little."""

_SPARE = 4
"""Tokens looked at for each word: of some no word can be shown."""

_SHORTEST = 3
"""Letters of a word in a script with letters; shorter ones are abbreviations of everything."""

_FIELDS = ("h1", "h2", "h3", "content")
"""What a passage says. Titles and tags stand with each passage of a note, and would count as often
as it has passages."""


def telling_tokens(
    passages: Mapping[str, Sequence[Collection[str]]],
    frequency: Callable[[str], int],
    total: int,
    passed_over: Collection[str] = (),
) -> list[str]:
    """The tokens that are more frequent in some notes than in the vault, the most telling first.

    Told by ``p * log(p / q)`` for a share p of the notes' passages and q of the vault's that hold a
    token: what it adds to the divergence of the two (Kullback and Leibler 1951). Plain tf-idf lets
    words win that are frequent everywhere.

    :param passages: note -> the tokens of each of its passages. A token that only one note of
        several holds is no theme.
    :param frequency: token -> passages of the vault that hold it.
    :param total: passages of the vault.
    """
    holding: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for own in passages.values():
        sets = [frozenset(one) for one in own]
        holding.update(token for one in sets for token in one)
        notes.update(frozenset().union(*sets))
    count = sum(map(len, passages.values()))
    least = min(2, len(passages))
    scores: dict[str, float] = {}
    for token, passages_with in holding.items():
        if notes[token] < least or token in passed_over or not _says_something(token):
            continue
        share = passages_with / count
        gain = log(share * total / max(frequency(token), passages_with))
        if gain > 0:
            scores[token] = share * gain
    return sorted(scores, key=lambda token: (-scores[token], token))[: MOST * _SPARE]


def as_written(tokens: Sequence[str], texts: Iterable[str], tokenizer: Tokenizer) -> list[str]:
    """The words that stand for tokens, as the texts write them most often; at most :data:`MOST`.

    A token that is no word of the texts by itself, such as a part of a compound, is left out; a
    pair of characters of a script without spaces is its own word.
    """
    wanted = frozenset(tokens)
    spelt: dict[str, Counter[str]] = {token: Counter() for token in tokens}
    for text in texts:
        for surface in split_words(text):
            found = tokenizer(surface)
            if len(found) == 1 and found[0] in wanted:
                spelt[found[0]][surface] += 1
    words: list[str] = []
    for token in tokens:
        if counts := spelt[token]:
            words.append(_spelling(counts))
        elif _unspaced(token):
            words.append(token)
    return list(dict.fromkeys(words))[:MOST]


def content_tokens(fields: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """The tokens of what a passage says, from its tokens by field."""
    return frozenset(token for field in _FIELDS for token in fields.get(field, ()))


@lru_cache(maxsize=4)
def small_words(tokenizer: Tokenizer) -> frozenset[str]:
    """The tokens of words that say nothing: those of the vault's language, and of English."""
    small = FUNCTION_WORDS.get(tokenizer.language, frozenset()) | FUNCTION_WORDS["en"]
    return frozenset(token for word in sorted(small) for token in tokenizer(word))


def _spelling(counts: Counter[str]) -> str:
    """Small letters, unless the word is a name: mostly written with capitals."""
    capital = sum(count for word, count in counts.items() if word[:1].isupper())
    small = Counter({word: count for word, count in counts.items() if not word[:1].isupper()})
    chosen = counts if 2 * capital > sum(counts.values()) or not small else small
    return min(chosen, key=lambda word: (-chosen[word], word))


def _says_something(token: str) -> bool:
    if _unspaced(token):
        return True
    return len(token) >= _SHORTEST and not any(char.isdigit() for char in token) and token.isalpha()


def _unspaced(token: str) -> bool:
    return len(token) == 2 and token[0] >= "\u3040" and token[0].isalpha()
