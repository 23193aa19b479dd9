"""Whether an index is of this vault and built as the settings ask for; one line says if not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from notehop.config.errors import IndexMismatch
from notehop.indexing.stores.database import REBUILD

_MODEL = ("model", "dimensions")


def check_fingerprint(stored: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Compare the fingerprint of an index with the one that the settings ask for.

    :param expected: keys that are absent or None may be anything: ``auto`` decided them when the
        index was built.
    :raises IndexMismatch: naming each difference, as built and as asked, and the way out.
    """
    different = {
        key: value
        for key, value in sorted(expected.items())
        if value is not None and stored.get(key) != value
    }
    if not different:
        return
    built: list[str] = []
    asked: list[str] = []
    if different.keys() & set(_MODEL):
        built.append(_model(stored))
        asked.append(_model(expected))
        # Another model has other weights: no need to say so.
        different = {k: one for k, one in different.items() if k not in (*_MODEL, "weights")}
    for key, value in different.items():
        built.append(f"{key} {_shown(stored.get(key))}")
        asked.append(f"{key} {_shown(value)}")
    raise IndexMismatch(
        f"index built with {', '.join(built)}, settings name {', '.join(asked)}; {REBUILD}"
    )


def check_vault(meta: Mapping[str, Any], vault: Path, index: Path) -> None:
    """Refuse an index of another vault; one whose vault is not there any more has been moved.

    :param meta: of the catalog.
    :param index: folder of the index, for the message.
    :raises IndexMismatch: naming both vaults.
    """
    known = meta.get("vault")
    if known is not None and Path(known) != vault.resolve() and Path(known).is_dir():
        raise IndexMismatch(
            f"{index}: this is the index of {known}, not of {vault.resolve()}; "
            "name another folder with --index-dir"
        )


def dimensions_of(fingerprint: Mapping[str, Any] | None) -> int:
    """The length of the vectors of an index.

    :raises IndexMismatch: if its fingerprint does not say.
    """
    try:
        return int((fingerprint or {})["dimensions"])
    except (KeyError, TypeError, ValueError) as exc:
        raise IndexMismatch(f"the index does not say how long its vectors are; {REBUILD}") from exc


def _model(said: Mapping[str, Any]) -> str:
    dimensions = said.get("dimensions")
    return f"{said.get('model')}" + ("" if dimensions is None else f" ({dimensions})")


def _shown(value: Any) -> str:
    return value[:60] if isinstance(value, str) and value else repr(value)
