"""What the models have in common: unknown keys are refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Asked(Strict):
    """A part of a request: a value of another type (``"5"`` or ``true`` for 5) is refused too."""

    model_config = ConfigDict(strict=True)
