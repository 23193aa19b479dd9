"""The index of all files of a vault, by the names by which links are resolved."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

NOTE_SUFFIX = ".md"
READABLE = (NOTE_SUFFIX, ".canvas", ".base", ".pdf")

_HARD_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " "})


def fold(text: str) -> str:
    """The key under which two paths, names or aliases are the same: case-folded and NFC, with no-break
    spaces, which nobody sees, as spaces, as in the app's public ``normalizePath``."""
    if text.isascii():
        return text.lower()
    # On both sides, since folding can decompose.
    return normalize("NFC", normalize("NFC", text.translate(_HARD_SPACES)).casefold())


def is_note(path: str) -> bool:
    return path[-len(NOTE_SUFFIX) :].lower() == NOTE_SUFFIX


def is_readable(path: str) -> bool:
    return path.lower().endswith(READABLE)


def is_pdf(path: str) -> bool:
    """Whether it holds no links, and takes a process and a second to be read."""
    return path.lower().endswith(".pdf")


def link_name(target: str) -> str:
    """The name under which a link's path, a file's path or an alias waits for changes: its folded last
    segment, without any ``.md`` (``[[a.md]]`` may mean ``a.md.md``). Empty for a link into the same note.
    """
    name = fold(target).rpartition("/")[2].strip()
    while name.endswith(NOTE_SUFFIX):
        name = name[: -len(NOTE_SUFFIX)].rstrip()
    return name


def affected_names(path: str, aliases: Iterable[str] = ()) -> frozenset[str]:
    """The :func:`link_name` of every link to resolve again when a file, with the old and the new of its
    aliases, comes, goes or changes."""
    return frozenset((link_name(path), *(link_name(alias) for alias in aliases)))


@dataclass(frozen=True, slots=True)
class VaultFile:
    """One file. ``key`` is its folded path; two files of a case-sensitive disk may share one."""

    path: str
    key: str
    excluded: bool = False
    aliases: tuple[str, ...] = ()


class VaultFiles(Mapping[str, VaultFile]):
    """All files of a vault, notes and attachments, under every name a link can give them, those that are
    kept out of the index flagged. A change costs what it touches."""

    def __init__(
        self,
        paths: Iterable[str],
        excluded: Iterable[str] = (),
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """:param excluded: paths that are not indexed; they need not be in ``paths`` too."""
        self._files: dict[str, VaultFile] = {}
        self._named: dict[str, list[VaultFile]] = {}
        self._carriers: dict[str, list[VaultFile]] = {}
        aliases, kept_out = aliases or {}, frozenset(excluded)
        for path in sorted({*paths, *kept_out}):
            self.add(path, excluded=path in kept_out, aliases=aliases.get(path, ()))

    def __getitem__(self, path: str) -> VaultFile:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._files))

    def __len__(self) -> int:
        return len(self._files)

    def add(self, path: str, *, excluded: bool = False, aliases: Sequence[str] = ()) -> None:
        """Add a file, or replace what is known of it."""
        self.remove(path)
        file = VaultFile(path, fold(path), excluded, tuple(aliases))
        self._files[path] = file
        for index, key in self._entries(file):
            insort(index.setdefault(key, []), file, key=lambda one: (len(one.key), one.path))

    def remove(self, path: str) -> None:
        """Forget a file and its aliases; nothing happens if it is not there."""
        if (file := self._files.pop(path, None)) is None:
            return
        for index, key in self._entries(file):
            index[key].remove(file)
            if not index[key]:
                del index[key]

    def _entries(self, file: VaultFile) -> Iterator[tuple[dict[str, list[VaultFile]], str]]:
        """Where a file is found: ``a/b/c.md`` by itself, ``b/c.md`` and ``c.md``, and its aliases."""
        key, more = file.key, "/"
        while more:
            yield self._named, key
            _, more, key = key.partition("/")
        for key in {alias_key(alias) for alias in file.aliases} - {""}:
            yield self._carriers, key

    def named(self, key: str) -> Sequence[VaultFile]:
        """The files whose path is this folded one, or ends with it after a ``/``: the shortest (the app
        counts characters, not folders), and so exact ones, first; ties by path."""
        return self._named.get(key, ())

    def carriers(self, alias: str) -> list[str]:
        """The notes that carry an alias and are not excluded, by path."""
        carriers = self._carriers.get(alias_key(alias), ())
        return sorted(file.path for file in carriers if not file.excluded)


def competing(files: Sequence[VaultFile]) -> Sequence[VaultFile]:
    """The files that are not excluded, or all of them if every one is."""
    return [file for file in files if not file.excluded] or files


def alias_key(alias: str) -> str:
    """The key under which an alias and a link that names it are the same."""
    return fold(alias).strip()
