"""Which files a vault holds, and which of them are kept out; no note is read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Literal

from notehop.config.errors import VaultError
from notehop.config.small_files import read_json_file

Exclusion = Callable[[str], str | None]  # path in the vault -> reason, or None if it is kept

MAX_FILTERS = 1_000  # of the app's settings, which somebody else may have written
MAX_FILTER_CHARS = 2_000  # of one of them
FILTER_SECONDS = 1.0  # that one may take for a path; one that tries all ways to match takes years
WALK_SECONDS = 5.0  # and for all of a walk: from then on it has a millisecond a path

_DEEP = {"**/": "(?:.*?/)??", "**": ".*?"}  # wild cards that pass `/`, as little as will do

# Groups that only other dialects have: calls and recursion, which take memory without end.
_NOT_OF_JAVASCRIPT = re.compile(r"\\.|\(\?(?!:|=|!|<|[a-z-]+[:)])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of the vault; ``path`` is relative to it, with ``/``, spelled as on disk.

    ``excluded`` is the reason the file is kept out of the index; links to it are reported as such.
    """

    path: str
    size: int
    mtime_ns: int
    kind: Literal["note", "attachment"]
    excluded: str | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, each sorted by path.

    ``unlisted`` could not be looked at: what is below them is unknown, not gone. ``problems`` holds
    (path, reason) of these and of all that is no part of the vault; bytes of a name that are no UTF-8
    stand as ``\\xNN``. What ``symlinks`` show can change without a change of their own.
    """

    files: tuple[FileEntry, ...]
    problems: tuple[tuple[str, str], ...]
    unlisted: tuple[str, ...] = ()
    symlinks: tuple[str, ...] = ()


def vault_folder(named: Path) -> Path:
    """The folder of a vault as a person named it, resolved.

    :raises VaultError: if it is not there, is no folder, or its disk does not answer.
    """
    try:
        folder = named.expanduser().resolve()
        if not folder.exists():
            raise VaultError(f"{named}: there is no such folder; name the folder of your notes")
        if not folder.is_dir():
            raise VaultError(f"{named}: a file, not a folder; name the folder that holds it")
    except (OSError, RuntimeError, ValueError) as exc:
        raise VaultError(f"{named}: cannot be entered: {_reason(exc)}") from exc
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
    to files inside it are files like others; those to folders, which would show them twice or lead
    in a circle, and those that leave the vault are not followed.

    :param within: look only at these paths and below them; one at which nothing of the vault stands
        gives nothing. None for everything.
    :param exclude: globs, and ``ignore_filters`` the app's: see :func:`exclusion`.
    :param suffixes: how the names of notes end, in any case; every other file is an attachment.
    :raises VaultError: if ``root`` is missing, is no folder or cannot be listed.
    """
    search = _Search(vault_folder(root), exclusion(exclude, ignore_filters), suffixes)
    for path in top_level([""] if within is None else within):
        search.at(path)
    if within is not None:
        search.listed("")  # a disk that is gone has no file anywhere
    return Walk(
        tuple(sorted(search.files, key=lambda file: file.path)),
        tuple(sorted(search.problems)),
        tuple(sorted(search.unlisted)),
        tuple(sorted(search.symlinks)),
    )


def top_level(paths: Iterable[str]) -> list[str]:
    """Those of the paths that lie below none of the others, sorted."""
    kept: list[str] = []
    # By folders, not by characters: "a b" would come between "a" and "a/b".
    for path in sorted(set(paths), key=lambda path: path.split("/") if path else []):
        if not kept or not (kept[-1] == "" or path.startswith(kept[-1] + "/")):
            kept.append(path)
    return kept


def read_ignore_filters(root: Path) -> list[str]:
    """``userIgnoreFilters`` of the vault's ``.obsidian/app.json``; VaultError if that cannot be read: what
    its owner wants kept out of sight would be indexed."""
    path = root / ".obsidian" / "app.json"
    try:
        settings = read_json_file(path)
        filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
        if not isinstance(filters, list | None):
            raise ValueError("userIgnoreFilters is no list")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as exc:
        says = "so the files that it excludes are not known; correct it or move it away"
        raise VaultError(f"{path}: cannot be read ({exc}), {says}") from exc
    return [text for text in filters or [] if isinstance(text, str) and text]


class _Search:
    def __init__(self, root: Path, exclusion: Exclusion, suffixes: tuple[str, ...]) -> None:
        self.root, self.exclusion, self.suffixes = root, exclusion, suffixes
        self.files: list[FileEntry] = []
        self.problems: list[tuple[str, str]] = []
        self.unlisted: list[str] = []
        self.symlinks: list[str] = []

    def at(self, path: str) -> None:
        """Look at what stands at a path, which may be nothing, and below it."""
        if path:
            there = self.root / path
            above = [one for one in there.parents if one.is_relative_to(self.root)][:-1]
            if is_hidden(path) or not is_text(path):
                return
            try:
                if any(folder.is_symlink() for folder in above) or not _is_spelled_so(there):
                    return
            except OSError as exc:
                self._unknown(path, exc)
                return
            if not self._take(there, path):
                return
        folders = [path]
        while folders:
            folder = folders.pop()
            for entry in self.listed(folder):
                below = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.startswith("."):
                    continue
                if not is_text(entry.name):
                    reason = "its name is not valid UTF-8; rename it"
                    self.problems.append((_shown(below), reason))
                elif self._take(entry, below):
                    folders.append(below)

    def listed(self, folder: str) -> list[os.DirEntry[str]]:
        """The entries of a folder; none where it cannot be listed, or VaultError if it is the vault's own."""
        try:
            with os.scandir(self.root / folder) as found:
                return list(found)
        except OSError as exc:
            if not folder:
                raise VaultError(f"{self.root}: cannot be listed: {_reason(exc)}") from exc
            self._unknown(folder, exc)
            return []

    def _take(self, entry: os.DirEntry[str] | Path, path: str) -> bool:
        """Take in what is a file; whether an entry is a folder to go into."""
        problem = excluded = None
        try:
            if entry.is_symlink():
                self.symlinks.append(path)
                target = Path(os.path.realpath(entry))
                there = target.relative_to(self.root) if target.is_relative_to(self.root) else None
                if there is None:
                    problem = f"symbolic link that leaves the vault: {_shown(str(target))}"
                elif target.is_dir():
                    inside = _shown(there.as_posix())
                    problem = f"symbolic link to the folder {inside} of this vault; not followed"
                elif not target.exists():
                    problem = "symbolic link that leads nowhere"
                else:
                    excluded = self.exclusion(there.as_posix())
            elif entry.is_dir():
                return True
            if problem is None:
                status = entry.stat()
                stamp = status.st_size, status.st_mtime_ns
                problem = None if stat.S_ISREG(status.st_mode) else "not a regular file"
        except OSError as exc:
            self._unknown(path, exc)
            return False
        if problem is not None:
            self.problems.append((path, problem))
            return False
        is_note = path.lower().endswith(self.suffixes)
        kind: Literal["note", "attachment"] = "note" if is_note else "attachment"
        self.files.append(FileEntry(path, *stamp, kind, self.exclusion(path) or excluded))
        return False

    def _unknown(self, path: str, exc: OSError) -> None:
        if not isinstance(exc, FileNotFoundError | NotADirectoryError):  # gone since it was listed
            self.problems.append((path, _reason(exc)))
            self.unlisted.append(path)


def _is_spelled_so(path: Path) -> bool:
    """Whether a file of just this spelling is there: some disks answer to any case."""
    try:
        other = path.with_name(path.name.swapcase())
        if other == path or not os.path.samestat(path.lstat(), other.lstat()):
            return True
    except OSError:
        return True  # there is no other spelling to ask for
    return any(entry.name == path.name for entry in path.parent.iterdir())


def is_text(name: str) -> bool:
    """Whether a name is UTF-8 on disk: one that is not is no part of a vault."""
    return name.encode(errors="replace").decode() == name


def is_hidden(path: str) -> bool:
    """Whether a path is no part of a vault, because it or a folder above it begins with a dot."""
    return any(part.startswith(".") for part in path.split("/"))


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _reason(exc: Exception) -> str:
    return getattr(exc, "strerror", None) or str(exc)


def exclusion(globs: Sequence[str], ignore_filters: Sequence[str]) -> Exclusion:
    """The test for our own ``exclude`` globs and the app's ignore filters.

    A glob without ``/`` names a file or folder at any depth (``Templates``, ``*.excalidraw.md``);
    with ``/`` it stands from the vault's root (``private/**``, ``work/*/drafts``). ``*`` and ``?``
    stop at ``/``, ``**`` does not, and a match on a folder holds for all inside. An ignore filter
    is a prefix of the path (``Archive/``) or a regular expression between slashes (``/\\.draft/``),
    as in the app. All compare without case: when in doubt, a file is kept out.

    :raises VaultError: if a filter cannot be read, or there are too many; later, by the test itself,
        if one takes too long: what it keeps out is then not known.
    """
    if len(ignore_filters) > MAX_FILTERS:
        raise VaultError(
            f".obsidian/app.json: {len(ignore_filters):,} excluded-files filters, at most "
            f"{MAX_FILTERS:,} are read; remove some in the app"
        )
    ours, theirs = "excluded by the setting vault.exclude", "excluded in the app's settings"
    rules: dict[str, Callable[[str], object]] = {
        f"{ours}: {glob}": glob_pattern(glob).search for glob in globs
    }
    rules |= {f"{theirs}: {text}": _filter(text) for text in ignore_filters}
    return lambda path: next((why for why, matches in rules.items() if matches(path)), None)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """The pattern that is found in the paths a glob takes; see :func:`exclusion` for its signs.

    It never tries a sign twice: each ``*`` takes as little as it can and sticks to it, since with more
    what follows could only begin later. A glob of nothing but stars takes no longer than any other.
    """
    anchored = "/" in glob.strip("/") or glob.startswith("/")
    whole = ("" if anchored else "**/") + glob.strip("/")
    signs: list[str] = []
    # Wild cards and what stands between them; of wild cards in a row, the one that says it all.
    for sign in re.split(r"((?:(?<=/)|^)\*\*/|\*\*|\*|\?)", whole):
        before = signs[-1] if signs else ""
        if sign == "**" and before in (*_DEEP, "*"):
            signs[-1] = sign
        elif sign and not (before == "**" and sign == "*") and not (before == sign == "**/"):
            signs.append(sign)
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


def _filter(text: str) -> Callable[[str], object]:
    if not (len(text) > 2 and text.startswith("/") and text.endswith("/")):
        return re.compile("^" + re.escape(text), re.IGNORECASE).search
    import regex  # seldom needed, and slow to load

    shown = text if len(text) <= 200 else f"{text[:200]}…"
    named = f".obsidian/app.json: the excluded-files filter {shown}"
    try:
        if len(text) > MAX_FILTER_CHARS:
            raise ValueError(f"more than {MAX_FILTER_CHARS:,} characters")
        if strange := {*_NOT_OF_JAVASCRIPT.findall(text)} & {"(?"}:
            raise ValueError(f"{strange.pop()} is not of the app's dialect")
        # The app writes a group's name that is said again in another way; the rest is alike.
        pattern = regex.compile(re.sub(r"\\k<(\w+)>", r"(?P=\1)", text[1:-1]), regex.IGNORECASE)
    except (ValueError, regex.error, RecursionError) as exc:
        reason = "nested too deeply" if isinstance(exc, RecursionError) else exc
        says = f"({reason}); write it as a plain path or correct it in the app"
        raise VaultError(f"{named} is no regular expression that can be read {says}") from exc
    left = WALK_SECONDS

    def matches(path: str) -> object:
        nonlocal left
        begun = thread_time()
        try:
            return pattern.search(path, timeout=max(0.001, min(FILTER_SECONDS, left)))
        except TimeoutError as exc:
            raise VaultError(
                f"{named} takes too long (at {path[:200]}), so the files that it excludes are not "
                "known; write it without repetitions of repetitions, or as a plain path, in the app"
            ) from exc
        finally:
            left -= thread_time() - begun

    return matches
