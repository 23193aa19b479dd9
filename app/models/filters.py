"""What a query may be narrowed to, as fields: the same that its text can say."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from notehop.app.models.base import Asked, at_most

MOST = 100
"""Values of one filter."""


DAY = (
    r"^([1-9][0-9]{3}([-/.](0?[1-9]|1[0-2])([-/.](0?[1-9]|[12][0-9]|3[01]))?)?"
    r"|[0-9]{1,3}[dwmy]|today|yesterday)$"
)
"""How days are mostly written, for programs that read the schema; more is taken."""


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else [value]


Said = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"\S")]
"""A value as it would stand in a query; white space alone is none."""

Several = Annotated[
    list[Said],
    at_most(MOST),
    BeforeValidator(_listed, json_schema_input_type=Said | list[Said]),
    Field(max_length=MOST),
]

PropertyValue = Said | bool | int | float

SeveralValues = Annotated[
    list[PropertyValue],
    at_most(MOST),
    BeforeValidator(_listed, json_schema_input_type=PropertyValue | list[PropertyValue]),
    Field(max_length=MOST),
]


class FilterFields(Asked):
    """What notes must have. A field that takes several values takes one as well."""

    guessed = (
        ("tags", "tag"),
        ("folder", "path"),
        ("types", "type"),
        ("phrase", "phrases"),
    )

    tag: Several = Field(
        default_factory=list,
        description="Tags that a note has, all of them, with or without #; a tag takes those "
        "nested in it, too.",
    )
    path: Several = Field(
        default_factory=list,
        description="Folders, notes or globs (*, **, ?), relative to the vault, one of which "
        "a note is in.",
    )
    after: Said | None = Field(
        default=None,
        description="The day from which a note is on: 2026-10-07, 2026-10, 2026, today, "
        "yesterday, or a time ago (7d, 2w, 3m, 1y).",
        json_schema_extra={"pattern": DAY},
    )
    before: Said | None = Field(
        default=None,
        description="The day before which a note is, itself not included; as for after.",
        json_schema_extra={"pattern": DAY},
    )
    type: Several = Field(
        default_factory=list, description="Page types, one of which a note is of."
    )
    properties: Annotated[dict[Said, SeveralValues], at_most(MOST)] = Field(
        default_factory=dict,
        max_length=MOST,
        json_schema_extra={"propertyNames": {"pattern": r"\S", "maxLength": 1_000}},
        description="Keys of front matter, with the values that a note has there, all of them; "
        "keys of nested values are joined by a dot.",
    )
    phrases: Several = Field(
        default_factory=list,
        description="Words that stand one after the other in a passage, all of these phrases.",
    )


class Filters(FilterFields):
    """What a search is narrowed to. It is joined with what the query's text says.

    A note, and for phrases a passage, must meet every field, and none of the conditions in ``not``.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    not_: FilterFields = Field(
        default_factory=FilterFields,
        alias="not",
        description="What notes must not have, any of it. Notes kept out by path or tag are no "
        "connected notes either.",
    )
