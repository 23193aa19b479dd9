"""The tables of the catalog and the version of their shape."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

SCHEMA_VERSION = 4
"""Raised when a table changes so that an older catalog must be rebuilt."""

_TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared byte by byte, as SQLite does, whatever the language of the server is."""

# Lists and mappings are JSON in text columns: every database takes them, and they are read whole.
# A checksum stands last: a database sees that a page is bad only where its structure is.
METADATA = MetaData()

META = Table(
    "meta",
    METADATA,
    Column("key", _TEXT, primary_key=True),
    Column("value", _TEXT, nullable=False),
)

NOTES = Table(
    "notes",
    METADATA,
    Column("path", _TEXT, primary_key=True),
    Column("title", _TEXT, nullable=False),
    Column("status", _TEXT, nullable=False),
    Column("reason", _TEXT),
    Column("aliases", _TEXT, nullable=False),
    Column("tags", _TEXT, nullable=False),
    Column("page_type", _TEXT),
    Column("front_matter", _TEXT, nullable=False),
    Column("created", Double),
    Column("modified", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("content_hash", _TEXT, nullable=False),
    Column("outline", _TEXT, nullable=False),
    Column("blocks", _TEXT, nullable=False),
    Column("line_count", Integer, nullable=False),
    Column("warnings", _TEXT, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Index("notes_by_content", "content_hash"),
)

NAMES = Table(
    "names",
    METADATA,
    # The title and aliases of indexed notes, in the form in which names are compared.
    Column("key", _TEXT, primary_key=True),
    Column("path", _TEXT, primary_key=True),
    Index("names_by_path", "path"),
)

LABELS = Table(
    "labels",
    METADATA,
    # What indexed notes can be filtered by: indexing.stores.labels says what stands here.
    Column("name", _TEXT, primary_key=True),
    Column("value", _TEXT, primary_key=True),
    Column("path", _TEXT, primary_key=True),
    Index("labels_by_path", "path"),
    # The key is the row: a table beside it would hold everything twice.
    sqlite_with_rowid=False,
)

CHUNKS = Table(
    "chunks",
    METADATA,
    Column("id", _TEXT, primary_key=True),
    Column("path", _TEXT, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("heading_path", _TEXT, nullable=False),
    Column("first_line", Integer, nullable=False),
    Column("last_line", Integer, nullable=False),
    Column("text", _TEXT, nullable=False),
    Column("embedded_hash", _TEXT, nullable=False),
    Column("tokens", LargeBinary, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    # Holds all that a reader keeps of each chunk, in its order: opening never reads the texts.
    Index("chunks_by_path", "path", "ordinal", "id", "embedded_hash", "generation"),
    Index("chunks_by_embedded_hash", "embedded_hash", "id"),
    Index("chunks_by_generation", "generation"),
)

VECTORS = Table(
    "vectors",
    METADATA,
    # "chunks", by chunk id, or "links", by id of a sentence with links; float32, little-endian.
    # A table of its own: whoever reads texts need not go through them.
    Column("collection", _TEXT, primary_key=True),
    Column("id", _TEXT, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    Column("checksum", BigInteger, nullable=False),
)

LINKS = Table(
    "links",
    METADATA,
    Column("path", _TEXT, primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("chunk_id", _TEXT),
    Column("line", Integer, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("syntax", _TEXT, nullable=False),
    Column("raw", _TEXT, nullable=False),
    Column("raw_target", _TEXT, nullable=False),
    Column("fragment", _TEXT),
    Column("display", _TEXT),
    Column("sentence", _TEXT, nullable=False),
    Column("sentence_id", _TEXT),
    Column("property", _TEXT),
    Column("status", _TEXT, nullable=False),
    Column("via", _TEXT),
    Column("target_path", _TEXT),
    Column("target_chunk_id", _TEXT),
    Column("fragment_found", Boolean),
    Column("candidates", _TEXT, nullable=False),
    # The name that decides which links are resolved again when a file comes or goes.
    Column("name_key", _TEXT, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Index("links_by_target", "target_path"),
    Index("links_by_name", "name_key"),
    Index("links_by_sentence", "sentence_id"),
)

ATTACHMENTS = Table(
    "attachments",
    METADATA,
    # Files that are no notes: links lead to them, and one that comes or goes moves links.
    Column("path", _TEXT, primary_key=True),
    Column("excluded", Boolean, nullable=False),
)

CHANGES = Table(
    "changes",
    METADATA,
    # A row for each path whose chunks a commit wrote or removed, with the last such generation:
    # what a reader reads again. Removed notes keep theirs, or a reader would never hear of it.
    Column("path", _TEXT, primary_key=True),
    Column("generation", BigInteger, nullable=False),
    # The last generation that did so, dated it anew, or led one of the note's links elsewhere.
    Column("linked", BigInteger, nullable=False),
    Index("changes_by_generation", "generation"),
    Index("changes_by_linked", "linked"),
)
