"""The choice of connected notes: both orders, the gate and the places."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.retrieval.connected_order import (
    Candidate,
    Hit,
    Ranked,
    by_context,
    by_rank,
    share_places,
)
from notehop.indexing.stores.model import LinkRow

LINK = LinkRow(
    path="A.md",
    ordinal=0,
    chunk_id="A.md:0",
    line=1,
    kind="link",
    syntax="wikilink",
    raw="",
    raw_target="",
    fragment=None,
    display=None,
    sentence="",
    sentence_id=None,
    property=None,
    status="resolved",
    via="path",
    target_path=None,
    target_chunk_id=None,
    fragment_found=None,
)


def candidate(path, hit=1, sentence=None, target=None, at=0):
    return Candidate(path, f"{path}:0", replace(LINK, ordinal=at), hit, True, sentence, target)


def hits(*similarities):
    return [Hit(f"h{at}", f"h{at}:0", one) for at, one in enumerate(similarities)]


def paths(ranked):
    return [one.candidate.path for one in ranked]


def shared(found, similarities=(0.9, 0.5, 0.4, 0.3, 0.2), **options):
    """Share five places, two of them for sources at least."""
    ranked = [Ranked(one, None) for one in found]
    options = {"top_k": 2, "places": 5, "most": 3, "gate": 1.0} | options
    places = share_places(hits(*similarities), ranked, **options)
    return list(places.sources), [one.ranked.candidate.path for one in places.connected]


def test_order_rank_is_the_order_of_the_links_each_note_once():
    found = [candidate("z"), candidate("a"), candidate("z", hit=2), candidate("b", hit=2)]
    assert paths(by_rank(found)) == ["z", "a", "b"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param([], [], id="no link"),
        pytest.param([candidate("b", 1), candidate("a", 2)], ["b", "a"], id="the better hit"),
        pytest.param([candidate("b"), candidate("a")], ["b", "a"], id="then as links stand"),
        pytest.param(
            [candidate("far", 1, 0.1, 0.1), candidate("near", 2, 0.9, 0.9)],
            ["near", "far"],
            id="two similarities outvote the hit",
        ),
        pytest.param(
            [candidate("sentence", 1, 0.9, 0.1), candidate("target", 1, 0.1, 0.2)],
            ["sentence", "target"],
            id="both similarities weigh the same and ties break by text",
        ),
        pytest.param(
            [candidate("no sentence", 1, None, 0.5), candidate("far sentence", 1, -0.5, 0.4)],
            ["far sentence", "no sentence"],
            id="no sentence is last in that ranking",
        ),
        pytest.param(
            [candidate("a", 1, 0.1, 0.5), candidate("b", 1, 0.3, 0.4), candidate("a", 1, 0.9, 0.5)],
            ["a", "b"],
            id="a note once",
        ),
    ],
)
def test_order_context(found, expected):
    assert paths(by_context(found)) == expected


def test_the_best_link_of_a_note_is_kept():
    weak, strong = candidate("a", 1, 0.1, 0.5), candidate("a", 2, 0.9, 0.5, at=7)
    assert by_context([weak, candidate("b", 1, 0.3, 0.4), strong])[0].candidate is strong


def test_the_score_is_three_reciprocal_ranks():
    first, second = candidate("a", 2, 0.9, 0.2), candidate("b", 3, 0.1, 0.8)
    scores = {one.candidate.path: one.score for one in by_context([first, second], k=10)}
    assert scores == pytest.approx({"a": 1 / 12 + 1 / 11 + 1 / 12, "b": 1 / 13 + 1 / 12 + 1 / 11})


def test_k_must_be_positive():
    with pytest.raises(ValueError, match="k is 0"):
        by_context([], k=0)


@pytest.mark.parametrize(
    ("found", "options", "expected"),
    [
        pytest.param([], {}, ([0, 1, 2, 3, 4], []), id="no link: sources take all places"),
        pytest.param(
            [candidate(name, target=0.9) for name in "abcd"],
            {},
            ([0, 1], ["a", "b", "c"]),
            id="good evidence takes three",
        ),
        pytest.param(
            [candidate("a", target=0.39), candidate("b", target=0.4)],
            {},
            ([0, 1, 2], ["b", "a"]),
            id="each place asks for the similarity of the source that would stand there",
        ),
        pytest.param(
            [candidate("a", target=0.1)], {}, ([0, 1, 2, 3, 4], []), id="poor evidence takes none"
        ),
        pytest.param(
            [candidate("a", sentence=0.4, target=0.1)],
            {},
            ([0, 1, 2, 3], ["a"]),
            id="the larger similarity counts",
        ),
        pytest.param(
            [candidate("a", target=0.2)],
            {"gate": 0.5},
            ([0, 1, 2, 3], ["a"]),
            id="the gate is a share",
        ),
        pytest.param(
            [candidate("a")], {"gate": 0.0}, ([0, 1, 2, 3], ["a"]), id="gate 0 asks for nothing"
        ),
        pytest.param(
            [candidate("a")], {}, ([0, 1, 2, 3, 4], []), id="no evidence does not pass a gate"
        ),
        pytest.param(
            [candidate("a")],
            {"similarities": (0.9, 0.5)},
            ([0, 1], ["a"]),
            id="no source would stand there",
        ),
        pytest.param(
            [candidate("a")],
            {"similarities": (0.9, 0.5, None)},
            ([0, 1, 2], ["a"]),
            id="a source without a vector is no bar",
        ),
        pytest.param(
            [candidate("a", target=0.9)],
            {"similarities": (0.9,)},
            ([0], ["a"]),
            id="fewer hits than sources",
        ),
        pytest.param(
            [candidate(name, target=0.9) for name in "abc"],
            {"most": 1},
            ([0, 1, 2, 3], ["a"]),
            id="the cap",
        ),
        pytest.param(
            [candidate("a", target=0.9)], {"most": 0}, ([0, 1, 2, 3, 4], []), id="none wanted"
        ),
        pytest.param(
            [candidate("a", target=0.9)], {"fill": False}, ([0, 1], ["a"]), id="places left empty"
        ),
        pytest.param(
            [candidate("h2", target=0.4)],
            {},
            ([0, 1, 3, 4], ["h2"]),
            id="a note does not stand there twice",
        ),
        pytest.param(
            [candidate("a", target=0.9)],
            {"places": 1},
            ([0], []),
            id="fewer places than sources",
        ),
    ],
)
def test_places(found, options, expected):
    assert shared(found, **options) == expected


def test_the_bar_and_those_who_missed_it_are_told():
    ranked = [Ranked(candidate("a", target=0.39), None), Ranked(candidate("b", target=0.1), None)]
    places = share_places(hits(0.9, 0.4, 0.39), ranked, top_k=1, places=3, most=2, gate=1.0)
    assert [(one.ranked.candidate.path, one.bar) for one in places.connected] == [("a", 0.39)]
    assert places.gated == 1


SIMILARITY = st.none() | st.floats(min_value=-1, max_value=1)


@given(
    st.lists(SIMILARITY, max_size=12),
    st.lists(st.tuples(SIMILARITY, SIMILARITY), max_size=12),
    st.integers(min_value=1, max_value=6),
    st.integers(min_value=0, max_value=5),
    st.floats(min_value=0, max_value=2),
)
def test_places_are_shared_without_loss_or_overlap(similarities, evidence, top_k, most, gate):
    found = by_context([candidate(f"c{at}", 1, *pair, at=at) for at, pair in enumerate(evidence)])
    places = share_places(hits(*similarities), found, top_k=top_k, places=8, most=most, gate=gate)
    sources, connected = places.sources, places.connected
    assert list(sources) == list(range(len(sources)))
    assert len(sources) >= min(top_k, len(similarities))
    assert len(connected) <= most
    assert len({one.ranked.candidate.path for one in connected}) == len(connected)
    assert len(sources) + len(connected) <= 8
    if len(sources) + len(connected) < 8:
        assert len(sources) == len(similarities)
