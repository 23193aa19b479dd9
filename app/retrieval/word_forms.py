"""What a query says in another form than the notes: days, and words of which they have a compound only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import FIELDS, Tokenizer
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import named_days

if TYPE_CHECKING:
    from notehop.app.retrieval.relevance import Word

SHORTEST_PART = (
    6  # letters of a word whose compounds are searched for: shorter ones are in too many
)
LOOKED_AT = 8  # compounds whose spelling is looked up


def with_words(text: str, read: dict[str, str]) -> str:
    """A text with words in place of others, as written -> as searched for."""
    either = "|".join(map(re.escape, sorted(read, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: read[found[0]], text)


def compounds(
    words: Iterable[Word],
    view: Snapshot,
    tokenizer: Tokenizer,
    spelled: Callable[[Sequence[str]], Iterable[str]],
) -> dict[str, str]:
    """Words that stand nowhere in the vault -> the shortest compound there that they are part of, as it is
    written: "Widerspruch" is asked for where notes have "Widerspruchsfrist".

    :param spelled: the words of the passages that hold some tokens, in small letters.
    """
    found: dict[str, str] = {}
    for word in words:
        small = fold(word.written.lower())
        if not word.missing or len(small) < SHORTEST_PART or not small.isalpha():
            continue
        tokens = tokenizer.compounds(small, view.lexical)[:LOOKED_AT]
        by_token = {tuple(tokenizer(one)): one for one in sorted(spelled(tokens))} if tokens else {}
        one = next((by_token[token,] for token in tokens if (token,) in by_token), None)
        if one is not None:
            found[word.written] = one.capitalize() if word.written[0].isupper() else one
    return found


def days(text: str, view: Snapshot, tokenizer: Tokenizer) -> tuple[str, dict[str, str]]:
    """Read days whose month is a word as the notes write them in numbers, that nearest to today where no
    year is said; where no passage has the words, in their place, else beside them."""
    read: dict[str, str] = {}
    shown: dict[str, str] = {}
    index, today = view.lexical, date.today()

    def far(iso: str) -> int:
        # Nearly in days: notes have days that there are not.
        return abs((int(iso[:4]) - today.year) * 372 + (month - today.month) * 31 + day - today.day)

    for written, year, month, day in named_days(text):
        tail = f"-{month:02}-{day:02}"
        isos = [one for one in index.tokens_with(tail) if re.fullmatch(r"\d{4}" + tail, one)]
        end = "" if year is None else f".{year}"
        forms = sorted(isos, key=far) if year is None else [f"{year}{tail}"]
        forms += [f"{day:02}.{month:02}{end}", f"{day}.{month}{end}"]
        form = next((one for one in forms if index.frequency(one)), None)
        if form is not None:
            tokens = tokenizer(written)
            there = any(chain.from_iterable(index.holding(tokens, field) for field in FIELDS))
            read[written], shown[written] = form, f"{written} {form}" if there else form
    return with_words(text, shown) if shown else text, read
