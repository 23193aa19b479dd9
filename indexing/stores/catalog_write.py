"""What one commit does to the tables, inside its transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from sqlalchemy import Column, Table, bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from notehop.indexing.stores.catalog_rows import (
    PackedTokens,
    name_values,
    note_row,
    pack_tokens,
    values_of,
    vector_values,
)
from notehop.indexing.stores.database import among, listed
from notehop.indexing.stores.labels import label_rows
from notehop.indexing.stores.model import Batch, LinkRow, NoteRow, NoteStatus, Vectored
from notehop.indexing.stores.schema import (
    ATTACHMENTS,
    CHANGES,
    CHUNKS,
    LABELS,
    LINKS,
    META,
    NAMES,
    NOTES,
    VECTORS,
)
from notehop.indexing.vault.properties import modified_in

_RESOLVED = (
    "status", "via", "target_path", "target_chunk_id", "fragment_found", "candidates", "checksum",
)  # fmt: skip
"""What of a link depends on other notes; all else stands in its own, and is not written again: a
note of thousands of backlinks may change, and each index on the table costs as much as the row."""

_ROWS = 2_000
"""Rows handed to the database at a time: enough for speed, little memory."""


def apply(connection: Connection, batch: Batch, generation: int, commit: str) -> None:
    """Write the batch as the given generation.

    :param commit: tells this commit from any other, for who did not hear whether it was done.
    """
    notes = [record.note for record in batch.upsert]
    links = [link for record in batch.upsert for link in record.links]
    gone = list(dict.fromkeys([*(note.path for note in notes), *batch.delete]))
    chunks = [*_chunks(connection, batch, generation)]
    chunks_before = _values(connection, CHUNKS.c.id, CHUNKS.c.path, gone)
    said_before = _values(connection, LINKS.c.sentence_id, LINKS.c.path, gone)
    for table in (LINKS, CHUNKS, LABELS, NAMES, NOTES, CHANGES):
        _delete(connection, table.c.path, gone)
    _insert(connection, NOTES, map(values_of, notes))
    _insert(connection, NAMES, (name for note in notes for name in name_values(note)))
    _insert(connection, LABELS, _labels(notes))
    _insert(connection, CHUNKS, chunks)
    _insert(connection, LINKS, map(values_of, links))
    said_left = _values(connection, LINKS.c.sentence_id, LINKS.c.sentence_id, said_before)
    _forget(connection, "chunks", chunks_before - {chunk["id"] for chunk in chunks})
    _forget(connection, "links", said_before - said_left)
    for name, (ids, matrix) in batch.vectors.items():
        _forget(connection, name, ids)
        vectors = (vector_values(name, *row) for row in zip(ids, matrix, strict=True))
        _insert(connection, VECTORS, vectors)
    touched = _touch(connection, batch.touch)
    _relink(connection, batch.relink)
    _delete(connection, ATTACHMENTS.c.path, [*batch.attach, *batch.detach])
    attached = ({"path": path, "excluded": kept} for path, kept in batch.attach.items())
    _insert(connection, ATTACHMENTS, attached)
    changes = ({"path": path, "generation": generation, "linked": generation} for path in gone)
    _insert(connection, CHANGES, changes)
    # Each of these was written once and has its row.
    marked = update(CHANGES).where(among(CHANGES.c.path)).values(linked=generation)
    connection.execute(marked, listed([*(link.path for link in batch.relink), *touched]))
    put_meta(connection, {**batch.meta, "generation": generation, "commit": commit})


def put_meta(connection: Connection, entries: Mapping[str, Any]) -> None:
    """Set entries of the table ``meta``; a value must be JSON-able."""
    rows = [
        {"key": key, "value": json.dumps(value, sort_keys=True)} for key, value in entries.items()
    ]
    _delete(connection, META.c.key, entries)
    _insert(connection, META, rows)


def _values(
    connection: Connection, wanted: Column[Any], column: Column[Any], values: Iterable[str]
) -> set[str]:
    """What stands in one column of the rows whose other column holds one of the values."""
    query = select(wanted).where(among(column)).distinct()
    return {*connection.scalars(query, listed(values))} - {None}


def _forget(connection: Connection, name: Vectored, ids: Iterable[str]) -> None:
    gone = delete(VECTORS).where(VECTORS.c.collection == name, among(VECTORS.c.id))
    connection.execute(gone, listed(ids))


def _chunks(connection: Connection, batch: Batch, generation: int) -> Iterator[dict[str, Any]]:
    query = select(CHUNKS.c.id, CHUNKS.c.tokens, CHUNKS.c.generation).where(among(CHUNKS.c.path))
    rows = connection.execute(query, listed(record.note.path for record in batch.upsert))
    before = {one: (bytes(tokens), since) for one, tokens, since in rows}
    for record in batch.upsert:
        for chunk in record.chunks:
            packed = pack_tokens(chunk.tokens)
            tokens, since = before.get(chunk.id, (None, generation))
            # A chunk whose id and tokens stand is no news to the indexes derived from them.
            since = since if tokens == packed else generation
            yield values_of(replace(chunk, tokens=PackedTokens(packed), generation=since))


def _labels(notes: Iterable[NoteRow]) -> Iterator[dict[str, str]]:
    for note in notes:
        for name, value in label_rows(note):
            yield {"name": name, "value": value, "path": note.path}


def _touch(connection: Connection, touch: Mapping[str, tuple[int, int]]) -> list[str]:
    """Date notes anew, and what follows from the date of those that name none in their text.

    :returns: paths of the notes that count as modified at another time now.
    """
    again: list[NoteRow] = []
    rows: list[dict[str, Any]] = []
    found = connection.execute(select(NOTES).where(among(NOTES.c.path)), listed(touch)).all()
    for old in map(note_row, found):
        size, mtime_ns = touch[old.path]
        new = replace(old, size=size, mtime_ns=mtime_ns)
        if old.status is NoteStatus.INDEXED and modified_in(old.front_matter) is None:
            new = replace(new, modified=mtime_ns / 1e9)
            again.append(new)
        rows.append(
            {"at_path": new.path, "size": size, "mtime_ns": mtime_ns, "modified": new.modified}
        )
    if rows:
        connection.execute(update(NOTES).where(NOTES.c.path == bindparam("at_path")), rows)
    paths = [note.path for note in again]
    _delete(connection, LABELS.c.path, paths)
    _insert(connection, LABELS, _labels(again))
    return paths


def _relink(connection: Connection, links: Iterable[LinkRow]) -> None:
    rows = []
    for values in map(values_of, links):
        row = {name: values[name] for name in _RESOLVED}
        rows.append({**row, "at_path": values["path"], "at_ordinal": values["ordinal"]})
    statement = update(LINKS).where(
        LINKS.c.path == bindparam("at_path"), LINKS.c.ordinal == bindparam("at_ordinal")
    )
    if rows:
        connection.execute(statement, rows)


def _delete(connection: Connection, column: Column[Any], values: Iterable[str]) -> None:
    connection.execute(delete(column.table).where(among(column)), listed(values))


def _insert(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    stream = iter(rows)
    while part := list(islice(stream, _ROWS)):
        connection.execute(insert(table), part)
