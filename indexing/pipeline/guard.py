"""The refusal to forget a vault that is more likely not there: a disk that is not mounted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from config.errors import MassDeletion
from config.settings import VaultSettings
from indexing.changes import Changes
from indexing.stores.catalog_read import FileStamp
from indexing.stores.model import NoteStatus

FEW = 10
"""Notes that may go at once whatever their share: to index those again takes a moment."""


def check_deletions(
    vault: Path, changes: Changes, known: Mapping[str, FileStamp], settings: VaultSettings
) -> None:
    """Refuse a run that would forget too many notes; those that may have moved do not count.

    :param known: path -> stamp of every note of the index.
    :raises MassDeletion: saying how many, and what to do.
    """
    if len(changes.gone) <= FEW:
        return
    indexed = sum(stamp.status is NoteStatus.INDEXED for stamp in known.values())
    gone = sum(known[path].status is NoteStatus.INDEXED for path in changes.gone)
    new = sum(file.path not in known for file in changes.read)
    refuse_deletions(vault, indexed, gone - new, settings.max_delete_share)


def refuse_deletions(vault: Path, indexed: int, gone: int, share: float) -> None:
    """Refuse when of ``indexed`` notes more than ``FEW`` and more than ``share`` are ``gone``.

    :raises MassDeletion: saying how many, and what to do.
    """
    if gone > FEW and gone > share * indexed:
        raise MassDeletion(
            f"{vault}: {gone:,} of the {indexed:,} notes in the index are gone, so nothing was "
            "changed; if the vault is on a disk that is not there now, bring it back; if you did "
            "delete them, run: notehop index --allow-mass-delete"
        )
