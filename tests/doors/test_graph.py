"""The graph of links: as networkx has it, as the command line prints it on any terminal, from comments."""

import io
import json
import subprocess
from pathlib import Path

import networkx as nx
import pytest

from tests.support import commands
from tests.support.notes import built, write_notes
from tests.support.processes import NOTEHOP, environment
from tests.support.product import open_place
from tests.support.tables import rows

NOTES = {
    "A.md": "---\ntags: [x]\n---\nTo [[B]] twice, [[B#Part|see]], and [[A]], [[Secret]], [[Nowhere]].",
    "B.md": "# Part\nA bell \x07 and \ufffe here: [[C]] <&>.",
    "C.md": "Nothing.",
    "Secret.md": "---\nprivate: true\n---\nTo [[A]].",
}


def printed(vault: Path, *options: str) -> str:
    return commands.printed("links", *options, "--vault", vault)


def pairs(graph: nx.MultiDiGraph) -> list[tuple[str, str]]:
    return sorted((source, target) for source, target, _ in graph.edges)


def test_the_handle_and_the_command_line_have_the_same_graph(tmp_path: Path) -> None:
    place = built(tmp_path, NOTES)
    with open_place(place) as vault:
        ours = vault.graph()
        assert sorted(ours) == ["A.md", "B.md", "C.md"]
        assert pairs(ours) == [("A.md", "A.md"), ("A.md", "B.md"), ("A.md", "B.md"), ("B.md", "C.md")]
        assert ours.nodes["A.md"]["tags"] == ("x",)
        assert {one["fragment"] for one in ours["A.md"]["B.md"].values()} == {None, "Part"}
        ours.remove_node("A.md")  # is the caller's
        assert "A.md" in vault.graph()
        whole = pairs(vault.graph())
    where = "--index-dir", str(place.layout.root)
    graphml = nx.read_graphml(io.BytesIO(printed(place.vault, *where, "--format", "graphml").encode()))
    assert pairs(graphml) == whole
    assert graphml.nodes["B.md"]["title"] == "B"
    [link] = graphml.get_edge_data("B.md", "C.md").values()
    assert link["line"] == 2
    assert not {"source_chunk", "target_chunk"} & link.keys()
    assert "A bell \ufffd and \ufffd here" in link["sentence"]
    values = json.loads(printed(place.vault, *where, "--format", "json"))
    assert pairs(nx.node_link_graph(values, edges="edges")) == whole


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("A", "--format", "graphml"), "--format is for a whole vault; leave the note out"),
        (("--json", "--format", "graphml"), "--json and --format graphml are two outputs"),
    ],
)
def test_what_is_no_graph(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = commands.call("links", *options, "--vault", write_notes(tmp_path / "vault", NOTES))
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


TEXT = "Said %% see [[Inline]] %% here.\n\n%%\n[[Block]]\n%%\n\n[[Plain]]\n"


def targets(tmp_path: Path, setting: str | None) -> list[str]:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name in ("Inline", "Block", "Plain"):
        (vault / f"{name}.md").write_text("Text.")
    (vault / "Here.md").write_text(TEXT)
    if setting is not None:
        (vault / "notehop.toml").write_text(f"[vault]\ncomment_links = {setting}\n")
    found = json.loads(commands.printed("links", "--vault", vault, "--json"))
    return [link["target"].removesuffix(".md") for link in found]


@pytest.mark.parametrize(("setting", "found"), rows(__file__, "links_in_comments"))
def test_links_in_comments(tmp_path: Path, setting: str | None, found: list[str]) -> None:
    assert targets(tmp_path, setting) == found


LINK = "[[日本|the land “日”]]"

NAMES = ("Wave \U0001f30a.md", "Жук.md", "Café.md")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).write_text(f"See {LINK}.\n", encoding="utf-8")
    return tmp_path


def links(vault: Path, encoding: str, *more: str) -> bytes:
    done = subprocess.run(
        [*NOTEHOP, "links", "--vault", str(vault), *more],
        capture_output=True,
        env=environment(PYTHONIOENCODING=encoding, PYTHONUTF8="0"),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_json_is_json(vault: Path, encoding: str) -> None:
    said = json.loads(links(vault, encoding, "--json").decode(encoding))
    assert {link["source"] for link in said} == set(NAMES)
    assert {(link["raw"], link["display"]) for link in said} == {(LINK, "the land “日”")}


def test_what_cannot_be_shown_is_written_in_ascii(vault: Path) -> None:
    shown = links(vault, "cp1252").decode("cp1252")
    assert "Wave \\U0001f30a.md" in shown
    assert "Café.md" in shown
