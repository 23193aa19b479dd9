"""The lexical index: its ranking against the formula, and exactness while chunks come and go."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import FIELDS, MAX_COUNT, FieldTokens, LexicalIndex, Limits, Ranking

Docs = dict[str, FieldTokens]

NOTES: Docs = {
    "a": {"title": ("apollo",), "content": ("moon", "landing", "apollo", "crew")},
    "b": {"title": ("gemini",), "content": ("crew", "crew", "apollo", "docking")},
    "c": {"aliases": ("apollo",), "tags": ("space",), "content": ("budget",)},
    "d": {"h1": ("crew",), "h2": ("moon",), "content": ("dinner", "plans")},
}


def by_the_formula(
    docs: Docs, query: Sequence[str], boosts: Mapping[str, float], k1: float, b: float
) -> list[tuple[str, float]]:
    """The documented formula, written without arrays: ids and scores, best first."""
    scores = dict.fromkeys(docs, 0.0)
    for term in query:
        n = sum(any(term in tokens for tokens in fields.values()) for fields in docs.values())
        if n == 0:
            continue
        idf = math.log(1 + (len(docs) - n + 0.5) / (n + 0.5))
        for field in FIELDS:
            lengths = [len(fields[field]) for fields in docs.values() if fields.get(field)]
            for id_, fields in docs.items():
                tf = list(fields.get(field, ())).count(term)
                if tf:
                    relative = len(fields[field]) / (sum(lengths) / len(lengths))
                    scores[id_] += boosts[field] * idf * tf / (tf + k1 * (1 - b + b * relative))
    return sorted(
        ((id_, score) for id_, score in scores.items() if score > 0), key=lambda hit: (-hit[1], hit[0])
    )


words = st.sampled_from(["apollo", "moon", "crew", "budget", "x", "黑猫"])
fields = st.dictionaries(
    st.sampled_from(FIELDS), st.lists(words, min_size=0, max_size=5).map(tuple), max_size=4
)
ids = st.sampled_from([f"{number:02}" for number in range(12)])
collections = st.dictionaries(ids, fields, max_size=10)
queries = st.lists(st.one_of(words, st.just("unknown")), max_size=5)
updates = st.lists(st.tuples(st.lists(ids, max_size=4), collections), max_size=8)


@given(
    docs=collections,
    query=queries,
    k1=st.floats(0, 3),
    b=st.floats(0, 1),
    boosts=st.fixed_dictionaries({field: st.floats(0.1, 4) for field in FIELDS}),
)
def test_scores_are_those_of_the_formula(
    docs: Docs, query: list[str], k1: float, b: float, boosts: dict[str, float]
) -> None:
    found = dict(LexicalIndex.build(docs.items(), Ranking(boosts, k1, b)).top(query, 100))
    expected = dict(by_the_formula(docs, query, boosts, k1, b))
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(start=collections, changes=updates, query=queries, limit=st.sampled_from([1, 2, 16]))
def test_an_updated_index_is_the_one_built_anew(
    start: Docs, changes: list[tuple[list[str], Docs]], query: list[str], limit: int
) -> None:
    """Equal to the last bit: ids, scores and order, whenever segments were joined."""
    expected = dict(start)
    index = LexicalIndex.build(start.items(), limits=Limits(segments=limit, segment=5))
    for removed, added in changes:
        index = index.updated(removed, added.items())
        for id_ in removed:
            expected.pop(id_, None)
        expected.update(added)
        fresh = LexicalIndex.build(expected.items())
        assert index.top(query, 100) == fresh.top(query, 100)
        assert index.top(query, 3) == fresh.top(query, 100)[:3]
        assert index.ids() == sorted(expected)
        for term in query:
            assert index.frequency(term) == len(index.top([term], 100))


@given(docs=collections, query=queries, allowed=st.sets(ids), k=st.integers(1, 12))
def test_a_filter_takes_away_and_changes_no_score(
    docs: Docs, query: list[str], allowed: set[str], k: int
) -> None:
    index = LexicalIndex.build(docs.items())
    expected = [hit for hit in index.top(query, 100) if hit[0] in allowed][:k]
    assert index.top(query, k, allowed) == expected
    assert index.top(query, k, sorted(allowed)) == expected


def test_equal_scores_are_ordered_by_id_also_where_they_are_cut_off() -> None:
    docs = {f"{number:03}": {"content": ("moon",)} for number in reversed(range(100))}
    index = LexicalIndex.build(docs.items())
    index = index.updated(["000", "007"], [("0005", {"content": ("moon",)})])
    expected = sorted((docs.keys() - {"000", "007"}) | {"0005"})
    assert [id_ for id_, _ in index.top(["moon"], 10)] == expected[:10]


def test_a_token_counts_as_often_as_asked_or_by_its_weight() -> None:
    index = LexicalIndex.build(NOTES.items())
    [once] = [score for id_, score in index.top(["budget"], 5) if id_ == "c"]
    assert index.top(["budget", "budget"], 5) == [("c", pytest.approx(2 * once))]
    assert index.top({"budget": 0.5, "moon": 0.0}, 5) == [("c", pytest.approx(0.5 * once))]


def test_no_word_of_what_was_removed_is_saved(tmp_path: Path) -> None:
    index = LexicalIndex.build(NOTES.items())
    index = index.updated(["d"], [])
    index.save(tmp_path / "postings.npz", 1, "made")
    (file,) = tmp_path.iterdir()
    assert (b"moon" in file.read_bytes(), b"dinner" in file.read_bytes()) == (True, False)


def test_a_token_may_repeat_more_often_than_is_counted() -> None:
    index = LexicalIndex.build([("a", {"content": ("x",) * (MAX_COUNT + 10)})])
    index = index.updated((), [("b", {"content": ("x",) * (MAX_COUNT + 10)})])
    [(_, one), (_, other)] = index.top(["x"], 5)
    assert one == other


@given(start=collections, changes=updates, wanted=st.lists(words, min_size=1, max_size=3))
def test_who_holds_all_of_some_words_in_a_field(
    start: Docs, changes: list[tuple[list[str], Docs]], wanted: list[str]
) -> None:
    expected = dict(start)
    index = LexicalIndex.build(start.items())
    for removed, added in changes:
        index = index.updated(removed, added.items())
        for id_ in removed:
            expected.pop(id_, None)
        expected.update(added)
    for field in ("title", "content"):
        holders = {id_ for id_, said in expected.items() if {*wanted} <= {*said.get(field, ())}}
        assert index.holding(wanted, field) == holders
    assert index.holding([*wanted, "unknown"], "content") == set()
    assert index.holding([], "content") == set()
