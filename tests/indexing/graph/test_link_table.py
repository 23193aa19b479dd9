"""Links as numbers: the PageRank of the graph they stand for, whatever came and went before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from notehop.indexing.graph.graph import build_graph, pagerank
from notehop.indexing.graph.link_table import LinkTable
from tests.indexing.graph.samples import LinkRow, links, rows

vaults = st.tuples(
    st.sets(st.sampled_from("abcd")),
    st.lists(st.text("abcde", min_size=2, max_size=2), max_size=12),
)


@given(st.lists(vaults, min_size=1, max_size=5))
def test_ranks_are_those_of_the_graph_to_the_last_bit(
    steps: list[tuple[set[str], list[str]]],
) -> None:
    table = LinkTable()
    there: set[str] = set()
    said: set[LinkRow] = set()
    for notes, drawn in steps:
        new = {link for link in links(*drawn) if link.path in notes}
        changed = sorted({link.path for link in said ^ new} | (there ^ notes))
        table.put(
            changed,
            [path for path in changed if path in notes],
            [(link.path, str(link.target_path)) for link in new if link.path in changed],
        )
        there, said = notes, new
        fresh = pagerank(build_graph(rows(*sorted(notes)), new))
        assert list(table.ranks().items()) == list(fresh.items())


def test_a_link_counts_once_its_target_is_a_note() -> None:
    table = LinkTable()
    table.put(["a"], ["a"], [("a", "b")])
    assert table.ranks() == {"a": 1.0}
    table.put(["b"], ["b"], [])
    assert table.ranks() == pagerank(build_graph(rows("a", "b"), links("ab")))
