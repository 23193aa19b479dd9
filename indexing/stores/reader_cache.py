"""What queries of one generation have read already, kept for the next ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from notehop.indexing.stores.model import ChunkRow, LinkRow, NoteRow

Key = TypeVar("Key")
Kept = TypeVar("Kept")

_CHUNKS = 10_000
"""Chunks kept: about 20 MB."""

_NOTES = 20_000
_LINKS = 5_000

_FILTERS = 16
"""Filters whose notes are kept: each may name every note of the vault."""


class Cache:
    """Rows by key, and notes by filter. Threads share it."""

    def __init__(self) -> None:
        self.chunks: Bounded[str, ChunkRow] = Bounded(_CHUNKS)
        self.notes: Bounded[str, NoteRow | None] = Bounded(_NOTES)
        self.links_from: Bounded[str, tuple[LinkRow, ...]] = Bounded(_LINKS)
        self.links_to: Bounded[str, tuple[LinkRow, ...]] = Bounded(_LINKS)
        self.filters: Bounded[tuple[Any, ...], frozenset[str]] = Bounded(_FILTERS)


class Bounded(Generic[Key, Kept]):
    """Values by key, at most so many: the older half goes when there are more."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Kept] = {}
        self._turn = threading.Lock()

    def get(
        self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Kept]]
    ) -> dict[Key, Kept]:
        """The values of all keys, in their order, each once; ``read`` gives those not yet kept.

        :param read: called at most once; a key it leaves out is not kept and not returned.
        """
        wanted = dict.fromkeys(keys)
        with self._turn:
            found = {key: self._values[key] for key in wanted if key in self._values}
        missing = [key for key in wanted if key not in found]
        if missing:
            new = read(missing)
            found.update(new)
            with self._turn:
                self._values.update(new)
                if len(self._values) > self._most:
                    half = list(self._values)[: len(self._values) - self._most // 2]
                    for key in half:
                        del self._values[key]
        return {key: found[key] for key in wanted if key in found}
