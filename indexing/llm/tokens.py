"""Counts tokens as the model that is set does, where its tokenizer is on this disk; else by a rule.

Nothing is ever fetched for it.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from functools import cache
from hashlib import sha1
from math import ceil
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.config import Settings

LETTERS_PER_TOKEN = 3.5
SPACES_PER_TOKEN = 8
BYTES_PER_TOKEN = 1.3
"""What a token holds at least: letters and spaces of ASCII, and bytes of other scripts; each digit
and each sign counts as a token. By the two tokenizers of OpenAI that come with LlamaIndex, no note
of 730 (prose, tables, code, lists of versions) has more tokens than this says; half of them have
0.67 to 0.91 as many. Smaller vocabularies take up to a sixth more, which is why it is no closer."""

_LETTERS = [letter.encode() for letter in ascii_letters]

_LOADING = threading.Lock()
_VARIABLE = "TIKTOKEN_CACHE_DIR"


class TokenCounter:
    """Counts by a rule that rather counts too many."""

    exact = False
    """Whether it counts as the model itself does; else it is an upper bound."""

    def count(self, text: str) -> int:
        """Tokens of a text, at most."""
        plain = text.encode("ascii", "ignore")
        letters = sum(map(plain.count, _LETTERS))
        spaces = plain.count(b" ")
        signs = len(plain) - letters - spaces
        others = len(text.encode("utf-8", "surrogatepass")) - len(plain)
        return ceil(
            letters / LETTERS_PER_TOKEN
            + spaces / SPACES_PER_TOKEN
            + signs
            + others / BYTES_PER_TOKEN
        )


class EncodingCounter(TokenCounter):
    """Counts by an encoding of OpenAI that comes with LlamaIndex; nothing is loaded before."""

    exact = True

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(_loaded(self._encoding).encode(text, disallowed_special=()))


def counter(settings: Settings) -> TokenCounter:
    """What counts for the model that the settings name; nothing is loaded yet."""
    if settings.llm.provider == "openai":
        import tiktoken

        with suppress(KeyError):
            name = tiktoken.encoding_name_for_model(settings.llm.model)
            # The name that the library gives the file in its cache.
            address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
            if (_folder() / sha1(address.encode(), usedforsecurity=False).hexdigest()).is_file():
                return EncodingCounter(name)
    return TokenCounter()


def _folder() -> Path:
    from llama_index import core

    return Path(core.__path__[0], "_static", "tiktoken_cache")


@cache
def _loaded(name: str) -> Any:
    import tiktoken

    # tiktoken knows no other way than a variable to a folder; left to itself it would fetch the file.
    with _LOADING:
        before = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = os.fspath(_folder())
        try:
            return tiktoken.get_encoding(name)
        finally:
            os.environ.pop(_VARIABLE)
            if before is not None:
                os.environ[_VARIABLE] = before
