"""One client of the vector store for each folder and process.

Chroma keeps its engine by path for as long as any client lives: whoever deletes a folder, makes it
anew and opens it would get the old engine, on files that are gone. And two engines on one folder do
not see each other's writes. So the users of a folder share one client, and a folder made anew gets
a new one.

Touches: index (makes the folder).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class _Shared:
    client: Any
    identity: tuple[int, int]
    held: int
    users: int


_by_path: dict[str, _Shared] = {}
_turn = threading.Lock()


def acquire(folder: Path, make: Callable[[str], Any]) -> Any:
    """The client of a folder, made with ``make(path)`` for its first user; the folder is made too.

    :raises OSError: if the folder cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = str(folder.resolve())
    with _turn:
        shared = _by_path.get(path)
        if shared is not None and shared.identity == _identity(path) and any(folder.iterdir()):
            shared.users += 1
            return shared.client
        if shared is not None:
            _drop(path)
        client = make(path)
        # An open handle keeps the number of the folder from being given to the next one.
        held = os.open(path, os.O_RDONLY) if hasattr(os, "O_DIRECTORY") else -1
        _by_path[path] = _Shared(client, _identity(path), held, 1)
        return client


def release(folder: Path, client: Any) -> None:
    """End one use; the last closes the client. One whose folder was made anew is closed already."""
    path = str(folder.resolve())
    with _turn:
        shared = _by_path.get(path)
        if shared is None or shared.client is not client:
            return
        shared.users -= 1
        if not shared.users:
            _drop(path)


def _drop(path: str) -> None:
    shared = _by_path.pop(path)
    if shared.held >= 0:
        os.close(shared.held)
    shared.client.close()


def _identity(path: str) -> tuple[int, int]:
    found = Path(path).stat()
    return found.st_dev, found.st_ino
