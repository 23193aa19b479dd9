"""Captures a text as a new note of a vault.

Touches: vault-write (one new file, and the folder for it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from notehop.config.errors import QueryError
from notehop.indexing.capture.name import file_name, safe, title_of
from notehop.indexing.capture.text import note_text, says_something, tag_names
from notehop.indexing.capture.write import write_new
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import parse_note


@dataclass(frozen=True, slots=True)
class Kept:
    """A note that was written; ``path`` is relative to the vault, ``note`` what it says."""

    path: str
    note: Note


def keep(
    vault: Path,
    folder: str,
    text: str,
    *,
    title: str | None = None,
    tags: Sequence[str] = (),
    now: datetime,
) -> Kept:
    """Write a text as a new note, named by time and title.

    A title that the name of a file cannot say whole is kept as a property.

    :param folder: relative to the vault, with ``/``.
    :param title: None or blank takes the one that the text's properties name, else its first line.
    :param now: the time on the wall.
    :raises QueryError: if nothing is left of the text that a file can hold, or a tag is none.
    :raises VaultError: if the vault is not there.
    :raises CaptureFailed: if the note cannot be written; then nothing is.
    """
    if not says_something(text):
        raise QueryError("there is nothing to keep: the text is empty; give it some words")
    given = " ".join((title or "").split())
    said = parse_note("", text.encode("utf-8", "replace"))
    named = given or said.title or title_of(said)
    whole = safe(given) == given and file_name(given, now).endswith(f" {given}.md")
    data = note_text(
        text, title=None if not given or whole else given, tags=tag_names(tags), now=now
    )
    path = write_new(vault, folder, partial(file_name, named, now), data)
    return Kept(path, parse_note(path, data.encode()))
