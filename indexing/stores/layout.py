"""Where an index lives, what its folder holds, and how its small files are read and replaced."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Literal, TypeVar
from urllib.parse import parse_qs, urlsplit

from pydantic import TypeAdapter

from notehop.config import Settings
from notehop.config.errors import IndexFailure, IndexUnwritable, UsageError
from notehop.indexing import crash_points

Read = TypeVar("Read")

_NAME_CHARS = 60
"""Characters of a vault's name that the folder's name keeps: names end at 255 bytes."""

_SCHEMA_CHARS = 30
"""Characters of it that the name of a schema keeps: PostgreSQL's names end at 63 bytes, and that of
each catalog has a suffix."""


@dataclass(frozen=True, slots=True)
class ServerCatalog:
    """A catalog in a PostgreSQL database. ``url`` holds no password: the settings refuse one.

    :ivar schema: names the index there; its catalogs, the one in force and one that is being made,
        have schemas of their own, which it leads to.
    :ivar role: which of them.
    :ivar allowed: hosts beside this machine that may hold it (``privacy.allow_hosts``).
    """

    url: str
    schema: str
    role: Literal["current", "next"] = "current"
    allowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        """How people know it: host and database, no user and no parameter but the host."""
        parts = urlsplit(self.url)
        named = parse_qs(parts.query)
        hosts = parts.netloc.rpartition("@")[2] or ",".join(named.get("host", ["this machine"]))
        database = parts.path.strip("/") or ",".join(named.get("dbname", []))
        return f"PostgreSQL at {hosts}, database {database or 'of the user'}, schema {self.schema}"


CatalogAddress = Path | ServerCatalog  # where a catalog is: a file of SQLite, or tables on a server


_MADE_ANEW = re.compile("index-[0-9a-f]{8}")
"""Names of the folders in which rebuilds make an index. They have no marker of their own."""

_FORMER = ("last-run.json", "seal.json", "vectors")
"""What 0.1.0 kept, and no run writes any more."""


class _Place:
    """A path in the folder of an index, or in that in which a rebuild made it."""

    def __init__(self, name: str, *, made_anew: bool = False) -> None:
        self._name = name
        self._made_anew = made_anew

    def __get__(self, layout: IndexLayout, _: object = None) -> Path:
        return (layout.home if self._made_anew else layout.root) / self._name


_replaced = partial(_Place, made_anew=True)


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The paths of one index (docs/index-layout.md says what each holds); making the value touches
    nothing. With a ``database`` on a server, the folder holds all but the catalog.

    A first index lies in the folder itself. A rebuild makes one in a folder of its own there,
    ``made_in``, and then replaces the line of ``current``, which names the one in force: a crash
    leaves the old one or the new one.
    """

    root: Path
    database: ServerCatalog | None = None
    made_in: str | None = None

    marker = _Place("notehop-index.txt")
    """It says that a folder is an index: nothing is ever removed from a folder without it."""
    current = _Place("current.txt")
    catalog_file = _replaced("catalog.sqlite")
    catalog_state = _replaced("catalog.json")
    lexical = _replaced("lexical")
    postings = _replaced("lexical/postings.npz")
    model = _replaced("model")
    purge_mark = _replaced("purge")
    journal_mark = _replaced("journal")
    enrichment = _Place("enrichment.sqlite")
    enriching_lock = _Place("enriching.lock")
    chroma = _Place("chroma")
    chroma_collection = _Place("chroma-server.json")
    lock = _Place("writer.lock")
    lock_holder = _Place("writer.json")
    failure = _Place("failed.txt")
    watch_lock = _Place("watcher.lock")
    watch_state = _Place("watcher.json")
    server = _Place("server.json")
    server_lock = _Place("server.lock")

    @property
    def home(self) -> Path:
        """The folder that holds the index in force, or the one that is being made.

        :raises IndexFailure: if the file that names it cannot be read.
        """
        if self.made_in is not None:
            return self.root / self.made_in
        try:
            name = self.current.read_text("utf-8", "replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return self.root
        except OSError as exc:
            raise IndexFailure(
                f"{self.current}: cannot be read ({exc.strerror or exc}); mend the permissions of the folder"
            ) from exc
        return self.root / name if _MADE_ANEW.fullmatch(name) else self.root

    @property
    def catalog(self) -> CatalogAddress:
        """The source of truth of the index: ``catalog_file`` where it is on no server."""
        return self.database or self.catalog_file

    @property
    def catalog_files(self) -> tuple[Path, ...]:
        """The catalog's file and those that SQLite keeps beside it, which mean nothing alone."""
        if self.database is not None:
            return ()
        file = self.catalog_file
        return tuple(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal", ""))

    @property
    def contents(self) -> tuple[Path, ...]:
        """All that a rebuild makes anew."""
        derived = (self.lexical, self.model, self.catalog_state, self.purge_mark, self.journal_mark)
        return (*self.catalog_files, *derived)

    def beside(self) -> IndexLayout:
        """Where a rebuild may make the index that takes the place of this one; nothing is there."""
        database = self.database and replace(self.database, role="next")
        return IndexLayout(self.root, database, f"index-{uuid.uuid4().hex[:8]}")

    def left_over(self) -> list[Path]:
        """What is there of indexes that a rebuild replaced, or did not finish, and of earlier versions: their
        folders, and files and folders of a first one."""
        home = self.home
        first = () if home == self.root else IndexLayout(self.root, self.database, "").contents
        # An index of another vault may lie in this folder: it has a marker.
        made = (
            one
            for one in self.root.iterdir()
            if one != home and _MADE_ANEW.fullmatch(one.name) and not (one / self.marker.name).is_file()
        )
        former = (self.root / name for name in _FORMER)
        return [*made, *(path for path in (*first, *former) if path.exists())]

    def put_in_force(self, made: IndexLayout) -> None:
        """Let a whole, closed index, made :meth:`beside` this one, take its place.

        A catalog on a server is put in force first, by the server: what is derived from it and was
        lost in a crash is made again. The caller holds the writer lock.

        :raises IndexUnwritable: if the disk refuses.
        """
        if self.database is not None:
            from notehop.indexing.stores.served.postgres_database import put_in_force

            put_in_force(self.database)
            crash_points.point("rebuild-catalog-in-force")
        with writing_to(self.root):
            replace_file(self.current, f"{made.home.name}\n")
        self.remove_left_over()

    def remove_left_over(self) -> None:
        """Remove indexes that are not in force: replaced, or never whole. What the system does not let go,
        as a file that is open, the next call removes. The caller holds the lock.

        :raises IndexUnwritable: if the disk refuses.
        """
        with writing_to(self.root):
            for path in self.left_over():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    with suppress(OSError):
                        path.unlink()
                crash_points.point("rebuild-former-removed")
            if not self.home.is_dir():
                self.current.unlink()
        if self.database is not None:
            from notehop.indexing.stores.served.postgres_database import remove_replaced

            remove_replaced(self.database)

    def remove(self, path: Path) -> None:
        """Remove a file or folder, which need not be there; IndexUnwritable if the disk refuses."""
        with writing_to(self.root), suppress(NotADirectoryError):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def make_folder(self) -> None:
        """Make the folder, for its owner alone, and close one to them that others can look into."""
        self.root.parent.mkdir(parents=True, exist_ok=True)
        self.root.mkdir(mode=0o700, exist_ok=True)
        self.close_to_others()

    def close_to_others(self) -> None:
        """Take every right of other users to the folder away, and so to all that lies in it, as far as it
        can: an index holds all text of its vault."""
        # What another owns is none of ours to close.
        with suppress(OSError):
            mode = self.root.stat().st_mode
            if os.name == "posix" and mode & 0o077:
                self.root.chmod(stat.S_IMODE(mode) & 0o700)

    def create(self, vault: Path) -> None:
        """Make the folder and its marker; a folder that is an index already stays as it is.

        :raises UsageError: if the folder holds something else, or is no folder.
        :raises IndexUnwritable: if it cannot be made.
        """
        with writing_to(self.root):
            try:
                if self.marker.is_file():
                    self.make_folder()
                    return
                ours = {self.lock, self.lock_holder, self.watch_lock, self.watch_state}
                ours |= {self.server, self.server_lock}
                if self.root.exists() and any(path not in ours for path in self.root.iterdir()):
                    # Before their rights are changed: they are somebody's.
                    raise UsageError(
                        f"{self.root}: holds files that are not of an index; "
                        "name an empty or a new folder with --index-dir"
                    )
                self.make_folder()
                crash_points.point("index-folder-made")
                write_private(
                    self.marker,
                    f"notehop's search index of the vault {vault}\n"
                    "Everything here is made from the notes. It can be deleted without loss:\n"
                    "`notehop index` makes it again.\n",
                )
                crash_points.point("index-marker-written")
            except (FileExistsError, NotADirectoryError) as exc:
                raise UsageError(f"{self.root}: is no folder; name another one with --index-dir") from exc


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file, for its owner alone, to be written in the block, that takes the place of another.

    A crash at any point leaves the old one or the new one, and at most a ``.new`` beside it that the
    next write takes over; an error leaves the old one.
    """
    new = path.with_suffix(".new")
    try:
        new.touch(0o600)
        with new.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        crash_points.point(f"{path.stem}-drafted")
        new.replace(path)
    except BaseException:
        # On a full disk the half that was written is in everyone's way.
        new.unlink(missing_ok=True)
        raise
    crash_points.point(f"{path.stem}-replaced")
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder outlast a power cut, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone may read."""
    path.touch(0o600)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def replace_file(path: Path, text: str) -> None:
    """Put a file in the place of the one there is, or raise OSError and leave that as it is."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def read_json(kind: type[Read], path: Path) -> Read | None:
    """The value of a dataclass that a file holds; None if it is not there, or holds another thing."""
    try:
        # Not pydantic's reader: it takes no half of a surrogate pair, and a path may hold one.
        return TypeAdapter(kind).validate_python(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None


def file_number(path: Path) -> tuple[int, int] | None:
    """What tells a file or folder from any other; None if there is none that can be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """A block in which an OSError becomes IndexUnwritable."""
    try:
        yield
    except OSError as exc:
        raise IndexUnwritable(
            f"{folder}: the index cannot be written ({exc.strerror or exc}); "
            "free space or mend the permissions, or name another folder with --index-dir"
        ) from exc


def layout_for(vault: Path, settings: Settings, index_dir: Path | None = None) -> IndexLayout:
    """Where the settings, or ``index_dir``, have the index of a vault; UsageError if in the vault."""
    root = index_dir_for(vault, index_dir or settings.index.dir)
    if not settings.catalog.url:
        return IndexLayout(root)
    shown, digest = _known_by(vault.expanduser().resolve())
    named = re.sub(r"[^a-z0-9]+", "_", shown.lower()).strip("_")[:_SCHEMA_CHARS] or "vault"
    schema = settings.catalog.schema_name or f"notehop_{named}_{digest}"
    allowed = settings.privacy.allow_hosts
    return IndexLayout(root, ServerCatalog(settings.catalog.url, schema, allowed=allowed))


def index_dir_for(vault: Path, index_dir: Path | None = None) -> Path:
    """The folder of the index of ``vault``, absolute: ``index_dir``, else one in the user's data, named
    after the vault and a hash of its resolved path, so that two vaults of one name do not meet.

    :raises UsageError: if it is the vault or lies inside it.
    """
    resolved = vault.expanduser().resolve()
    if index_dir is None:
        from platformdirs import user_data_path

        index_dir = user_data_path("notehop") / "-".join(_known_by(resolved))
    chosen = index_dir.expanduser().resolve()
    if chosen == resolved or resolved in chosen.parents:
        raise UsageError(
            f"{chosen}: the index may not lie inside the vault {resolved}; "
            "name a folder outside it with --index-dir"
        )
    return chosen


def _known_by(vault: Path) -> tuple[str, str]:
    """A name for people and digits that tell two vaults of one name apart."""
    shown = re.sub(r"[^\w.-]+", "-", vault.name).strip("-.")[:_NAME_CHARS] or "vault"
    digest = hashlib.sha256(vault.as_posix().encode("utf-8", "surrogateescape")).hexdigest()
    return shown, digest[:8]
