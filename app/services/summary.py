"""What a note says in a line: its own summary, else a stored one, else how it begins. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from notehop.indexing.enrich.summaries import OWN_SUMMARY, Summary
from notehop.indexing.vault.sentences import sentence_spans

STORED_LENGTH = 300
"""Characters of a summary that was written for the purpose: it says more than a beginning."""

LENGTH = 150
"""Characters: two lines of a card."""

_MARKS = re.compile(r"^[ \t]*(?:#{1,6}[ \t].*|[-*_=]{3,}[ \t]*|\|?[ \t:|-]*-[ \t:|-]*\|?)$", re.M)
_BULLETS = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|^[ \t]*>[ \t]?", re.M)
_EMPHASIS = re.compile(r"(\*\*|__|==|~~)(?=\S)(.+?)(?<=\S)\1")


def in_a_line(front_matter: Mapping[str, Any], text: str, stored: Summary | None) -> Summary:
    """Sum a note up, and say which model did so, if one did.

    :param front_matter: of the note; empty where it may have changed.
    :param text: a passage of the note, for want of a summary.
    :param stored: what the index has; None where the note may have changed.
    """
    own = own_summary(front_matter)
    if own is None and stored is not None:
        return Summary(shortened(stored.text, STORED_LENGTH), stored.model)
    return Summary(shortened(flat(text)) if own is None else own)


def summary(front_matter: Mapping[str, Any], text: str) -> str:
    """Sum a note up in at most 150 characters.

    :param front_matter: of the note; empty where it may have changed.
    :param text: a passage of the note, for want of a summary.
    """
    own = own_summary(front_matter)
    return shortened(flat(text)) if own is None else own


def own_summary(front_matter: Mapping[str, Any]) -> str | None:
    """What the owner wrote as the summary of a note, at most 150 characters; None for nothing."""
    said = {str(key).lower(): value for key, value in front_matter.items()}
    for key in OWN_SUMMARY:
        value = said.get(key)
        if isinstance(value, str) and value.strip():
            return shortened(" ".join(value.split()))
    return None


def flat(text: str) -> str:
    """A passage on one line, without headings, rules and bullets; with them if there is no more."""
    bare = _BULLETS.sub("", _MARKS.sub("", text))
    return " ".join(_EMPHASIS.sub(r"\2", bare).split()) or " ".join(text.split()).lstrip("# ")


def shortened(text: str, most: int = LENGTH) -> str:
    """The beginning of a line, cut after a sentence that leaves half of it, or a word."""
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text[: most + 1])[:-1]]
    if ends and ends[-1] >= most // 2:
        return text[: ends[-1]].rstrip()
    cut = text[: most - 2]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut).rstrip(" ,;:") + " …"
