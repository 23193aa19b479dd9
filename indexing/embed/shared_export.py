"""The exported query model, kept once for a user: the indexes of all vaults share its files.

Its files are hard links, so that an index needs nothing beside its own folder: it goes on answering when
the cache is emptied, and a model takes its room once. Where links are not possible, files are copied.

Touches: the user's cache; index (the folder ``model``).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from notehop.indexing.embed.card import model_identity
from notehop.indexing.embed.door import DOOR_FILE, DOOR_VERSION, Door, read_door

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings

_PATIENCE = 300.0
"""Seconds to wait for another process that exports: of a large model it takes minutes."""


def shared_exports() -> Path:
    """The folder of all exported models of this user."""
    return user_cache_path("notehop") / "query-models"


def shared_export(settings: EmbeddingSettings) -> Path:
    """The folder of the export of the model that the settings name, which need not be there.

    :raises ModelError: if the model is missing.
    """
    identity = {**model_identity(settings), "version": DOOR_VERSION}
    key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    return shared_exports() / key


def usable(folder: Path) -> Door | None:
    """The export in a folder, if it is whole and as it was written."""
    door = read_door(folder)
    return door if door is not None and door.reason is None and door.is_sound(folder) else None


@contextmanager
def one_at_a_time(shared: Path) -> Iterator[None]:
    """Let no other process export meanwhile: it would make the same. Without a cache, all may."""
    lock: FileLock | None = None
    with suppress(OSError, Timeout, NotImplementedError):
        shared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(shared.with_suffix(".lock"), timeout=_PATIENCE, fallback_to_soft=False)
        lock.acquire()
    try:
        yield
    finally:
        if lock is not None and lock.is_locked:
            lock.release()


def take_shared(shared: Path, folder: Path) -> bool:
    """Put the shared export into an index's model folder.

    :returns: False if there is none that is sound, or the disk refuses: one has to be made.
    """
    door = usable(shared)
    if door is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The description comes last, so that files it names are whole.
        for name in (*(name for name, _ in door.files.values()), DOOR_FILE):
            link(shared / name, folder / name)
    except OSError:
        return False
    return True


def give_shared(folder: Path, shared: Path) -> None:
    """Share the export of an index, if there is none; where the disk refuses, each has its own."""
    if usable(shared) is not None or usable(folder) is None:
        return
    draft = shared.with_name(f"{shared.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with suppress(OSError):
            shared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.mkdir(mode=0o700)
            if take_shared(folder, draft):
                # A damaged one, or one of another version, gives way.
                shutil.rmtree(shared, ignore_errors=True)
                draft.rename(shared)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def link(source: Path, target: Path) -> None:
    """Make a file another name of the source, or a copy of it; what was there is replaced.

    :raises OSError: if the disk refuses.
    """
    draft = target.with_name(f"{target.name}.part")
    draft.unlink(missing_ok=True)
    try:
        os.link(source, draft)
    except OSError:
        shutil.copy2(source, draft)
    draft.replace(target)
    # Of two names of one file, nothing is replaced.
    draft.unlink(missing_ok=True)
