"""Owns the filters within the text of a query: what is one, and what only looks like one. Pure.

Ordinary text is full of colons, quotes and hyphens. So a filter is a known key with its value right
after the colon, at the start of a word; any other key is one only if the front matter of the vault
has it. What stays text is searched for as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from notehop.app.retrieval.filters.condition import KEYS, Condition
from notehop.indexing.tokens.words import words_said

_QUOTED = r'"[^"\n]+"|“[^“”\n]+”'
_ITEM = re.compile(
    # At the start of a word: `5" pipe` and `std::map` hold no filter.
    rf"(?<![^\s(])(?P<minus>-?)"
    rf"(?:(?P<phrase>{_QUOTED})(?![\w])"
    rf"|(?P<key>[^\W\d_][\w-]*(?:\.\w[\w-]*)*):(?P<value>{_QUOTED}|[^\s\"“”:][^\s\"“”]*)?)"
)
_WORD_LIKE = re.compile(r"[^\W\d_][^/@\\]*")
_AFTER_A_VALUE = ".,;?!"
"""Signs at the end of a bare value that belong to the sentence around it."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a query says: the text to search for, the filters, and remarks on what is none.

    ``unknown`` are texts that look like filters by a key that neither notehop nor the vault knows.
    """

    text: str
    conditions: tuple[Condition, ...] = ()
    unknown: tuple[str, ...] = ()
    without_value: tuple[str, ...] = ()


def read(query: str, is_property: Callable[[str], bool]) -> Written:
    """Take the filters out of a query.

    The words of a phrase that must be there are searched for, too; all other filters are no text.

    :param is_property: whether the front matter of any note has a key; asked only where it matters.
    """
    parts: list[str] = []
    conditions: list[Condition] = []
    unknown: list[str] = []
    without_value: list[str] = []
    end = 0
    for found in _ITEM.finditer(query):
        if found["phrase"]:
            condition, left = _phrase(found), ""
        elif not found["value"]:
            if found["key"].casefold() in KEYS:
                without_value.append(found["key"])
            continue
        else:
            condition, left = _filter(found, is_property)
        if condition is not None:
            conditions.append(condition)
            kept = condition.value if condition.kind == "phrase" and not condition.negated else ""
            parts += [query[end : found.start()], kept + left]
            end = found.end()
        elif found["key"] and _looks_like_a_filter(found):
            unknown.append(found[0])
    parts.append(query[end:])
    text = "".join(parts)
    return Written(
        " ".join(text.replace("()", "").split()) if conditions else text.strip(),
        tuple(dict.fromkeys(conditions)),
        tuple(dict.fromkeys(unknown)),
        tuple(dict.fromkeys(without_value)),
    )


def _phrase(found: re.Match[str]) -> Condition | None:
    """A phrase in quotes; None for quotes around no word."""
    words = found["phrase"][1:-1]
    if not words_said(words):
        return None
    return Condition("phrase", " ".join(words.split()), negated=bool(found["minus"]))


def _filter(
    found: re.Match[str], is_property: Callable[[str], bool]
) -> tuple[Condition | None, str]:
    """A key with its value, and what of the text belongs to neither.

    None where it is ordinary text: an address, or a key of no note.
    """
    key, (value, left) = found["key"], _bare(found["value"])
    if (
        left[:1] == "?"
        and KEYS.get(key.casefold()) == "path"
        and found.string[found.end() :].strip()
    ):
        # Within a query it is a sign of a glob, at its end that of a question.
        value, left = value + "?", left[1:]
    if not value or found["value"].startswith("//"):
        return None, ""
    negated = bool(found["minus"])
    kind = KEYS.get(key.casefold())
    if kind is not None:
        return Condition(kind, value, negated=negated), left
    return Condition("property", value, key, negated) if is_property(key) else None, left


def _bare(value: str) -> tuple[str, str]:
    """A value without its quotes; or without what belongs to the sentence around it, and that."""
    if value[0] in '"“':
        return value[1:-1].strip(), ""
    signs = _AFTER_A_VALUE if "(" in value else _AFTER_A_VALUE + ")"
    bare = value.rstrip(signs)
    return bare, value[len(bare) :]


def _looks_like_a_filter(found: re.Match[str]) -> bool:
    """Whether a writer may have meant a filter: not an address, a time, a port or a drive."""
    return len(found["key"]) > 1 and bool(_WORD_LIKE.fullmatch(_bare(found["value"])[0]))
