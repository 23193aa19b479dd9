"""Makes a context fit the window of a language model by leaving out its last parts, and says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.answer.context import build_context
from app.answer.material import Material

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A context with the material that stands in it; ``left_out`` counts what did not fit."""

    context: str
    material: Material
    left_out: int = 0


def fit(material: Material, window: int, count: Callable[[], CountTokens]) -> Fitted:
    """Return the longest context of at most ``window`` tokens; one source is always kept.

    Connected notes go first, then sources, each from the last: the first hits carry the answer.

    :param count: makes the counter of tokens; called only when the context could be too long.
    """
    context = build_context(material.sources, material.connected)
    # No tokenizer makes more tokens than there are bytes.
    if len(context.encode()) <= window:
        return Fitted(context, material)
    tokens = count()
    left_out = 0
    while tokens(context) > window and (material.connected or len(material.sources) > 1):
        if material.connected:
            material = replace(material, connected=material.connected[:-1])
        else:
            material = replace(material, sources=material.sources[:-1])
        left_out += 1
        context = build_context(material.sources, material.connected)
    return Fitted(context, material, left_out)
