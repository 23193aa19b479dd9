"""What a chunk is before it is stored: its text, its place, its name. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from notehop.indexing.stores.model import ChunkId, ChunkKind

CHUNKER = "sections-2"
"""Names the rules by which notes are cut; an index made by others has to be rebuilt."""


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a note, ready to be embedded.

    The drafts of a note's text tile ``Note.text[body_start:]``: ``start`` and ``end`` are offsets
    of one after the other; those of its properties come behind them. ``first_line`` and
    ``last_line`` are those of its first and last character that is not blank. ``heading_path`` says
    where it stands, outermost first; ``headings`` holds (rank, text) of the headings above and
    inside it, in order. ``body`` is what is shown, ``embedded`` what the model sees.
    """

    id: ChunkId
    ordinal: int
    heading_path: tuple[str, ...]
    headings: tuple[tuple[int, str], ...]
    start: int
    end: int
    first_line: int
    last_line: int
    body: str
    embedded: str
    kind: ChunkKind = "text"

    @property
    def embedded_hash(self) -> str:
        """Name of the embedded text: equal hash, equal vector, whatever note it is in."""
        return hashlib.sha256(self.embedded.encode()).hexdigest()[:32]


def embedded_text(title: str, heading_path: Sequence[str], body: str) -> str:
    """Return what the model sees of a chunk: ``Title - A > B``, and the body on the next line.

    Without headings it is the title alone; a first heading that repeats the title is left out.
    """
    prefix = embedded_prefix(title, heading_path)
    return f"{prefix}\n{body}" if body else prefix


def embedded_prefix(title: str, heading_path: Sequence[str]) -> str:
    """Return the first line of :func:`embedded_text`; blanks in it are single spaces."""
    said = " ".join(title.split())
    path = [" ".join(heading.split()) for heading in heading_path]
    if path and path[0].casefold() == said.casefold():
        del path[0]
    return f"{said} - {' > '.join(path)}" if path else said


def chunk_id(path: str, anchor: Sequence[str], occurrence: int, embedded: str) -> ChunkId:
    """Name a chunk by the note, the headings it stands under and its embedded text.

    :param occurrence: 0, or how many chunks of the note before it have all of that in common.
    :returns: 32 hexadecimal digits.
    """
    whole = json.dumps([path, list(anchor), occurrence, embedded])
    return hashlib.sha256(whole.encode()).hexdigest()[:32]
