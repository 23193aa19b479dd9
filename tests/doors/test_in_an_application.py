"""An opened vault inside an application of LlamaIndex: its callbacks, filters, copies and threads."""

import asyncio
import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeRelationship
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from pydantic import PrivateAttr

from notehop import open_vault
from tests.support.product import QueryError, VaultHandle
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model

LONG = " ".join(f"Word {number} of what keeps this section apart from the next." for number in range(12))

NOTES = {
    "Daily/2026-10-04.md": "The oyster beds were dredged today. See [[Shell Line]].\n",
    "Daily/2026-10-05.md": "---\ntags: [private]\n---\nThe oyster beds belong to a rival.\n",
    "Projects/Shell Line.md": "---\ntags: [project, coast/dyke]\ntype: project\nlead: Bram\n"
    f"created: 2026-03-01\n---\n# Shell Line\nOyster beds lie along the dyke. {LONG}\n\n"
    f"# Budget\nThe oyster beds cost 4,000 each. {LONG}\n\n"
    f"# Later\nMore oyster beds come in May. {LONG}\n",
    "Topics/Oysters.md": "---\ntype: topic\n---\n# Oysters\nOyster beds need clean water.\n",
}


def test_the_callbacks_of_the_application_hear_each_step(vault: VaultHandle) -> None:
    heard = LlamaDebugHandler(print_trace_on_end=False)
    former = Settings.callback_manager
    Settings.callback_manager = CallbackManager([heard])
    try:
        engine, retriever = vault.query_engine(), vault.retriever()
    finally:
        Settings.callback_manager = former
    engine.query("Where are the oyster beds?")
    asyncio.run(engine.aquery("Where are the oyster beds?"))
    retriever.retrieve("oyster beds")
    kinds = [pair[0].event_type.value for pair in heard.get_event_pairs()]
    assert sorted(kinds) == sorted(["query", "retrieve", "synthesize"] * 2 + ["retrieve"])
    assert all(len(pair) == 2 for pair in heard.get_event_pairs()), "what begins ends"


@pytest.mark.parametrize("llm", [None, ScriptedLLM(says="They lie along the dyke [1].")])
def test_an_answer_comes_in_pieces(vault: VaultHandle, llm: ScriptedLLM | None) -> None:
    asked = "Where are the oyster beds?"
    whole = vault.query_engine(llm=llm).query(asked)
    engine = vault.query_engine(llm=llm, streaming=True)
    response = engine.query(asked)
    assert isinstance(response, StreamingResponse)
    assert response.source_nodes == whole.source_nodes
    assert "citations" not in response.metadata
    pieces = list(response.response_gen)
    assert "".join(pieces).strip() == response.metadata["answer"] == str(whole)
    assert response.metadata["citations"] == whole.metadata["citations"]

    async def streamed() -> str:
        later = await engine.aquery(asked)
        return "".join([piece async for piece in later.response_gen])

    assert asyncio.run(streamed()) == "".join(pieces)


def test_a_node_says_where_it_belongs(vault: VaultHandle) -> None:
    [budget] = [
        hit.node
        for hit in vault.retriever(top_k=8, connected={"max": 0}).retrieve("oyster beds")
        if hit.node.metadata["heading"] == "Budget"
    ]
    assert budget.ref_doc_id == "Projects/Shell Line.md"
    near = [
        budget.relationships[one].node_id  # type: ignore[union-attr]
        for one in (NodeRelationship.PREVIOUS, NodeRelationship.NEXT)
    ]
    with vault.view() as view:
        assert [view.path_of(one) for one in near] == ["Projects/Shell Line.md"] * 2
        chunks = view.chunks(near)
    assert [chunks[one].heading_path for one in near] == [("Shell Line",), ("Later",)]
    told = budget.metadata
    assert told["file_path"] == told["path"] == "Projects/Shell Line.md"
    assert (told["tags"], told["type"]) == (["project", "coast/dyke"], "project")
    assert told["date"] == "2026-03-01T00:00:00"
    assert told["uri"] == ("obsidian://open?vault=My%20Vault&file=Projects%2FShell%20Line.md%23Budget")
    shown = budget.get_content(MetadataMode.LLM)
    assert "path: Projects/Shell Line.md" in shown
    assert "coast/dyke" not in shown, "what only programs read is shown to no model"


def test_a_stock_synthesizer_shows_the_sentence_that_links(vault: VaultHandle) -> None:
    asked: list[str] = []
    llm = ScriptedLLM(tell=lambda prompt: asked.append(prompt) or "Yes.")  # type: ignore[func-returns-value]
    stock = get_response_synthesizer(llm=llm, response_mode=ResponseMode.COMPACT)
    hits = vault.retriever(top_k=1, filters={"path": "Daily"}).retrieve("oyster beds dredged")
    assert [hit.node.metadata["role"] for hit in hits] == ["source", "connected"]
    stock.synthesize("What was dredged?", hits)
    [prompt] = asked
    assert "linked from source 1" in prompt
    assert '"See Shell Line."' in prompt.partition("reason:")[2]


def only(
    *said: MetadataFilters | tuple[str, Any] | tuple[str, Any, str], condition: str = "and"
) -> MetadataFilters:
    """Filters of key, value and operator, or of filters."""
    kept = [
        one
        if isinstance(one, MetadataFilters)
        else MetadataFilter(**dict(zip(("key", "value", "operator"), one, strict=False)))
        for one in said
    ]
    return MetadataFilters(filters=kept, condition=condition)


DAY, LINE, TOPIC = "Daily/2026-10-04.md", "Projects/Shell Line.md", "Topics/Oysters.md"

FILTERED: dict[str, tuple[MetadataFilters, set[str]]] = {
    "a tag": (only(("tags", "coast")), {LINE}),
    "tags, all": (only(("tags", ["project", "coast"], "all")), {LINE}),
    "not a tag": (only(("folder", "Daily"), ("tags", "private", "!=")), {DAY}),
    "types": (only(("type", ["topic", "project"], "in")), {LINE, TOPIC}),
    "one or the other": (only(("file_path", [TOPIC, DAY], "in")), {DAY, TOPIC}),
    "not in": (only(("path", ["Daily", "Topics"], "nin")), {LINE}),
    "a property": (only(("lead", "bram")), {LINE}),
    "days": (only(("date", "2026-10-04", ">="), ("date", "2026-10-05", "<")), {DAY}),
}


@pytest.mark.parametrize(("filters", "left"), FILTERED.values(), ids=FILTERED)
def test_filters_of_llamaindex(vault: VaultHandle, filters: MetadataFilters, left: set[str]) -> None:
    retriever = vault.retriever(top_k=8, connected={"max": 0}, filters=filters)
    assert {hit.node.metadata["path"] for hit in retriever.retrieve("oyster beds")} == left
    response = vault.query_engine(filters=filters, connected={"max": 0}).query("oyster beds")
    assert {node.node.metadata["path"] for node in response.source_nodes} <= left


REFUSED = {
    "greater": only(("rating", 3, ">")),
    "a part of text": only(("title", "x", "text_match")),
    "one tag of two": only(("tags", ["a", "b"], "any")),
    "tags or paths": only(("tags", "a"), ("path", "b"), condition="or"),
    "turned round": only(("tags", "a"), condition="not"),
    "no value": only(("tags", [], "nin")),
    "within others": only(only(("path", "a"))),
    "two paths": only(("path", "a"), ("path", "b")),
}


@pytest.mark.parametrize("filters", REFUSED.values(), ids=REFUSED)
def test_a_filter_that_cannot_be_kept_is_refused(vault: VaultHandle, filters: MetadataFilters) -> None:
    with pytest.raises(QueryError, match="metadata filter"):
        vault.retriever(filters=filters)


def test_what_is_of_one_query_is_no_option(vault: VaultHandle) -> None:
    with pytest.raises(QueryError, match="of one query"):
        vault.retriever(query="oyster beds")


def test_a_copy_asks_the_same_vault(vault: VaultHandle) -> None:
    engine, question = vault.query_engine(), "Where are the oyster beds?"
    expected = engine.query(question)
    twin = copy.deepcopy(engine)
    assert str(twin.query(question)) == str(expected)
    hits = vault.retriever().retrieve(question)
    found = copy.deepcopy(vault.retriever()).retrieve(question)
    assert [hit.node.node_id for hit in found] == [hit.node.node_id for hit in hits]
    for component in (vault.fresh_only(), vault.connected_notes()):
        again = copy.deepcopy(component).postprocess_nodes(hits, query_str=question)
        assert again == component.postprocess_nodes(hits, query_str=question)
    synthesizer = copy.deepcopy(vault.synthesizer())
    answers = [one.synthesize(question, hits) for one in (synthesizer, vault.synthesizer())]
    assert str(answers[0]) == str(answers[1])


@pytest.mark.parametrize("what", ["retriever", "query_engine"])
def test_what_holds_a_vault_open_says_that_it_cannot_be_pickled(vault: VaultHandle, what: str) -> None:
    with pytest.raises(TypeError, match="of an open vault cannot be pickled; open the vault there"):
        pickle.dumps(getattr(vault, what)())


def test_the_event_loop_goes_on_meanwhile(vault: VaultHandle) -> None:
    """Each waits for the loop: were the loop to wait for them, nothing would go on."""
    goes_on = threading.Event()

    def held(*given: Any) -> Any:
        assert goes_on.wait(20), "the loop is held up"
        return vault.view(*given)

    retriever, question = vault.retriever(), "Where are the oyster beds?"
    hits = retriever.retrieve(question)
    run = retriever._run
    retriever._run = lambda *given: held() and run(*given)
    connected = vault.connected_notes().model_copy(update={"view": held})
    fresh = vault.fresh_only().model_copy(update={"view": held})

    async def together() -> list[Any]:
        asyncio.get_running_loop().call_later(0.05, goes_on.set)
        return await asyncio.gather(
            retriever.aretrieve(question),
            connected.apostprocess_nodes(hits, query_str=question),
            fresh.apostprocess_nodes(hits, query_str=question),
        )

    assert all(asyncio.run(together()))


class Both(ScriptedLLM):
    """Answers when two questions have come."""

    _gate: Any = PrivateAttr(default_factory=lambda: threading.Barrier(2))

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self._gate.wait(20)
        return super().complete(prompt, formatted, **kwargs)


def test_two_questions_of_a_conversation_at_once_are_two_turns(where: tuple[Path, Path]) -> None:
    with (
        open_vault(where[0], index_dir=where[1], llm=Both(says="In the bay [1].")) as vault,
        ThreadPoolExecutor(2) as threads,
    ):
        asked = [
            threads.submit(vault.ask, question, conversation_id="a")
            for question in ("Where are the oyster beds?", "What do the oyster beds need?")
        ]
        turns = [one.result().conversation for one in asked]
    assert {turn.turn for turn in turns if turn is not None} == {1, 2}
