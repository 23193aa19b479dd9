"""Reading one note from the disk.

Touches: vault-read.
"""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from notehop.indexing.vault.model import CommentLinks, Note
from notehop.indexing.vault.opening import open_below
from notehop.indexing.vault.parse import parse_note
from notehop.indexing.vault.walk import FileEntry

_OF_THE_FILE = frozenset(
    (
        errno.EACCES,
        errno.EPERM,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    )
)
"""What a disk that works says of a file; all else (EIO, ESTALE, ENOTCONN, …) it says of itself."""


@dataclass(frozen=True, slots=True)
class Read:
    """What reading a file gave: a note, or the reason why there is none.

    ``file`` carries size and time as they were when it was opened. ``note`` is None, without a
    problem, when the content is what the catalog knows already. ``away`` tells that the disk did
    not answer, so that nothing is known of the file as it is now.
    """

    file: FileEntry
    content_hash: str = ""
    note: Note | None = None
    problem: str | None = None
    away: bool = False


def read_note(root: Path, file: FileEntry, known_hash: str, *, comment_links: CommentLinks) -> Read:
    """Read and parse a note; whatever is wrong with the file becomes its ``problem``.

    :param known_hash: content hash in the catalog; a file of this content is not parsed.
    """
    try:
        with open_below(root, file.path) as stream:
            # Taken before the content: a write in between makes the next scan read it again.
            stat = os.fstat(stream.fileno())
            data = stream.read()
    except OSError as exc:
        said = exc.strerror or exc
        if exc.errno not in _OF_THE_FILE:
            return Read(file, problem=f"cannot be read now: {said}; check the disk", away=True)
        return Read(file, problem=f"cannot be read: {said}; check its permissions")
    file = replace(file, size=stat.st_size, mtime_ns=stat.st_mtime_ns)
    content_hash = hashlib.sha256(data).hexdigest()
    if content_hash == known_hash:
        return Read(file, content_hash)
    try:
        note = parse_note(file.path, data, comment_links=comment_links)
    except Exception as exc:  # noqa: BLE001 (one note must not end the run; it is named as failed)
        return Read(file, problem=f"cannot be parsed ({type(exc).__name__}: {exc}); report this")
    return Read(file, content_hash, note)
