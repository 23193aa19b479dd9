"""What the rest of notehop asks of an embedding model, torch or none: its vectors, and its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from notehop.config.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from notehop.indexing.embed.packed import UnigramTokenizer

Vectors = npt.NDArray[np.float32]  # (n, d) or (d,), float32, each of length 1

Kind = Literal["query", "passage"]
"""What a text is to the model, which may want a prompt of its own before each."""

OnBatch = Callable[[int], None]  # called after each batch with the number of passages done so far
LONGEST_KEPT = 64  # characters of a word whose tokens are remembered: a picture may be one "word"
COMMONEST = 5  # part of a vocabulary whose words people use every day, whatever they speak of
MIN_ROOM = 16  # fewer tokens than this cannot hold a passage that means anything


class TokenOffsets:
    """The model's own tokenizer.

    Calling it gives the (start, end) of each token in characters of the text, in order, without
    special tokens and prompt; empty for a text of blanks.
    """

    def __init__(self, tokenizer: Tokenizer | UnigramTokenizer, prompt: str = "") -> None:
        """:param tokenizer: one that neither truncates nor pads.
        :param prompt: what the model sees before each text.
        """
        self._tokenizer = tokenizer
        # Whether blanks always end a token and leave none: so it is for BERT and its kin.
        self._by_words = True
        if hasattr(tokenizer, "pre_tokenizer"):
            kind = type(tokenizer.pre_tokenizer).__name__
            self._by_words = kind in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")
        # To tokenize a vault a second time would cost a tenth of embedding it.
        self._size_of_word = lru_cache(maxsize=200_000)(lambda word: len(self(word)))
        self.specials: int = tokenizer.num_special_tokens_to_add(False)
        """Special tokens that the model puts around each text."""
        # A prompt may merge with the text at the seam, or not: one token to be safe.
        self.overhead: int = self.specials + (len(self(prompt)) + 1 if prompt else 0)
        """Tokens of the window that the special tokens and the prompt take."""

    def __call__(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def size(self, text: str) -> int:
        """Return how many tokens a text has, without special tokens and prompt."""
        if not self._by_words:
            return len(self(text))
        return sum(
            self._size_of_word(word) if len(word) <= LONGEST_KEPT else len(self(word))
            for word in text.split()
        )

    def is_common(self, word: str) -> bool:
        """Whether a word is an everyday one of its language: one piece, of the first fifth of a vocabulary
        that has the commonest first."""
        ids = self._tokenizer.encode(word.lower(), add_special_tokens=False).ids
        return len(ids) == 1 and COMMONEST * ids[0] < self._tokenizer.get_vocab_size()

    def room(self, window: int, limit: int = 0) -> int:
        """Return how many tokens of a text fit.

        :param window: tokens that the model sees at once.
        :param limit: what the settings allow a chunk; 0 means the window.
        :raises ModelError: if prompt and special tokens leave no room.
        """
        left = window - self.overhead
        if left < MIN_ROOM:
            raise ModelError(
                f"the prompt takes {self.overhead} of the {window} tokens that the model sees at "
                "once and leaves no room for a text; shorten embedding.passage_prompt"
            )
        return min(left, max(limit, MIN_ROOM)) if limit else left


def read_tokenizer(text: str, named: object) -> Tokenizer:
    """Read what a ``tokenizer.json`` says; without truncation and padding.

    :param named: where it comes from, for a message.
    :raises ModelError: if it is no tokenizer.
    """
    from tokenizers import Tokenizer

    try:
        found = Tokenizer.from_str(text)
    except Exception as exc:  # the library raises no other
        raise ModelError(f"{named}: is no tokenizer of this library's version ({exc})") from exc
    found.no_padding()
    found.no_truncation()
    return found


class BulkEmbedder(Protocol):
    """Embeds passages: torch, the exported model, or the workers of a cluster."""

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages, cut at the window: (n, d), in the order of ``texts``; (0, d) for none."""


class Embedder(BulkEmbedder, Protocol):
    """A model that notes are cut for, and embedded by."""

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""

    @property
    def max_tokens(self) -> int:
        """Tokens the model sees at once, special tokens and prompt included."""

    @property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer; it knows the passage prompt."""

    def identity(self) -> dict[str, Any]:
        """Return what the fingerprint of an index names."""
