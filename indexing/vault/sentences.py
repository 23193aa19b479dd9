"""Where sentences end. Pure."""

from __future__ import annotations

import re

from sentencex import get_sentence_boundaries

_DAY = re.compile(r"(?<!\d)(?:[12]?\d|3[01])\.\s*\Z")
# What follows the number of a day. Names that English has too need a year.
_MONTH = re.compile(
    r"\s*(?:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember"  # German
    r"|januar|februar|marts|maj|juni|juli|oktober|december"  # Danish
    r"|(?:[Aa]pril|[Aa]ugust|[Ss]eptember|[Nn]ovember)\s+(?:19|20|21)\d\d)(?!\w)"
)
_WINDOW = 4_000  # characters; the segmenter's time is quadratic in quotes that do not pair


def sentence_spans(text: str, language: str = "en") -> list[tuple[int, int]]:
    """The half-open spans of the sentences of a text; together they are the text, blanks included. One of
    more than 4,000 characters may be cut.

    :param language: ISO 639-1 code; what the segmenter does not know is read as English, whose
        rules also know the full stops of other scripts.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text, language):
        if spans and text[start:end].isspace():  # what stands between paragraphs
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
        start = end
    return spans


def shortened(text: str, most: int) -> str:
    """The beginning of a line: whole sentences if they leave half of it, else whole words and …"""
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text[: most + 1])[:-1]]
    if ends and ends[-1] >= most // 2:
        return text[: ends[-1]].rstrip()
    begun = text[: most - 2]
    return (begun.rsplit(" ", 1)[0] if " " in begun[most // 2 :] else begun).rstrip(" ,;:") + " …"


def _ends(text: str, language: str) -> list[int]:
    """Offsets at which sentences end, in order; the last is the end of the text."""
    ends: list[int] = []
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW]
        found = {boundary["end_index"] for boundary in get_sentence_boundaries(language, window)}
        inside = sorted(
            end
            for end in found
            if 0 < end < len(window)
            # `3. Mai`: where a note is not in its vault's language, this would end a sentence.
            and not (_DAY.search(window, max(0, end - 6), end) and _MONTH.match(window, end))
        )
        last = start + _WINDOW >= len(text)
        # The last sentence of a window may go on behind it: read it again from its beginning,
        # unless that would be most of the window.
        if last or not inside or inside[-1] < _WINDOW // 2:
            inside.append(len(window))
        ends += [start + end for end in inside]
        start = ends[-1]
    return ends
