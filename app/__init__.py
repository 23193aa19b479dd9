"""notehop in Python: open a vault, search it, ask it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.app.services.vault import VaultHandle
    from notehop.config import Settings

__all__ = ["open_vault"]

if __name__ == "app":
    warnings.warn(
        "the package is named notehop now; write: from notehop import open_vault", FutureWarning, stacklevel=2
    )


def open_vault(
    path: Path | str | None = None,
    *,
    index_dir: Path | str | None = None,
    llm: LLM | None = None,
    settings: Settings | None = None,
) -> VaultHandle:
    """Open a vault that was indexed, to search it and to ask it.

    :param path: folder of the vault; None for the setting, else the current folder if it is one.
    :param index_dir: folder of its index; None for the setting, else the user's data directory.
    :param llm: any LlamaIndex language model, to have answers written; None to have them quoted.
    :param settings: taken as they are; None reads settings files and environment.
    :raises VaultError: if there is no such folder.
    :raises BeingIndexed: while a server makes its first index.
    :raises IndexMissing: if the vault was not indexed yet, naming the command that does it.
    :raises IndexMismatch: if it was indexed with other settings.
    """
    # LlamaIndex takes more than a second to import: only who opens a vault waits for it.
    from notehop.app.services.open_vault import locate, open_place

    place = locate(
        None if path is None else Path(path),
        index_dir=None if index_dir is None else Path(index_dir),
        settings=settings,
    )
    return open_place(place, llm)
