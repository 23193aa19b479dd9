"""The link report: every link of parsed notes and where it leads, without index or model."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from notehop.config.errors import UsageError
from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.graph.fragments import Outline, outline_of_note
from notehop.indexing.graph.model import ResolvedLink
from notehop.indexing.graph.resolve import resolve_link
from notehop.indexing.vault.model import Note


def link_report(
    notes: Mapping[str, Note], files: VaultFiles, only: str | None = None
) -> list[ResolvedLink]:
    """Resolve the links of all notes, or of one.

    :param notes: path -> note, of every note whose links or headings matter; fragments are looked
        for in these only.
    :param only: path of the one note whose links to report.
    :returns: by path of the source, then in text order (properties where they stand); empty
        without links.
    :raises UsageError: if there is no note ``only``.
    """
    if only is not None and only not in notes:
        raise UsageError(
            f"{only}: no such note in this vault; give its path as in {_example(notes)}"
        )
    outlines: dict[str, Outline] = {}

    def outline_of(path: str) -> Outline | None:
        if path not in outlines and path in notes:
            outlines[path] = outline_of_note(notes[path])
        return outlines.get(path)

    return [
        resolve_link(files, source, link, outline_of)
        for source in (sorted(notes) if only is None else [only])
        for link in sorted(notes[source].links, key=attrgetter("start"))
    ]


def _example(notes: Mapping[str, Note]) -> str:
    return min(notes, default="folder/Note.md")
