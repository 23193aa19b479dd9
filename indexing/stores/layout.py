"""Where an index lives and what its folder holds.

Touches: index (makes the folder and its marker, removes what the index owns).
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from config.errors import IndexUnwritable, UsageError

MARKER = "notehop-index.txt"
"""The file that says a folder is an index: nothing is ever removed from a folder without it."""

_NAME_CHARS = 60
"""Characters of a vault's name that the folder's name keeps: names end at 255 bytes."""


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The paths of one index; making the value touches nothing."""

    root: Path

    @property
    def catalog(self) -> Path:
        """The SQLite file: the source of truth of the index."""
        return self.root / "catalog.sqlite"

    @property
    def chroma(self) -> Path:
        """The folder of the vector store."""
        return self.root / "chroma"

    @property
    def vectors(self) -> Path:
        """The folder of the memory-mapped vector tables."""
        return self.root / "vectors"

    @property
    def lexical(self) -> Path:
        """The folder of the lexical index."""
        return self.root / "lexical"

    @property
    def model(self) -> Path:
        """The folder of the query door of the embedding model."""
        return self.root / "model"

    @property
    def lock(self) -> Path:
        """The file that the one writer locks."""
        return self.root / "writer.lock"

    @property
    def lock_holder(self) -> Path:
        """The file that tells who holds the lock: information, never the lock itself."""
        return self.root / "writer.json"

    @property
    def sweep_mark(self) -> Path:
        """The file that is there while vectors are written: left over, it asks for a sweep."""
        return self.root / "writing"

    @property
    def marker(self) -> Path:
        """The file that makes the folder an index of notehop."""
        return self.root / MARKER

    @property
    def catalog_files(self) -> tuple[Path, ...]:
        """The catalog's file and those that SQLite keeps beside it, which mean nothing alone."""
        suffixes = ("-wal", "-shm", "-journal", "")
        return tuple(self.catalog.with_name(self.catalog.name + suffix) for suffix in suffixes)

    @property
    def next(self) -> IndexLayout:
        """Where a rebuild makes the index that takes the place of this one."""
        return IndexLayout(self.root / "next")

    def create(self, vault: Path) -> None:
        """Make the folder and its marker; a folder that is an index already stays as it is.

        :raises UsageError: if the folder holds something else, or is no folder.
        :raises IndexUnwritable: if it cannot be made.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            if self.marker.is_file():
                return
            if any(path != self.lock and path != self.lock_holder for path in self.root.iterdir()):
                raise UsageError(
                    f"{self.root}: holds files that are not of an index; "
                    "name an empty or a new folder with --index-dir"
                )
            self.marker.write_text(
                f"notehop's search index of the vault {vault}\n"
                "Everything here is made from the notes. It can be deleted without loss:\n"
                "`notehop index` makes it again.\n",
                encoding="utf-8",
                errors="backslashreplace",
            )
        except (FileExistsError, NotADirectoryError) as exc:
            raise UsageError(
                f"{self.root}: is no folder; name another one with --index-dir"
            ) from exc
        except OSError as exc:
            raise unwritable(self.root, exc) from exc

    def clear(self) -> None:
        """Remove all that an index holds, except its marker and its lock; what is not ours stays.

        :raises UsageError: if the folder is there and is not marked as an index.
        :raises IndexUnwritable: if something cannot be removed.
        """
        if not self.root.exists():
            return
        if not self.marker.is_file():
            raise UsageError(
                f"{self.root}: is not an index of notehop, so nothing is removed there"
            )
        try:
            for folder in (self.chroma, self.vectors, self.lexical, self.model):
                if folder.exists():
                    shutil.rmtree(folder)
            # The journal goes before its database: alone it means nothing, the other way round
            # a new database could take up an old journal.
            for file in self.catalog_files:
                file.unlink(missing_ok=True)
            self.sweep_mark.unlink(missing_ok=True)
        except OSError as exc:
            raise unwritable(self.root, exc) from exc


def unwritable(folder: Path, exc: OSError) -> IndexUnwritable:
    """The error for an index folder that the system did not let us write."""
    return IndexUnwritable(
        f"{folder}: the index cannot be written ({exc.strerror or exc}); "
        "free space or mend the permissions, or name another folder with --index-dir"
    )


def index_dir_for(vault: Path, index_dir: Path | None = None) -> Path:
    """The folder of the index of ``vault``, absolute: ``index_dir``, else one in the user's data.

    The default is named after the vault and a hash of its resolved path, so that two vaults of one
    name do not meet.

    :raises UsageError: if it is the vault or lies inside it.
    """
    resolved = vault.expanduser().resolve()
    if index_dir is None:
        from platformdirs import user_data_path

        shown = re.sub(r"[^\w.-]+", "-", resolved.name).strip("-.")[:_NAME_CHARS] or "vault"
        digest = hashlib.sha256(resolved.as_posix().encode("utf-8", "surrogateescape")).hexdigest()
        index_dir = user_data_path("notehop") / f"{shown}-{digest[:8]}"
    chosen = index_dir.expanduser().resolve()
    if chosen == resolved or resolved in chosen.parents:
        raise UsageError(
            f"{chosen}: the index may not lie inside the vault {resolved}; "
            "name a folder outside it with --index-dir"
        )
    return chosen
