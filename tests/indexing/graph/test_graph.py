"""The graph: what becomes an edge, and how changes are taken in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.indexing.graph.graph import build_graph, follow_graph, pagerank
from notehop.indexing.stores.model import LinkRow as CatalogLink
from notehop.indexing.stores.model import NoteRow, NoteStatus
from tests.indexing.graph.samples import LinkRow, Row, links, rows


def contents(graph: Any) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    edges = [(u, v, key, dict(data)) for u, v, key, data in graph.edges(keys=True, data=True)]
    return dict(graph.nodes(data=True)), sorted(edges, key=lambda edge: edge[:3])


def test_an_empty_vault_gives_an_empty_graph() -> None:
    graph = build_graph([], [])
    assert len(graph) == 0
    assert graph.number_of_edges() == 0


def test_rows_of_the_catalog_fit() -> None:
    note = NoteRow(
        "a.md", "Title A", NoteStatus.INDEXED, tags=("x",), page_type="person", modified=5.0
    )
    link = CatalogLink(
        path="a.md",
        ordinal=3,
        chunk_id="c1",
        line=7,
        kind="embed",
        syntax="wikilink",
        raw="![[b#H]]",
        raw_target="b",
        fragment="H",
        display=None,
        sentence="See b.",
        sentence_id="s1",
        property=None,
        status="ambiguous",
        via="name",
        target_path="b.md",
        target_chunk_id="c2",
        fragment_found=True,
        candidates=("b.md", "x/b.md"),
    )
    graph = build_graph([note, replace(note, path="b.md")], [link])
    assert graph.nodes["a.md"] == {
        "title": "Title A",
        "tags": ("x",),
        "page_type": "person",
        "modified": 5.0,
    }
    assert list(graph.edges(keys=True, data=True)) == [
        (
            "a.md",
            "b.md",
            3,
            {
                "kind": "embed",
                "source_chunk": "c1",
                "line": 7,
                "fragment": "H",
                "sentence": "See b.",
                "target_chunk": "c2",
                "via": "name",
                "status": "ambiguous",
                "ordinal": 3,
            },
        )
    ]


@pytest.mark.parametrize(
    "link",
    [
        pytest.param(LinkRow("a", None, status="unresolved"), id="unresolved"),
        pytest.param(LinkRow("a", "b", status="excluded"), id="excluded"),
        pytest.param(LinkRow("a", "picture.png"), id="attachment"),
        pytest.param(LinkRow("gone", "b"), id="source-not-indexed"),
    ],
)
def test_no_edge_and_no_node(link: LinkRow) -> None:
    graph = build_graph(rows("a", "b"), [link])
    assert list(graph) == ["a", "b"]
    assert graph.number_of_edges() == 0


def test_parallel_links_and_loops_are_kept() -> None:
    graph = build_graph(rows("a", "b"), links("ab", "ab", "aa"))
    assert list(graph.edges(keys=True)) == [("a", "b", 0), ("a", "b", 1), ("a", "a", 2)]


def test_a_followed_note_says_something_else_and_keeps_what_is_said_of_it() -> None:
    before = build_graph(rows("a", "b", "c"), links("ab", "ba", "ca"))
    graph = follow_graph(before, [Row("a", title="New")], links("ac"))
    assert graph.nodes["a"]["title"] == "New"
    assert sorted(graph.edges()) == [("a", "c"), ("b", "a"), ("c", "a")]
    assert contents(before) == contents(build_graph(rows("a", "b", "c"), links("ab", "ba", "ca")))


def test_links_of_another_note_are_refused() -> None:
    graph = build_graph(rows("a", "b"), [])
    with pytest.raises(ValueError, match="b: link 0 given as one of another note"):
        follow_graph(graph, [Row("a")], links("ba"))


def test_a_note_that_is_gone_takes_all_its_edges() -> None:
    before = build_graph(rows("a", "b", "c"), links("aa", "ab", "ba", "ca", "cb"))
    graph = follow_graph(before, [], [], ["a", "never there"])
    assert sorted(graph) == ["b", "c"]
    assert list(graph.edges()) == [("c", "b")]
    assert len(before.edges()) == 5


pairs = st.lists(st.text("abcd", min_size=2, max_size=2), max_size=12)
vaults = st.tuples(st.sets(st.sampled_from("abcd")), pairs)


@given(st.lists(vaults, min_size=2, max_size=5))
def test_following_is_building_anew_and_leaves_what_was(
    steps: list[tuple[set[str], list[str]]],
) -> None:
    """Followed are the notes whose links differ, and those with a link to a note that is new."""
    graphs = []
    there: set[str] = set()
    said: list[LinkRow] = []
    graph = build_graph([], [])
    for notes, drawn in steps:
        new = links(*drawn)
        moved = {link.path for link in {*said} ^ {*new}} | (notes - there)
        moved |= {link.path for link in new if link.target_path in notes - there}
        moved &= notes
        graph = follow_graph(
            graph,
            rows(*sorted(moved)),
            [link for link in new if link.path in moved],
            sorted(there - notes),
        )
        there, said = notes, new
        graphs.append((graph, build_graph(rows(*sorted(notes)), new)))
    for followed, fresh in graphs:
        assert contents(followed) == contents(fresh)
        assert sorted(followed.in_edges(keys=True)) == sorted(fresh.in_edges(keys=True))
        assert pagerank(followed) == pagerank(fresh)
