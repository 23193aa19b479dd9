"""Open tasks: list items whose box is not ticked."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \][ \t]+(\S.*)$", re.MULTILINE)


def open_items(text: str, names: Sequence[str] = ()) -> list[tuple[int, int]]:
    """The half-open ranges of the open tasks in a text.

    :param names: those that say one of these names only; none takes all.
    """
    said = [name.casefold() for name in names]
    return [
        found.span(1)
        for found in _ITEM.finditer(text)
        if not said or any(name in found[1].casefold() for name in said)
    ]
