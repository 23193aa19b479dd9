"""The refusal to forget a vault that is more likely not there: a disk that is not mounted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from notehop.config.errors import MassDeletion
from notehop.config.settings import VaultSettings
from notehop.indexing.changes import Changes
from notehop.indexing.stores.catalog_read import FileStamp
from notehop.indexing.stores.model import NoteStatus

FEW = 10
"""Notes that may go at once whatever their share: to index those again takes a moment."""


def check_deletions(
    vault: Path,
    changes: Changes,
    known: Mapping[str, FileStamp],
    settings: VaultSettings,
    lately: int = 0,
) -> None:
    """Refuse a run that would forget too many notes; those that may have moved do not count.

    :param known: path -> stamp of every note of the index.
    :param lately: notes that the runs just before forgot, which count together with these.
    :raises MassDeletion: saying how many, and what to do.
    """
    if len(changes.gone) + lately <= FEW:
        return
    indexed = sum(stamp.status is NoteStatus.INDEXED for stamp in known.values())
    gone = sum(known[path].status is NoteStatus.INDEXED for path in changes.gone)
    new = sum(file.path not in known for file in changes.read)
    if gone <= new:
        return
    refuse_deletions(vault, indexed, gone - new, settings.max_delete_share)
    refuse_deletions(
        vault, indexed + lately, gone - new + lately, settings.max_delete_share, lately
    )


def refuse_deletions(vault: Path, indexed: int, gone: int, share: float, lately: int = 0) -> None:
    """Refuse when of ``indexed`` notes more than ``FEW`` and more than ``share`` are ``gone``.

    :param lately: how many of them the index has forgotten already.
    :raises MassDeletion: saying how many, and what to do.
    """
    if gone > FEW and gone > share * indexed:
        kept = "nothing was changed"
        if lately:
            kept = f"after the {lately:,} of the last minutes no more were forgotten"
        raise MassDeletion(
            f"{vault}: {gone:,} of the {indexed:,} notes in the index are gone, so {kept}; "
            "if the vault is on a disk that is not there now, bring it back; if you did "
            "delete them, run: notehop index --allow-mass-delete"
        )
