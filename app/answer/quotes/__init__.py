"""The words by which questions and answers are read, in several languages: ``words.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

WORD_LISTS: Mapping[str, Sequence[str]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text("utf-8")
)
"""Name of a list -> its words in several languages, folded."""


def by_language(kind: str) -> dict[str, re.Pattern[str]]:
    """Language -> an expression for the words of a kind in it; their lists are called so, with it behind."""
    return {
        name.removeprefix(kind): re.compile(rf"\b(?:{'|'.join(words)})\b")
        for name, words in WORD_LISTS.items()
        if name.startswith(kind)
    }
