"""Values to rows of the catalog and back, and what a commit does to them.

A value has the fields of its table's columns, in their order. Lists and mappings are JSON in text
columns; a checksum over the others closes a row.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Column, Table, bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from notehop.indexing.graph.files import link_name
from notehop.indexing.stores.database import among, damaged, listed, storable
from notehop.indexing.stores.filter_labels import label_rows
from notehop.indexing.stores.rows import Batch, ChunkRow, FieldTokens, LinkRow, NoteRow, NoteStatus, Vectored
from notehop.indexing.stores.schema import ATTACHMENTS, CHANGES, CHUNKS, LABELS, LINKS, META, NOTES, VECTORS
from notehop.indexing.vault.properties import modified_in

_AS_TEXT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}
"""How values are written as JSON."""

_INDEXED = 400
"""Characters of a name that an index holds: PostgreSQL's takes 2,704 bytes, with the path."""

_RESOLVED = (
    "status", "via", "target_path", "target_chunk_id", "fragment_found", "candidates", "checksum",
)  # fmt: skip
"""What of a link depends on other notes; all else stands in its own, and is not written again: a
note of thousands of backlinks may change, and each index on the table costs as much as the row."""

_ROWS = 2_000  # rows handed to the database at a time: enough for speed, little memory

Row = TypeVar("Row", NoteRow, ChunkRow, LinkRow)


class BadRow(ValueError):
    """A row that is not what was written."""


def pack_tokens(tokens: FieldTokens) -> bytes:
    """Tokens as bytes: equal tokens give equal bytes; empty fields are left out."""
    by_name = {name: list(tokens[name]) for name in sorted(tokens) if tokens[name]}
    # Level 1: level 6 saves another tenth and takes three times as long.
    return zlib.compress(json.dumps(by_name, **_AS_TEXT).encode("utf-8", "surrogatepass"), 1)


def unpack_tokens(packed: bytes) -> FieldTokens:
    """The tokens that :func:`pack_tokens` was given; IndexDamaged if they cannot be read."""
    try:
        by_name = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
        return {name: tuple(tokens) for name, tokens in by_name.items()}
    except (zlib.error, ValueError, AttributeError, TypeError) as exc:
        raise damaged("the catalog", f"tokens cannot be read: {exc}") from exc


def values_of(row: NoteRow | ChunkRow | LinkRow) -> dict[str, Any]:
    """The columns of a note, chunk or link, which has the name by which it is found when a file comes or
    goes."""
    kind = type(row)
    values: dict[str, Any] = {}
    for name in _NAMES[kind]:
        value = getattr(row, name)
        if isinstance(value, str):
            value = storable(str(value))
        elif value is not None and not isinstance(value, bool | int | float | bytes):
            empty = "{}" if isinstance(value, Mapping) else "[]"
            value = storable(json.dumps(value, **_AS_TEXT)) if value else empty
        values[name] = value
    if isinstance(row, LinkRow):
        values["name_key"] = indexed(storable(link_name(row.raw_target)))
    return values | {"checksum": _CHECKSUMS[kind](tuple(values.values()))}


def _opened(kind: type[Row], values: Sequence[Any]) -> Row:
    """A note, chunk or link from its columns, in their order; BadRow if that was not written."""
    _check(values[-1], _CHECKSUMS[kind](values[:-1]))
    found = list(values[: len(_NAMES[kind])])
    for at, read in _READERS[kind]:
        found[at] = read(found[at])
    return kind(*found)


note_row = partial(_opened, NoteRow)
chunk_row = partial(_opened, ChunkRow)
link_row = partial(_opened, LinkRow)


def vector_row(values: Sequence[Any]) -> tuple[str, bytes]:
    """Id and bytes of a vector from (id, vector, checksum); BadRow if that was not written."""
    _check(values[2], _vector_checksum(values[0], values[1]))
    return values[0], values[1]


def indexed(name: str) -> str:
    """A name as an index of any database takes it: of one that is no name but a text, the beginning."""
    return name[:_INDEXED]


def _load_tuple(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _load_tuples(text: str) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, _load_tuple(text)))


_READ: Mapping[str, Callable[[Any], Any]] = {
    "status": NoteStatus,
    "aliases": _load_tuple,
    "tags": _load_tuple,
    "front_matter": json.loads,
    "outline": _load_tuples,
    "blocks": _load_tuples,
    "warnings": _load_tuple,
    "heading_path": _load_tuple,
    "tokens": bytes,
    "candidates": _load_tuple,
}
"""What a value is made of that a column holds in another form."""

_NAMES = {kind: tuple(one.name for one in fields(kind)) for kind in (NoteRow, ChunkRow, LinkRow)}

_READERS = {
    kind: tuple(
        (at, _READ[name])
        for at, name in enumerate(names)
        # The status of a link is that of another enumeration, and is kept as text.
        if name in _READ and (kind, name) != (LinkRow, "status")
    )
    for kind, names in _NAMES.items()
}


def _vector_checksum(one: str, stored: bytes) -> int:
    return zlib.crc32(stored, zlib.crc32(one.encode()))


def _checksum(values: Iterable[Any]) -> int:
    return zlib.crc32("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))


_CHECKSUMS: Mapping[type, Callable[[Sequence[Any]], int]] = {
    # The time, size and time at 9 to 11 are set anew where the content stands.
    NoteRow: lambda values: _checksum((*values[:9], *values[12:])),
    # The tokens at 8 are bytes.
    ChunkRow: lambda values: zlib.crc32(values[8], _checksum((*values[:8], *values[9:]))),
    LinkRow: _checksum,
}


def _check(stored: Any, computed: int) -> None:
    if stored != computed:
        raise BadRow("it is not what was written")


def write_batch(connection: Connection, batch: Batch, generation: int, commit: str) -> None:
    """Write the batch as the given generation; ``commit`` tells this commit from any other, for who did
    not hear whether it was done."""
    notes = [record.note for record in batch.upsert]
    links = [link for record in batch.upsert for link in record.links]
    gone = list(dict.fromkeys([*(note.path for note in notes), *batch.delete]))
    chunks = [values_of(chunk) for record in batch.upsert for chunk in record.chunks]
    chunks_before = _found(connection, CHUNKS.c.id, CHUNKS.c.path, gone)
    said_before = _found(connection, LINKS.c.sentence_id, LINKS.c.path, gone)
    for table in (LINKS, CHUNKS, LABELS, NOTES, CHANGES):
        _delete(connection, table.c.path, gone)
    _insert(connection, NOTES, map(values_of, notes))
    _insert(connection, LABELS, _labels(notes))
    _insert(connection, CHUNKS, chunks)
    _insert(connection, LINKS, map(values_of, links))
    said_left = _found(connection, LINKS.c.sentence_id, LINKS.c.sentence_id, said_before)
    _forget(connection, "chunks", chunks_before - {chunk["id"] for chunk in chunks})
    _forget(connection, "links", said_before - said_left)
    for name, (ids, matrix) in batch.vectors.items():
        _forget(connection, name, ids)
        stored = (row.astype("<f4", copy=False).tobytes() for row in matrix)
        vectors = (
            {"collection": name, "id": one, "vector": row, "checksum": _vector_checksum(one, row)}
            for one, row in zip(ids, stored, strict=True)
        )
        _insert(connection, VECTORS, vectors)
    _touch(connection, batch.touch)
    _relink(connection, batch.relink)
    _delete(connection, ATTACHMENTS.c.path, [*batch.attach, *batch.detach])
    attached = ({"path": path, "excluded": kept} for path, kept in batch.attach.items())
    _insert(connection, ATTACHMENTS, attached)
    _insert(connection, CHANGES, ({"path": path, "generation": generation} for path in gone))
    put_meta(connection, {**batch.meta, "generation": generation, "commit": commit})


def put_meta(connection: Connection, entries: Mapping[str, Any]) -> None:
    """Set entries of the table ``meta``; a value must be JSON-able."""
    rows = [{"key": key, "value": json.dumps(value, sort_keys=True)} for key, value in entries.items()]
    _delete(connection, META.c.key, entries)
    _insert(connection, META, rows)


def _found(
    connection: Connection, wanted: Column[Any], column: Column[Any], values: Iterable[str]
) -> set[str]:
    """What stands in a column of the rows whose other column holds one of the values."""
    query = select(wanted).where(among(column)).distinct()
    return {*connection.scalars(query, listed(values))} - {None}


def _forget(connection: Connection, name: Vectored, ids: Iterable[str]) -> None:
    gone = delete(VECTORS).where(VECTORS.c.collection == name, among(VECTORS.c.id))
    connection.execute(gone, listed(ids))


def _labels(notes: Iterable[NoteRow]) -> Iterator[dict[str, str]]:
    for note in notes:
        for name, value in label_rows(note):
            yield {"name": name, "value": value, "path": note.path}


def _touch(connection: Connection, touch: Mapping[str, tuple[int, int]]) -> None:
    """Date notes anew, some of which count as modified at another time then."""
    again: list[NoteRow] = []
    rows: list[dict[str, Any]] = []
    found = connection.execute(select(NOTES).where(among(NOTES.c.path)), listed(touch)).all()
    for old in map(note_row, found):
        size, mtime_ns = touch[old.path]
        new = replace(old, size=size, mtime_ns=mtime_ns)
        if old.status is NoteStatus.INDEXED and modified_in(old.front_matter) is None:
            new = replace(new, modified=mtime_ns / 1e9)
            again.append(new)
        rows.append({"at_path": new.path, "size": size, "mtime_ns": mtime_ns, "modified": new.modified})
    if rows:
        connection.execute(update(NOTES).where(NOTES.c.path == bindparam("at_path")), rows)
    _delete(connection, LABELS.c.path, [note.path for note in again])
    _insert(connection, LABELS, _labels(again))


def _relink(connection: Connection, links: Iterable[LinkRow]) -> None:
    rows = [
        {
            "at_path": values["path"],
            "at_ordinal": values["ordinal"],
            **{name: values[name] for name in _RESOLVED},
        }
        for values in map(values_of, links)
    ]
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
