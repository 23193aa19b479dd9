"""How the names in links and paths are compared, and which links a change of the vault touches."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

NOTE_SUFFIX = ".md"

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
