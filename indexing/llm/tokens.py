"""Counts tokens as the model that is set does, where its tokenizer is on this disk; else by a rule.

Nothing is ever fetched for it.

Touches: model (reads tokenizers).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Protocol

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

_TIKTOKEN_FOLDER = "TIKTOKEN_CACHE_DIR"


class TokenCounter(Protocol):
    """Counts tokens; ``exact`` is whether as the model itself does, else it is an upper bound."""

    exact: bool

    def count(self, text: str) -> int:
        """Tokens of a text."""


class Estimate:
    """Counts by a rule that rather counts too many."""

    exact = False

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


class ByEncoding:
    """Counts by an encoding of OpenAI whose file is on this disk."""

    exact = True

    def __init__(self, encoding: str) -> None:
        """Load nothing yet."""
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(_loaded(self._encoding).encode(text, disallowed_special=()))


def counter(settings: Settings) -> TokenCounter:
    """What counts for the model that the settings name; nothing is loaded yet."""
    llm = settings.llm
    if llm.provider == "openai" and (encoding := _encoding_of(llm.model)) is not None:
        return ByEncoding(encoding)
    return Estimate()


def _encoding_of(model: str) -> str | None:
    """The encoding of a model of OpenAI; None if it is unknown, or its file is not on this disk."""
    import tiktoken

    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return None
    # The name that the library gives the file in its cache.
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    file = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    return name if (_folder() / file).is_file() else None


def _folder() -> Path:
    """The tokenizers that come with LlamaIndex."""
    from llama_index import core

    return Path(core.__path__[0], "_static", "tiktoken_cache")


@cache
def _loaded(name: str) -> Any:
    import tiktoken

    with _LOADING, _tiktoken_files(_folder()):
        return tiktoken.get_encoding(name)


@contextmanager
def _tiktoken_files(folder: Path) -> Iterator[None]:
    """Have encodings looked for in a folder, for as long as one is loaded.

    tiktoken knows no other way than a variable; left to itself it would fetch them.
    """
    before = os.environ.get(_TIKTOKEN_FOLDER)
    os.environ[_TIKTOKEN_FOLDER] = os.fspath(folder)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_TIKTOKEN_FOLDER, None)
        else:
            os.environ[_TIKTOKEN_FOLDER] = before
