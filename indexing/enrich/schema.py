"""The tables of what was written about the notes, and the version of their shape."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

VERSION = 1
"""Raised when a table changes; a store of another version is made anew."""

METADATA = MetaData()

TEXTS = Table(
    "texts",
    METADATA,
    # What was written, by the hash of all that it was made from: it stands for any note that would
    # have the same written.
    Column("key", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("model", String, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("made", Double, nullable=False),
    Column("checksum", BigInteger, nullable=False),
)

USES = Table(
    "uses",
    METADATA,
    # Which note has which texts. One that is not current is of an older state of the note.
    Column("path", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("note_hash", String, nullable=False),
    Column("current", Boolean, nullable=False),
    Column("since", Double, nullable=False),
    Index("uses_by_key", "key"),
)

FAILURES = Table(
    "failures",
    METADATA,
    # What the model did not write, and why. The reason holds no word of the note.
    Column("key", String, primary_key=True),
    Column("path", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("last", Double, nullable=False),
    Index("failures_by_path", "path"),
)

OWED = Table(
    "owed",
    METADATA,
    # Notes that have a header which the index does not hold yet.
    Column("path", String, primary_key=True),
)

SEEN = Table(
    "seen",
    METADATA,
    # Notes for which nothing is to be done, as long as they are of this shape.
    Column("path", String, primary_key=True),
    Column("shape", String, nullable=False),
)

ABOUT = Table(
    "about",
    METADATA,
    Column("key", String, primary_key=True),
    Column("value", Text, nullable=False),
)
