"""A vector store that is two dictionaries: the store under test, without its seconds."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.product import Collection, Matrix


class MemoryStore:
    """Stands in for :class:`notehop.indexing.stores.vectors.Vectors`; closing it forgets nothing."""

    def __init__(self, label: str, dimensions: int) -> None:
        self.label = label
        self.dimensions = dimensions
        self._rows: dict[str, dict[str, Matrix]] = {"chunks": {}, "links": {}}

    def upsert(self, collection: Collection, ids: Sequence[str], matrix: Matrix) -> None:
        rows = np.array(matrix, dtype=np.float32)
        assert rows.shape == (len(ids), self.dimensions)
        assert len(set(ids)) == len(ids)
        self._rows[collection].update(zip(ids, rows, strict=True))

    def delete(self, collection: Collection, ids: Iterable[str]) -> None:
        for one in ids:
            self._rows[collection].pop(one, None)

    def get(self, collection: Collection, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        held = self._rows[collection]
        known = [one for one in dict.fromkeys(ids) if one in held]
        matrix = np.array([held[one] for one in known], dtype=np.float32)
        return known, matrix.reshape(len(known), self.dimensions)

    def ids(self, collection: Collection) -> set[str]:
        return set(self._rows[collection])

    def count(self, collection: Collection) -> int:
        return len(self._rows[collection])

    def apart(self) -> MemoryStore:
        made = MemoryStore(self.label, self.dimensions)
        made._rows = {name: dict(rows) for name, rows in self._rows.items()}
        return made

    def close(self) -> None:
        pass

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


_STORES: dict[str, MemoryStore] = {}


def open_in_memory(where: Path | str, dimensions: int) -> MemoryStore:
    """The store that belongs to a folder, wherever that was moved to; takes the place of
    ``Vectors.open``."""
    mark = Path(where) / "store"
    if not mark.exists():
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text(uuid.uuid4().hex)
    name = mark.read_text()
    return _STORES.setdefault(name, MemoryStore(str(where), dimensions))
