"""Headers that a model wrote, put before the text that is embedded of a passage.

They change the vector of a passage and the name of its chunk, and nothing else: what is shown and
quoted, and the words of the lexical index, are the note's own. Passages are cut to leave them room,
so that no word of a note loses its place in a vector to them.

Touches: index (reads ``enrichment.sqlite``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config import Settings
from notehop.config.errors import IndexFailure
from notehop.indexing.enrich.prompts import VERSION, Passage, header_requests
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.nodes.chunker import CountTokens

# Every run asks whether there are headers, and most do not go on to dress nodes with them.
if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, TextNode

HEADER_TOKENS = 56
"""Tokens of the embedding model that a header may take: 40 words; a fifth of the smallest window in
use (256)."""


class Headers:
    """The headers of one index. ``identity`` names what decides them beside the notes."""

    def __init__(self, path: Path, model: Mapping[str, Any]) -> None:
        """Open nothing yet.

        :param path: of the store.
        :param model: what tells the language model apart from others.
        """
        self._path = path
        self._model = dict(model)

    @property
    def identity(self) -> dict[str, Any]:
        """What the catalog says of the headers that its chunks have."""
        return {"model": self._model, "prompts": VERSION, "tokens": HEADER_TOKENS}

    def apply(self, notes: Iterable[Sequence[BaseNode]], count: CountTokens, room: int) -> None:
        """Put their headers before the embedded text of those passages that have one.

        :param notes: the nodes of each note, as the section node parser made them.
        :param count: the tokenizer of the embedding model.
        :param room: tokens that every passage leaves free.
        """
        from llama_index.core.schema import TextNode

        wanted: list[tuple[BaseNode, str]] = []
        for every in notes:
            # Properties say what they are about by themselves.
            nodes = [node for node in every if node.metadata["kind"] == "text"]
            if not nodes:
                continue
            keys = self.keys([_passage(node) for node in nodes], nodes[0].metadata["title"])
            wanted += zip(nodes, keys, strict=False)
        texts = self._texts([key for _, key in wanted]) if wanted else {}
        for node, key in wanted:
            if (header := texts.get(key)) and isinstance(node, TextNode):
                _apply(node, _fitted(header, count, room))

    def keys(self, passages: Sequence[Passage], title: str) -> list[str]:
        """The names of the headers of a note's passages; none for a note of one."""
        return [request.key(self._model) for request in header_requests(title, passages)]

    def _texts(self, keys: Sequence[str]) -> dict[str, str]:
        try:
            with EnrichmentStore.reading(self._path) as store:
                return {key: text.text for key, text in store.texts(keys).items()}
        except IndexFailure:
            # Headers are worth having, and no run waits for them.
            return {}


def headers_of(settings: Settings, path: Path) -> Headers | None:
    """The headers that the settings ask for; None where they are off or nobody can write them."""
    if settings.enrich.headers == "off" or settings.llm.provider == "none":
        return None
    return Headers(path, model_identity(settings))


def model_identity(settings: Settings) -> dict[str, str]:
    """What tells a language model apart from others; the same model at another address is the
    same."""
    return {"provider": settings.llm.provider, "model": settings.llm.model}


def _passage(node: BaseNode) -> Passage:
    return Passage(tuple(node.metadata["heading_path"]), str(node.metadata["body"]))


def _fitted(header: str, count: CountTokens, room: int) -> str:
    """As much of a header as there is room for."""
    spans = count(header)
    return header if len(spans) <= room else header[: spans[room - 1][1]]


def _apply(node: TextNode, header: str) -> None:
    from llama_index.core.schema import MetadataMode

    frame, _, body = node.get_content(MetadataMode.NONE).partition("\n")
    embedded = f"{frame}\n{header}\n{body}"
    whole = json.dumps([node.node_id, embedded])
    node.set_content(embedded)
    node.metadata["embedded_hash"] = hashlib.sha256(embedded.encode()).hexdigest()[:32]
    node.id_ = hashlib.sha256(whole.encode()).hexdigest()[:32]
