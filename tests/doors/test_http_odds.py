"""What programs that know HTTP expect of any server, and get from this one."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import pytest
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from notehop import open_vault
from tests.app.mcp.test_hostile import server_of
from tests.support.notes import NOTES, write_notes
from tests.support.processes import until
from tests.support.product import create_app, load_settings
from tests.support.real_index import real_index
from tests.support.scripted_llm import ScriptedLLM
from tests.support.serving import Said, events_of, request, say, serving
from tests.support.tables import rows

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("odds") / "Odds", NOTES)


@pytest.fixture(scope="module")
def port(vault: Path) -> Iterator[int]:
    index = vault.parent / "index"
    real_index(vault, index)
    with serving(create_app(open_vault(vault, index_dir=index))) as port:
        yield port


def ask(port: int, method: str, path: str, body: Any = None) -> Said:
    sent = None if body is None else json.dumps(body).encode()
    return say(port, request(method, path, body=sent))


def test_ask_is_another_name_of_query(port: int) -> None:
    body = {"query": "When is the launch of Atlas?"}
    asked, queried = ask(port, "POST", "/ask", body), ask(port, "POST", "/query", body)
    assert asked.status == 200, asked.body
    answers = [json.loads(reply.body) for reply in (asked, queried)]
    assert answers[0]["sources"]
    assert answers[0]["answer"] == answers[1]["answer"]


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready"])
def test_the_head_of_health_is_that_of_get_without_a_body(port: int, path: str) -> None:
    assert ask(port, "GET", path).body
    head = ask(port, "HEAD", path)
    assert head.status in (200, 503)
    assert head.headers["content-type"] == "application/json"
    assert head.body == b""


def test_a_captured_note_is_read_where_its_location_says(port: int, vault: Path) -> None:
    text = "Ask Priya about the tiles, 50 % of them."
    made = ask(port, "POST", "/capture", {"text": text, "title": "Tiles & 50 %"})
    assert made.status == 201
    where = made.headers["location"]
    written = json.loads(made.body)["filename"]
    assert unquote(where) == f"/notes/{written}"
    read = ask(port, "GET", where)
    assert read.status == 200, read.body
    assert text in json.loads(read.body)["text"]
    (vault / written).unlink()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"),
    rows(__file__, "a_program_tells_refusals_apart_by_their_type"),
)
def test_a_program_tells_refusals_apart_by_their_type(
    port: int, method: str, path: str, body: Any, status: int, kind: str
) -> None:
    refused = ask(port, method, path, body)
    assert refused.status == status
    assert json.loads(refused.body)["type"] == f"urn:notehop:problem:{kind}"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What a tracer provider of the process is told, as one that a host program has set up."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return kept


def test_no_span_of_the_process_carries_a_note(port: int, vault: Path, kept: InMemorySpanExporter) -> None:
    with trace.get_tracer("host").start_as_current_span("of the host"):
        pass
    # A server of its own: the tracer is looked for when it starts.
    with serving(create_app(open_vault(vault, index_dir=vault.parent / "index"))) as own:
        for at in (port, own):
            assert ask(at, "GET", "/notes/people/Priya%201-1.md?section=x").status == 404
            assert ask(at, "GET", "/notes/people/Priya%201-1.md").status == 200
            assert ask(at, "POST", "/search", {"query": "launch"}).status == 200
    spans = kept.get_finished_spans()
    assert [span.name for span in spans] == ["of the host"], [s.to_json() for s in spans]


def test_no_span_of_the_process_tells_of_an_agent(vault: Path, kept: InMemorySpanExporter) -> None:
    from mcp import Client

    async def work() -> None:
        with open_vault(vault, index_dir=vault.parent / "index") as opened:
            async with Client(server_of(opened), mode="legacy") as client:
                await client.call_tool("read_note", {"note": "people/Priya 1-1"})
                await client.call_tool("read_note", {"note": "people/Nobody"})

    anyio.run(work)
    spans = kept.get_finished_spans()
    # The client of this test traces as well.
    assert {span.kind for span in spans} <= {trace.SpanKind.CLIENT}, [s.to_json() for s in spans]


def test_a_server_with_its_hands_full_says_that_it_is_up(
    vault: Path,
    port: int,  # noqa: ARG001 (its index is made by then)
) -> None:
    """As many questions as it takes run or wait, and none is answered before all others asked."""
    done, many = threading.Event(), 60

    def late(_: str) -> str:
        assert done.wait(60)
        return "At noon [1]."

    opened = open_vault(vault, index_dir=vault.parent / "index", llm=ScriptedLLM(tell=late))
    settings = load_settings().with_overrides({"server.max_queries": 4, "server.max_waiting": many - 4})
    app = create_app(opened, settings.server)
    with serving(app) as full, ThreadPoolExecutor(many) as clients:
        questions = [
            clients.submit(ask, full, "POST", "/query", {"query": "When is the launch?"}) for _ in range(many)
        ]
        until(lambda: len(app.state.workers._taken[True]) == many)
        health = ask(full, "GET", "/health")
        told = [
            ask(full, "POST", "/query", {"query": "One more?"}),
            ask(full, "POST", "/search", {"query": "launch"}),
        ]
        early = any(question.done() for question in questions)
        done.set()
        answered = {question.result().status for question in questions}
    assert (health.status, json.loads(health.body)["live"]) == (200, True)
    assert [one.status for one in told] == [503, 200], "one more is refused, a search goes on"
    assert not early
    assert answered == {200}


class BreaksOff(ScriptedLLM):
    """Writes a sentence and a half, and is gone."""

    def stream_complete(
        self,
        prompt: str,  # noqa: ARG002
        formatted: bool = False,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> CompletionResponseGen:
        for piece in ("The launch of Atlas is in June [1]. ", "Before that "):
            yield CompletionResponse(text=piece, delta=piece)
        raise ConnectionError("it is gone")


def test_a_stream_says_what_stands_in_place_of_half_an_answer(
    vault: Path,
    port: int,  # noqa: ARG001 (its index is made by then)
) -> None:
    opened = open_vault(vault, index_dir=vault.parent / "index", llm=BreaksOff())
    with serving(create_app(opened)) as served:
        told = ask(served, "POST", "/query/stream", {"query": "When is the launch of Atlas?"})
    events = list(events_of(told.body.decode().splitlines()))
    names = [name for name, _ in events]
    assert names[:3] == ["sources", "connected", "token"]
    assert names[-2:] == ["reset", "done"]
    written = ""
    for name, data in events:
        written = {"token": written + data.get("text", ""), "reset": data.get("text", "")}.get(name, written)
    assert written == events[-1][1]["answer"]["answer"]
