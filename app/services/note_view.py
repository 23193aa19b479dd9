"""Reads one note as it is now: its text or a section, its outline, and the links around it.

Touches: index (reads), vault-read.
"""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import dirname

from notehop.app.answer.uri import open_uri
from notehop.app.models import NoteLink, NoteView, OutlineEntry
from notehop.app.services.around import LEADING, leads
from notehop.app.services.mentions import mentions_of
from notehop.app.services.named import LONGEST, address_of, listed, notes_meant, shown
from notehop.app.services.place import Place
from notehop.app.services.standing import Standing
from notehop.app.services.summary import own_summary
from notehop.config.errors import NoteMissing, UsageError
from notehop.indexing.changes import scan
from notehop.indexing.enrich.summaries import Summaries, Summary
from notehop.indexing.graph.fragments import Outline, find_fragment, outline_of_note
from notehop.indexing.graph.names import NOTE_SUFFIX, is_note
from notehop.indexing.reading import Read, read_note
from notehop.indexing.shown import without_marks
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import LinkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.walk import FileEntry

COMMENTS = ("%%", "<!--")
"""How what nobody is to see begins."""

MAX_NAME = 255
"""Bytes of a name: what most disks take."""

_NAMED = 5
"""Headings that a message names."""


def note_view(
    view: Snapshot,
    catalog: CatalogReads,
    place: Place,
    tokenizer: Tokenizer,
    said: str,
    *,
    section: str | None = None,
    mentions: bool = True,
) -> NoteView:
    """Read a note.

    :param said: its path, title, alias or name; a note that is not indexed yet has its path only.
    :param section: a heading, headings down to one (``A > B`` or ``A#B``), or ``^block``.
    :param mentions: whether to look for places that say its name without a link.
    :raises NoteMissing: if there is no such note or section, or it is kept out of the index.
    :raises UsageError: if several notes are meant.
    """
    now = Standing(view, place)
    read = _read(view, catalog, place, now, said)
    assert read.note is not None
    path, note = read.file.path, read.note
    row = view.note(path)
    lines = _lines(note)
    address = address_of(said) if section is None and not _is_name(said, path, note) else None
    if address is not None and address.lines is not None:
        part, first, last = _named_lines(note, address.lines, said)
    else:
        part, first, last = _part(note, section or (address.section if address else None), said)
    links, backlinks = _links(view, now, path)
    summed_up = _summary(place, row, read)
    found, count = mentions_of(view, place, tokenizer, note) if mentions else ([], 0)
    return NoteView(
        path=path,
        title=note.title,
        folder=dirname(path),
        aliases=list(note.aliases),
        tags=list(note.tags),
        page_type=note.page_type,
        created=note.created,
        modified=note.modified if note.modified is not None else read.file.mtime_ns / 1e9,
        section=part,
        lines=(first, last),
        text="\n".join(lines[first - 1 : last]),
        outline=[
            OutlineEntry(level=one.level, heading=one.plain, line=one.line) for one in note.headings
        ],
        links=links,
        backlinks=backlinks,
        unlinked_mentions=found,
        mention_count=count,
        changed=_is_changed(row, read),
        summary=None if summed_up is None else summed_up.text,
        summary_by=None if summed_up is None else summed_up.model,
        uri=open_uri(place.name, path, [part] if part and not part.startswith("^") else ()),
        generation=view.generation,
    )


def _summary(place: Place, row: NoteRow | None, read: Read) -> Summary | None:
    """The owner's summary as the file is now, else that of the index if it still fits."""
    assert read.note is not None
    own = own_summary(read.note.front_matter)
    if own is not None:
        return Summary(own)
    if row is None or _is_changed(row, read):
        return None
    return Summaries(place.layout).of([row]).get(row.path)


def _read(view: Snapshot, catalog: CatalogReads, place: Place, now: Standing, said: str) -> Read:
    """The note that is meant, read from its file.

    :raises NoteMissing: if there is none that may be shown.
    """
    try:
        meant = notes_meant(view, catalog, now, said)
    except NoteMissing:
        address = address_of(said)
        fresh = _fresh(place, said)
        if fresh is None and address is not None:
            fresh = _fresh(place, address.name)
        if fresh is None:
            raise
        return fresh
    if len(meant) > 1:
        raise UsageError(
            f"{shown(said)}: {len(meant)} notes: {listed(meant)}; name one by its path"
        )
    read = _file(place, meant[0])
    if read is None:
        raise NoteMissing(f"{shown(said)}: no note of this vault")
    return read


def _fresh(place: Place, said: str) -> Read | None:
    """A note at just this path that the index does not know yet; None if there is none."""
    path = said.strip()
    parts = path.split("/")
    if len(path) > LONGEST or "\0" in path or "\\" in path:
        return None
    if any(
        not part or part.startswith(".") or len(part.encode("utf-8", "replace")) > MAX_NAME
        for part in parts
    ):
        return None
    return _file(place, path if is_note(path) else f"{path}{NOTE_SUFFIX}")


def _file(place: Place, path: str) -> Read | None:
    """A file of the vault as the index would read it; None if it would not, or cannot."""
    file = _entry(place, path)
    limit = place.settings.vault.max_note_bytes
    if file is None or file.size > limit:
        return None
    read = read_note(place.vault, file, "", comment_links=place.settings.vault.comment_links)
    return read if read.note is not None and read.note.excluded is None else None


def _entry(place: Place, path: str) -> FileEntry | None:
    found = scan(place.vault, place.settings.vault, within=[path])
    return next(
        (
            file
            for file in found.files
            if file.path == path and file.kind == "note" and file.excluded is None
        ),
        None,
    )


def _lines(note: Note) -> list[str]:
    """The lines of a note as a reader sees them: comments are left out, their line breaks kept."""
    parts: list[str] = []
    at = 0
    for edit in note.edits:
        hidden = note.text[edit.start : edit.end]
        if hidden.lstrip().startswith(COMMENTS):
            parts += [note.text[at : edit.start], "\n" * hidden.count("\n")]
            at = edit.end
    return "".join([*parts, note.text[at:]]).removesuffix("\n").split("\n")


def _part(note: Note, section: str | None, said: str) -> tuple[str | None, int, int]:
    """The name of the part that is asked for (None for the whole), its first and last line."""
    outline = outline_of_note(note)
    if section is None or not section.strip():
        return None, 1, max(1, outline.line_count)
    wanted = section.strip().removeprefix("#")
    span = find_fragment(outline, wanted) or find_fragment(outline, wanted.replace(" > ", "#"))
    if span is None:
        raise NoteMissing(f"{shown(said)}: no section {shown(section)}{_headings(outline)}")
    starts = {one.line: one.plain for one in note.headings}
    return starts.get(span.first_line, wanted), span.first_line, span.last_line


def _is_name(said: str, path: str, note: Note) -> bool:
    """Whether a note is called just so, whatever an address looks like."""
    return said.strip() in (path, path.removesuffix(NOTE_SUFFIX), note.title, *note.aliases)


def _named_lines(note: Note, lines: tuple[int, int], said: str) -> tuple[None, int, int]:
    """The lines of an address; those that the note has no more are left out."""
    count = max(1, outline_of_note(note).line_count)
    first, last = lines
    if not 1 <= first <= last or first > count:
        raise NoteMissing(f"{shown(said)}: the note has lines 1 to {count}")
    return None, first, min(last, count)


def _headings(outline: Outline) -> str:
    names = [shown(text) for _, text, _ in outline.headings if text.strip()]
    return f"; its headings are {listed(names, _NAMED)}" if names else "; it has no headings"


def _links(view: Snapshot, now: Standing, path: str) -> tuple[list[NoteLink], list[NoteLink]]:
    backward = [
        link for link in view.links_to([path]) if link.path != path and leads(view, link) == path
    ]
    return _as_links(now.leading(now.links_from([path]))), _as_links(now.still(backward))


def _as_links(links: Iterable[LinkRow]) -> list[NoteLink]:
    return [
        NoteLink(
            source=link.path,
            line=link.line,
            raw=link.raw,
            kind=link.kind,
            status=link.status,
            # Where a note that is kept out lies is for nobody to see.
            target=link.target_path if link.status in LEADING else None,
            sentence=without_marks(link.sentence),
            fragment=link.fragment,
        )
        for link in links
    ]


def _is_changed(row: NoteRow | None, read: Read) -> bool:
    return row is None or row.content_hash != read.content_hash
