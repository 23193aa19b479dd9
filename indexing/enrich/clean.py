"""What a model wrote, made into one line of plain text: its marks mean nothing here. Pure."""

from __future__ import annotations

import re
import unicodedata

from notehop.indexing.vault.plain import without_emphasis
from notehop.indexing.vault.sentences import sentence_spans

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_CODE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.M)
_IMAGE = re.compile(r"!\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)|!\[\[[^\]\n]{0,300}\]\]")
_LINK = re.compile(r"\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")
_WIKILINK = re.compile(r"\[\[(?:[^\]|\n]{0,300}\|)?([^\]|\n]{0,300})\]\]")
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>\n]*>", re.S)
_LINE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)", re.M)
_ADDRESS = re.compile(
    r"\b(?:(?:https?|ftp|file|obsidian)://|javascript:(?=\S)|data:(?=\w+/[\w.+-]+[;,]))"
    r"(?:\([^\s()]*\)|[^\s<>\"'()\]])*(?<![.,;:!?])",
    re.I,
)
_LABEL = re.compile(
    r"^(?:here(?:'s| is)\b[^:\n]{0,60}:|(?:summary|context|header|answer)\s*:)\s*", re.I
)
_QUOTED = re.compile(r'^(["“„«\'])(.*)(["”“»\'])$', re.S)

_LONGEST_MARKS = 20_000
"""Characters of a reply that are looked at, beside those that are kept: marks and addresses."""


def cleaned(said: str, most: int) -> str:
    """The words of a model on one line, without thoughts, marks, links, addresses and controls.

    :param most: characters; cut after a sentence where one ends in the last half, else after a
        word.
    :returns: empty if there are no words.
    """
    text = _THOUGHT.sub("", said)[: most + _LONGEST_MARKS]
    text = _CODE.sub("", text)
    text = _TAG.sub("", _WIKILINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))))
    text = _ADDRESS.sub("", text)
    text = without_emphasis(_LINE.sub("", text))
    text = " ".join("".join(map(_shown, text)).split())
    text = _LABEL.sub("", text)
    if (quoted := _QUOTED.match(text)) is not None and quoted[1] not in quoted[2]:
        text = quoted[2].strip()
    return cut(text, most) if any(map(str.isalnum, text)) else ""


def cut(text: str, most: int) -> str:
    """The beginning of a line: whole sentences if they leave half of it, else whole words and …"""
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text[: most + 1])[:-1]]
    if ends and ends[-1] >= most // 2:
        return text[: ends[-1]].rstrip()
    begun = text[: most - 2]
    return (begun.rsplit(" ", 1)[0] if " " in begun[most // 2 :] else begun).rstrip(" ,;:") + " …"


def _shown(char: str) -> str:
    """The character; a blank for a control; nothing for one that hides or turns what is read."""
    category = unicodedata.category(char)
    if category in ("Cf", "Co", "Cs", "Cn"):
        # Joiners make letters of some scripts and emoji what they are.
        return char if char in "\u200c\u200d" else ""
    return " " if category in ("Cc", "Zl", "Zp") else char
