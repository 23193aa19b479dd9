"""Opens the index of a vault; a missing one is known before anything slow is loaded.

Touches: index (reads), model (reads its files).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.app.services.place import Place, locate
from notehop.indexing.identity import wanted
from notehop.indexing.stores.reader import Ranking, Reader
from notehop.indexing.stores.reader_fingerprint import check_vault

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.app.services.handle import VaultHandle
    from notehop.config import Settings


def open_place(
    place: Place, llm: LLM | None = None, *, read: Callable[..., Reader] = Reader.open
) -> VaultHandle:
    """Open the vault at a place.

    :param llm: writes the answers; None: the model that the settings name, and without one they
        are quoted from the notes.
    :param read: opens the index, as :meth:`Reader.open`.
    :raises IndexMissing: if there is no index yet, naming the command that makes it.
    :raises IndexMismatch: if it was made with other settings.
    :raises IndexDamaged: if it cannot be read.
    """
    lexical = place.settings.lexical
    reader = read(
        place.layout,
        wanted(place.settings),
        ranking=Ranking(lexical.boosts.model_dump(), lexical.k1, lexical.b),
    )
    try:
        from notehop.app.services.handle import VaultHandle

        check_vault(reader.catalog.meta(), place.vault, place.layout.root)
        return VaultHandle(place, reader, llm)
    except BaseException:
        reader.close()
        raise


def open_vault(
    path: Path | str | None = None,
    *,
    index_dir: Path | str | None = None,
    llm: LLM | None = None,
    settings: Settings | None = None,
) -> VaultHandle:
    """Open a vault; see :func:`app.open_vault`."""
    place = locate(
        None if path is None else Path(path),
        index_dir=None if index_dir is None else Path(index_dir),
        settings=settings,
    )
    return open_place(place, llm)
