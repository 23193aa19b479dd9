"""How much is done at once, and how far what is derived may fall behind the notes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers that decide when work is done, and none of what comes of it."""

    batch_notes: int = 1_000
    """Notes a transaction: enough to sort by length and to write well, few enough for memory, in
    which there are two of them at a time."""

    batch_tokens: int = 500_000
    """Tokens a transaction: what a run that is cut off has embedded for nothing, about a minute."""

    embed_beside: int = 40_000
    """Characters of texts above which they are embedded in a thread of their own."""

    changed_notes: int = 32
    """Changed notes up to which nothing on disk is brought up to them: a reader takes them in from
    the catalog in milliseconds, and writing the lexical index whole takes longer."""

    chunks_each: int = 256
    """Chunks for each changed note above that: at 300,000 chunks, some 1,200 notes. What is written
    whole then is written once for a fixed share of it that changed."""

    segment: int = 50_000
    """Chunks of a segment of the lexical index at most: to sort their postings takes some 200 MB."""

    segments: int = 16
    """Segments above which the small ones are joined: each costs a search some 50 microseconds."""


LIMITS = Limits()
"""What notehop runs with."""
