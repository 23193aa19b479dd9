"""What the models have in common: unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

MOST_FIELDS = 100
"""Fields that an object may have, known or not."""


def at_most(most: int) -> BeforeValidator:
    """Refuse a longer list or mapping before any of its values is looked at.

    A bound of the field itself is looked at last, and every value that is wrong is told.
    """

    def check(value: Any) -> Any:
        if isinstance(value, list | tuple | dict) and len(value) > most:
            kind = "Dictionary" if isinstance(value, dict) else "List"
            raise PydanticKnownError(
                "too_long", {"field_type": kind, "max_length": most, "actual_length": len(value)}
            )
        return value

    return BeforeValidator(check)


def listed(value: Any) -> Any:
    """One text where a list of them may stand, as a list."""
    return [value] if isinstance(value, str) else value


class Strict(BaseModel):
    """A model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Asked(Strict):
    """A part of a request: a value of another type (``"5"`` or ``true`` for 5) is refused too.

    ``guessed`` are names that a field is taken by as well, where it is not given by its own: those
    that other tools, or other edges, have for it.
    """

    model_config = ConfigDict(strict=True)

    guessed: ClassVar[tuple[tuple[str, str], ...]] = ()

    @classmethod
    def by_own_names(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a request, those with a guessed name by their own."""
        found = dict(fields)
        for guess, name in cls.guessed:
            if guess in found and name not in found:
                found[name] = found.pop(guess)
        return found

    @model_validator(mode="before")
    @classmethod
    def _few(cls, value: Any) -> Any:
        if isinstance(value, dict) and len(value) > MOST_FIELDS:
            raise PydanticCustomError(
                "too_many_fields", "has more than {most} fields", {"most": MOST_FIELDS}
            )
        return _whole(cls.by_own_names(value)) if isinstance(value, dict) else value


def _whole(fields: dict[Any, Any]) -> dict[Any, Any]:
    """The fields with ``5`` for ``5.0``: to JSON they are one number (RFC 8259, 6)."""
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in fields.items()
    }
