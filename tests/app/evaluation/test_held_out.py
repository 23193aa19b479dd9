"""A link that is held out is nowhere to be seen, and everything else is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import Reader, reader_without

NOTES = {
    "A.md": "The mill is told of in [[B]], and once more in [[B|it]]. There is a weir in [[C]].\n",
    "B.md": "It goes back to [[A]].\n",
    "C.md": "Water and [[B]].\n",
}
HELD_OUT = frozenset({("A.md", "B.md")})


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, Reader]]:
    layout = built(tmp_path_factory.mktemp("held-out"), NOTES).layout
    with Reader.open(layout) as whole, reader_without(HELD_OUT)(layout) as less:
        yield whole, less


def test_the_link_is_not_there_from_either_end(readers: tuple[Reader, Reader]) -> None:
    whole, less = (reader.snapshot() for reader in readers)
    assert [link.target_path for link in whole.links_from(["A.md"])] == ["B.md", "B.md", "C.md"]
    assert [link.target_path for link in less.links_from(["A.md"])] == ["C.md"]
    assert [link.path for link in whole.links_to(["B.md"])] == ["A.md", "A.md", "C.md"]
    assert [link.path for link in less.links_to(["B.md"])] == ["C.md"]


def test_the_way_back_stays(readers: tuple[Reader, Reader]) -> None:
    _, less = (reader.snapshot() for reader in readers)
    assert [link.target_path for link in less.links_from(["B.md"])] == ["A.md"]


def test_the_graph_lacks_it_too(readers: tuple[Reader, Reader]) -> None:
    whole, less = (reader.snapshot() for reader in readers)
    assert whole.graph.has_edge("A.md", "B.md")
    assert not less.graph.has_edge("A.md", "B.md")
    assert less.graph.has_edge("C.md", "B.md")
    assert less.pagerank["B.md"] < whole.pagerank["B.md"]
    assert sum(less.pagerank.values()) == pytest.approx(1)
    assert less.graph is readers[1].snapshot().graph


def test_chunks_and_notes_are_all_there(readers: tuple[Reader, Reader]) -> None:
    whole, less = (reader.snapshot() for reader in readers)
    assert less.paths() == whole.paths() == ["A.md", "B.md", "C.md"]
    assert less.chunks_of("A.md") == whole.chunks_of("A.md")


def test_nothing_held_out_hides_nothing(tmp_path: Path) -> None:
    layout = built(tmp_path, NOTES).layout
    with Reader.open(layout) as whole, reader_without(frozenset())(layout) as same:
        assert same.snapshot().links_from(["A.md"]) == whole.snapshot().links_from(["A.md"])
