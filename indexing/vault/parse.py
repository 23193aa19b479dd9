"""From a file of the vault, or its bytes, to a :class:`~indexing.vault.model.Note`."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from notehop.indexing.vault.body import read_body
from notehop.indexing.vault.front_matter import FrontMatter, read_front_matter
from notehop.indexing.vault.markdown_inline import Inline
from notehop.indexing.vault.model import CommentLinks, Lines, Link, Note, each_once
from notehop.indexing.vault.parts import Unreadable, assemble, read_base, read_canvas
from notehop.indexing.vault.pdf import read_pdf
from notehop.indexing.vault.plain import OffsetMap
from notehop.indexing.vault.properties import LONGEST_KEY, read_properties
from notehop.indexing.vault.safe_open import open_below
from notehop.indexing.vault.walk import FileEntry

SPLITTING_RANKS = 2  # H1 and H2; deeper headings stay in the text of their section
_LONGEST_PROPERTY = 2_000  # characters; a longer value is prose
_READERS = {".canvas": read_canvas, ".base": read_base, ".pdf": read_pdf}

# What a disk that works says of a file; all else (EIO, ESTALE, ENOTCONN, …) it says of itself.
_OF_THE_FILE = (errno.EACCES, errno.EPERM, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG)


def parse_note(path: str, data: bytes, *, comment_links: CommentLinks = "inline") -> Note:
    """Parse one file as what its name says: a canvas, a base, a PDF, or else Markdown.

    :raises Unreadable: if a file that is no Markdown is not what its name says.
    :raises OSError: if what is to read it cannot be started, or was stopped.
    """
    if read := _READERS.get(PurePosixPath(path.lower()).suffix):
        return assemble(path, data, *read(data), comment_links=comment_links)
    return parse_markdown(path, data, comment_links=comment_links)


def parse_markdown(path: str, data: bytes, *, comment_links: CommentLinks = "inline") -> Note:
    """Parse one note. Never raises: what cannot be read is a warning, and the rest is read."""
    text, warnings = decode(path, data)
    front_matter = read_front_matter(path, text)
    note = read_properties(path, front_matter)
    lines = Lines(text)
    rest = text[front_matter.end :]
    first_line = lines.at(len(text) - len(rest.lstrip()))
    body_start = lines.start(first_line) if rest.strip() else len(text)
    body = read_body(text, lines, [(first_line, len(lines))], comment_links=comment_links)
    sections = [
        lines.start(one.line) for one in body.headings if one.level <= SPLITTING_RANKS and not one.fact
    ]
    if body_start < len(text) and sections[:1] != [body_start]:
        sections.insert(0, body_start)
    return replace(
        note,
        text=text,
        body_start=body_start,
        content_hash=hashlib.sha256(data).hexdigest(),
        tags=each_once([*note.tags, *(tag.strip("/") for tag in body.tags)]),
        properties=(*note.properties, *body.facts),
        fields=tuple(body.fields),
        headings=tuple(body.headings),
        sections=tuple(sections),
        blocks=tuple(body.blocks),
        links=(*_property_links(front_matter), *body.links),
        edits=body.edits,
        warnings=(*warnings, *note.warnings),
    )


def _property_links(front_matter: FrontMatter) -> Iterator[Link]:
    """The links of a front matter: the string values that are wholly one link."""
    for path, _, value, _, line in front_matter.scalars():
        raw = value.strip() if isinstance(value, str) else ""
        if not raw.startswith(("[", "![")) or len(raw) > _LONGEST_PROPERTY:
            continue
        inline, text = Inline(raw, Lines(raw)), OffsetMap()
        text.add(0, raw)
        inline.scan(text)
        if [link.raw for link, _ in inline.links] == [raw]:
            (found, _), key = inline.links[0], ".".join(path)[:LONGEST_KEY]
            yield replace(found, kind="property", line=line, start=0, end=0, property=key)


def decode(path: str, data: bytes) -> tuple[str, list[str]]:
    r"""Return the text of a note and the warnings about its encoding.

    UTF-8, or UTF-16 with a byte-order mark; bytes that are no text become U+FFFD and one warning names
    the first. Line ends become ``\n``: a vault that is synchronised between systems keeps its chunks.
    """
    warnings: list[str] = []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
        warnings.append(f"{path}:1: the file is UTF-16, which the app does not read; save as UTF-8")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            # Positions count from behind the mark that "utf-8-sig" drops: same line either way.
            line = data.count(b"\n", 0, exc.start) + 1
            text = data.decode("utf-8-sig", errors="replace")
            warnings.append(f"{path}:{line}: bytes that are not UTF-8 were replaced; save the note as UTF-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "\ufffd"), warnings  # as CommonMark has it


def extract_wiki_links(text: str) -> list[str]:
    """Return the targets of the wikilinks of a text, in order, each once.

    Of ``[[folder/Note#Heading|shown]]`` that is ``folder/Note``; ``[[#Heading]]``, which stays in its
    note, gives nothing. Embeds count, and so do properties that are wholly one link. Code, math, HTML
    and what lies between lines of ``%%`` hold no links.
    """
    links = parse_markdown("", text.encode("utf-8", "surrogatepass")).links
    targets = (link.target for link in links if link.syntax == "wikilink")
    # What begins with "|" has no path, and leads nowhere in the app as here.
    return list(dict.fromkeys(name for name in targets if name and not name.startswith("|")))


@dataclass(frozen=True, slots=True)
class Read:
    """What reading a file gave: a note, or the problem; without both, the content is what the catalog
    knows.

    ``file`` has size and time as they were when it was opened. ``content_hash`` is empty where the
    problem may pass while the file stays as it is. ``away``: nothing is known of the file as it is now,
    since the disk did not answer, or a process that reads was stopped.
    """

    file: FileEntry
    content_hash: str = ""
    note: Note | None = None
    problem: str | None = None
    away: bool = False


def read_note(root: Path, file: FileEntry, known_hash: str, *, comment_links: CommentLinks) -> Read:
    """Read a note and parse it, unless its content has the hash that is known; whatever is wrong with
    the file becomes its ``problem``."""
    try:
        with open_below(root, file.path) as stream:
            # Taken before the content: a write in between makes the next scan read it again.
            stat = os.fstat(stream.fileno())
            data = stream.read()
    except OSError as exc:
        reason = exc.strerror or exc
        if exc.errno not in _OF_THE_FILE:  # one that is gone the next walk counts as deleted
            what = "it was just deleted" if exc.errno == errno.ENOENT else f"{reason}; check the disk"
            return Read(file, problem=f"cannot be read now: {what}", away=True)
        return Read(file, problem=f"cannot be read: {reason}; check its permissions")
    file = replace(file, size=stat.st_size, mtime_ns=stat.st_mtime_ns)
    content_hash = hashlib.sha256(data).hexdigest()
    if content_hash == known_hash:
        return Read(file, content_hash)
    try:
        note = parse_note(file.path, data, comment_links=comment_links)
    except Unreadable as exc:
        return Read(file, content_hash, problem=str(exc))
    except OSError as exc:  # of the process that was to read it: no word of the file
        return Read(file, problem=f"cannot be read now: {exc.strerror or exc}", away=True)
    except Exception as exc:  # noqa: BLE001 (one note must not end the run; it is named as failed)
        return Read(file, problem=f"cannot be parsed ({type(exc).__name__}: {exc}); report this")
    return Read(file, content_hash, note)
