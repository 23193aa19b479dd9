"""The parts of retrieval in pipelines of LlamaIndex that others put together."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import Document, MetadataMode, NodeWithScore

from notehop import open_vault
from tests.support import product
from tests.support.notes import write_notes
from tests.support.real_index import opened_with, real_index
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model

NOTES = {
    "Bakery.md": "# Bakery\nThe bakery opens in May. The **date** hangs on the [[Oven]].\n",
    "Oven.md": "# Oven\nDelivery was promised for the end of April by the mason from Aachen.\n",
    "Bread/Rye.md": "# Rye\nRye bread of the bakery needs a hot [[Oven]] and a day.\n",
    "Bread/Wheat.md": "# Wheat\nThe bakery takes wheat from [[Mill]].\n",
    "Mill.md": "# Mill\nStone ground since 1810.\n",
    "Reading.md": "# Reading\nA novel about the sea, half read.\n",
}

QUESTION = "When does the bakery open?"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    vault = write_notes(tmp_path / "Vault", NOTES)
    real_index(vault, tmp_path / "index")
    return vault, tmp_path / "index"


@pytest.fixture
def vault(folders: tuple[Path, Path]) -> Iterator[product.VaultHandle]:
    with open_vault(folders[0], index_dir=folders[1]) as opened:
        yield opened


def assembled(reader: product.Reader, model: BaseEmbedding, vault: Path) -> RetrieverQueryEngine:
    """The example of docs/retrieval.md."""
    index = reader.snapshot
    fusion = product.WeightedFusionRetriever(
        {
            "semantic": product.SemanticRetriever(index, model),
            "lexical": product.LexicalRetriever(index, product.Tokenizer("en")),
        }
    )
    fresh = product.FreshnessPostprocessor(view=index, vault=vault)
    connected = product.ConnectedNotesPostprocessor(
        view=index, embed_model=model, fresh=fresh, top_k=1, context_chunks=3, max_connected=2
    )
    return RetrieverQueryEngine.from_args(
        fusion, node_postprocessors=[fresh, connected], llm=ScriptedLLM(says="Yes.")
    )


def shown(hits: list[NodeWithScore]) -> dict[str, str]:
    return {hit.node.metadata["path"]: hit.node.metadata["role"] for hit in hits}


def test_what_became_private_a_second_ago_is_in_no_pipeline(
    folders: tuple[Path, Path], vault: product.VaultHandle, caplog: pytest.LogCaptureFixture
) -> None:
    folder, index = folders
    with product.Reader(product.IndexLayout(index)) as reader:
        engine = assembled(reader, vault.embed_model, folder)
        before = shown(engine.query(QUESTION).source_nodes)
        assert before["Bakery.md"] == "source"
        assert before["Oven.md"] == "connected"
        (folder / "Oven.md").write_text(f"---\nprivate: true\n---\n{NOTES['Oven.md']}")
        with caplog.at_level(logging.WARNING):
            after = engine.query(QUESTION)
        assert "Oven.md" not in shown(after.source_nodes)
        assert not any("mason" in hit.node.get_content() for hit in after.source_nodes)
        assert "changed and not indexed again yet" in caplog.text
        assert "Oven" not in caplog.text
        (folder / "Bakery.md").write_text("# Bakery\nClosed.\n")
        (folder / "Bread" / "Rye.md").unlink()
        left = engine.query(QUESTION).source_nodes
        assert {"Bakery.md", "Bread/Rye.md"}.isdisjoint(shown(left))


def test_a_commit_elsewhere_embeds_no_passage_anew(
    folders: tuple[Path, Path], vault: product.VaultHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = type(vault.embed_model)
    embed, embedded = embedder.embed_together, []
    monkeypatch.setattr(
        embedder, "embed_together", lambda own, texts: (embedded.extend(texts), embed(own, texts))[1]
    )
    vault.ask(QUESTION)
    before, generation = {*embedded}, vault.generation
    assert before
    embedded.clear()
    (folders[0] / "Sails.md").write_text("Sails are dyed red in winter.\n")
    product.update_index(vault.place)
    for _ in range(2):
        assert vault.ask(QUESTION).generation > generation
    assert before.isdisjoint(embedded)


def test_a_note_stays_connected_while_any_passage_that_is_linked_to_stands(tmp_path: Path) -> None:
    notes = {
        "Hub.md": "The lenses lie in [[Kit#Old part]], and the others in [[Kit]].\n",
        "Kit.md": "# Kit\nNew lenses lie on top.\n\n## Old part\nOld lenses are scratched.\n",
    }
    with opened_with(tmp_path, notes, chunking__min_tokens=1) as opened:
        asked = {"top_k": 1, "filters": {"path": ["Hub"]}}
        [before] = opened.search("Where are the lenses?", **asked).connected_notes
        assert "scratched" in before.text
        (tmp_path / "Vault" / "Kit.md").write_text(notes["Kit.md"].replace("scratched", "clean"))
        [after] = opened.search("Where are the lenses?", **asked).connected_notes
    assert "New lenses lie on top." in after.text


@pytest.mark.parametrize("how", ["file_path", "path", "no chunk of it"])
def test_around_an_index_of_ones_own(
    folders: tuple[Path, Path], vault: product.VaultHandle, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    folder = folders[0]
    if how == "file_path":
        documents = SimpleDirectoryReader(str(folder), recursive=True).load_data()
    else:
        name = "path" if how == "path" else "name"
        documents = [Document(text=text, metadata={name: path}) for path, text in NOTES.items()]
    for document in documents:
        document.excluded_embed_metadata_keys = list(document.metadata)
    nodes = SentenceSplitter(chunk_size=256).get_nodes_from_documents(documents)
    mine = VectorStoreIndex(nodes, embed_model=vault.embed_model).as_retriever(similarity_top_k=6)
    engine = RetrieverQueryEngine.from_args(
        mine,
        node_postprocessors=[vault.fresh_only(), vault.connected_notes(top_k=2)],
        llm=ScriptedLLM(says="Yes."),
    )
    with caplog.at_level(logging.WARNING):
        hits = engine.query(QUESTION).source_nodes
        graph = product.GraphEnhancedRetriever(mine, vault.view, expansion=product.PRESETS["aggressive"])
        reached = [hit.node.metadata.get("expanded_from") for hit in graph.retrieve("mill")]
    if how == "no chunk of it":
        assert {hit.node.metadata.get("role") for hit in hits} == {"source"}
        assert caplog.text.count("none of the 6 hits is of a note of this index") == 2
        return
    assert not [one for one in caplog.records if one.name.startswith("notehop")]
    roles = shown(hits)
    assert roles["Bakery.md"] == "source"
    assert "connected" in roles.values()
    assert len(reached) >= 6
    [near] = [hit for hit in hits if hit.node.metadata["role"] == "connected"][:1]
    seen = near.node.get_content(MetadataMode.LLM)
    assert near.node.metadata["linked_from"]["sentence"] in seen, "stock synthesizers show it"
    (folder / "Bakery.md").write_text("---\nprivate: true\n---\nNothing.\n")
    left = engine.query(QUESTION).source_nodes
    assert not any("opens in May" in hit.node.get_content() for hit in left)


def test_a_connected_note_stays_as_long_as_its_link(
    folders: tuple[Path, Path], vault: product.VaultHandle
) -> None:
    hits = vault.retriever(top_k=1, connected={"max": 1, "order": "rank"}).retrieve(QUESTION)
    assert shown(hits) == {"Bakery.md": "source", "Oven.md": "connected"}
    fresh = vault.fresh_only()
    assert shown(fresh.postprocess_nodes(hits, query_str=QUESTION)) == shown(hits)
    (folders[0] / "Bakery.md").write_text(NOTES["Bakery.md"].replace("[[Oven]]", "oven"))
    assert "Oven.md" not in shown(fresh.postprocess_nodes(hits, query_str=QUESTION))


def test_texts_of_withdrawn_notes_are_not_remembered(
    folders: tuple[Path, Path], vault: product.VaultHandle
) -> None:
    vault.ask(QUESTION)
    assert product.split_into_passages.cache_info().currsize > 0
    (folders[0] / "Bakery.md").unlink()
    product.update_index(vault.place)
    vault.search("mill")
    assert product.split_into_passages.cache_info().currsize == 0
