"""What the text of a link says: its path, its fragment, its display text, and its words. Pure."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote


class LinkText(NamedTuple):
    """The parts of a link; see :class:`notehop.indexing.vault.model.Link` for each."""

    target: str
    fragment: str | None
    display: str | None


def read_wikilink(inner: str) -> LinkText | None:
    """Read what stands between ``[[`` and ``]]``; None if it is no link.

    The first ``|`` parts path and display text, with the backslash that a table needs before it
    dropped; a ``|`` with nothing before it parts nothing, and the link leads nowhere, as in the
    app.
    """
    inner = inner.strip()
    bar = inner.find("|")
    display = None
    if bar > 0:
        display = inner[bar + 1 :].strip().replace("\\|", "|") or None
        inner = inner[:bar].removesuffix("\\")
    target, _, fragment = (part.strip() for part in inner.partition("#"))
    if not target and not fragment:
        return None
    depths = accumulate((sign == "[") - (sign == "]") for sign in target)
    if target.startswith("[") or any(depth < 0 for depth in depths):
        return None  # no name: the link is further in, or nowhere
    return LinkText(target, fragment or None, display)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def read_destination(destination: str, display: str | None) -> LinkText | None:
    """Read the destination of a Markdown link; None if it is empty or a URL.

    ``%20`` and its like are decoded after the fragment was split off, so that a file name may hold
    an encoded ``#``.
    """
    if _SCHEME.match(destination) or destination.startswith("//"):
        return None
    target, _, fragment = (unquote(part).strip() for part in destination.partition("#"))
    return LinkText(target, fragment or None, display) if target or fragment else None


_SIZE = re.compile(r"(?:^|\|)\s*\d+(?:\s*x\s*\d+)?\s*$")


def without_size(display: str) -> str:
    """Drop the size that an embed's display text may end with (``alt|640x480``, ``300``)."""
    return _SIZE.sub("", display).strip()


def words(link: LinkText, *, embed: bool = False) -> str:
    """What a reader sees of a link: its display text, else ``Note > Heading`` as the app shows it.

    Of a path the last segment, without ``.md``; block ids and the parameters of an attachment
    (``page=3``) are no words. The size of an embed is none either. May be empty.
    """
    display = link.display or ""
    if display := without_size(display) if embed else display:
        return display
    name = link.target.rstrip("/").rpartition("/")[2]
    if name.lower().endswith(".md"):
        name = name[:-3]
    elif _ATTACHMENT.search(name):
        return name
    parts = [part.strip() for part in (link.fragment or "").split("#")]
    return " > ".join([name] * bool(name) + [p for p in parts if p and not p.startswith("^")])


_ATTACHMENT = re.compile(
    r"\.(?:pdf|png|jpe?g|gif|svg|webp|avif|bmp|mp[34]|m4a|mov|mkv|ogg|ogv|wav|webm|flac|3gp)$", re.I
)
