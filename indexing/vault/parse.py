"""From a file of the vault, or its bytes, to a :class:`~indexing.vault.model.Note`."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from notehop.indexing.vault.assembled import Unreadable
from notehop.indexing.vault.base import parse_base
from notehop.indexing.vault.body import read_body
from notehop.indexing.vault.canvas import parse_canvas
from notehop.indexing.vault.front_matter import FrontMatter, KeyPath, read_front_matter
from notehop.indexing.vault.markdown_inline import scan
from notehop.indexing.vault.model import (
    CommentLinks,
    Heading,
    Lines,
    Link,
    LinkKind,
    LinkSyntax,
    Note,
    Section,
)
from notehop.indexing.vault.opening import open_below
from notehop.indexing.vault.pdf import parse_pdf
from notehop.indexing.vault.properties import property_values, read_properties
from notehop.indexing.vault.walk import FileEntry


def parse_note(path: str, data: bytes, *, comment_links: CommentLinks = "inline") -> Note:
    """Parse one file as what its name says: a canvas, a base, a PDF, or else Markdown.

    :param path: relative to the vault, with ``/``.
    :param comment_links: which links inside ``%%comments%%`` count.
    :raises Unreadable: if a file that is no Markdown is not what its name says.
    :raises OSError: if what is to read it cannot be started, or was stopped.
    """
    name = path.lower()
    if name.endswith(".canvas"):
        return parse_canvas(path, data, comment_links=comment_links)
    if name.endswith(".base"):
        return parse_base(path, data)
    if name.endswith(".pdf"):
        return parse_pdf(path, data)
    return parse_markdown(path, data, comment_links=comment_links)


def parse_markdown(path: str, data: bytes, *, comment_links: CommentLinks = "inline") -> Note:
    """Parse one note. Never raises: what cannot be read is a warning, and the rest is read."""
    text, warnings = decode(path, data)
    front_matter = read_front_matter(path, text)
    properties = read_properties(path, front_matter)
    lines = Lines(text)
    body_start, first_line = _body_start(text, front_matter, lines)
    body = read_body(text, lines, first_line, comment_links=comment_links)
    if body.too_deep is not None:
        warnings.append(
            f"{path}:{body.too_deep}: quotes or lists nested too deeply; "
            "what is inside is read as plain paragraphs"
        )
    name = path.rpartition("/")[2]
    if name.lower().endswith(".md"):
        name = name[:-3]
    return Note(
        path=path,
        name=name,
        title=properties.title or name,
        text=text,
        body_start=body_start,
        content_hash=hashlib.sha256(data).hexdigest(),
        aliases=properties.aliases,
        tags=_each_once([*properties.tags, *(tag.name.strip("/") for tag in body.tags)]),
        page_type=properties.page_type,
        created=properties.created,
        modified=properties.modified,
        front_matter=front_matter.values,
        properties=property_values(front_matter),
        headings=tuple(body.headings),
        sections=sections_of(body.headings, lines, body_start, len(text)),
        blocks=tuple(body.blocks),
        links=(*property_links(text, front_matter), *body.links),
        inline_tags=tuple(body.tags),
        edits=body.edits,
        excluded=properties.excluded,
        warnings=(*warnings, *front_matter.warnings, *properties.warnings),
    )


def property_links(text: str, front_matter: FrontMatter) -> list[Link]:
    """Return the links of a front matter: the string values that are wholly one link."""
    found = (
        _property_link(text, front_matter, path, value)
        for path, _, value in front_matter.scalars()
        if isinstance(value, str)
    )
    return [link for link in found if link is not None]


_LONGEST_PROPERTY = 2_000  # characters; a longer value is prose


def _property_link(text: str, front_matter: FrontMatter, path: KeyPath, value: str) -> Link | None:
    raw = value.strip()
    if not raw.startswith(("[", "![")) or len(raw) > _LONGEST_PROPERTY:
        return None
    links = scan(raw, {}, comment_links="none").links
    if len(links) != 1 or (links[0].start, links[0].end) != (0, len(raw)):
        return None
    found = links[0]
    place = front_matter.place(path)
    value_start, value_end = front_matter.offset + place.start, front_matter.offset + place.end
    start = text.find(raw, value_start, value_end)
    return Link(
        kind=LinkKind.PROPERTY,
        syntax=found.syntax,
        raw=raw,
        target=found.text.target,
        fragment=found.text.fragment,
        display=found.text.display,
        line=place.line + 2,  # the line of the opening marks is line 1
        start=start if start >= 0 else value_start,
        end=start + len(raw) if start >= 0 else value_end,
        sentence="",
        property=".".join(path),
    )


def _body_start(text: str, front_matter: FrontMatter, lines: Lines) -> tuple[int, int]:
    """Offset and line of the first line that is not blank after the front matter."""
    rest = front_matter.end + len(text[front_matter.end :]) - len(text[front_matter.end :].lstrip())
    if rest >= len(text):
        return len(text), lines.at(len(text))
    line = lines.at(rest)
    return lines.start(line), line


def _each_once(names: list[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.casefold(), name)
    return tuple(kept.values())


def decode(path: str, data: bytes) -> tuple[str, list[str]]:
    r"""Return the text of a note and the warnings about its encoding.

    UTF-8 with or without byte-order mark, or UTF-16 with one; bytes that are no text become U+FFFD
    and one warning names the first. Line ends (``\r\n``, ``\r``) become ``\n``: a vault that is
    synchronised between systems keeps its chunks.
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
            warnings.append(
                f"{path}:{line}: bytes that are not UTF-8 were replaced; save the note as UTF-8"
            )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # As CommonMark has it.
    return text.replace("\0", "\ufffd"), warnings


SPLITTING_RANKS = 2  # H1 and H2; deeper headings stay in the text of their section


def sections_of(
    headings: Sequence[Heading], lines: Lines, start: int, end: int
) -> tuple[Section, ...]:
    """Divide ``[start, end)`` at the headings of rank 1 and 2; no sections if it is empty.

    :param headings: in the order of the text.
    """
    cuts: list[tuple[int, int, tuple[str, ...]]] = []
    above = ""
    for heading in headings:
        if heading.level > SPLITTING_RANKS:
            continue
        if heading.level == 1:
            above = heading.plain
            path: tuple[str, ...] = (heading.plain,)
        else:
            path = (above, heading.plain) if above else (heading.plain,)
        cuts.append((lines.start(heading.line), heading.level, path))
    if start < end and (not cuts or cuts[0][0] > start):
        cuts.insert(0, (start, 0, ()))
    ends = [cut[0] for cut in cuts[1:]] + [end] * bool(cuts)
    return tuple(
        Section(path, level, lines.at(first), lines.at(max(last - 1, first)), first, last)
        for (first, level, path), last in zip(cuts, ends, strict=True)
    )


def extract_wiki_links(text: str) -> list[str]:
    """Return the targets of the wikilinks of a text, in order, each once.

    Of ``[[folder/Note#Heading|shown]]`` that is ``folder/Note``: aliases, headings and block refs
    are stripped, and ``[[#Heading]]``, which stays in its note, gives nothing. Embeds count, and so
    do properties that are wholly one link. Code, math, HTML and what lies between lines of
    ``%%`` hold no links.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front_matter = read_front_matter("", text)
    lines = Lines(text)
    body = read_body(text, lines, front_matter.end_line, comment_links="inline")
    links = [*property_links(text, front_matter), *body.links]
    targets = (link.target for link in links if link.syntax is LinkSyntax.WIKILINK)
    # What begins with "|" has no path, and leads nowhere in the app as here.
    return list(dict.fromkeys(name for name in targets if name and not name.startswith("|")))


_OF_THE_FILE = frozenset(
    (
        errno.EACCES,
        errno.EPERM,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    )
)
"""What a disk that works says of a file; all else (EIO, ESTALE, ENOTCONN, …) it says of itself."""


@dataclass(frozen=True, slots=True)
class Read:
    """What reading a file gave: a note, or the reason why there is none.

    ``content_hash`` is empty where there is a problem that may pass while the file stays as it is.

    ``file`` carries size and time as they were when it was opened. ``note`` is None, without a
    problem, when the content is what the catalog knows already. ``away`` tells that the disk did
    not answer, or a process that reads was stopped, so that nothing is known of the file as it is
    now.
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
        reason = exc.strerror or exc
        if isinstance(exc, FileNotFoundError | NotADirectoryError):
            # The next walk does not list it, and counts it among the deletions.
            return Read(file, problem="is gone since the vault was listed", away=True)
        if exc.errno not in _OF_THE_FILE:
            return Read(file, problem=f"cannot be read now: {reason}; check the disk", away=True)
        return Read(file, problem=f"cannot be read: {reason}; check its permissions")
    file = replace(file, size=stat.st_size, mtime_ns=stat.st_mtime_ns)
    content_hash = hashlib.sha256(data).hexdigest()
    if content_hash == known_hash:
        return Read(file, content_hash)
    try:
        note = parse_note(file.path, data, comment_links=comment_links)
    except Unreadable as exc:
        return Read(file, content_hash, problem=str(exc))
    except OSError as exc:
        # Of the process that was to read it: no word of the file.
        return Read(file, problem=f"cannot be read now: {exc.strerror or exc}", away=True)
    except Exception as exc:  # noqa: BLE001 (one note must not end the run; it is named as failed)
        return Read(file, problem=f"cannot be parsed ({type(exc).__name__}: {exc}); report this")
    return Read(file, content_hash, note)
