"""The graph of links, as networkx has it: from the handle, and as the command line prints it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from tests.support.notes import built
from tests.support.processes import environment
from tests.support.product import open_place

NOTES = {
    "A.md": "---\ntags: [x]\n---\nTo [[B]] twice, [[B#Part|see]], and [[A]], [[Secret]], [[Nowhere]].",
    "B.md": "# Part\nA bell \x07 and \ufffe here: [[C]] <&>.",
    "C.md": "Nothing.",
    "Secret.md": "---\nprivate: true\n---\nTo [[A]].",
}


def printed(vault: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "notehop", "links", *options, "--vault", str(vault)],
        capture_output=True,
        encoding="utf-8",
        env=environment(HOME=str(vault.parent)),
        check=False,
    )


def pairs(graph: nx.MultiDiGraph) -> list[tuple[str, str]]:
    return sorted((source, target) for source, target, _ in graph.edges)


def test_the_handle_and_the_command_line_have_the_same_graph(tmp_path: Path) -> None:
    place = built(tmp_path, NOTES)
    with open_place(place) as vault:
        ours = vault.graph()
        assert sorted(ours) == ["A.md", "B.md", "C.md"]
        assert pairs(ours) == [
            ("A.md", "A.md"),
            ("A.md", "B.md"),
            ("A.md", "B.md"),
            ("B.md", "C.md"),
        ]
        assert ours.nodes["A.md"]["tags"] == ("x",)
        assert {one["fragment"] for one in ours["A.md"]["B.md"].values()} == {None, "Part"}
        ours.remove_node("A.md")  # is the caller's
        assert "A.md" in vault.graph()
        whole = pairs(vault.graph())
    graphml = nx.read_graphml(
        io.BytesIO(printed(place.vault, "--format", "graphml").stdout.encode())
    )
    assert pairs(graphml) == whole
    assert graphml.nodes["B.md"]["title"] == "B"
    [link] = graphml.get_edge_data("B.md", "C.md").values()
    assert link["line"] == 2
    assert "A bell \ufffd and \ufffd here" in link["sentence"]
    values = json.loads(printed(place.vault, "--format", "json").stdout)
    assert pairs(nx.node_link_graph(values, edges="edges")) == whole


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("A", "--format", "graphml"), "--format is for a whole vault; leave the note out"),
        (("--json", "--format", "graphml"), "--json and --format graphml are two outputs"),
    ],
)
def test_what_is_no_graph(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    place = built(tmp_path, NOTES)
    done = printed(place.vault, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
