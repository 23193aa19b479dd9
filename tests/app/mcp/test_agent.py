"""What an agent can do with the demo vault, over either transport, with the SDK's own client."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.app.mcp.agent import Agent, agent, over_stdio, server
from tests.app.mcp.test_hostile import server_of
from tests.support.tables import rows

pytestmark = pytest.mark.model

ROOT = Path(__file__).resolve().parents[3]
HOLLIN = "Projects/Hollin Reach/Hollin Reach.md"
TIMELINE = "What is the timeline of Hollin Reach?"


@pytest.fixture(scope="module")
def url(demo: tuple[Path, Path]) -> Iterator[str]:
    with server(*demo) as found:
        yield found


@pytest.fixture(scope="module", params=["stdio", "legacy", "auto"])
def one(request: pytest.FixtureRequest, demo: tuple[Path, Path]) -> Iterator[Agent]:
    """Over each transport; that of HTTP in both of its modes."""
    if request.param == "stdio":
        transport, mode = over_stdio(*demo), "legacy"
    else:
        transport, mode = f"{request.getfixturevalue('url')}/mcp", request.param
    with agent(transport, mode) as found:
        yield found


@pytest.fixture(scope="module")
def local(demo: tuple[Path, Path]) -> Iterator[Agent]:
    """In this process, for what no transport has a part in."""
    with open_vault(demo[0], index_dir=demo[1]) as vault, agent(server_of(vault)) as found:
        yield found


def test_a_note_is_read_whole_or_in_parts(one: Agent, demo: tuple[Path, Path]) -> None:
    whole = (demo[0] / HOLLIN).read_text(encoding="utf-8").rstrip("\n")
    quoted = "\n".join(f"> {line}" for line in whole.split("\n"))
    assert quoted in one.reply("read_note", note="Hollin Reach")
    parts, line = [], 1
    while line:
        found = one.reply("read_note", note=HOLLIN, budget=300, from_line=line)
        (part,) = [p for p in found.split("\n\n")[1:] if p in quoted]
        parts.append(part)
        more = re.search(r"from_line=(\d+)", found)
        line = int(more[1]) if more else 0
    assert "\n".join(parts) == quoted
    assert len(parts) > 1
    assert "\n\n> ## Money\n" in one.reply("read_note", note=HOLLIN, section="Money")
    outline = one.reply("read_note", note=HOLLIN, outline_only=True)
    assert "Outline:\n> ## Timeline :17\n> ## Design" in outline
    assert quoted[:100] not in outline


def test_the_page_shows_what_an_agent_is_told(local: Agent) -> None:
    told = local.reply("smart_search", query=TIMELINE, top_k=2, budget=300)
    assert f"```text\n{told}\n```" in (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    # Properties stand one a line.
    assert "> status: active\n> aliases: " in local.reply("smart_search", query="lead of Sensor Mesh")


def test_several_notes_share_a_budget_and_one_that_is_missing_hides_none(local: Agent) -> None:
    found = local.reply("read_note", notes=["Hollin Reach#Money", "No such", "Bram"], budget=900)
    assert f"{HOLLIN}:" in found
    assert "Note: No such: no note of this vault" in found
    assert "Bram" in found.split("No such")[1]
    assert len(found) < 3 * 1_200
    refused = local.refusal("read_note", notes=["Hollin Reach", "Bram"], section="Money")
    assert "name sections as Note#Heading" in refused
    assert "no note" in local.refusal("read_note", notes=["No such", "None"])


def test_an_overview_tells_what_filters_can_be_used_with(local: Agent) -> None:
    found = local.reply("vault_overview", budget=50_000)
    assert "Salary" not in found
    assert "> lead (Bram Teague, " in found
    counted = re.compile(r"^> (.+?): (\d+)$", re.MULTILINE)
    for name in ("path", "tag", "type"):
        values = dict(
            counted.findall(found.split(f"\n{name}, with the number of notes:\n")[1].split("\n\n")[0])
        )
        value = next(iter(values))
        query = f'{name}:"{value}"'
        hits = local.reply("smart_search", query=query, results="notes", top_k=100, budget=50_000)
        assert len(re.findall(r"^\[\d+\] ", hits, re.MULTILINE)) == min(100, int(values[value])), query
    short = local.reply("vault_overview", budget=200)
    assert " more" in short
    assert len(short) < 1_000


def files(vault: Path) -> set[Path]:
    return set(vault.rglob("*"))


def test_a_note_is_kept(one: Agent, demo: tuple[Path, Path]) -> None:
    before = files(demo[0])
    try:
        found = one.reply("capture", text="Ring Bram about the sea wall of Hollin Reach.")
        (kept,) = files(demo[0]) - before
        assert kept.parent == demo[0] / "Inbox"
        assert "Ring Bram" in kept.read_text(encoding="utf-8")
        assert found.startswith(f"Captured as Inbox/{kept.name}; ")
        assert "[[" in found
    finally:
        for new in files(demo[0]) - before:
            new.unlink()


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        *rows(__file__, "what_makes_no_sense_is_a_result_that_says_why"),
        pytest.param("smart_search", {"query": "x" * 20_000}, "20,000 characters", id="too-long"),
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
