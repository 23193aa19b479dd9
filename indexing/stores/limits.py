"""How much is done at once, and how far what is derived may fall behind the notes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers that decide when work is done, and none of what comes of it."""

    batch_notes: int = 1_000
    """Notes a transaction: enough to sort by length and to write well, few enough for memory, in
    which there are two of them at a time."""

    batch_bytes: int = 8_000_000
    """Bytes of notes a transaction; in memory they are some ten times that."""

    embed_beside: int = 40_000
    """Characters of texts above which they are embedded in a thread of their own."""

    lag_batch: int = 1_000
    """Vectors up to which a change may leave the store behind: to write as many takes it a second."""

    lag: int = 256
    """Vectors by which the vector store may lag behind at least: they are in the tables alone, and
    to embed them again, if those are harmed, takes seconds. To bring the store up to them takes as
    long where it is large."""

    table_parts: int = 16
    """Parts of a table above which some are joined: each costs a search some 20 microseconds."""

    changed_notes: int = 32
    """Changed notes up to which nothing on disk is brought up to them: a reader takes them in from
    the catalog in milliseconds, and writing the lexical index whole takes longer."""

    chunks_each: int = 256
    """Chunks for each changed note above that: at 300,000 chunks, some 1,200 notes. What is written
    whole then is written once for a fixed share of it that changed."""

    merge_changes: int = 256
    merge_share: int = 16
    """Changes are merged into the base of the lexical index when there are more than 256 and 1/16
    of it. At 30,000 chunks a merge then costs 0.2 ms for each chunk changed, and a query over the
    longest tail little more than over none."""

    merge_at_once: int = 4_000
    """Chunks up to which whoever brings the change that is too much merges them, in some 50 ms; of
    more a thread does, and until it is done the tail grows on."""

    merge_block: int = 2_000_000
    """Postings that are sorted at once, or those of one term: some 100 MB."""

    counted: int = 1_000
    """Chunks whose tokens are counted at once: those of all chunks of a large vault take
    gigabytes."""

    missing_s: float = 5.0
    """Seconds until a reader looks again for vectors that were missing: another process is writing
    them."""


LIMITS = Limits()
"""What notehop runs with."""
