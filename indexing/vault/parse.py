"""From the bytes of a Markdown file to a :class:`~indexing.vault.model.Note`. Pure."""

from __future__ import annotations

import hashlib

from notehop.indexing.vault.body import read_body
from notehop.indexing.vault.decode import decode
from notehop.indexing.vault.front_matter import FrontMatter, Property, read_front_matter
from notehop.indexing.vault.inline_grammar import scan
from notehop.indexing.vault.lines import Lines
from notehop.indexing.vault.model import CommentLinks, Link, LinkKind, Note
from notehop.indexing.vault.properties import meaning
from notehop.indexing.vault.property_values import property_values
from notehop.indexing.vault.sections import sections_of


def parse_note(path: str, data: bytes, *, comment_links: CommentLinks = "inline") -> Note:
    """Parse one note. Never raises: what cannot be read is a warning, and the rest is read.

    :param path: relative to the vault, with ``/``.
    :param comment_links: which links inside ``%%comments%%`` count.
    """
    text, warnings = decode(path, data)
    front_matter = read_front_matter(path, text)
    said = meaning(path, front_matter)
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
        title=said.title or name,
        text=text,
        body_start=body_start,
        content_hash=hashlib.sha256(data).hexdigest(),
        aliases=said.aliases,
        tags=_each_once([*said.tags, *(tag.name.strip("/") for tag in body.tags)]),
        page_type=said.page_type,
        created=said.created,
        modified=said.modified,
        front_matter=front_matter.values,
        properties=property_values(front_matter),
        headings=tuple(body.headings),
        sections=sections_of(body.headings, lines, body_start, len(text)),
        blocks=tuple(body.blocks),
        links=(*property_links(text, front_matter), *body.links),
        inline_tags=tuple(body.tags),
        edits=body.edits,
        excluded=said.excluded,
        warnings=(*warnings, *front_matter.warnings, *said.warnings),
    )


def property_links(text: str, front_matter: FrontMatter) -> list[Link]:
    """Return the links of a front matter: the string values that are wholly one link."""
    found = (_property_link(text, value) for value in front_matter.properties())
    return [link for link in found if link is not None]


_LONGEST_PROPERTY = 2_000  # characters; a longer value is prose


def _property_link(text: str, value: Property) -> Link | None:
    raw = value.text.strip()
    if not raw.startswith(("[", "![")) or len(raw) > _LONGEST_PROPERTY:
        return None
    links = scan(raw, {}, comment_links="none").links
    if len(links) != 1 or (links[0].start, links[0].end) != (0, len(raw)):
        return None
    found = links[0]
    start = text.find(raw, value.start, value.end)
    return Link(
        kind=LinkKind.PROPERTY,
        syntax=found.syntax,
        raw=raw,
        target=found.text.target,
        fragment=found.text.fragment,
        display=found.text.display,
        line=value.line,
        start=start if start >= 0 else value.start,
        end=start + len(raw) if start >= 0 else value.end,
        sentence="",
        property=".".join(value.path),
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
