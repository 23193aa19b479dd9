"""What an agent can do with the demo vault, over either transport, with the SDK's own client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp import MCPError, types

from tests.app.mcp.agent import Agent, agent, over_stdio, server, text

pytestmark = pytest.mark.model

HOLLIN = "Projects/Hollin Reach/Hollin Reach.md"
TIMELINE = "What is the timeline of Hollin Reach?"


@pytest.fixture(scope="module", params=["stdio", "http", "http-modern"])
def one(request: pytest.FixtureRequest, demo: tuple[Path, Path]) -> Iterator[Agent]:
    if request.param == "stdio":
        with agent(over_stdio(*demo)) as found:
            yield found
        return
    mode = "auto" if request.param == "http-modern" else "legacy"
    with server(*demo) as url, agent(f"{url}/mcp", mode) as found:
        yield found


@pytest.fixture(scope="module")
def local(demo: tuple[Path, Path]) -> Iterator[Agent]:
    """Over one transport, for what no transport has a part in."""
    with agent(over_stdio(*demo)) as found:
        yield found


def test_the_tools_are_described(one: Agent) -> None:
    tools = {tool.name: tool for tool in one.do(one.client.list_tools).tools}
    assert list(tools) == ["smart_search", "ask", "graph_browse", "read_note", "capture"]
    for name, tool in tools.items():
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name != "capture")
        assert tool.annotations.idempotent_hint is (name != "capture")
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        for argument in tool.input_schema["properties"].values():
            assert argument.get("description") or argument.get("items")
    assert "Demo" in (one.client.instructions or "")


def test_search_finds_passages_with_their_place(one: Agent) -> None:
    result = one.call("smart_search", query=TIMELINE, top_k=3)
    found = result.structured_content
    assert isinstance(found, dict)
    first = found["hits"][0]
    assert first.keys() >= {"file", "heading", "text", "score", "lines"}
    assert (first["file"], first["heading"]) == (HOLLIN, "Timeline")
    assert len(found["hits"]) == 3
    assert f"[1] {HOLLIN}:{first['lines'][0]}-{first['lines'][1]} > Timeline" in text(result)
    assert all(f"> {line}" in text(result) for line in first["text"].splitlines() if line)


def test_a_budget_leaves_out_whole_passages_and_names_them(one: Agent) -> None:
    everything = one.reply("smart_search", query=TIMELINE, top_k=10, budget=50_000)["hits"]
    result = one.call("smart_search", query=TIMELINE, top_k=10, budget=400)
    found = result.structured_content
    assert isinstance(found, dict)
    kept = len(found["hits"])
    assert 0 < kept < 10
    assert found["hits"] == everything[:kept]
    assert found["left_out_count"] == 10 - kept
    assert found["left_out"][0]["lines"] == everything[kept]["lines"]
    assert "Did not fit the budget" in text(result)


def test_who_asks_for_progress_is_told_of_it(one: Agent) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        told.append((progress, message))

    arguments = {"question": TIMELINE}
    one.do(lambda: one.client.call_tool("ask", arguments, progress_callback=hear))
    assert [message for _, message in told][-2:] == ["searching", "answering from 5 sources"]
    assert [step for step, _ in told] == sorted({step for step, _ in told})


def test_filters_narrow_and_are_told(one: Agent) -> None:
    found = one.reply("smart_search", query="plans", filters={"path": ["Daily"]})
    assert {hit["file"].split("/")[0] for hit in found["hits"]} == {"Daily"}
    assert found["filters"] == ["path:Daily"]


def test_an_answer_keeps_evidence_and_context_apart(one: Agent) -> None:
    result = one.call("ask", question=TIMELINE)
    found = result.structured_content
    assert isinstance(found, dict)
    assert found["mode"] == "extractive"
    assert "8 April 2027" in found["answer"]
    assert [cited["file"] for cited in found["citations"]] == [HOLLIN]
    near = {note["file"] for note in found["connected_notes"]}
    assert "Projects/Hollin Reach/Backwards from the spring tide.md" in near
    evidence, context = text(result).split("Connected notes (context, not evidence):")
    assert "[1]" in evidence
    assert "C1 " in context


def test_links_are_followed(one: Agent) -> None:
    found = one.reply("graph_browse", notes="Hollin Reach", max=3)
    assert found["start"] == [HOLLIN]
    assert len(found["notes"]) == 3
    assert found["total"] > 3
    assert all(note["sentences"] for note in found["notes"])


def test_a_note_is_read_whole_or_in_parts(one: Agent, demo: tuple[Path, Path]) -> None:
    whole = (demo[0] / HOLLIN).read_text(encoding="utf-8").rstrip("\n")
    assert one.reply("read_note", note="Hollin Reach")["text"] == whole
    parts, line = [], 1
    while line:
        found = one.reply("read_note", note=HOLLIN, budget=300, from_line=line)
        parts.append(found["text"])
        line = found.get("next_line", 0)
    assert "\n".join(parts) == whole
    assert len(parts) > 1
    section = one.reply("read_note", note=HOLLIN, section="Money")
    assert section["text"].startswith("## Money")
    outline = one.reply("read_note", note=HOLLIN, outline_only=True)
    assert "text" not in outline
    assert [entry["heading"] for entry in outline["outline"]][:2] == ["Timeline", "Design"]


def files(vault: Path) -> set[Path]:
    """Everything that is in a vault."""
    return set(vault.rglob("*"))


def test_a_note_is_kept(one: Agent, demo: tuple[Path, Path]) -> None:
    before = files(demo[0])
    try:
        found = one.reply("capture", text="Ring Bram about the sea wall of Hollin Reach.")
        kept = demo[0] / found["file"]
        assert kept.parent == demo[0] / "Inbox"
        assert "Ring Bram" in kept.read_text(encoding="utf-8")
        assert found["connections"]
        assert files(demo[0]) - before == {kept}
    finally:
        for new in files(demo[0]) - before:
            new.unlink()


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        pytest.param("smart_search", {}, "query: Field required", id="missing"),
        pytest.param("smart_search", {"query": "x", "k": 1}, "k: there is none", id="unknown"),
        pytest.param("smart_search", {"query": "x", "budget": 3}, "budget: ", id="too-small"),
        pytest.param("smart_search", {"query": " "}, "the query is empty", id="empty"),
        pytest.param("smart_search", {"query": "x" * 20_000}, "20,000 characters", id="too-long"),
        pytest.param("smart_search", {"query": "after:soon fish"}, "soon", id="no-date"),
        pytest.param("read_note", {"note": "No such"}, "No such: no note", id="no-note"),
        pytest.param("read_note", {"note": HOLLIN, "section": "X"}, "no section X", id="no-part"),
        pytest.param("read_note", {"note": "../../../etc/passwd"}, "no note", id="traversal"),
        pytest.param("read_note", {"note": "Areas/Salary talk.md"}, "no note", id="private"),
        pytest.param("graph_browse", {"notes": ["Salary talk"]}, "no note", id="private-seed"),
        pytest.param("capture", {"text": "  "}, "text: ", id="nothing-to-keep"),
        pytest.param("capture", {"text": "x" * 300_000}, "text: ", id="too-much-to-keep"),
    ],
)
def test_what_makes_no_sense_is_a_result_that_says_why(
    local: Agent, demo: tuple[Path, Path], tool: str, arguments: dict[str, object], told: str
) -> None:
    before = files(demo[0])
    said = local.refusal(tool, **arguments)
    assert told in said
    assert len(said) < 500
    assert files(demo[0]) == before


def test_a_tool_that_is_none_is_an_error(local: Agent) -> None:
    with pytest.raises(MCPError, match="no such tool; use smart_search"):
        local.call("delete_note", path=HOLLIN)


def test_the_best_linked_notes_are_listed_by_the_page(local: Agent) -> None:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = local.do(lambda at=cursor: local.client.list_resources(cursor=at))
        found += [resource.name for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(found) == len(set(found)) > 25
    assert "Areas/Salary talk.md" not in found
    with pytest.raises(MCPError, match="cursor"):
        local.do(lambda: local.client.list_resources(cursor="x"))


def test_a_note_is_a_resource(local: Agent) -> None:
    (template,) = local.do(local.client.list_resource_templates).resource_templates
    assert template.uri_template == "note://{path}"
    uri = local.do(local.client.list_resources).resources[0].uri
    (whole,) = local.do(local.client.read_resource, uri).contents
    assert isinstance(whole, types.TextResourceContents)
    assert whole.mime_type == "text/markdown"
    section = "note://Projects/Hollin%20Reach/Hollin%20Reach.md#Money"
    (part,) = local.do(local.client.read_resource, section).contents
    assert isinstance(part, types.TextResourceContents)
    assert part.text.startswith("## Money")


@pytest.mark.parametrize(
    "uri",
    [
        "note://No%20such",
        "note://..%2F..%2F..%2Fetc%2Fpasswd",
        "note:///etc/passwd",
        "note://Areas%2FSalary%20talk.md",
        "note://x%00.md",
        "note://",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_resource_is_an_error(local: Agent, uri: str) -> None:
    with pytest.raises(MCPError, match="no such resource"):
        local.do(local.client.read_resource, uri)
