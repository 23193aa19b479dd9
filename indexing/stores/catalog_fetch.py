"""Fetching rows of the catalog, in portions that any database takes.

Touches: index (reads).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, bindparam, tuple_
from sqlalchemy.engine import Connection, Row

from notehop.indexing.stores.catalog_engine import damaged, translated

Made = TypeVar("Made")

Query = Select[*tuple[Any, ...]]

Fetched = Row[*tuple[Any, ...]]

IN_LIST = 900
"""Values in one IN list: old builds of SQLite take 999 variables a statement."""

_PLACES = (8, 48, 400)
"""Values that a look-up is made for."""

_LONGEST = _PLACES[-1]

PAGE = 5_000
"""Rows an iterator reads at a time."""


class Lookup:
    """A query for the rows whose column holds one of some values, to be made once for all.

    It is made for a few numbers of values, and the last value fills the places that are left: a
    list of its own for each look-up takes three times as long.
    """

    def __init__(self, query: Query, column: ColumnElement[Any]) -> None:
        self._made = {
            places: query.where(column.in_([bindparam(f"at{at}") for at in range(places)]))
            for places in _PLACES
        }

    def among(self, values: Sequence[Any]) -> tuple[Query, dict[str, Any]]:
        """The query for these values, 1 to 400, and its parameters."""
        places = next(most for most in _PLACES if most >= len(values))
        padded = [*values, *[values[-1]] * (places - len(values))]
        return self._made[places], {f"at{at}": value for at, value in enumerate(padded)}


class CatalogRows(ABC):
    """Rows of one catalog; where the connection comes from is the subclass's matter."""

    label: str

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection inside a read transaction."""

    def answer(self, query: Query, make: Callable[[Fetched], Made]) -> list[Made]:
        """What is made of each row of a query of the caller's own, in the order of the query."""
        return self._made(make, self._rows(query))

    def _fetch(
        self, connection: Connection, query: Query, values: Mapping[str, Any] | None = None
    ) -> Sequence[Fetched]:
        """All rows; ``values`` are those of the query's named parameters, if it has any."""
        with translated(self.label):
            return connection.execute(query, values).all()

    def _fetch_many(self, connection: Connection, query: Query) -> list[tuple[Any, ...]]:
        """All rows as the driver gives them, for columns of text and whole numbers: three times as
        fast, which counts from ten thousand rows."""
        with translated(self.label):
            cursor = connection.execute(query).cursor
            return [] if cursor is None else [tuple(row) for row in cursor.fetchall()]

    def _made(self, make: Callable[[Fetched], Made], rows: Iterable[Fetched]) -> list[Made]:
        try:
            return [make(row) for row in rows]
        except (ValueError, TypeError) as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc

    def _sorted(
        self, rows: Iterable[Made], key: Callable[[Made], Any] = lambda row: row
    ) -> list[Made]:
        """The rows in order; where an index of the database is broken, they may lack a value."""
        try:
            return sorted(rows, key=key)
        except TypeError as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc

    def _rows(
        self,
        query: Query,
        column: ColumnElement[Any] | None = None,
        values: Iterable[Any] = (),
    ) -> list[Fetched]:
        """All rows, or those whose column holds one of the values; sorted only by the query."""
        found: list[Fetched] = []
        with self._reading() as connection:
            if column is None:
                return list(self._fetch(connection, query))
            for part in slices(sorted(set(values)), IN_LIST):
                found += self._fetch(connection, query.where(column.in_(part)))
        return found

    def _found(self, lookup: Lookup, values: Iterable[Any]) -> list[Fetched]:
        """The rows of a look-up for these values, in no meaningful order."""
        found: list[Fetched] = []
        with self._reading() as connection:
            for part in slices(sorted(set(values)), _LONGEST):
                found += self._fetch(connection, *lookup.among(part))
        return found

    def _pages(
        self, connection: Connection, query: Query, key: tuple[ColumnElement[Any], ...]
    ) -> Iterator[Fetched]:
        """The rows in the order of the key, which starts the row, read page by page."""
        page = query.order_by(*key).limit(PAGE)
        rows = self._fetch(connection, page)
        while rows:
            yield from rows
            if len(rows) < PAGE:
                return
            last = tuple(rows[-1][: len(key)])
            rows = self._fetch(connection, page.where(tuple_(*key) > last))


def slices(values: Sequence[Made], size: int) -> Iterator[Sequence[Made]]:
    """The values in runs of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
