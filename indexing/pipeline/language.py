"""The language of a vault, learnt from a sample of its notes.

Touches: vault-read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexing.tokens import detect_language
from indexing.vault.walk import FileEntry

SAMPLE = 200
"""Notes looked at, spread evenly over the vault."""

BEGINNING = 4_000
"""Bytes read of each of them."""


def language_of(root: Path, files: Sequence[FileEntry]) -> str:
    """Detect the language that most of the sampled text is in.

    :returns: a code of :data:`indexing.tokens.LANGUAGES`; English for no text.
    """
    step = max(1, len(files) // SAMPLE)
    return detect_language([_beginning(root / file.path) for file in files[::step]])


def _beginning(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(BEGINNING).decode("utf-8", errors="ignore")
    except OSError:
        # The run reads it again, and reports it as failed.
        return ""
