"""What differs between the vault as it was walked and the notes the catalog knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from notehop.config.errors import MassDeletion, NotehopError
from notehop.config.settings import VaultSettings
from notehop.indexing.display import counted
from notehop.indexing.graph.files import NOTE_SUFFIX, is_pdf
from notehop.indexing.stores.catalog_read import CatalogReads, FileStamp
from notehop.indexing.stores.rows import NoteStatus
from notehop.indexing.vault.pdf import INSTALL, is_installed
from notehop.indexing.vault.walk import FileEntry, Walk, read_ignore_filters, walk


@dataclass(frozen=True, slots=True)
class Changes:
    """Notes by what has to be done with them; with all others there is nothing to do.

    ``read``: new, or other in size or time. ``retry``: looks the same, but could not be read before,
    or may be another one all the same. ``skip``: a row with this reason has to be written. ``gone``:
    in the catalog only. Of files that are no notes, ``attach`` maps the new or otherwise excluded
    ones to whether they are kept out, ``detach`` are gone.
    """

    read: tuple[FileEntry, ...]
    retry: tuple[FileEntry, ...]
    skip: tuple[tuple[FileEntry, str], ...]
    gone: tuple[str, ...]
    attach: Mapping[str, bool] = field(default_factory=dict)
    detach: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether something has to be written."""
        return bool(self.read or self.skip or self.gone or self.attach or self.detach)

    @property
    def pending(self) -> int:
        """How many notes the index is behind; one that failed and looks the same is not."""
        return len(self.read) + len(self.skip) + len(self.gone)


MAX_PDF_BYTES = 100_000_000  # larger ones are skipped with a reason


def scan(vault: Path, settings: VaultSettings, within: Iterable[str] | None = None) -> Walk:
    """:func:`walk` a vault with the exclusions of its settings and of its app.

    :raises VaultError: if it is not there or cannot be listed.
    """
    pdfs = settings.pdf and is_installed()
    others = {".canvas": settings.canvas, ".base": settings.bases, ".pdf": pdfs}
    return walk(
        vault,
        within,
        exclude=settings.exclude,
        ignore_filters=read_ignore_filters(vault),
        suffixes=(NOTE_SUFFIX, *(suffix for suffix, is_read in others.items() if is_read)),
    )


def too_large(file: FileEntry, max_note_bytes: int) -> str | None:
    """Why a file is not read, if it is too large to be."""
    pdf = is_pdf(file.path)
    limit, kind = (MAX_PDF_BYTES, "PDFs") if pdf else (max_note_bytes, "notes")
    if file.size <= limit:
        return None
    return f"{file.size / 1e6:.1f} MB, and {kind} above {limit / 1e6:.1f} MB are skipped"


def is_unchanged(
    vault: Path, settings: VaultSettings, catalog: CatalogReads, path: str, content_hash: str
) -> bool:
    """Whether a note is in the index, and on the disk, with the content that it had.

    One that was made private or excluded a moment ago is not.
    """
    # Not above: who only counts changes does without the Markdown parser.
    from notehop.indexing.vault.parse import read_note

    row = catalog.note(path)
    if row is None or row.status is not NoteStatus.INDEXED or row.content_hash != content_hash:
        return False
    try:
        found = scan(vault, settings, within=[path]).files
    except NotehopError:
        return False
    file = next((one for one in found if one.path == path), None)
    if file is None or file.excluded is not None or too_large(file, settings.max_note_bytes):
        return False
    read = read_note(vault, file, content_hash, comment_links=settings.comment_links)
    return read.problem is None and read.note is None


def unread_pdfs(attachments: Mapping[str, bool], settings: VaultSettings) -> str | None:
    """A line on the PDFs that are not read for want of the extra, if there are any.

    :param attachments: path -> whether it is kept out.
    """
    count = sum(is_pdf(path) and not kept_out for path, kept_out in attachments.items())
    if not count or not settings.pdf or is_installed():
        return None
    return (
        f"not read: {counted(count, 'PDF')}; {INSTALL}, and index again, to read them; "
        "or write pdf = false below [vault] in notehop.toml"
    )


def compare(
    found: Walk,
    known: Mapping[str, FileStamp],
    attachments: Mapping[str, bool],
    max_note_bytes: int,
    *,
    recent_ns: int | None = None,
    named: Collection[str] = (),
) -> Changes:
    """Sort the files by what has to be done with them, by size and time. Pure.

    :param found: a walk. What is below a folder that could not be listed is not gone: it stays.
    :param known: path -> stamp of every note of the catalog that the walk could have found.
    :param attachments: path -> whether it is kept out, of every other file likewise.
    :param recent_ns: notes changed at this time or later are to be read again though size and time
        are known: they may have been written twice in one tick of the disk's clock.
    :param named: paths of which a change was reported. They are to be read again, and so is a note
        of the size and time of one that is gone: that may have been moved over it.
    """
    read: list[FileEntry] = []
    retry: list[FileEntry] = []
    skip: list[tuple[FileEntry, str]] = []
    attach: dict[str, bool] = {}
    # A file can change sides: of a canvas the settings say which it is.
    there = {
        kind: {file.path for file in found.files if file.kind == kind} for kind in ("note", "attachment")
    }
    away = sorted(known.keys() - there["note"])
    moved = {(known[path].size, known[path].mtime_ns) for path in away}
    for file in found.files:
        if file.kind != "note":
            if attachments.get(file.path) is not bool(file.excluded):
                attach[file.path] = bool(file.excluded)
            continue
        row = known.get(file.path)
        reason = file.excluded or too_large(file, max_note_bytes)
        if reason is not None:
            if row is None or row.reason != reason:
                skip.append((file, reason))
            continue
        new = row is None or (row.size, row.mtime_ns) != (file.size, file.mtime_ns)
        if row is None or new or not (row.content_hash or row.status is NoteStatus.FAILED):
            # The last one was kept out unread, and is not any more.
            read.append(file)
        elif (
            not row.content_hash
            or (recent_ns is not None and file.mtime_ns >= recent_ns)
            or file.path in named
            or (file.size, file.mtime_ns) in moved
        ):
            retry.append(file)
    hidden = below(found.unlisted)
    gone_files = sorted(attachments.keys() - there["attachment"])
    return Changes(
        read=tuple(read),
        retry=tuple(retry),
        skip=tuple(skip),
        gone=tuple(path for path in away if not hidden(path)),
        attach=attach,
        detach=tuple(path for path in gone_files if not hidden(path)),
    )


def below(paths: Iterable[str]) -> Callable[[str], bool]:
    """Whether a path is one of these or below one; the empty path holds all."""
    roots = frozenset(paths)
    folders = tuple(path + "/" for path in roots)
    return lambda path: "" in roots or path in roots or path.startswith(folders)


FEW = 10  # notes that may go at once whatever their share: to index those again takes a moment
MAX_SHARE = 0.5
"""Of more the disk of the vault is more likely not there than everything deleted."""


def check_deletions(vault: Path, indexed: int, gone: int) -> None:
    """Refuse a run that would forget too many notes: of all ``indexed`` more than ``FEW`` and more than
    half. Those that may have moved do not count.

    :raises MassDeletion: saying how many, and what to do.
    """
    if gone > FEW and gone > MAX_SHARE * indexed:
        raise MassDeletion(
            f"{vault}: {gone:,} of the {indexed:,} notes in the index are gone, so nothing was "
            "changed; if the vault is on a disk that is not there now, bring it back; if you did "
            "delete them, run: notehop index --allow-mass-delete"
        )
