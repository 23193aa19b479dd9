"""What HTML may reach the page, whatever made it: an allow-list of tags, attributes and schemes.

The grammar lets no HTML of a note through as it is; this is the second wall, which does not trust
the first. Pure.
"""

from __future__ import annotations

import re

import nh3

_PLACED = {
    *("p", "blockquote", "pre", "hr", "ul", "ol", "li", "section", "div", "code"),
    *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"),
}
_INLINE = {"a", "em", "strong", "s", "br", "mark", "span", "sup"}
_PLACE = {"id", "data-line", "data-end"}

_CLASSES = {
    "a": {"wikilink", "embed", "tag", "external", "cite", "footnote-backref"},
    "span": {"wikilink", "embed", "unresolved", "image", "math"},
    "div": {"math"},
    "p": {"heading", "callout-title"},
    "li": {"task", "footnote-item"},
    "blockquote": {"callout"},
    "mark": {"hl"},
    "sup": {"footnote-ref"},
    "hr": {"footnotes-sep"},
    "section": {"footnotes"},
    "ol": {"footnotes-list"},
}
_ATTRIBUTES: dict[str, set[str]] = {
    **dict.fromkeys(_PLACED, _PLACE),
    "a": {"href", "id"},
    "ol": {*_PLACE, "start"},
    "blockquote": {*_PLACE, "data-kind"},
    "*": set(),
}
_ID = re.compile(r"b-[a-z0-9-]{1,100}|fn(ref)?\d+(:\d+)?")
_OPENS_A_NOTE = "obsidian://open?"


def _attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "id":
        return value if _ID.fullmatch(value) else None
    if name == "href":
        # An address of the page itself, or a whole one; ammonia has checked the scheme.
        if value.startswith("#") or value.lower().startswith(("http://", "https://", "mailto:")):
            return value
        # Other links of the application can do more than open a note.
        return value if value.startswith(_OPENS_A_NOTE) else None
    return value


_CLEANER = nh3.Cleaner(
    tags=_PLACED | _INLINE,
    clean_content_tags={"script", "style"},
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    tag_attribute_values={"a": {"target": {"_blank"}}},
    allowed_classes=_CLASSES,
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto", "obsidian"},
)


def sanitise(html: str) -> str:
    """The part of ``html`` that may be shown."""
    return _CLEANER.clean(html)
