"""What is wrong with a vault's links and names, and with its index."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from notehop.app.models.query import Strict
from notehop.app.models.status import Kept
from notehop.app.services.notes.find_note import Near
from notehop.indexing.stores.check import Finding, PartState


class LinkPlace(Strict):
    """Where a link stands. Lines count from 1."""

    path: str
    line: int


class UnresolvedTarget(Strict):
    """A name that links use and that no file has; ``target`` as the first of them writes it."""

    target: str
    count: int
    places: list[LinkPlace]
    near: list[Near]


class BrokenFragment(Strict):
    """A heading or block that links name and that the note at ``path`` does not have."""

    path: str
    fragment: str
    count: int
    places: list[LinkPlace]
    near: list[Near]


class AmbiguousTarget(Strict):
    """A name that links use and that several files have."""

    target: str
    count: int
    places: list[LinkPlace]
    candidates: list[str]


class Duplicate(Strict):
    """A name, title or alias of more than one note; compared without case."""

    kind: Literal["name", "title", "alias"]
    name: str
    paths: list[str]


class ConflictCopy(Strict):
    """A copy that a sync tool made of two versions of a file.

    ``of`` is the file that it is a copy of, None if that is not there (any more).
    """

    path: str
    of: str | None
    tool: str


class IndexCheck(Strict):
    """Whether the parts of the index agree with the catalog.

    ``exists`` is false where nothing was indexed yet. ``findings`` begin with those that are broken.
    ``not_done`` are checks that could not be made, and why.
    """

    exists: bool = True
    generation: int | None = None
    pending: int | None = None
    findings: list[Finding] = Field(default_factory=list)
    not_done: list[str] = Field(default_factory=list)
    parts: list[PartState] = Field(default_factory=list)


class DoctorReport(Strict):
    """What is to be mended, each kind with the worst first; a kind that was not asked for is None.

    All but ``index`` is read from the files as they are now: ``notes`` and ``links`` are those that
    an index of them holds. ``near_misses_for`` says for how many of the ``unresolved`` names near
    misses were looked for: those that most links use. ``failed`` are notes that cannot be read,
    ``skipped`` those that are kept out, ``passed_over`` files that are no part of the vault.
    ``broken`` tells whether a finding of ``index`` is.
    """

    vault: str
    name: str
    notes: int | None = None
    links: int | None = None
    index: IndexCheck | None = None
    unresolved: list[UnresolvedTarget] | None = None
    near_misses_for: int | None = None
    fragments: list[BrokenFragment] | None = None
    ambiguous: list[AmbiguousTarget] | None = None
    conflicts: list[ConflictCopy] | None = None
    duplicates: list[Duplicate] | None = None
    warnings: list[str] | None = None
    failed: list[Kept] | None = None
    skipped: list[Kept] | None = None
    passed_over: list[Kept] | None = None
    orphans: list[str] | None = None
    broken: bool = False
