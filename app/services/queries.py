"""What a query must be before anything is loaded for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, TypeVar

from pydantic import ValidationError

from notehop.app.models import Asked, BaseQuery, Filters
from notehop.app.retrieval.filters.parse import EMPTY, of_fields, plan
from notehop.app.services.place import Place
from notehop.config.errors import QueryError

AskedT = TypeVar("AskedT", bound=Asked)


def as_query(
    model: type[AskedT], query: str | Asked | Mapping[str, Any], options: Mapping[str, Any]
) -> AskedT:
    """Make a query of what a caller gave: a text with options, its fields, or a query ready made.

    :raises QueryError: naming the option that does not exist or has a wrong value.
    """
    if isinstance(query, model) and not options:
        return query
    if isinstance(query, Asked):
        given: Mapping[str, Any] = query.model_dump(exclude_unset=True)
    elif isinstance(query, Mapping):
        given = query
    elif isinstance(query, str):
        given = {"query": query}
    else:
        raise QueryError(f"the query is a {type(query).__name__}; hand in a text")
    return request(model, {**given, **options})


def request(model: type[AskedT], fields: Mapping[str, Any]) -> AskedT:
    """Make a request of its fields.

    :raises QueryError: naming the field that does not exist or has a wrong value.
    """
    try:
        return model(**{str(name): value for name, value in fields.items()})
    except ValidationError as exc:
        told = [f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in exc.errors()]
        raise QueryError(f"the query cannot be run: {'; '.join(told)}") from exc


def check(query: BaseQuery, place: Place) -> None:
    """Refuse a query that no index could answer, before one is opened.

    :raises QueryError: as :func:`checked`, or if a date is none.
    """
    text = checked(query.query, place.settings.retrieval.max_query_chars, query.filters)
    plan(text, query.filters, lambda _: False, date.today(), literal=query.literal)


def checked(text: str, longest: int, filters: Filters | None = None) -> str:
    """Return the text of a query without white space around it, as text that can be encoded.

    A half of a surrogate pair, from a broken escape or from bytes that are no text, becomes ``?``.

    :param longest: characters it may have.
    :param filters: those given beside it; a query that has any needs no text.
    :raises QueryError: if it is empty or longer.
    """
    if not text.strip() and (filters is None or not any(of_fields(filters))):
        raise QueryError(EMPTY)
    if len(text) > longest:
        raise QueryError(
            f"the query has {len(text):,} characters, and {longest:,} is the most; shorten it "
            "(or raise retrieval.max_query_chars)"
        )
    return text.strip().encode("utf-8", "replace").decode()
