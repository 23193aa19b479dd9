"""Counting as the model counts: tokens of a text with their places, without torch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from notehop.config.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from notehop.indexing.embed.packed import UnigramTokenizer

MIN_ROOM = 16
"""Fewer tokens than this cannot hold a passage that means anything."""

_LONG_WORD = 64
_WORDS_KEPT = 500_000


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
        self._prompt = prompt
        self._words: dict[str, int] | None = {} if _splits_at_blanks(tokenizer) else None
        self.specials: int = tokenizer.num_special_tokens_to_add(False)
        """Special tokens that the model puts around each text."""
        # A prompt may merge with the text at the seam, or not: one token to be safe.
        seam = len(self(prompt)) + 1 if prompt else 0
        self.overhead: int = self.specials + seam
        """Tokens of the window that the special tokens and the prompt take."""

    def __call__(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def size(self, text: str) -> int:
        """Return how many tokens a text has, without special tokens and prompt.

        Where the tokenizer looks at each word by itself, known words are looked up: tokenizing a
        vault a second time would cost a tenth of embedding it.
        """
        if self._words is None:
            return len(self(text))
        words = text.split()
        try:
            return sum(map(self._words.__getitem__, words))
        except KeyError:
            return sum(map(self._size_of_word, words))

    def _size_of_word(self, word: str) -> int:
        if self._words is None or len(word) > _LONG_WORD:
            return len(self(word))
        size = self._words.get(word)
        if size is None:
            if len(self._words) >= _WORDS_KEPT:
                self._words.clear()
            size = self._words[word] = len(self(word))
        return size

    def count(self, text: str) -> int:
        """Return how many tokens the model sees for a text, prompt and special tokens included."""
        return len(self._tokenizer.encode(self._prompt + text).ids)

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


def _splits_at_blanks(tokenizer: Tokenizer | UnigramTokenizer) -> bool:
    """Whether blanks always end a token and leave none: so it is for BERT and its kin."""
    if not hasattr(tokenizer, "to_str"):
        return True
    kind = (json.loads(tokenizer.to_str()).get("pre_tokenizer") or {}).get("type")
    return kind in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")


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
