"""The sources of an answer by the themes that they are of. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from notehop.app.answer.material import Material
from notehop.app.models import Source

THEME = "theme"
"""The metadata of a node that tells its theme."""


@dataclass(frozen=True, slots=True)
class Group:
    """A theme of ``count`` notes with its sources, and what is known of it.

    ``summary`` is one that a language model wrote, or empty: background, no evidence. ``about`` is
    what themes were asked for; empty for all.
    """

    id: str
    name: str
    count: int
    words: tuple[str, ...]
    summary: str
    about: str
    sources: tuple[Source, ...]


def groups_of(material: Material) -> list[Group]:
    """The themes in the order of their first sources; none for the material of other questions."""
    by_id: dict[str, Group] = {}
    for source, hit in zip(material.sources, material.source_nodes, strict=True):
        told = hit.node.metadata.get(THEME)
        if told is None:
            continue
        known = by_id.get(told["id"])
        by_id[told["id"]] = Group(
            id=told["id"],
            name=told["name"],
            count=told["count"],
            words=tuple(told["words"]),
            summary=told["summary"],
            about=told["about"],
            sources=(*(known.sources if known else ()), source),
        )
    return list(by_id.values())


def only(material: Material, markers: Collection[str]) -> Material:
    """The material with some of its sources; their markers stay what they are."""
    kept = [at for at, one in enumerate(material.sources) if one.marker in markers]
    return replace(
        material,
        sources=tuple(material.sources[at] for at in kept),
        source_nodes=tuple(material.source_nodes[at] for at in kept),
    )
