"""Whether an index was built as the settings ask for, said in one line when it was not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.errors import IndexMismatch
from indexing.stores.catalog_engine import REBUILD

_MODEL = ("model", "dimensions")


def check_fingerprint(stored: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Compare the fingerprint of an index with the one that the settings ask for.

    :param expected: keys that are absent or None may be anything: ``auto`` decided them when the
        index was built.
    :raises IndexMismatch: naming each difference, as built and as asked, and the way out.
    """
    different = [
        key
        for key, value in sorted(expected.items())
        if value is not None and stored.get(key) != value
    ]
    if not different:
        return
    built: list[str] = []
    asked: list[str] = []
    if set(_MODEL).intersection(different):
        built.append(_model(stored))
        asked.append(_model(expected))
        # Another model has other weights: no need to say so.
        different = [key for key in different if key not in (*_MODEL, "weights")]
    for key in different:
        built.append(f"{key} {_shown(stored.get(key))}")
        asked.append(f"{key} {_shown(expected[key])}")
    raise IndexMismatch(
        f"index built with {', '.join(built)}, settings name {', '.join(asked)}; {REBUILD}"
    )


def _model(said: Mapping[str, Any]) -> str:
    dimensions = said.get("dimensions")
    return f"{said.get('model')}" + ("" if dimensions is None else f" ({dimensions})")


def _shown(value: Any) -> str:
    return value[:60] if isinstance(value, str) and value else repr(value)
