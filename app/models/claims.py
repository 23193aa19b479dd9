"""What of an answer is supported by what: its sentences, and the words of notes behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import Field

from notehop.app.models.base import Strict

Support: TypeAlias = Literal["high", "partial", "none"]
"""How far words of a source say what a sentence says (docs/citations.md has what was measured)."""

Flag: TypeAlias = Literal["uncited", "unsupported", "context"]
"""Why a sentence is not to be taken on trust: it names no source; the sources that it names do not
say it; or it names connected notes alone, which are context and no evidence."""


class Evidence(Strict):
    """The words of one source that support a sentence best.

    ``quote`` is a piece of the source's text as it stands there, ``lines`` are its lines in the
    note, counted from 1, both ends included. ``uri`` opens the heading or block that holds it.
    ``support`` is None for a quote: it says where it stands, and nothing is compared.
    """

    marker: str
    support: Support | None
    quote: str
    lines: tuple[int, int]
    uri: str


class Claim(Strict):
    """A sentence, list item or table row of an answer, and what supports it.

    ``span`` is its half-open range of characters (code points) in the answer; the claims of an
    answer stand in its order and leave out nothing but blanks. ``markers`` are those of the sources
    that it names, ``mentioned`` the labels of connected notes. ``support`` is that of its sources
    together; None for quotes, and where nothing is stated: headings, code, the places below quotes,
    and the answer that nothing was found. ``lacks`` holds the numbers, dates, names and negations in it that
    its sources do not have. ``evidence`` has one entry a marker, in the order of ``markers``.
    """

    text: str
    span: tuple[int, int]
    markers: list[str] = Field(default_factory=list)
    mentioned: list[str] = Field(default_factory=list)
    support: Support | None = None
    flag: Flag | None = None
    lacks: list[str] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)


def doubts(claims: Iterable[Claim]) -> list[str]:
    """The sentences that are not to be taken on trust, a line each, with the reason."""
    return [f"{_short(claim.text)} ({why})" for claim in claims if (why := _why(claim))]


def _why(claim: Claim) -> str:
    if claim.flag == "uncited":
        return "it names no source"
    if claim.flag == "context":
        return "it names connected notes alone, which are no evidence"
    if claim.lacks:
        return f"its sources do not have: {', '.join(claim.lacks)}"
    return "its sources do not say it" if claim.flag == "unsupported" else ""


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 160 else f"{words[:159].rstrip()}…"


class LeftOut(Strict):
    """A source or connected note that the language model was not shown whole: there was no room.

    ``marker`` is that of the source (``[3]``) or the label of the connected note (``C1``).
    ``part`` tells whether all of it was left out, or its ``end``; ``lines`` are those left out.
    ``tokens`` is about how many that are.
    """

    marker: str
    path: str
    title: str
    heading: str
    lines: tuple[int, int]
    part: Literal["whole", "end"]
    tokens: int
