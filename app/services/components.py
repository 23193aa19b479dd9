"""What an opened vault gives to LlamaIndex: its parts, to be put together as an application wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilters

from notehop.app.answer.query_engine import NotehopQueryEngine
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.models import Intent, Query
from notehop.app.models.query import as_query
from notehop.app.retrieval.chain import Wanted, connected, freshness
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filter_syntax import fields_of
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.nodes import to_node
from notehop.app.services.engine import Engine, VaultRetriever
from notehop.app.services.index_process import remedy
from notehop.app.services.themes import VaultThemes
from notehop.config import Settings
from notehop.indexing.stores.link_graph import build_graph
from notehop.indexing.stores.reader import Snapshot

if TYPE_CHECKING:
    import networkx as nx


class VaultComponents:
    """An opened vault as retrievers, postprocessors, synthesizers and engines.

    :ivar name: of the vault: that of its folder.
    :ivar path: the folder of the vault.
    :ivar settings: those in force.
    """

    def __init__(self, engine: Engine) -> None:
        self.place = engine.place
        self.name: str = engine.place.name
        self.path: Path = engine.place.vault
        self.settings: Settings = engine.place.settings
        self._engine = engine
        self._themes = VaultThemes(engine)

    def query_engine(
        self,
        *,
        top_k: int | None = None,
        connected: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | MetadataFilters | None = None,
        literal: bool = False,
        intent: Intent | None = None,
        llm: LLM | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        streaming: bool = False,
    ) -> NotehopQueryEngine:
        """A LlamaIndex query engine over this vault, for as long as the handle is open.

        Its prompts are its own: to update them changes neither other engines nor :meth:`ask`.

        :param connected: ``max``, ``order`` and ``direction``; the settings where not given.
        :param filters: fields of :class:`notehop.app.models.Filters`, or LlamaIndex's
            ``MetadataFilters`` over ``tags``, ``path``, ``type``, ``date`` and properties; for every
            query.
        :param literal: whether queries hold no filters, whatever they look like.
        :param intent: what queries are after; the setting where not given.
        :param llm: writes the answers; None for the language model of this vault, else quotes.
        :param node_postprocessors: what else sources and connected notes go through, in this order.
        :param streaming: answer with a ``StreamingResponse``: its sources are there at once, and its
            metadata tell the rest of the answer (``answer``, ``citations``, ``claims``) at its end.
        :raises QueryError: if an option is wrong.
        """
        wanted = _wanted(top_k, connected, filters, literal, intent)
        writes = llm or self._engine.llm
        wanted = replace(wanted, listing=not literal, for_model=writes is not None)
        retriever = VaultRetriever(
            self._themes.or_else(self._engine.retrieve, None), wanted, self.name
        )
        synthesizer = self.synthesizer(llm, streaming=streaming)
        return NotehopQueryEngine(retriever, synthesizer, node_postprocessors=node_postprocessors)

    def synthesizer(self, llm: LLM | None = None, *, streaming: bool = False) -> VaultSynthesizer:
        """A LlamaIndex response synthesizer that answers as this vault does, from any nodes.

        Nodes with the role ``connected`` are context only. Its prompts are its own.

        :param llm: writes the answers; None for the language model of this vault, else quotes.
        """
        found = self._engine.own_synthesizer(llm)
        return found.in_pieces() if streaming else found

    def retriever(
        self,
        *,
        top_k: int | None = None,
        connected: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | MetadataFilters | None = None,
        literal: bool = False,
        intent: Intent | None = None,
    ) -> VaultRetriever:
        """A LlamaIndex retriever over this vault: ``top_k`` sources, then connected notes.

        Hand ``connected={"max": 0}`` to have sources only, for a synthesizer of LlamaIndex, which
        does not tell the two apart.

        :param filters: as for :meth:`query_engine`, like ``literal`` and ``intent``.
        :raises QueryError: if an option is wrong.
        """
        wanted = _wanted(top_k, connected, filters, literal, intent)
        wanted = replace(wanted, fill=False, by_relevance=True)
        return VaultRetriever(self._engine.retrieve, wanted, self.name)

    def nodes(self) -> list[TextNode]:
        """The passages of the vault as LlamaIndex nodes with their vectors, by path and place.

        For an index of one's own: its hits are then known to :meth:`connected_notes` by their ids.
        What is not in the files any more is left out.
        """
        with self._engine.current() as now:
            notes = now.notes_at(now.paths())
            chunks = now.chunks(one for path in notes for one in now.chunk_ids_of(path))
            vectors = dict(zip(*now.chunk_vectors.rows(chunks), strict=True))
            found: list[TextNode] = []
            for id_, chunk in chunks.items():
                siblings = now.chunk_ids_of(chunk.path)
                node = to_node(chunk, notes[chunk.path], siblings)
                node.embedding = vectors[id_].tolist() if id_ in vectors else None
                found.append(node)
            return found

    def view(self) -> Snapshot:
        """The newest generation of the index: what components of :mod:`notehop.app.retrieval` are
        wired to. Hand them the method itself, and each query sees the newest."""
        return self._engine.reader.snapshot()

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model that embedded the index, as a LlamaIndex embedding.

        :raises ModelError: if it cannot be loaded.
        """
        self._engine.check_open()
        return self._engine.embedder

    def fresh_only(self) -> FreshnessPostprocessor:
        """A LlamaIndex postprocessor that drops what is not in the vault's files any more.

        For hits of any retriever: a note that was deleted or made private a second ago may still
        be in an index.
        """
        self._engine.check_open()
        return freshness(self.view, self.path, self.settings, lambda: remedy(self.place.layout))

    def connected_notes(
        self,
        *,
        top_k: int | None = None,
        max: int | None = None,
        order: Literal["context", "rank"] | None = None,
        direction: Literal["forward", "backward", "both"] | None = None,
    ) -> ConnectedNotesPostprocessor:
        """A LlamaIndex postprocessor that adds the notes which the best hits are linked with.

        For hits of any retriever over the notes of this vault: what is none of this index is looked
        up by the ``path`` or ``file_path`` of its metadata. No note is added that is not there any
        more. None means the setting in force.

        :param top_k: sources that are in the context for sure; hand it more hits than that.
        :raises QueryError: if an option is wrong.
        """
        chosen = {"max": max, "order": order, "direction": direction}
        wanted = _wanted(top_k, chosen, None, False, None)
        settings, model = self.place.settings, self.embed_model
        return connected(self.view, settings, wanted, model, self.fresh_only())

    def node_postprocessors(self) -> list[BaseNodePostprocessor]:
        """What makes the hits of any retriever a context of this vault, in this order.

        They are :meth:`fresh_only` and :meth:`connected_notes`, as the settings say.
        """
        return [self.fresh_only(), self.connected_notes()]

    def graph(self) -> nx.MultiDiGraph:
        """The graph of the links between the notes that are in the vault now, the caller's to keep.

        A node is a path with ``title``, ``tags``, ``page_type`` and ``modified`` (seconds since the
        epoch); an edge a link that leads to a note, under its place among those of its note, with
        ``kind``, ``line``, ``fragment``, ``sentence``, ``via`` and ``status``.
        """
        with self._engine.current() as now:
            rows = now.notes_at(now.paths())
            return build_graph(rows.values(), now.links_from(rows))


def _wanted(
    top_k: int | None,
    connected: Mapping[str, Any] | None,
    filters: Mapping[str, Any] | MetadataFilters | None,
    literal: bool,
    intent: Intent | None,
) -> Wanted:
    if isinstance(filters, MetadataFilters):
        filters = fields_of(filters)
    options = {
        "top_k": top_k,
        "connected": dict(connected or {}),
        "filters": dict(filters or {}),
        "literal": literal,
        "intent": intent,
    }
    return Wanted.by(as_query(Query, "-", options))
