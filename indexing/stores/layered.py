"""Owns large mappings that change a little at a time, as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, overload

Key = TypeVar("Key")
Value = TypeVar("Value")
Default = TypeVar("Default")

_GONE: Any = object()

_OVER = 2_048
"""Changed keys that are held apart, and copied with each change: some 20 microseconds. Beyond them
the whole mapping is copied, 10 ms at 300,000 keys."""


class LayeredMap(Mapping[Key, Value]):
    """An immutable mapping whose changed copy costs what changed, however large it is.

    No value may be None.
    """

    __slots__ = ("_base", "_over", "_size")

    def __init__(self, base: dict[Key, Value]) -> None:
        """Take over a dict, which is not to be changed any more."""
        self._base = base
        self._over: dict[Key, Value] = {}
        self._size = len(base)

    def changed(self, removed: Iterable[Key], added: Mapping[Key, Value]) -> LayeredMap[Key, Value]:
        """A copy without the keys ``removed``, as far as they are there, and with ``added``."""
        over = dict(self._over)
        size = self._size
        for key in removed:
            if key in self:
                size -= over.get(key) is not _GONE
                over[key] = _GONE
        for key, value in added.items():
            size += over[key] is _GONE if key in over else key not in self._base
            over[key] = value
        made: LayeredMap[Key, Value] = LayeredMap(self._base)
        made._over, made._size = over, size
        return made if len(over) <= _OVER else made._joined()

    def _joined(self) -> LayeredMap[Key, Value]:
        joined = {**self._base, **self._over}
        for key, value in self._over.items():
            if value is _GONE:
                del joined[key]
        return LayeredMap(joined)

    @overload
    def get(self, key: Key, /) -> Value | None: ...
    @overload
    def get(self, key: Key, /, default: Value | Default) -> Value | Default: ...
    def get(self, key: Key, default: Any = None) -> Any:
        """The value of a key, else the default."""
        if not self._over:
            return self._base.get(key, default)
        found = self._over.get(key)
        if found is None:
            return self._base.get(key, default)
        return default if found is _GONE else found

    def get_all(self, keys: Iterable[Key]) -> list[Value | None]:
        """The value of each key, None where it is not there; faster than one by one."""
        if self._over:
            return [self.get(key) for key in keys]
        return [*map(self._base.get, keys)]

    def __getitem__(self, key: Key) -> Value:
        found = self.get(key, _GONE)
        if found is _GONE:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        found = self._over.get(key)  # type: ignore[arg-type]
        return key in self._base if found is None else found is not _GONE

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Key]:
        if not self._over:
            return iter(self._base)
        kept = (key for key in self._base if key not in self._over)
        new = (key for key, value in self._over.items() if value is not _GONE)
        return (key for keys in (kept, new) for key in keys)
