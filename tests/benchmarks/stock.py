"""The stock LlamaIndex assembly of the same parts, and the bare calls that any search stands on.

As a program it answers one query from nothing, as a cold search does:
``python -m tests.benchmarks.stock stock FOLDER QUERY`` or ``... bare INDEX QUERY``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOP_K = 100
SHOWN = 5


def make_stock(layout: Any, folder: Path) -> None:
    """Write the chunks of an index as the stock parts keep them: Chroma, and a persisted BM25."""
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from tests.support.product import Reader

    with Reader(layout) as reader, reader.snapshot() as view:
        rows = [row for path in view.paths() for row in view.chunks_of(path)]
        nodes = [TextNode(id_=row.id, text=row.text, metadata={"path": row.path}) for row in rows]
        ids, matrix = view.chunk_vectors.rows([row.id for row in rows])
        vectors = dict(zip(ids, matrix.tolist(), strict=True))
    BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=TOP_K).persist(str(folder / "bm25"))
    for node in nodes:
        node.embedding = vectors[node.node_id]
    client = _client(folder)
    store = ChromaVectorStore(chroma_collection=client.create_collection("stock", embedding_function=None))
    for start in range(0, len(nodes), client.get_max_batch_size()):
        store.add(nodes[start : start + client.get_max_batch_size()])


def stock_search(folder: Path) -> Callable[[str], object]:
    """Chroma through its adapter, BM25 over the same chunks, fused, as documented.

    :param folder: what :func:`make_stock` wrote.
    """
    from llama_index.core import VectorStoreIndex
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from llama_index.retrievers.bm25 import BM25Retriever
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from tests.support.product import BUNDLED_NAME, installed_file

    store = ChromaVectorStore(chroma_collection=_client(folder).get_collection("stock"))
    embed = HuggingFaceEmbedding(str(installed_file(BUNDLED_NAME).parent), device="cpu")
    index = VectorStoreIndex.from_vector_store(store, embed_model=embed)
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=TOP_K), BM25Retriever.from_persist_dir(str(folder / "bm25"))],
        llm=MockLLM(),
        similarity_top_k=SHOWN,
        num_queries=1,
        mode="reciprocal_rerank",
        use_async=False,
    )
    return fusion.retrieve


def bare_calls(layout: Any, settings: Any) -> Callable[[str], object]:
    """Query vector, exact scan, word ranking, the rows that are shown: no fusion, no classes."""
    from tests.support.product import Reader, Tokenizer, load_query

    reader = Reader(layout)
    door = load_query(layout.model, settings.embedding)
    tokenizer = Tokenizer("en")

    def call(query: str) -> object:
        with reader.snapshot() as view:
            near = view.chunk_vectors.top(door.embed_query(query), TOP_K)
            said = view.lexical.top(tokenizer.query(query), TOP_K)
            return view.chunks([one for one, _ in (*near[:SHOWN], *said[:SHOWN])])

    return call


def _client(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    return chromadb.PersistentClient(str(folder), settings=ChromaSettings(anonymized_telemetry=False))


def _cold(kind: str, folder: Path, query: str) -> None:
    if kind == "stock":
        stock_search(folder)(query)
        return
    from tests.support.product import IndexLayout, load_settings

    bare_calls(IndexLayout(folder), load_settings())(query)


if __name__ == "__main__":
    _cold(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
