"""The tables of the catalog and the version of their shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, LargeBinary, MetaData, Table, Text

from notehop.indexing.stores.rows import ChunkRow, LinkRow, NoteRow

SCHEMA_VERSION = 5  # raised when a table changes so that an older catalog must be rebuilt

_TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared byte by byte, as SQLite does, whatever the language of the server is."""


_KINDS = {"int": BigInteger, "float": Double, "bytes": LargeBinary, "bool": Boolean}


def _key(name: str) -> Column[Any]:
    return Column(name, _TEXT, primary_key=True)


def _text(name: str) -> Column[Any]:
    return Column(name, _TEXT, nullable=False)


def _number(name: str, kind: Any = BigInteger) -> Column[Any]:
    return Column(name, kind, nullable=False)


def _columns(row: type, *key: str) -> list[Column[Any]]:
    """Those of the fields of a row, in their order; what is no number is text."""
    found = []
    for one in fields(row):
        kind, _, optional = str(one.type).partition(" | ")
        is_key, form = one.name in key, _KINDS.get(kind, _TEXT)
        column: Column[Any] = Column(one.name, form, primary_key=is_key, nullable=bool(optional))
        found.append(column)
    return found


# Lists and mappings are JSON in text columns: every database takes them, and they are read whole.
# A checksum stands last: a database sees that a page is bad only where its structure is.
METADATA = MetaData()

META = Table("meta", METADATA, _key("key"), _text("value"))

NOTES = Table(
    "notes",
    METADATA,
    *_columns(NoteRow, "path"),
    _number("checksum"),
    Index("notes_by_content", "content_hash"),
)

LABELS = Table(
    "labels",
    METADATA,
    # What indexed notes can be filtered by: indexing.stores.labels says what stands here.
    _key("name"),
    _key("value"),
    _key("path"),
    Index("labels_by_path", "path"),
    # The key is the row: a table beside it would hold everything twice.
    sqlite_with_rowid=False,
)

CHUNKS = Table(
    "chunks",
    METADATA,
    *_columns(ChunkRow, "id"),
    _number("checksum"),
    # Holds all that a reader keeps of each chunk, in its order: opening never reads the texts.
    Index("chunks_by_path", "path", "ordinal", "id", "first_line", "kind"),
    Index("chunks_by_embedded_hash", "embedded_hash", "id"),
)

VECTORS = Table(
    "vectors",
    METADATA,
    # "chunks", by chunk id, or "links", by id of a sentence with links; float32, little-endian.
    # A table of its own: whoever reads texts need not go through them.
    _key("collection"),
    _key("id"),
    Column("vector", LargeBinary, nullable=False),
    _number("checksum"),
)

LINKS = Table(
    "links",
    METADATA,
    *_columns(LinkRow, "path", "ordinal"),
    # The name that decides which links are resolved again when a file comes or goes.
    _text("name_key"),
    _number("checksum"),
    Index("links_by_target", "target_path"),
    Index("links_by_name", "name_key"),
    Index("links_by_sentence", "sentence_id"),
)

# Files that are no notes: links lead to them, and one that comes or goes moves links.
ATTACHMENTS = Table("attachments", METADATA, _key("path"), _number("excluded", Boolean))

CHANGES = Table(
    "changes",
    METADATA,
    # A row for each path whose chunks a commit wrote or removed, with the last such generation:
    # what a reader reads again. Removed notes keep theirs, or a reader would never hear of it.
    _key("path"),
    _number("generation"),
    Index("changes_by_generation", "generation"),
)
