"""The graph: what a link resolves to, the rank of notes, and their communities."""

from itertools import combinations, pairwise
from math import log1p
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.product import graph_pagerank as pagerank


def test_spaces_around_a_path_count_only_if_a_file_has_them() -> None:
    files = product.VaultFiles(["N.md", "x/ O.md", "x/O.md"])
    assert product.resolve_path(files, "H.md", " N ").path == "N.md"
    assert product.resolve_path(files, "H.md", " O").path == "x/ O.md"
    assert product.resolve_path(files, "H.md", "O ").path == "x/O.md"
    assert product.resolve_path(files, "H.md", " ").status is product.Status.UNRESOLVED


@pytest.mark.parametrize(
    "target", ["", " ", "/", "./", "x/", ".", "..", "../", "./.", "../x/.", "./y/..", "//N", "x\\N"]
)
def test_no_name_no_file(target: str) -> None:
    files = product.VaultFiles(["N.md", ".md", "x/.md", "x/N.md", "x.md"])
    found = product.resolve_path(files, "x/H.md", target)
    assert found.path == (None if target else "x/H.md")


def test_of_many_candidates_the_first_are_named() -> None:
    paths = [f"{number:03}/N.md" for number in range(200)]
    found = product.resolve_path(product.VaultFiles(paths), "150/Here.md", "N")
    assert found.path == "150/N.md"
    assert len(found.candidates) == product.MAX_CANDIDATES
    assert found.candidates[:3] == ("150/N.md", "000/N.md", "001/N.md")


headings = st.lists(st.tuples(st.integers(1, 4), st.sampled_from("ABC")), max_size=8)


@given(headings, st.lists(st.sampled_from("ABC"), min_size=1, max_size=4))
def test_takes_the_first_chain_that_fits(drawn: list[tuple[int, str]], parts: list[str]) -> None:
    """Against every chain there is, tried in order."""
    outline = product.Outline(
        tuple((level, text, line) for line, (level, text) in enumerate(drawn, 1)), (), len(drawn)
    )
    chains = (
        chain
        for chain in combinations(outline.headings, len(parts))
        if [text for _, text, _ in chain] == parts and all(one[0] < two[0] for one, two in pairwise(chain))
    )
    first = next(chains, None)
    span = product.find_fragment(outline, "#".join(parts))
    if first is None:
        assert span is None
    else:
        assert span is not None
        assert span.first_line == first[-1][2]
        below = outline.headings[span.first_line : span.last_line]
        assert all(level > first[-1][0] for level, _, _ in below)
        after = outline.headings[span.last_line :]
        assert not after or after[0][0] <= first[-1][0]


def test_a_long_outline_and_a_long_fragment_end_quickly() -> None:
    outline = product.Outline(tuple((1, "A", line) for line in range(1, 20_001)), (), 20_000)
    assert product.find_fragment(outline, "#".join(["A"] * 5)) is None


@given(
    st.lists(st.sampled_from(["a.md", "A.md", "d/a.md", "d/e/a.md", "E/a.md.md", "d.md", "b .md"])),
    st.randoms(use_true_random=False),
)
def test_order_of_files_makes_no_difference(drawn: list[str], random: Random) -> None:
    shuffled = random.sample(drawn, len(drawn))
    one, other = (product.VaultFiles(dict.fromkeys(drawn)), product.VaultFiles(dict.fromkeys(shuffled)))
    for source in ("H.md", "d/H.md", "d/e/H.md"):
        for target in ("a", "A.md", "d/a", "./a", "../a", "/a", "d", "b "):
            assert product.resolve_path(one, source, target) == product.resolve_path(other, source, target)


TWO = {(f"{team}{n}", f"{team}{m}"): 1 for team in "ab" for n in range(4) for m in range(4) if n != m}
"""Two teams of four notes, each of which links to all others of its team."""

graphs = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1]),
    st.integers(1, 3),
    max_size=30,
).map(lambda counts: {(f"n{s}", f"n{t}"): count for (s, t), count in counts.items()})


def bonds(counts: dict[tuple[str, str], int], *more: str) -> product.EdgeWeights:
    links = [pair for pair, count in counts.items() for _ in range(count)]
    return product.edge_weights({path for pair in links for path in pair} | set(more), links)


def team(letter: str) -> frozenset[str]:
    return frozenset(f"{letter}{n}" for n in range(4))


def test_a_note_shares_one_vote_out_over_its_links() -> None:
    weights = bonds({("a", "b"): 1, ("a", "c"): 3, ("b", "a"): 1})
    assert weights["a"] == pytest.approx({"b": 4 / 3, "c": 2 / 3})


def test_teams_are_communities_and_who_has_no_links_is_in_none() -> None:
    found = product.louvain(bonds({**TWO, ("a0", "b0"): 1}, "lonely"))
    assert found == [team("a"), team("b")]
    assert product.louvain(bonds({}, "lonely")) == []
    assert product.louvain({}) == []


@given(graphs)
def test_every_linked_note_is_in_one_that_is_connected(counts: dict[tuple[str, str], int]) -> None:
    graph = bonds(counts, "lonely")
    groups = product.louvain(graph)
    assert sorted(p for group in groups for p in group) == sorted(p for p, near in graph.items() if near)
    linked = nx.Graph((path, other) for path in graph for other in graph[path])
    assert all(nx.is_connected(linked.subgraph(group)) for group in groups)


PATHS = "abcde"

ends = st.sampled_from([*PATHS, "no note"])
pairs = st.lists(st.tuples(ends, ends), max_size=20)


@given(pairs)
def test_agrees_with_networkx(links: list[tuple[str, str]]) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(PATHS)
    for source, target in links:
        if source != target and "no note" not in (source, target):
            graph.add_edge(source, target, weight=log1p(links.count((source, target))))
    ours = pagerank(PATHS, links)
    assert ours == pytest.approx(nx.pagerank(graph, tol=1e-12, max_iter=500), abs=1e-8)
    assert sum(ours.values()) == pytest.approx(1)


@given(pairs, st.randoms(use_true_random=False))
def test_same_to_the_last_bit_in_any_order(links: list[tuple[str, str]], random: object) -> None:
    one = pagerank(PATHS, links)
    random.shuffle(links)  # type: ignore[attr-defined]
    assert list(pagerank(PATHS[::-1], links).items()) == list(one.items())
