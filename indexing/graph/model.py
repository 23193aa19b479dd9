"""What a link leads to: the nouns of resolution and of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from notehop.indexing.vault.model import Link


class Status(StrEnum):
    """The outcome of resolving one link. ``ambiguous`` has a target too: the first candidate."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    UNRESOLVED = "unresolved"
    EXCLUDED = "excluded"


class Via(StrEnum):
    """Which rule found the target.

    ``self``: the empty path; ``path``: an exact path in the vault, written from the root or with
    ``/``, ``./`` or ``../``; ``name``: the end of a path; ``alias``: a note's other name.
    """

    SELF = "self"
    PATH = "path"
    NAME = "name"
    ALIAS = "alias"


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where the path part of a link leads.

    ``path`` is the target file (any type), None when unresolved. ``candidates`` holds the files
    that fit, best first, when there is more than one; ``more`` counts those left out of it, so that
    ten thousand notes of one name that link to that name do not fill the index with their names.
    """

    status: Status
    path: str | None = None
    via: Via | None = None
    candidates: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class FragmentSpan:
    """The lines of a note that a fragment names, both ends included."""

    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link and where it leads. ``span`` is None without fragment, or when it is not found.

    ``fragment_found`` is None when the link has no fragment or leads to no note.
    """

    source: str
    link: Link
    resolution: Resolution
    span: FragmentSpan | None = None
    fragment_found: bool | None = None
