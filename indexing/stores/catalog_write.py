"""What one commit does to the tables, inside its transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from sqlalchemy import Column, Table, Update, bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from notehop.indexing.stores.catalog_rows import (
    PackedTokens,
    chunk_values,
    link_values,
    name_values,
    note_row,
    note_values,
    pack_tokens,
    vector_values,
)
from notehop.indexing.stores.database import among, listed
from notehop.indexing.stores.labels import label_rows
from notehop.indexing.stores.model import Batch, ChunkId, LinkRow, NoteRow, NoteStatus, Vectored
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
    "status",
    "via",
    "target_path",
    "target_chunk_id",
    "fragment_found",
    "candidates",
    "checksum",
)
"""What of a link depends on other notes; all else stands in its own, and is not written again: a
note of thousands of backlinks may change, and each index on the table costs as much as the row."""

_ROWS = 2_000
"""Rows handed to the database at a time: enough for speed, little memory."""


def apply(connection: Connection, batch: Batch, generation: int, commit: str) -> None:
    """Write the batch as the given generation.

    :param commit: tells this commit from any other, for who did not hear whether it was done.

    :raises ValueError: if it touches a note or relinks a link that is not there.
    """
    written = [record.note.path for record in batch.upsert]
    kept = _tokens_of(connection, written)
    gone = [*written, *batch.delete]
    chunks_before = _values(connection, CHUNKS.c.id, CHUNKS.c.path, gone)
    said_before = _values(connection, LINKS.c.sentence_id, LINKS.c.path, gone)
    for table in (LINKS, CHUNKS, LABELS, NAMES, NOTES):
        _delete(connection, table, table.c.path, gone)
    _insert(connection, NOTES, (note_values(record.note) for record in batch.upsert))
    _insert(
        connection, NAMES, (name for record in batch.upsert for name in name_values(record.note))
    )
    _insert(connection, LABELS, _labels(record.note for record in batch.upsert))
    _insert(connection, CHUNKS, _chunk_rows(batch, kept, generation))
    _insert(
        connection, LINKS, (link_values(link) for record in batch.upsert for link in record.links)
    )
    chunks_left = {chunk.id for record in batch.upsert for chunk in record.chunks}
    said_left = _values(connection, LINKS.c.sentence_id, LINKS.c.sentence_id, said_before)
    _forget(connection, "chunks", chunks_before - chunks_left)
    _forget(connection, "links", said_before - said_left)
    for name, (ids, matrix) in batch.vectors.items():
        _forget(connection, name, ids)
        _insert(
            connection,
            VECTORS,
            (vector_values(name, *row) for row in zip(ids, matrix, strict=True)),
        )
    touched = _touch(connection, batch.touch)
    _relink(connection, batch.relink)
    _delete(connection, ATTACHMENTS, ATTACHMENTS.c.path, [*batch.attach, *batch.detach])
    attached = ({"path": path, "excluded": kept} for path, kept in batch.attach.items())
    _insert(connection, ATTACHMENTS, attached)
    _delete(connection, CHANGES, CHANGES.c.path, gone)
    changes = (
        {"path": path, "generation": generation, "linked": generation}
        for path in dict.fromkeys(gone)
    )
    _insert(connection, CHANGES, changes)
    _mark_linked(connection, [*_paths(batch.relink), *touched], generation)
    put_meta(connection, {**batch.meta, "generation": generation, "commit": commit})


def put_meta(connection: Connection, entries: Mapping[str, Any]) -> None:
    """Set entries of the table ``meta``; a value must be JSON-able."""
    rows = [
        {"key": key, "value": json.dumps(value, sort_keys=True)} for key, value in entries.items()
    ]
    _delete(connection, META, META.c.key, list(entries))
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


def _tokens_of(connection: Connection, paths: list[str]) -> dict[ChunkId, tuple[bytes, int]]:
    query = select(CHUNKS.c.id, CHUNKS.c.tokens, CHUNKS.c.generation).where(among(CHUNKS.c.path))
    rows = connection.execute(query, listed(paths))
    return {chunk_id: (bytes(tokens), generation) for chunk_id, tokens, generation in rows}


def _chunk_rows(
    batch: Batch, kept: Mapping[ChunkId, tuple[bytes, int]], generation: int
) -> Iterator[dict[str, Any]]:
    for record in batch.upsert:
        for chunk in record.chunks:
            packed = pack_tokens(chunk.tokens)
            before = kept.get(chunk.id)
            # A chunk whose id and tokens stand is no news to the indexes derived from them.
            same = before is not None and before[0] == packed
            since = before[1] if before and same else generation
            yield chunk_values(replace(chunk, tokens=PackedTokens(packed), generation=since))


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
    if len(rows) < len(touch):
        raise ValueError(f"a batch changes {len(touch) - len(rows)} notes that are not there")
    _update(connection, update(NOTES).where(NOTES.c.path == bindparam("at_path")), rows, "note")
    paths = [note.path for note in again]
    _delete(connection, LABELS, LABELS.c.path, paths)
    _insert(connection, LABELS, _labels(again))
    return paths


def _relink(connection: Connection, links: Iterable[LinkRow]) -> None:
    rows = []
    for link in links:
        values = link_values(link)
        row = {name: values[name] for name in _RESOLVED}
        row["at_path"], row["at_ordinal"] = values["path"], values["ordinal"]
        rows.append(row)
    statement = update(LINKS).where(
        LINKS.c.path == bindparam("at_path"), LINKS.c.ordinal == bindparam("at_ordinal")
    )
    _update(connection, statement, rows, "link")


def _mark_linked(connection: Connection, paths: Iterable[str], generation: int) -> None:
    # Each of them was written once and has its row.
    marked = update(CHANGES).where(among(CHANGES.c.path)).values(linked=generation)
    connection.execute(marked, listed(paths))


def _update(
    connection: Connection, statement: Update, rows: list[dict[str, Any]], what: str
) -> None:
    changed = connection.execute(statement, rows).rowcount if rows else 0
    if changed != len(rows):
        raise ValueError(f"a batch changes {len(rows) - changed} {what}s that are not there")


def _delete(
    connection: Connection, table: Table, column: Column[Any], values: Iterable[str]
) -> None:
    connection.execute(delete(table).where(among(column)), listed(values))


def _insert(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    stream = iter(rows)
    while part := list(islice(stream, _ROWS)):
        connection.execute(insert(table), part)


def _paths(links: Iterable[LinkRow]) -> list[str]:
    return [link.path for link in links]
