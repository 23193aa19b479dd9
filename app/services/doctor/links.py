"""Links that lead nowhere or to several files, and notes that no link joins with another. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from notehop.app.models import (
    AmbiguousTarget,
    BrokenFragment,
    LinkPlace,
    NearMiss,
    UnresolvedTarget,
)
from notehop.app.services.links import Survey
from notehop.app.services.near import Name, Near, NearNames
from notehop.indexing.graph.files import fold, link_name
from notehop.indexing.graph.model import ResolvedLink, Status
from notehop.indexing.graph.resolve import ambiguous_targets, unresolved_targets

NEAR_FOR = 2_000
"""Names that lead nowhere for which near misses are looked for: 3 s among 100,000 names."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A link as :mod:`notehop.indexing.graph.resolve` reads it."""

    path: str
    line: int
    raw_target: str
    status: str
    candidates: tuple[str, ...]


def unresolved(found: Survey, near_for: int = NEAR_FOR) -> list[UnresolvedTarget]:
    """The names that lead nowhere: those near to a name that exists first, then by links.

    :param near_for: how many of the most linked are looked up among the names that exist.
    """
    targets = unresolved_targets(_told(found.links))
    asked = {one.target: link_name(one.target) for one in targets[:near_for]}
    near = NearNames(_names(found)).near(asked.values())
    rows = [
        UnresolvedTarget(
            target=one.target,
            count=one.count,
            places=_places(one.sources),
            near=_misses(near.get(asked.get(one.target, ""), ())),
        )
        for one in targets
    ]
    return sorted(rows, key=lambda row: not row.near)


def ambiguous(found: Survey) -> list[AmbiguousTarget]:
    """The names that several files have, most links first."""
    return [
        AmbiguousTarget(
            target=one.target,
            count=one.count,
            places=_places(one.sources),
            candidates=list(one.candidates),
        )
        for one in ambiguous_targets(_told(found.links))
    ]


def fragments(found: Survey) -> list[BrokenFragment]:
    """The headings and blocks that links name and notes do not have, most links first."""
    groups: dict[tuple[str, str], list[ResolvedLink]] = {}
    for one in found.links:
        if one.fragment_found is False and one.resolution.path is not None:
            key = one.resolution.path, fold(one.link.fragment or "").strip()
            groups.setdefault(key, []).append(one)
    rows = [_broken(found, path, links) for (path, _), links in groups.items()]
    return sorted(rows, key=lambda row: (-row.count, row.path, row.fragment))


def orphans(found: Survey) -> list[str]:
    """The notes that no link joins with another note, by path.

    A link to an attachment, to the note itself or to nothing joins it with no note.
    """
    joined: set[str] = set()
    for one in found.links:
        target = one.resolution.path
        if target is not None and target != one.source and target in found.notes:
            joined.update((one.source, target))
    return sorted(found.notes.keys() - joined)


def _broken(found: Survey, path: str, links: Sequence[ResolvedLink]) -> BrokenFragment:
    fragment = (links[0].link.fragment or "").strip()
    last = fragment.rpartition("#")[2].strip()
    outline = found.notes[path].outline
    if last.startswith("^"):
        asked, via, texts = last[1:], "block", [block for block, _, _ in outline.blocks]
    else:
        asked, via, texts = last, "heading", [text for _, text, _ in outline.headings]
    # All are of one note: told apart by their text in place of its path.
    near = NearNames(Name(text, text, via) for text in texts).near([asked])[asked]
    return BrokenFragment(
        path=path,
        fragment=fragment,
        count=len(links),
        places=_places(sorted((one.source, one.link.line) for one in links)),
        near=_misses(near, path),
    )


def _told(links: Iterable[ResolvedLink]) -> Iterator[_Told]:
    for one in links:
        if one.resolution.status in (Status.UNRESOLVED, Status.AMBIGUOUS):
            yield _Told(
                one.source,
                one.link.line,
                # A link that names nothing is told by itself.
                one.link.target or one.link.raw,
                one.resolution.status.value,
                one.resolution.candidates,
            )


def _names(found: Survey) -> Iterator[Name]:
    for path, note in found.notes.items():
        yield Name(path.rpartition("/")[2][: -len(".md")], path, "name")
        for alias in note.aliases:
            yield Name(alias, path, "alias")
        yield Name(note.title, path, "title")
    for path in found.others:
        yield Name(path.rpartition("/")[2], path, "name")


def _misses(near: Iterable[Near], path: str | None = None) -> list[NearMiss]:
    return [
        NearMiss.model_validate(
            {
                "name": one.name.name,
                "path": path or one.name.path,
                "via": one.name.via,
                "distance": one.distance,
            }
        )
        for one in near
    ]


def _places(sources: Iterable[tuple[str, int]]) -> list[LinkPlace]:
    return [LinkPlace(path=path, line=line) for path, line in sources]
