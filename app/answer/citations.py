"""Checks the markers of an answer: which sources it names, and which it only invented."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from notehop.app.answer.code_spans import code_spans, inside
from notehop.app.answer.markers import MARKER, PLAIN, Grammar, names_in


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer after the check.

    ``text`` holds only markers that exist. ``cited`` are the markers of sources (``[1]``) and
    ``mentioned`` the labels of connected notes (``C1``), each once, in order of first appearance.
    ``unknown`` counts the markers that were removed, by name, in order of first appearance.
    """

    text: str
    cited: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()


def check_citations(
    text: str,
    markers: Collection[str],
    labels: Collection[str],
    grammar: Grammar = PLAIN,
) -> Cited:
    """Remove the markers of ``text`` that name nothing, and report the others.

    Markers are never renumbered; those in code are text. A marker with some unknown names keeps the
    known ones, in order; one that is not written in square brackets is.

    :param markers: of the sources, as ``[1]``.
    :param labels: of the connected notes, as ``C1``.
    """
    spans = code_spans(text)
    cited: dict[str, None] = {}
    mentioned: dict[str, None] = {}
    unknown: dict[str, int] = {}

    def replace(match: re.Match[str]) -> str:
        if inside(spans, match.start()):
            return match[0]
        for name in names_in(match["items"]):
            if name in labels:
                mentioned[name] = None
            elif f"[{name}]" in markers:
                cited[f"[{name}]"] = None
            else:
                unknown[name] = unknown.get(name, 0) + 1
        return kept_of(match, markers, labels)

    checked = close_holes(grammar.written.sub(replace, text))
    return Cited(checked, tuple(cited), tuple(mentioned), tuple(unknown.items()))


def kept_of(match: re.Match[str], markers: Collection[str], labels: Collection[str]) -> str:
    """What stands in prose for a marker: itself, the names of it that there are, or a hole."""
    names = list(names_in(match["items"]))
    kept = [name for name in names if name in labels or f"[{name}]" in markers]
    if kept == names and MARKER.fullmatch(match[0]):
        return match[0]
    return f"[{', '.join(kept)}]" if kept else HOLE


def close_holes(text: str) -> str:
    """A text without the holes in it: a space is left between words, else nothing."""
    return _HOLES.sub(_close, text)


HOLE = "\0"
# It begins where a run of blanks does: begun at each, a run takes its length squared.
_HOLES = re.compile(rf"(?<![ \t])[ \t]*{HOLE}(?:[ \t]*{HOLE})*[ \t]*")
_WORD_AFTER = re.compile(r"[^\s.,;:!?)\]]")


def _close(hole: re.Match[str]) -> str:
    """What stands where markers were taken out: one space between words, else nothing."""
    text, start = hole.string, hole.start()
    begins = start == 0 or text[start - 1] == "\n"
    between = not begins and _WORD_AFTER.match(text, hole.end()) is not None
    return " " if between and (hole[0][0] in " \t" or hole[0][-1] in " \t") else ""
