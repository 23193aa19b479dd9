"""What may be asked: the fields of questions, searches and their filters."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError

from notehop.config.errors import QueryError

MAX_FIELDS = 100  # fields that an object may have, known or not


def limit_items(most: int) -> BeforeValidator:
    """Refuse a longer list or mapping before any of its values is looked at: a bound of the field is
    looked at last, when every value that is wrong has been told."""

    def check(value: Any) -> Any:
        if isinstance(value, list | tuple | dict) and len(value) > most:
            kind = "Dictionary" if isinstance(value, dict) else "List"
            raise PydanticKnownError(
                "too_long", {"field_type": kind, "max_length": most, "actual_length": len(value)}
            )
        return value

    return BeforeValidator(check)


def as_list(value: Any) -> list[Any]:
    """One value where a list of them may stand, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


class StrictModel(BaseModel):
    """A model that refuses unknown keys."""

    # Each is built when it is first used: a command uses few of them.
    model_config = ConfigDict(extra="forbid", defer_build=True)


def refuse_unknown(model: type[BaseModel], given: Mapping[Any, Any]) -> None:
    """Refuse the fields that a model does not have, with those that were meant.

    :raises ValidationError: naming each of them.
    """
    known = {field.alias or name: name for name, field in model.model_fields.items()}
    wrong: list[InitErrorDetails] = []
    for name in given:
        if name not in known and name not in known.values():
            near = get_close_matches(str(name)[:40], known, 1)
            meant = f"the nearest is {near[0]}" if near else f"it takes {', '.join(known)}"
            why = PydanticCustomError("extra_forbidden", "there is none; {meant}", {"meant": meant})
            wrong.append({"type": why, "loc": (str(name),), "input": None})
    if wrong:
        raise ValidationError.from_exception_data(model.__name__, wrong)


class Parameters(StrictModel):
    """A part of a request: a value of another type (``"5"`` or ``true`` for 5) is refused too.
    ``alternative_names`` are those that other tools have for a field, by which it is taken as well."""

    model_config = ConfigDict(strict=True, defer_build=False)

    alternative_names: ClassVar[dict[str, str]] = {}

    @classmethod
    def resolve_names(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a request by their own names."""
        found = dict(fields)
        for guess, name in cls.alternative_names.items():
            if guess in found and name not in found:
                found[name] = found.pop(guess)
        return found

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        if len(value) > MAX_FIELDS:
            raise PydanticCustomError("too_many_fields", "has more than {most} fields", {"most": MAX_FIELDS})
        found = cls.resolve_names(value)
        refuse_unknown(cls, found)
        # To JSON 5.0 and 5 are one number (RFC 8259, 6).
        return {
            key: int(one) if isinstance(one, float) and one.is_integer() else one
            for key, one in found.items()
        }


ParametersT = TypeVar("ParametersT", bound=Parameters)


VISIBLE_CHARACTER = r"[^\s\x00-\x1f\x7f-\x9f]"  # A sign that a file can hold and that is no blank

_ERROR_TEXTS = {
    "missing": "it is missing",
    r"\S": "it is empty",
    VISIBLE_CHARACTER: "it is empty",
    "string_pattern_mismatch": "it is not written as {pattern}",
    "string_too_short": "it is empty",
    "string_too_long": "it has more than {max_length} characters",
    "too_short": "it is empty",
    "too_long": "it has more than {max_length} values",
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "it is no object"),
    "list_type": "it is no list",
    "string_type": "it is no text",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "it is no whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "it is no number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "it is neither true nor false"),
    "literal_error": "it is none of {expected}",
    "greater_than_equal": "it is less than {ge}",
    "less_than_equal": "it is more than {le}",
}
"""What is wrong with a field, by pydantic's name of the rule or by the pattern: pydantic's own words are for
programmers."""


def describe_error(error: Mapping[str, Any]) -> str:
    """Describe an error of pydantic in plain words."""
    context = error.get("ctx", {})
    told = _ERROR_TEXTS.get(context.get("pattern", ""), _ERROR_TEXTS.get(error["type"]))
    return str(error["msg"]) if told is None else told.format(**context)


def make_query(
    model: type[ParametersT],
    query: str | Parameters | Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
) -> ParametersT:
    """Make a request of what a caller gave: a text, fields, or a request ready made, with options.

    :raises QueryError: naming the option that does not exist or has a wrong value.
    """
    if isinstance(query, model) and not options:
        return query
    if isinstance(query, Parameters):
        given: Mapping[str, Any] = query.model_dump(exclude_unset=True)
    elif isinstance(query, Mapping):
        given = query
    elif isinstance(query, str):
        given = {"query": query}
    else:
        raise QueryError(f"the query is a {type(query).__name__}; hand in a text")
    fields = {str(name): value for name, value in {**given, **(options or {})}.items()}
    try:
        return model(**fields)
    except ValidationError as exc:
        told = [f"{'.'.join(map(str, error['loc']))}: {describe_error(error)}" for error in exc.errors()]
        raise QueryError(f"the query cannot be run: {'; '.join(told)}") from exc


MAX_FILTER_VALUES = 100  # values of one filter

DAY_PATTERN = (
    r"^([1-9][0-9]{3}([-/.](0?[1-9]|1[0-2])([-/.](0?[1-9]|[12][0-9]|3[01]))?)?"
    r"|[0-9]{1,3}[dwmy]|today|yesterday)$"
)
"""How days are mostly written, for programs that read the schema; more is taken."""

NonBlankText = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"\S")]
"""A value as it would stand in a query; white space alone is none."""

TextList = Annotated[
    list[NonBlankText],
    limit_items(MAX_FILTER_VALUES),
    BeforeValidator(as_list, json_schema_input_type=NonBlankText | list[NonBlankText]),
    Field(max_length=MAX_FILTER_VALUES),
]

PropertyValue = NonBlankText | bool | int | float

PropertyValues = Annotated[
    list[PropertyValue],
    limit_items(MAX_FILTER_VALUES),
    BeforeValidator(as_list, json_schema_input_type=PropertyValue | list[PropertyValue]),
    Field(max_length=MAX_FILTER_VALUES),
]


class FilterFields(Parameters):
    """What notes must have. A field that takes several values takes one as well."""

    alternative_names: ClassVar = {"tags": "tag", "folder": "path", "types": "type", "phrase": "phrases"}

    tag: TextList = Field(
        default_factory=list,
        description="Tags that a note has, all of them, with or without #; a tag takes those "
        "nested in it, too.",
    )
    path: TextList = Field(
        default_factory=list,
        description="Folders, notes or globs (*, **, ?), relative to the vault, one of which a note is in.",
    )
    after: NonBlankText | None = Field(
        default=None,
        description="The day from which a note is on: 2026-10-07, 2026-10, 2026, today, "
        "yesterday, or a time ago (7d, 2w, 3m, 1y).",
        json_schema_extra={"pattern": DAY_PATTERN},
    )
    before: NonBlankText | None = Field(
        default=None,
        description="The day before which a note is, itself not included; as for after.",
        json_schema_extra={"pattern": DAY_PATTERN},
    )
    type: TextList = Field(default_factory=list, description="Page types, one of which a note is of.")
    properties: Annotated[dict[NonBlankText, PropertyValues], limit_items(MAX_FILTER_VALUES)] = Field(
        default_factory=dict,
        max_length=MAX_FILTER_VALUES,
        json_schema_extra={"propertyNames": {"pattern": r"\S", "maxLength": 1_000}},
        description="Keys of front matter, with the values that a note has there, all of them; "
        "keys of nested values are joined by a dot.",
    )
    phrases: TextList = Field(
        default_factory=list,
        description="Words that stand one after the other in a passage, all of these phrases.",
    )


class Filters(FilterFields):
    """What a search is narrowed to, joined with what the query's text says: a note, and for phrases a
    passage, must meet every field, and none of the conditions in ``not``."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    not_: FilterFields = Field(
        default_factory=FilterFields,
        alias="not",
        description="What notes must not have, any of it. Notes kept out by path or tag are no "
        "connected notes either.",
    )


Order = Literal["context", "rank"]
"""``context``: by hit, linking sentence and target together; ``rank``: by hit, then text."""

Direction = Literal["forward", "backward", "both"]
"""Along the links a note holds, along those that lead to it, or both."""


class ConnectedOptions(Parameters):
    """How connected notes are chosen; None means the setting in force."""

    max: int | None = Field(default=None, ge=0, le=20)
    order: Order | None = None
    direction: Direction | None = None


Intent = Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"]
"""What a query is after; ``auto`` reads it from the query, ``none`` weighs all signals alike."""


class BaseQuery(Parameters):
    """What a question and a search have in common.

    ``query`` may hold filters itself (``tag:fish after:2026-10 "tide gate"``), unless ``literal``. A
    query without words lists the newest notes that its filters leave. ``intent`` sets the weights of
    the signals; None means the setting in force. ``second_look`` has what was found asked with again,
    for notes that no link leads to; None does so for an answer.
    """

    alternative_names: ClassVar = {"question": "query", "q": "query", "limit": "top_k"}

    query: str
    filters: Filters = Field(default_factory=Filters)
    literal: bool = False
    top_k: int | None = Field(default=None, ge=1, le=100)
    intent: Intent | None = None
    connected: ConnectedOptions = Field(default_factory=ConnectedOptions)
    second_look: bool | None = None
    explain: bool = False


class Query(BaseQuery):
    """A question, understood after those that were asked under its ``conversation_id`` before, best a
    random one. ``themes`` has it answered from the themes of the vault (docs/themes.md), or not; None
    leaves that to its words."""

    themes: bool | None = None
    conversation_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$")


class SearchQuery(BaseQuery):
    """A search. ``min_score``, 0 to 1, leaves out hits of a lower ``relevance``; without it, a search that
    finds nothing but weak matches shows the first few, none if they have no word of it; 0 shows all."""

    results: Literal["chunks", "notes"] = "chunks"
    min_score: float | None = Field(default=None, ge=0, le=1)


MAX_EMBED_TEXTS = 64  # texts of one request


class EmbedQuery(Parameters):
    """Texts to embed; ``kind`` chooses the prompt that the model has for them."""

    texts: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=10_000)]], limit_items(MAX_EMBED_TEXTS)
    ] = Field(min_length=1, max_length=MAX_EMBED_TEXTS)
    kind: Literal["query", "passage"] = "query"


class Embedded(StrictModel):
    """Vectors of length 1, in the order of the texts."""

    model: str
    dimensions: int
    vectors: list[list[float]]
