"""The lexical index: its ranking against the formula, and exactness while chunks come and go."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import (
    BOOSTS,
    FIELDS,
    MAX_COUNT,
    FieldTokens,
    LexicalIndex,
    Limits,
)

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
        ((id_, score) for id_, score in scores.items() if score > 0),
        key=lambda hit: (-hit[1], hit[0]),
    )


words = st.sampled_from(["apollo", "moon", "crew", "budget", "x", "黑猫"])
fields = st.dictionaries(
    st.sampled_from(FIELDS), st.lists(words, min_size=0, max_size=5).map(tuple), max_size=4
)
ids = st.sampled_from([f"{number:02}" for number in range(12)])
collections = st.dictionaries(ids, fields, max_size=10)
queries = st.lists(st.one_of(words, st.just("unknown")), max_size=5)
updates = st.lists(st.tuples(st.lists(ids, max_size=4), collections), max_size=8)


def merging_after(changes: int, *, beside: bool = False) -> Limits:
    """Limits at which the tail is merged after so many changes, and counted in small parts.

    :param beside: in a thread of its own.
    """
    found = Limits(merge_changes=changes, counted=2, merge_block=3)
    return replace(found, merge_at_once=0) if beside else found


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
    found = dict(LexicalIndex.build(docs.items(), boosts, k1, b).top(query, 100))
    expected = dict(by_the_formula(docs, query, boosts, k1, b))
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(start=collections, changes=updates, query=queries, limit=st.sampled_from([0, 5, 256]))
def test_an_updated_index_is_the_one_built_anew(
    start: Docs, changes: list[tuple[list[str], Docs]], query: list[str], limit: int
) -> None:
    """Equal to the last bit: ids, scores and order, whenever the tail was merged."""
    expected = dict(start)
    index = LexicalIndex.build(start.items(), limits=merging_after(limit))
    for removed, added in changes:
        index.update(removed, added.items())
        for id_ in removed:
            expected.pop(id_, None)
        expected.update(added)
        fresh = LexicalIndex.build(expected.items())
        assert index.top(query, 100) == fresh.top(query, 100)
        assert index.top(query, 3) == fresh.top(query, 100)[:3]
        assert index.ids() == sorted(expected)
        for term in query:
            assert index.frequency(term) == len(index.top([term], 100))


@given(start=collections, changes=updates, query=queries, waits=st.lists(st.booleans()))
def test_an_index_that_is_merged_beside_is_the_one_built_anew(
    start: Docs, changes: list[tuple[list[str], Docs]], query: list[str], waits: list[bool]
) -> None:
    """Whatever comes and goes before, while and after it is merged."""
    expected = dict(start)
    index = LexicalIndex.build(start.items(), limits=merging_after(3, beside=True))
    for at, (removed, added) in enumerate(changes):
        for id_ in removed:
            index.update([id_], ())
            expected.pop(id_, None)
        for id_, tokens in added.items():
            index.update((), [(id_, tokens)])
            expected[id_] = tokens
        if at < len(waits) and waits[at]:
            index.wait()
    fresh = LexicalIndex.build(expected.items())
    assert index.top(query, 100) == fresh.top(query, 100)
    index.wait()
    assert index.top(query, 100) == fresh.top(query, 100)
    assert index.ids() == sorted(expected)


@given(before=updates, after=updates, query=queries)
def test_postings_go_on_while_an_earlier_state_of_them_is_merged(
    before: list[tuple[list[str], Docs]], after: list[tuple[list[str], Docs]], query: list[str]
) -> None:
    expected: Docs = {}
    index = LexicalIndex()

    def play(changes: list[tuple[list[str], Docs]]) -> None:
        for removed, added in changes:
            index.update(removed, added.items())
            for id_ in removed:
                expected.pop(id_, None)
            expected.update(added)

    play(before)
    frozen = index._live.frozen()
    play(after)
    index._replace(index._live.onto(frozen.merged(), frozen))
    fresh = LexicalIndex.build(expected.items())
    assert index.top(query, 100) == fresh.top(query, 100)
    assert index.ids() == sorted(expected)
    assert [index.frequency(term) for term in query] == [fresh.frequency(term) for term in query]
    index.update(sorted(expected)[:3], [("new", {"content": ("moon", "x")})])
    fresh.update(sorted(expected)[:3], [("new", {"content": ("moon", "x")})])
    assert index.top(["moon", "x", *query], 100) == fresh.top(["moon", "x", *query], 100)


@given(start=collections, changes=updates)
def test_equal_contents_make_equal_files(
    tmp_path_factory: pytest.TempPathFactory,
    start: Docs,
    changes: list[tuple[list[str], Docs]],
) -> None:
    folder = tmp_path_factory.mktemp("lexical")
    expected = dict(start)
    index = LexicalIndex.build(start.items())
    for removed, added in changes:
        index.update(removed, added.items())
        for id_ in removed:
            expected.pop(id_, None)
        expected.update(added)
    index.save(folder / "updated", 3, "f")
    shuffled = list(expected.items())
    random.Random(1).shuffle(shuffled)
    LexicalIndex.build(shuffled).save(folder / "fresh", 3, "f")
    files = [folder / name / "postings.bin" for name in ("updated", "fresh")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_tail_is_merged_beyond_the_limit_and_queries_do_not_notice() -> None:
    index = LexicalIndex.build(NOTES.items(), limits=merging_after(8))
    for number in range(50):
        index.update((), [(f"n{number:02}", {"content": ("moon", f"w{number}")})])
        index.update([f"n{number - 5:02}"], ())
        alive = {f"n{at:02}" for at in range(max(0, number - 4), number + 1)} | {"a"}
        assert {id_ for id_, _ in index.top(["moon"], 100)} - {"d"} == alive
        assert index.top([f"w{number}"], 5) == [(f"n{number:02}", pytest.approx(1, abs=0.99))]


RANKINGS = {
    "title before content": (["gemini", "docking"], None, "b"),
    "a title weighs more than a text": (["apollo"], None, "a c b"),
    "repeats count": (["crew"], None, "d b a"),
    "no match": (["unknown"], None, ""),
    "no tokens": ([], None, ""),
    "allowed": (["apollo"], ["b", "c", "zz"], "c b"),
    "allowed twice": (["apollo"], ["b", "b"], "b"),
    "none allowed": (["apollo"], [], ""),
    "allowed that do not match": (["apollo"], ["d"], ""),
}


@pytest.mark.parametrize(("query", "allowed", "expected"), RANKINGS.values(), ids=RANKINGS)
def test_the_ranking_of_four_notes(
    query: list[str], allowed: list[str] | None, expected: str
) -> None:
    hits = LexicalIndex.build(NOTES.items()).top(query, 10, allowed)
    assert [id_ for id_, _ in hits] == expected.split()
    assert all(score > 0 for _, score in hits)


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
    index.update(["000", "007"], [("0005", {"content": ("moon",)})])
    expected = sorted((docs.keys() - {"000", "007"}) | {"0005"})
    assert [id_ for id_, _ in index.top(["moon"], 10)] == expected[:10]


def test_a_token_counts_as_often_as_asked_or_by_its_weight() -> None:
    index = LexicalIndex.build(NOTES.items())
    [once] = [score for id_, score in index.top(["budget"], 5) if id_ == "c"]
    assert index.top(["budget", "budget"], 5) == [("c", pytest.approx(2 * once))]
    assert index.top({"budget": 0.5, "moon": 0.0}, 5) == [("c", pytest.approx(0.5 * once))]


def test_a_field_without_boost_is_not_searched() -> None:
    index = LexicalIndex.build(NOTES.items(), {"title": 0, "aliases": 0})
    assert [id_ for id_, _ in index.top(["apollo"], 5)] == ["a", "b"]
    assert index.top(["gemini"], 5) == []


def test_an_alias_is_not_marked_down_for_being_rare() -> None:
    """The average length of a field is that of the chunks that have the field."""
    docs = {f"{number:03}": {"content": ("filler", "words")} for number in range(200)}
    docs["x"] = {"aliases": ("moonshot", "plan"), "content": ("filler", "words")}
    docs["y"] = {"content": ("moonshot", "filler")}
    [first, second] = LexicalIndex.build(docs.items()).top(["moonshot"], 5)
    assert (first[0], second[0]) == ("x", "y")
    assert first[1] == pytest.approx(BOOSTS["aliases"] * second[1])


def test_an_empty_index_finds_nothing_and_fills_up() -> None:
    index = LexicalIndex()
    assert index.top(["moon"], 5) == []
    assert (len(index), index.ids()) == (0, [])
    index.update(["nowhere"], NOTES.items())
    assert (len(index), index.ids()) == (4, ["a", "b", "c", "d"])
    assert "a" in index
    assert "nowhere" not in index
    index.update(NOTES, ())
    assert (len(index), index.top(["moon"], 5)) == (0, [])


def test_an_id_that_is_there_is_replaced() -> None:
    index = LexicalIndex.build(NOTES.items())
    index.update((), [("a", {"content": ("comet",)})])
    assert index.ids() == ["a", "b", "c", "d"]
    assert [id_ for id_, _ in index.top(["comet", "landing"], 5)] == ["a"]


def test_a_token_may_repeat_more_often_than_is_counted() -> None:
    index = LexicalIndex.build([("a", {"content": ("x",) * (MAX_COUNT + 10)})])
    index.update((), [("b", {"content": ("x",) * (MAX_COUNT + 10)})])
    [(_, one), (_, other)] = index.top(["x"], 5)
    assert one == other


WRONG = {
    "k of 0": (lambda: LexicalIndex().top(["x"], 0), "at least 1"),
    "unknown field": (lambda: LexicalIndex.build([("a", {"body": ("x",)})]), "'body'.*title"),
    "unknown boost": (lambda: LexicalIndex({"body": 1}), "body.*title"),
    "negative boost": (lambda: LexicalIndex({"title": -1}), "0 or more"),
    "negative k1": (lambda: LexicalIndex(k1=-0.1), "0 or more"),
    "b above 1": (lambda: LexicalIndex(b=1.1), "0 to 1"),
    "one id twice": (lambda: LexicalIndex.build([("a", {}), ("a", {})]), "a is added twice"),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_what_makes_no_sense_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


def test_a_refused_update_changes_nothing() -> None:
    index = LexicalIndex.build(NOTES.items())
    before = index.top(["apollo", "crew"], 10)
    with pytest.raises(ValueError, match="unknown field"):
        index.update(["a"], [("e", {"content": ("apollo", "new")}), ("f", {"body": ("x",)})])
    assert index.top(["apollo", "crew"], 10) == before
    assert index.top(["new"], 10) == []


@pytest.mark.parametrize("limit", [0, 10_000], ids=["merging at once", "growing a tail"])
def test_threads_see_each_update_whole_or_not_at_all(limit: int, tmp_path: Path) -> None:
    """One chunk moves from id to id: queries find it exactly once, whatever a writer does."""
    index = LexicalIndex.build(
        {**NOTES, "m000": {"content": ("token",)}}.items(), limits=merging_after(limit)
    )
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            seen.append(len(index.top(["token"], 10)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 200):
        index.update([f"m{number - 1:03}"], [(f"m{number:03}", {"content": ("token",)})])
        if number % 50 == 0:
            index.save(tmp_path, number, "f")
    done.set()
    for reader in readers:
        reader.join()
    assert set(seen) == {1}
    assert [id_ for id_, _ in index.top(["token"], 10)] == ["m199"]


@given(start=collections, changes=updates, wanted=st.lists(words, min_size=1, max_size=3))
def test_who_holds_all_of_some_words_in_a_field(
    start: Docs, changes: list[tuple[list[str], Docs]], wanted: list[str]
) -> None:
    expected = dict(start)
    index = LexicalIndex.build(start.items())
    for removed, added in changes:
        index.update(removed, added.items())
        for id_ in removed:
            expected.pop(id_, None)
        expected.update(added)
    for field in ("title", "content"):
        holders = {id_ for id_, said in expected.items() if {*wanted} <= {*said.get(field, ())}}
        assert index.holding(wanted, field) == holders
    assert index.holding([*wanted, "unknown"], "content") == set()
    assert index.holding([], "content") == set()
