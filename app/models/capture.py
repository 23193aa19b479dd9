"""What may be captured as a new note, and what the vault already has on it."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from notehop.app.models.base import Asked, Strict, at_most, listed

MOST_TAGS = 50
"""Tags of one note."""


SAYS_SOMETHING = r"[^\u0000-@\[-^`{-\u00bf\u2000-\u206f\u2e00-\u2e7f\u3000\ufeff]"
"""A sign that makes a text a tag, for programs that read the schema; more is taken."""


SOMETHING = r"[^\s\x00-\x1f\x7f-\x9f]"
"""A sign that a file can hold and that is no blank."""


class CaptureQuery(Asked):
    """A text to keep as a new note. Without a title, its first line names it."""

    guessed = (
        ("content", "text"),
        ("tag", "tags"),
    )

    text: Annotated[str, StringConstraints(min_length=1, max_length=200_000, pattern=SOMETHING)]
    title: Annotated[str, StringConstraints(max_length=200)] | None = None
    tags: Annotated[
        list[
            Annotated[
                str,
                StringConstraints(min_length=1, max_length=100),
                Field(json_schema_extra={"pattern": SAYS_SOMETHING}),
            ]
        ],
        at_most(MOST_TAGS),
        BeforeValidator(listed),
    ] = Field(default_factory=list, max_length=MOST_TAGS)


class Connection(Strict):
    """A note that a captured one has to do with.

    ``score`` is rounded to four places; ``link`` is what to paste to link to it. ``written_by``
    names the language model that wrote the ``snippet``; None for the words of the note.
    """

    path: str
    title: str
    folder: str
    heading: str
    snippet: str
    score: float
    link: str
    uri: str
    written_by: str | None = None


class Captured(Strict):
    """The note that was written: its ``path`` in the vault, also as ``filename``."""

    filename: str
    path: str = ""
    message: str
    connections: list[Connection] = Field(default_factory=list, max_length=5)

    @model_validator(mode="after")
    def _named_twice(self) -> Self:
        self.path = self.filename
        return self
