"""Turns retrieved nodes into what is shown: sources to cite, and connected notes apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llama_index.core.schema import NodeWithScore

from notehop.app.answer.markers import source_marker
from notehop.app.answer.uri import open_uri
from notehop.app.models import ConnectedNote, LinkedFrom, Source
from notehop.app.retrieval.connected_reason import renumbered
from notehop.app.retrieval.nodes import noted
from notehop.app.retrieval.weights import DECIDED_BY

CONNECTED = "connected"


@dataclass(frozen=True, slots=True)
class Material:
    """What an answer is made of.

    ``source_nodes`` are the nodes of ``sources``, in that order, ``connected_nodes`` those of
    ``connected``. ``names`` maps the marker of a source, or the label of a connected note, to the
    other names of its note, ``headings`` to those that it stands under, ``ordinals`` to its number
    among the chunks of its note, and ``decided`` to the signals that decided its place.
    ``outside`` are the labels of connected notes that the filters of the query do not leave.
    """

    sources: tuple[Source, ...] = ()
    connected: tuple[ConnectedNote, ...] = ()
    source_nodes: tuple[NodeWithScore, ...] = ()
    connected_nodes: tuple[NodeWithScore, ...] = ()
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)
    decided: Mapping[str, frozenset[str]] = field(default_factory=dict)
    outside: frozenset[str] = frozenset()


def material_of(nodes: Sequence[NodeWithScore], vault: str) -> Material:
    """Sort nodes by their role and number the sources from ``[1]``, in the order given.

    A node without role is a source: ordinary retrievers give none.

    :param vault: name of the vault, for the links that open a note.
    """
    cited = [node for node in nodes if node.node.metadata.get("role") != CONNECTED]
    linked = [node for node in nodes if node.node.metadata.get("role") == CONNECTED]
    numbers = {node.node.node_id: number for number, node in enumerate(cited, start=1)}
    told = {source_marker(number): node.node.metadata for number, node in enumerate(cited, start=1)}
    told |= {
        _label(node, number): node.node.metadata for number, node in enumerate(linked, start=1)
    }
    return Material(
        tuple(_source(node, number, vault) for number, node in enumerate(cited, start=1)),
        tuple(
            _connected(node, number, vault, numbers) for number, node in enumerate(linked, start=1)
        ),
        tuple(cited),
        tuple(linked),
        names={marker: tuple(one.get("aliases") or ()) for marker, one in told.items()},
        headings={marker: tuple(_headings(one)) for marker, one in told.items()},
        ordinals={marker: int(one["ordinal"]) for marker, one in told.items() if "ordinal" in one},
        decided={marker: frozenset(one.get(DECIDED_BY) or ()) for marker, one in told.items()},
        outside=frozenset(marker for marker, one in told.items() if one.get("filtered_out")),
    )


def promoted(material: Material, labels: Collection[str]) -> Material:
    """Make sources of connected notes, numbered after those that there are.

    What answers is evidence, however it was found: a connected note is quoted as a source, with a
    marker of its own, or not at all. The others keep their labels.
    """
    sources, nodes = list(material.sources), list(material.source_nodes)
    markers: dict[str, str] = {}
    for note, hit in zip(material.connected, material.connected_nodes, strict=True):
        if note.label in labels:
            marker = markers[note.label] = source_marker(len(sources) + 1)
            place = {name: getattr(note, name) for name in _PLACE}
            id_, score = hit.node.node_id, float(hit.score or 0.0)
            sources.append(Source(marker=marker, id=id_, score=score, **place))
            nodes.append(NodeWithScore(node=noted(hit.node, role="source"), score=hit.score))
    left = [at for at, note in enumerate(material.connected) if note.label not in markers]
    return replace(
        material,
        sources=tuple(sources),
        connected=tuple(material.connected[at] for at in left),
        source_nodes=tuple(nodes),
        connected_nodes=tuple(material.connected_nodes[at] for at in left),
        names={markers.get(name, name): value for name, value in material.names.items()},
        headings={markers.get(name, name): value for name, value in material.headings.items()},
        ordinals={markers.get(name, name): value for name, value in material.ordinals.items()},
    )


_PLACE = ("path", "title", "heading", "lines", "text", "uri")


def _place(node: NodeWithScore, vault: str) -> dict[str, Any]:
    """The fields that a source and a connected note have in common."""
    metadata = node.node.metadata
    path = str(metadata.get("path", ""))
    headings = _headings(metadata)
    first = int(metadata.get("first_line") or 1)
    return {
        "path": path,
        "title": str(metadata.get("title") or path.rsplit("/", 1)[-1].removesuffix(".md")),
        "heading": " > ".join(headings),
        "lines": (first, int(metadata.get("last_line") or first)),
        "text": node.node.get_content(),
        "uri": open_uri(vault, path, headings),
    }


def _headings(metadata: Mapping[str, Any]) -> list[str]:
    path = metadata.get("heading_path")
    if path is None:
        path = metadata.get("heading") or ()
    return path.split(" > ") if isinstance(path, str) else [str(part) for part in path]


def _source(node: NodeWithScore, number: int, vault: str) -> Source:
    return Source(
        marker=source_marker(number),
        id=node.node.node_id,
        score=float(node.score or 0.0),
        signals=node.node.metadata.get("signals"),
        rerank=node.node.metadata.get("rerank"),
        expanded_from=node.node.metadata.get("expanded_from"),
        held_back=node.node.metadata.get("held_back"),
        relevance=node.node.metadata.get("relevance"),
        weak=bool(node.node.metadata.get("weak")),
        **_place(node, vault),
    )


def _label(node: NodeWithScore, number: int) -> str:
    return str(node.node.metadata.get("label") or f"C{number}")


def _connected(
    node: NodeWithScore, number: int, vault: str, numbers: Mapping[str, int]
) -> ConnectedNote:
    """:param numbers: node id -> number of each source, which its own retriever could not know."""
    metadata = node.node.metadata
    reason = str(metadata.get("reason", ""))
    if "source_id" in metadata:
        reason = renumbered(reason, numbers.get(str(metadata["source_id"])))
    return ConnectedNote(
        label=_label(node, number),
        linked_from=LinkedFrom.model_validate(metadata["linked_from"]),
        reason=reason,
        evidence=metadata.get("evidence"),
        **_place(node, vault),
    )
