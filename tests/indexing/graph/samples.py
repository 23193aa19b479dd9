"""Rows for graph tests: the least that has the shape of the catalog's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A note."""

    path: str
    title: str = ""
    tags: tuple[str, ...] = ()
    page_type: str | None = None
    modified: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link."""

    path: str
    target_path: str | None
    ordinal: int = 0
    line: int = 1
    status: str = "resolved"
    kind: str = "link"
    via: str | None = "path"
    raw_target: str = ""
    candidates: tuple[str, ...] = ()
    chunk_id: str | None = None
    target_chunk_id: str | None = None
    fragment: str | None = None
    sentence: str = ""


def rows(*paths: str) -> list[Row]:
    return [Row(path) for path in paths]


def links(*pairs: str) -> list[LinkRow]:
    """``links("ab", "ac")``: note a links to b, then to c."""
    counts: dict[str, int] = {}
    found = []
    for source, target in pairs:
        found.append(LinkRow(source, target, counts.setdefault(source, 0)))
        counts[source] += 1
    return found
