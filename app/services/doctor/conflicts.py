"""Copies that sync tools make where a file was changed in two places. Pure.

The patterns are those that the tools document or are known for: Syncthing
(``.sync-conflict-DATE-TIME-DEVICE``), Dropbox, Nextcloud, ownCloud and Obsidian Sync
(``(… conflicted copy …)``, Dropbox in the language of its user), Seafile (``(SFConflict …)``),
OneDrive (the name of the computer at the end), iCloud and Google Drive (a number at the end).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from notehop.app.models import ConflictCopy

_SYNCTHING = re.compile(r"(?P<stem>.+)\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?(?P<ext>\.\w+)?")

_COPY = r"cop(?:y|ie|ia)|cópia|kopi[ae]|副本|コピー"
_CONFLICT = r"[ck]onfli[ck]t|conflitt?o?|冲突|衝突|競合"
_CONFLICTED = re.compile(
    rf"(?P<stem>.+?) \((?=[^()]*(?:{_COPY}))[^()]*(?:{_CONFLICT})[^()]*\)(?P<ext>\.\w+)?",
    re.IGNORECASE,
)
_DROPBOX = re.compile(
    r"(?P<stem>.+?) \((?:Case|Selective Sync|Unicode Encoding|White ?Space) Conflict(?: \d+)?\)"
    r"(?P<ext>\.\w+)?"
)
_SEAFILE = re.compile(r"(?P<stem>.+?) \(SFConflict [^()]+\)(?P<ext>\.\w+)?")

_BY_NAME = (
    ("Syncthing", _SYNCTHING),
    ("Seafile", _SEAFILE),
    ("Dropbox", _DROPBOX),
    ("a sync tool", _CONFLICTED),
)

_COMPUTER = re.compile(r"(?P<stem>.+)-(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}(?P<ext>\.\w+)")
"""OneDrive adds the computer's name; those that Windows gives by itself can be told."""

_NUMBERED = re.compile(r"(?P<stem>.+?)(?: [2-9]| \([1-9]\))(?P<ext>\.md)", re.IGNORECASE)

Alike = Callable[[str, str], bool]
"""Whether the texts of two notes are the same, or nearly."""


def conflict_copies(paths: Collection[str], alike: Alike) -> list[ConflictCopy]:
    """The files that are such copies, by path.

    A number at the end says little: people write ``Meeting 2.md`` too. It counts only beside a note
    without it that says nearly the same.

    :param paths: of all files of the vault.
    """
    there = frozenset(paths)
    return [copy for path in sorted(there) for copy in _of(path, there, alike)]


def _of(path: str, there: Collection[str], alike: Alike) -> Iterator[ConflictCopy]:
    folder, slash, name = path.rpartition("/")
    for tool, pattern in _BY_NAME:
        if found := pattern.fullmatch(name):
            base = f"{folder}{slash}{found['stem']}{found['ext'] or ''}"
            yield ConflictCopy(path=path, of=base if base in there else None, tool=tool)
            return
    for tool, pattern in (("OneDrive", _COMPUTER), ("iCloud or Google Drive", _NUMBERED)):
        if found := pattern.fullmatch(name):
            base = f"{folder}{slash}{found['stem']}{found['ext']}"
            if base in there and (tool == "OneDrive" or alike(path, base)):
                yield ConflictCopy(path=path, of=base, tool=tool)
            return
