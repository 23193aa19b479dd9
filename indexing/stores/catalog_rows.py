"""Values to rows of the catalog and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from math import isfinite
from typing import Any

from notehop.config.errors import IndexDamaged
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.model import (
    ChunkKey,
    ChunkRow,
    Collection,
    FieldTokens,
    LinkRow,
    Matrix,
    NoteRow,
    NoteStatus,
)

_PLAIN, _DEFLATED = b"\0", b"\1"

_DEPTH = 20
"""Levels of front matter that are kept: with anchors, YAML can make a value that holds itself."""

_DEFLATE_FROM = 256
"""Tokens shorter than this many bytes are kept as they are: below it zlib saves next to nothing."""


class BadRow(ValueError):
    """A row that is not what was written."""


class PackedTokens(Mapping[str, tuple[str, ...]]):
    """The tokens of a chunk as they are stored, unpacked when first asked: few readers do."""

    __slots__ = ("_fields", "_packed")

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._fields: dict[str, tuple[str, ...]] | None = None

    @property
    def packed(self) -> bytes:
        """The stored bytes."""
        return self._packed

    def _unpacked(self) -> dict[str, tuple[str, ...]]:
        if self._fields is None:
            self._fields = _unpack(self._packed)
        return self._fields

    def __getitem__(self, field: str) -> tuple[str, ...]:
        return self._unpacked()[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._unpacked())

    def __len__(self) -> int:
        return len(self._unpacked())

    def __repr__(self) -> str:
        return f"PackedTokens({self._unpacked()!r})"


def pack_tokens(tokens: FieldTokens) -> bytes:
    """Tokens as bytes: equal tokens give equal bytes; empty fields are left out."""
    if isinstance(tokens, PackedTokens):
        return tokens.packed
    fields = {name: list(tokens[name]) for name in sorted(tokens) if tokens[name]}
    plain = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    if len(plain) < _DEFLATE_FROM:
        return _PLAIN + plain
    # Level 1: level 6 saves another tenth and takes three times as long.
    return _DEFLATED + zlib.compress(plain, 1)


def _unpack(packed: bytes) -> dict[str, tuple[str, ...]]:
    try:
        kind, data = packed[:1], packed[1:]
        plain = zlib.decompress(data) if kind == _DEFLATED else data
        fields: dict[str, list[str]] = json.loads(plain.decode("utf-8", "surrogatepass"))
        return {name: tuple(tokens) for name, tokens in fields.items()}
    except (zlib.error, ValueError, AttributeError, TypeError) as exc:
        raise IndexDamaged(
            "the catalog holds tokens that cannot be read; run: notehop index --rebuild"
        ) from exc


def note_values(note: NoteRow) -> dict[str, Any]:
    """The columns of a note. Dates and other values JSON lacks become text in front matter."""
    values = {
        "path": note.path,
        "title": _text(note.title),
        "status": note.status.value,
        "reason": _text_or_none(note.reason),
        "aliases": _dump(note.aliases),
        "tags": _dump(note.tags),
        "page_type": _text_or_none(note.page_type),
        "front_matter": _dump(_plain(note.front_matter)),
        "created": note.created,
        "modified": note.modified,
        "size": note.size,
        "mtime_ns": note.mtime_ns,
        "content_hash": note.content_hash,
        "outline": _dump(note.outline),
        "blocks": _dump(note.blocks),
        "line_count": note.line_count,
        "warnings": _dump(note.warnings),
    }
    return values | {"checksum": _note_checksum(tuple(values.values()))}


def note_row(values: Sequence[Any]) -> NoteRow:
    """A note from its columns, in the order of the table.

    :raises BadRow: if they are not what was written.
    """
    _check(values[17], _note_checksum(values[:17]))
    return NoteRow(
        path=values[0],
        title=values[1],
        status=NoteStatus(values[2]),
        reason=values[3],
        aliases=_load_tuple(values[4]),
        tags=_load_tuple(values[5]),
        page_type=values[6],
        front_matter={} if values[7] == "{}" else json.loads(values[7]),
        created=values[8],
        modified=values[9],
        size=values[10],
        mtime_ns=values[11],
        content_hash=values[12],
        outline=tuple((level, text, line) for level, text, line in _load_tuple(values[13])),
        blocks=tuple((name, first, last) for name, first, last in _load_tuple(values[14])),
        line_count=values[15],
        warnings=_load_tuple(values[16]),
    )


def name_values(note: NoteRow) -> list[dict[str, str]]:
    """The rows of a note's names; none unless it is indexed."""
    if note.status is not NoteStatus.INDEXED:
        return []
    keys = {name_key(_text(name)) for name in (note.title, *note.aliases)}
    return [{"key": key, "path": note.path} for key in sorted(keys - {""})]


def name_key(name: str) -> str:
    """The form in which titles and aliases are compared: folded, white space collapsed."""
    return " ".join(fold(name).split())


def chunk_values(chunk: ChunkRow, packed: bytes, generation: int) -> dict[str, Any]:
    """The columns of a chunk whose tokens are already packed."""
    values = {
        "id": chunk.id,
        "path": chunk.path,
        "ordinal": chunk.ordinal,
        "heading_path": _dump(chunk.heading_path),
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "text": _text(chunk.text),
        "embedded_hash": chunk.embedded_hash,
        "tokens": packed,
        "generation": generation,
        "kind": chunk.kind,
    }
    return values | {"checksum": _chunk_checksum(tuple(values.values()))}


def chunk_row(values: Sequence[Any]) -> ChunkRow:
    """A chunk from its columns, in the order of the table.

    :raises BadRow: if they are not what was written.
    """
    _check(values[11], _chunk_checksum(values[:11]))
    return ChunkRow(
        id=values[0],
        path=values[1],
        ordinal=values[2],
        heading_path=_load_tuple(values[3]),
        first_line=values[4],
        last_line=values[5],
        text=values[6],
        embedded_hash=values[7],
        tokens=PackedTokens(bytes(values[8])),
        generation=values[9],
        kind=values[10],
    )


def chunk_key(values: Sequence[Any]) -> ChunkKey:
    """A chunk's key from (id, path, ordinal, embedded hash, generation)."""
    return ChunkKey(values[0], values[1], values[2], values[3], values[4])


def vector_values(collection: Collection, one: str, vector: Matrix) -> dict[str, Any]:
    """The columns of a vector."""
    stored = vector.astype("<f4", copy=False).tobytes()
    return {
        "collection": collection,
        "id": one,
        "vector": stored,
        "checksum": _vector_checksum(one, stored),
    }


def vector_row(values: Sequence[Any]) -> tuple[str, bytes]:
    """Id and bytes of a vector from (id, vector, checksum).

    :raises BadRow: if they are not what was written.
    """
    _check(values[2], _vector_checksum(values[0], values[1]))
    return values[0], values[1]


def link_values(link: LinkRow, name_key: str) -> dict[str, Any]:
    """The columns of a link."""
    values = {
        "path": link.path,
        "ordinal": link.ordinal,
        "chunk_id": link.chunk_id,
        "line": link.line,
        "kind": str(link.kind),
        "syntax": str(link.syntax),
        "raw": _text(link.raw),
        "raw_target": _text(link.raw_target),
        "fragment": _text_or_none(link.fragment),
        "display": _text_or_none(link.display),
        "sentence": _text(link.sentence),
        "sentence_id": link.sentence_id,
        "property": _text_or_none(link.property),
        "status": str(link.status),
        "via": None if link.via is None else str(link.via),
        "target_path": link.target_path,
        "target_chunk_id": link.target_chunk_id,
        "fragment_found": link.fragment_found,
        "candidates": _dump(link.candidates),
        "name_key": _text(name_key),
    }
    return values | {"checksum": _checksum(values.values())}


def link_row(values: Sequence[Any]) -> LinkRow:
    """A link from its columns, in the order of the table; the name key is left out.

    :raises BadRow: if they are not what was written.
    """
    _check(values[20], _checksum(values[:20]))
    return LinkRow(
        path=values[0],
        ordinal=values[1],
        chunk_id=values[2],
        line=values[3],
        kind=values[4],
        syntax=values[5],
        raw=values[6],
        raw_target=values[7],
        fragment=values[8],
        display=values[9],
        sentence=values[10],
        sentence_id=values[11],
        property=values[12],
        status=values[13],
        via=values[14],
        target_path=values[15],
        target_chunk_id=values[16],
        fragment_found=values[17],
        candidates=_load_tuple(values[18]),
    )


def _note_checksum(values: Sequence[Any]) -> int:
    # Time, size and time at 9 to 11 are set anew where the content stands.
    return _checksum((*values[:9], *values[12:]))


def _chunk_checksum(values: Sequence[Any]) -> int:
    # The generation, last, is not of the text.
    return zlib.crc32(values[8], _checksum(values[:8]))


def _vector_checksum(one: str, stored: bytes) -> int:
    return zlib.crc32(stored, zlib.crc32(one.encode()))


def _checksum(values: Iterable[Any]) -> int:
    return zlib.crc32("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))


def _check(stored: Any, computed: int) -> None:
    if stored != computed:
        raise BadRow("it is not what was written")


def _dump(value: Any) -> str:
    if not value:
        return _empty(value)
    return _text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _empty(value: Any) -> str:
    return "{}" if isinstance(value, Mapping) else "[]"


def _load_tuple(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _text(value: str) -> str:
    """The text without lone surrogates, which YAML escapes can make and UTF-8 cannot hold."""
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _text_or_none(value: str | None) -> str | None:
    return None if value is None else _text(value)


def _plain(value: Any, depth: int = 0) -> Any:
    """A value of front matter as JSON can hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if depth == _DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item, depth + 1) for item in value), key=repr)
    return str(value)
