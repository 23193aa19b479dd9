"""The index of all files of a vault, by the names by which links are resolved."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from unicodedata import normalize

NOTE_SUFFIX = ".md"
READABLE = (NOTE_SUFFIX, ".canvas", ".base", ".pdf")

_HARD_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " "})


def fold(text: str) -> str:
    """The key under which two paths, names or aliases are the same.

    Case-folded and NFC (normalised on both sides of the folding, since folding can decompose).
    No-break spaces count as spaces, as in the app's public ``normalizePath``: they come in with
    text pasted from other programs and cannot be seen.
    """
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text.translate(_HARD_SPACES)).casefold())


def is_note(path: str) -> bool:
    """Whether a file is a note: its extension is ``.md`` in any case."""
    return path[-len(NOTE_SUFFIX) :].lower() == NOTE_SUFFIX


def is_readable(path: str) -> bool:
    """Whether a file is of a kind that can be read: a note, a canvas, a base, a PDF."""
    return path.lower().endswith(READABLE)


def is_pdf(path: str) -> bool:
    """Whether a file is a PDF: nothing links from it, and reading it takes a process and a second."""
    return path.lower().endswith(".pdf")


def link_name(target: str) -> str:
    """The name under which a link waits for changes: its folded last segment, without ``.md``.

    Works for the path part of a link, for the path of a file and for an alias, and gives all that
    could ever meet the same name: every trailing ``.md`` is dropped, for ``[[a.md]]`` may mean
    ``a.md`` or ``a.md.md``, and so are spaces around it. Empty for a link into the same note.
    """
    name = fold(target).rpartition("/")[2].strip()
    while name.endswith(NOTE_SUFFIX):
        name = name[: -len(NOTE_SUFFIX)].rstrip()
    return name


def affected_names(path: str, aliases: Iterable[str] = ()) -> frozenset[str]:
    """The :func:`link_name` of every link to resolve again when a file comes, goes or changes.

    Ask for the old and the new path of a file that moved, and for the old and the new aliases of a
    note (those of a note that becomes excluded or stops being so, too). Links that *stand in* a
    note that appeared or moved must be resolved in any case: their folder is new.
    """
    return frozenset((link_name(path), *(link_name(alias) for alias in aliases)))


V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class VaultFile:
    """One file. ``key`` is its folded path; two files of a case-sensitive disk may share one."""

    path: str
    key: str
    excluded: bool = False


class VaultFiles:
    """All files of a vault, notes and attachments, under every name a link can give them.

    Files that are kept out of the index are here like any other, flagged as excluded, so that a
    link to one is known for what it is. A change costs what it touches, not the vault.
    """

    def __init__(
        self,
        paths: Iterable[str],
        excluded: Iterable[str] = (),
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Index a vault.

        :param paths: paths from the vault's root with ``/``, of any type; repeats do no harm.
        :param excluded: those that are not indexed; they need not be in ``paths`` too.
        :param aliases: path of a note -> its aliases.
        :raises ValueError: if ``aliases`` names a file that is in neither list.
        """
        self._files: dict[str, VaultFile] = {}
        self._named: dict[str, list[VaultFile]] = {}
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._carriers: dict[str, list[str]] = {}
        kept_out = frozenset(excluded)
        for path in paths:
            if path not in kept_out:
                self.add(path)
        for path in sorted(kept_out):
            self.add(path, excluded=True)
        for path, names in (aliases or {}).items():
            self.set_aliases(path, names)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        """All paths, sorted."""
        return iter(sorted(self._files))

    def is_excluded(self, path: str) -> bool:
        """Whether a file is there and flagged as excluded."""
        file = self._files.get(path)
        return file is not None and file.excluded

    def aliases_of(self, path: str) -> tuple[str, ...]:
        """The aliases of a note as given; empty if it has none or is not there."""
        return self._aliases.get(path, ())

    def add(self, path: str, *, excluded: bool = False, aliases: Sequence[str] = ()) -> None:
        """Add a file, or replace what is known of it."""
        if path in self._files:
            self.remove(path)
        file = VaultFile(path, fold(path), excluded)
        self._files[path] = file
        for ending in _endings(file.key):
            insort(self._named.setdefault(ending, []), file, key=_length_and_path)
        if aliases:
            self.set_aliases(path, aliases)

    def remove(self, path: str) -> None:
        """Forget a file and its aliases; nothing happens if it is not there."""
        file = self._files.get(path)
        if file is None:
            return
        self.set_aliases(path, ())
        del self._files[path]
        for ending in _endings(file.key):
            _take(self._named, ending, file)

    def set_aliases(self, path: str, aliases: Sequence[str]) -> None:
        """Replace the aliases of a note; blank ones are dropped, repeated ones count once.

        :raises ValueError: if the file is not there, or is given aliases and is not a note.
        """
        if path not in self._files:
            raise ValueError(f"{path}: not a file of this vault; add it first")
        if aliases and not is_note(path):
            raise ValueError(f"{path}: only notes have aliases")
        for key in _alias_keys(self._aliases.pop(path, ())):
            _take(self._carriers, key, path)
        if aliases:
            self._aliases[path] = tuple(aliases)
        for key in _alias_keys(aliases):
            insort(self._carriers.setdefault(key, []), path)

    def named(self, key: str) -> Sequence[VaultFile]:
        """The files whose path is this folded one, or ends with it after a ``/``.

        The shortest path comes first, so that exact ones do; ties by path. That the app counts
        characters, not folders, shows where ``a-long-folder/N.md`` meets ``a/b/N.md``.
        """
        return self._named.get(key, ())

    def carriers(self, alias: str) -> list[str]:
        """The notes that carry an alias and are not excluded, by path."""
        paths = self._carriers.get(alias_key(alias), ())
        return [path for path in paths if not self._files[path].excluded]


def competing(files: Sequence[VaultFile]) -> Sequence[VaultFile]:
    """The files that are not excluded, or all of them if every one is."""
    if len(files) == 1:
        return files
    return [file for file in files if not file.excluded] or files


def alias_key(alias: str) -> str:
    """The key under which an alias and a link that names it are the same."""
    return fold(alias).strip()


def _alias_keys(aliases: Iterable[str]) -> list[str]:
    return sorted({key for alias in aliases if (key := alias_key(alias))})


def _endings(key: str) -> list[str]:
    """``a/b/c.md`` -> ``a/b/c.md``, ``b/c.md``, ``c.md``."""
    return [key, *(key[at + 1 :] for at, character in enumerate(key) if character == "/")]


def _length_and_path(file: VaultFile) -> tuple[int, str]:
    return len(file.key), file.path


def _take(index: dict[str, list[V]], key: str, value: V) -> None:
    values = index[key]
    values.remove(value)
    if not values:
        del index[key]
