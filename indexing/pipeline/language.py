"""The languages of a vault, learnt from a sample of its notes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from notehop.config import Settings
from notehop.indexing.embed.models import (
    INSTALL,
    INSTALLED,
    MULTILINGUAL_NAME,
    canonical_name,
    languages_read,
)
from notehop.indexing.graph.files import is_note
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.tokens.words import NAMES, detect_language

SAMPLE = 200  # notes looked at, spread evenly over the vault
BEGINNING = 4_000  # bytes read of each of them


def language_for(root: Path, paths: Sequence[str], default: str = "en") -> str:
    """The language of most of the notes among some paths, by a sample of their files; the default where
    they do not tell."""
    texts: list[str] = []
    notes = sorted(filter(is_note, paths))
    for path in notes[:: -(-len(notes) // SAMPLE) or 1]:
        # The run reads it again, and reports it as failed.
        with suppress(OSError), (root / path).open("rb") as stream:
            texts.append(stream.read(BEGINNING).decode("utf-8", errors="ignore"))
    return detect_language(texts, default)


def advice(root: Path, settings: Settings, view: CatalogSnapshot) -> tuple[str, ...]:
    """What helps to find notes whose files are mostly in a language by now: by words, where the index was
    made for another, and by meaning, where the model does not read it."""
    automatic, model = settings.lexical.language == "auto", settings.embedding.model
    made_for = (view.fingerprint or {}).get("language") if automatic else None
    language = language_for(root, view.indexed_paths(), made_for or "en")
    named, lines = NAMES[language], list[str]()
    if made_for is not None and language not in (made_for, "und"):
        lines.append(
            f"most notes are in {named}, and the index was made for {NAMES.get(made_for, made_for)}; "
            "to find them by their words, run: notehop index --rebuild"
        )
    read = languages_read(model)
    if read is not None and language not in read:
        install = "" if find_spec(INSTALLED[MULTILINGUAL_NAME].package) else f"{INSTALL}; then "
        said = f"most notes are in {named}, which {canonical_name(model)} does not read; to"
        if language == "und":
            said = (
                "what language most notes are in cannot be told; if it is English, write language = "
                f'"en" below [lexical] in notehop.toml; if {canonical_name(model)} does not read it, to'
            )
        lines.append(
            f"{said} find them by meaning, {install}"
            f'write model = "{MULTILINGUAL_NAME}" below [embedding] '
            "in notehop.toml, and run: notehop index --rebuild"
        )
    return tuple(lines)
