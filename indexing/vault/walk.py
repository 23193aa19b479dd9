"""Which files a vault holds, and which of them are kept out; no note is read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time
from typing import Literal

from notehop.config.errors import VaultError
from notehop.config.small_files import read_json_file

Exclusion = Callable[[str], str | None]
"""Path relative to the vault, with ``/`` -> reason, or None if the path is kept."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of the vault; ``path`` is relative to it, with ``/``, spelled as on disk.

    ``size`` is in bytes, ``mtime_ns`` in nanoseconds since the epoch. ``excluded`` is the reason
    the file is kept out of the index, else None; links to it are reported as excluded.
    """

    path: str
    size: int
    mtime_ns: int
    kind: Literal["note", "attachment"]
    excluded: str | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, each sorted by path.

    ``unlisted`` holds the paths of folders and files that could not be looked at: what is below
    them is unknown, not gone. ``problems`` holds (path, reason) of these and of all that is no part
    of the vault, such as a link that leaves it; bytes of a name that are no UTF-8 stand as
    ``\\xNN`` in it. ``symlinks`` are all symbolic links: what they show can change without a change
    of their own.
    """

    files: tuple[FileEntry, ...]
    problems: tuple[tuple[str, str], ...]
    unlisted: tuple[str, ...] = ()
    symlinks: tuple[str, ...] = ()


def vault_folder(named: Path) -> Path:
    """Return the folder of a vault as a person named it, resolved.

    :raises VaultError: if it is not there, is no folder, or its disk does not answer.
    """
    try:
        folder = named.expanduser().resolve()
        if not folder.exists():
            raise VaultError(f"{named}: there is no such folder; name the folder of your notes")
        if not folder.is_dir():
            raise VaultError(f"{named}: a file, not a folder; name the folder that holds it")
    except (OSError, RuntimeError, ValueError) as exc:
        reason = _reason(exc) if isinstance(exc, OSError) else exc
        raise VaultError(f"{named}: cannot be entered: {reason}") from exc
    return folder


def walk(
    root: Path,
    within: Iterable[str] | None = None,
    *,
    exclude: Sequence[str] = (),
    ignore_filters: Sequence[str] = (),
    suffixes: tuple[str, ...] = (".md",),
) -> Walk:
    """List the files of a vault, attachments too, since links lead to them.

    What starts with a dot (``.obsidian``, ``.trash``, ``.git``) is no part of a vault. Symbolic links
    to files inside it are files like others; links to folders, which would show them twice or lead
    in a circle, and links that leave the vault are not followed.

    :param within: look only at what is at these paths, relative to ``root``, and below them; one at
        which nothing stands, or that is no part of the vault, gives nothing. None for everything.
    :param exclude: globs, see :func:`notehop.indexing.vault.walk.exclusion`.
    :param ignore_filters: see :func:`read_ignore_filters`.
    :param suffixes: how the names of notes end, in any case; every other file is an attachment.
    :raises VaultError: if ``root`` is missing, is no folder or cannot be listed.
    """
    folder = vault_folder(root)
    search = _Search(str(folder), exclusion(exclude, ignore_filters), suffixes)
    for path in top_level([""] if within is None else within):
        if path:
            search.at(path)
        else:
            search.below("")
    if within is not None:
        search.listed("")  # a disk that is gone has no file anywhere
    return search.found()


def top_level(paths: Iterable[str]) -> list[str]:
    """Those of the paths that lie below none of the others, sorted."""
    kept: list[str] = []
    # By folders, not by characters: "a b" would come between "a" and "a/b".
    for path in sorted(set(paths), key=lambda path: path.split("/") if path else []):
        if not kept or not (kept[-1] == "" or path.startswith(kept[-1] + "/")):
            kept.append(path)
    return kept


def read_ignore_filters(root: Path) -> list[str]:
    """Return ``userIgnoreFilters`` of the vault's ``.obsidian/app.json``; empty if there are none.

    :raises VaultError: if the file is there and cannot be read: what its owner wants kept out of
        sight would be indexed.
    """
    path = root / ".obsidian" / "app.json"
    try:
        settings = read_json_file(path)
        filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
        if not isinstance(filters, list | None):
            raise ValueError("userIgnoreFilters is no list")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as exc:
        raise VaultError(
            f"{path}: cannot be read ({exc}), so the files that it excludes are not known; "
            "correct it or move it away"
        ) from exc
    return [text for text in filters or [] if isinstance(text, str) and text]


@dataclass(slots=True)
class _Search:
    root: str
    exclusion: Exclusion
    suffixes: tuple[str, ...]
    files: list[FileEntry] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    symlinks: list[str] = field(default_factory=list)

    def found(self) -> Walk:
        return Walk(
            tuple(sorted(self.files, key=lambda file: file.path)),
            tuple(sorted(self.problems)),
            tuple(sorted(self.unlisted)),
            tuple(sorted(self.symlinks)),
        )

    def below(self, folder: str) -> None:
        """Look at everything in a folder."""
        folders = [folder]
        while folders:
            for entry, path in self._entries(folders.pop()):
                if self._look(entry, path):
                    folders.append(path)

    def at(self, path: str) -> None:
        """Look at what stands at a path, which may be nothing."""
        there = Path(self.root, path)
        above = [one for one in there.parents if one.is_relative_to(self.root)][:-1]
        if any(part.startswith(".") for part in path.split("/")) or not is_text(path):
            return
        try:
            if any(folder.is_symlink() for folder in above) or not _is_spelled_so(there):
                return
        except (FileNotFoundError, NotADirectoryError):
            return  # gone while it was looked at
        except OSError as exc:
            self._unknown(path, exc)
            return
        if self._look(there, path):
            self.below(path)

    def _look(self, entry: os.DirEntry[str] | Path, path: str) -> bool:
        """Take in a file; whether the entry is a folder to go into."""
        try:
            if entry.is_symlink():
                self._symlink(entry, path)
            elif entry.is_dir():
                return True
            else:
                self._file(path, entry.stat())
        except (FileNotFoundError, NotADirectoryError):
            pass  # gone since the folder was listed
        except OSError as exc:
            self._unknown(path, exc)
        return False

    def listed(self, folder: str) -> list[os.DirEntry[str]]:
        """The entries of a folder; none where it cannot be listed.

        :raises VaultError: if it is the vault's own.
        """
        try:
            with os.scandir(Path(self.root, folder)) as found:
                return list(found)
        except OSError as exc:
            if not folder:
                raise VaultError(f"{self.root}: cannot be listed: {_reason(exc)}") from exc
            if not isinstance(exc, FileNotFoundError | NotADirectoryError):
                self._unknown(folder, exc)
            return []

    def _entries(self, folder: str) -> Iterator[tuple[os.DirEntry[str], str]]:
        """The visible entries of a folder whose names are text, with their paths."""
        for entry in self.listed(folder):
            if entry.name.startswith("."):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if is_text(entry.name):
                yield entry, path
            else:
                self.problems.append((_shown(path), "its name is not valid UTF-8; rename it"))

    def _unknown(self, path: str, exc: OSError) -> None:
        self.problems.append((path, _reason(exc)))
        self.unlisted.append(path)

    def _symlink(self, entry: os.DirEntry[str] | Path, path: str) -> None:
        self.symlinks.append(path)
        target = os.path.realpath(entry)
        if not Path(target).is_relative_to(self.root):
            self.problems.append((path, f"symbolic link that leaves the vault: {_shown(target)}"))
            return
        inside = os.path.relpath(target, self.root)
        if Path(target).is_dir():
            self.problems.append(
                (path, f"symbolic link to the folder {_shown(inside)} of this vault; not followed")
            )
        elif not Path(target).exists():
            self.problems.append((path, "symbolic link that leads nowhere"))
        else:
            self._file(path, entry.stat(), self.exclusion(inside.replace(os.sep, "/")))

    def _file(self, path: str, status: os.stat_result, excluded: str | None = None) -> None:
        if not stat.S_ISREG(status.st_mode):
            self.problems.append((path, "not a regular file"))
            return
        self.files.append(
            FileEntry(
                path=path,
                size=status.st_size,
                mtime_ns=status.st_mtime_ns,
                kind="note" if path.lower().endswith(self.suffixes) else "attachment",
                excluded=self.exclusion(path) or excluded,
            )
        )


def _is_spelled_so(path: Path) -> bool:
    """Whether a file of just this spelling is there: some disks answer to any case."""
    try:
        found = path.lstat()
        other = path.with_name(path.name.swapcase())
        if other == path or not os.path.samestat(found, other.lstat()):
            return True
    except OSError:
        # Where there is no other spelling to ask for, what follows says what is there.
        return True
    return any(entry.name == path.name for entry in path.parent.iterdir())


def is_text(name: str) -> bool:
    """Whether a name is UTF-8 on disk: one that is not is no part of a vault."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _reason(exc: OSError) -> str:
    return f"{exc.strerror or exc}"


MAX_FILTERS = 1_000
MAX_FILTER_CHARS = 2_000
"""Of the app's settings, which somebody else may have written."""

FILTER_SECONDS = 1.0
PATH_SECONDS = 0.001
"""What one ignore filter may take: at once, and for a path on average. An ordinary one takes a
microsecond; one that tries all ways to match takes years."""


def exclusion(
    globs: Sequence[str], ignore_filters: Sequence[str], *, filter_seconds: float = FILTER_SECONDS
) -> Exclusion:
    """Build the test for our own ``exclude`` globs and the app's ignore filters.

    A glob without ``/`` names a file or folder at any depth (``Templates``, ``*.excalidraw.md``);
    with ``/`` it stands from the vault's root (``private/**``, ``work/*/drafts``). ``*`` and ``?``
    stop at ``/``, ``**`` does not, and a match on a folder holds for all inside. An ignore filter
    is a prefix of the path (``Archive/``) or a regular expression between slashes (``/\\.draft/``),
    as in the app. All compare without case: when in doubt, a file is kept out.

    :param filter_seconds: what a filter may take on top of a millisecond a path.
    :raises VaultError: if a filter is no regular expression we can read, or there are too many;
        later, by the test itself, if one takes too long: what it keeps out is then not known.
    """
    if len(ignore_filters) > MAX_FILTERS:
        raise VaultError(
            f".obsidian/app.json: {len(ignore_filters):,} excluded-files filters, at most "
            f"{MAX_FILTERS:,} are read; remove some in the app"
        )
    ours, theirs = "excluded by the setting vault.exclude: ", "excluded in the app's settings: "
    rules: list[tuple[Callable[[str], object], str]] = [
        *((glob_pattern(glob).search, ours + glob) for glob in globs),
        *((_filter(text, filter_seconds), theirs + text) for text in ignore_filters),
    ]
    return lambda path: next((why for matches, why in rules if matches(path)), None)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """The pattern that is found in the paths a glob takes; see :func:`exclusion` for its signs.

    It never tries a sign twice: each ``*`` takes as little as it can and sticks to it. No other
    choice could match more, as what follows may only begin later. So a glob of nothing but stars
    takes no longer than any other.
    """
    anchored = "/" in glob.strip("/") or glob.startswith("/")
    signs = _signs(("" if anchored else "**/") + glob.strip("/"))
    end = r"(?:/|\Z)"
    if signs and signs[-1] == "**":
        signs, end = signs[:-1], ""
    pattern, deep, shallow = r"\A", "", ""  # what closes the groups that are open
    for sign in signs:
        if sign in _DEEP:
            pattern, deep, shallow = f"{pattern}{shallow}{deep}(?>{_DEEP[sign]}", ")", ""
        elif sign == "*":
            pattern, shallow = f"{pattern}{shallow}(?>[^/]*?", ")"
        else:
            pattern += "[^/]" if sign == "?" else re.escape(sign)
    return re.compile(pattern + end + shallow + deep, re.IGNORECASE | re.DOTALL)


_DEEP = {"**/": "(?:.*?/)??", "**": ".*?"}
"""Wild cards that pass ``/``, as little as will do."""


def _signs(glob: str) -> list[str]:
    """Wild cards and what stands between them; of wild cards in a row, the one that says it all."""
    signs: list[str] = []
    for sign in re.split(r"((?:(?<=/)|^)\*\*/|\*\*|\*|\?)", glob):
        before = signs[-1] if signs else ""
        if sign == "**" and before in (*_DEEP, "*"):
            signs[-1] = sign
        elif sign and not (before == "**" and sign == "*") and not (before == sign == "**/"):
            signs.append(sign)
    return signs


_NOT_OF_JAVASCRIPT = re.compile(r"\\.|\(\?(?!:|=|!|<|[a-z-]+[:)])", re.DOTALL)
"""Groups that only other dialects have: calls and recursion, which take memory without end."""


def _filter(text: str, seconds: float) -> Callable[[str], object]:
    if not (len(text) > 2 and text.startswith("/") and text.endswith("/")):
        return re.compile("^" + re.escape(text), re.IGNORECASE).search
    import regex  # seldom needed, and slow to load

    try:
        if len(text) > MAX_FILTER_CHARS:
            raise ValueError(f"more than {MAX_FILTER_CHARS:,} characters")
        strange = [found for found in _NOT_OF_JAVASCRIPT.findall(text) if found.startswith("(")]
        if strange:
            raise ValueError(f"{strange[0]} is not of the app's dialect")
        # The app writes a group's name that is said again in another way; the rest is alike.
        pattern = regex.compile(re.sub(r"\\k<(\w+)>", r"(?P=\1)", text[1:-1]), regex.IGNORECASE)
    except (ValueError, regex.error, RecursionError) as exc:
        reason = "nested too deeply" if isinstance(exc, RecursionError) else exc
        raise VaultError(
            f".obsidian/app.json: the excluded-files filter {_quoted(text)} is no regular "
            f"expression that can be read ({reason}); write it as a plain path or correct it in "
            "the app"
        ) from exc
    left = seconds

    def matches(path: str) -> object:
        nonlocal left
        begun = thread_time()
        try:
            found = pattern.search(path, timeout=seconds)
        except TimeoutError:
            found, left = None, -1.0
        left = min(seconds, left + PATH_SECONDS - (thread_time() - begun))
        if left < 0:
            raise VaultError(
                f".obsidian/app.json: the excluded-files filter {_quoted(text)} takes too long "
                f"(at {_quoted(path)}), so the files that it excludes are not known; write it "
                "without repetitions of repetitions, or as a plain path, in the app"
            )
        return found

    return matches


def _quoted(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
