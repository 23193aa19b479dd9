"""A part of the graph of links, laid out to be drawn."""

from __future__ import annotations

from pydantic import Field

from notehop.app.models.base import Strict


class GraphNode(Strict):
    """A note in a picture of the graph; ``x`` and ``y`` lie between -1 and 1.

    ``degree`` counts its links both ways in the whole vault, ``seed`` tells whether it was asked
    for.
    """

    path: str
    title: str
    folder: str
    x: float
    y: float
    degree: int
    pagerank: float
    seed: bool
    uri: str


class GraphEdge(Strict):
    """The links of one note to another, ``count`` of them."""

    source: str
    target: str
    count: int


class GraphView(Strict):
    """Notes and the links between them; ``total`` counts the notes that are near, shown or not.

    ``themes`` tells whether the vault has themes to be listed (docs/themes.md).
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int
    themes: bool = False
    warnings: list[str] = Field(default_factory=list)
    generation: int
