"""A note has one vote, which it shares out over its links."""

from __future__ import annotations

from math import log1p

import pytest

from notehop.indexing.graph.votes import bonds_of, count_links


def test_links_between_the_notes_are_counted() -> None:
    links = [("a", "b"), ("a", "b"), ("a", "a"), ("a", "gone"), ("template", "b"), ("b", "a")]
    assert count_links(["a", "b"], links) == {("a", "b"): 2, ("b", "a"): 1}


def test_a_bond_is_the_share_of_either_vote() -> None:
    bonds = bonds_of(["a", "b", "c"], {("a", "b"): 1, ("a", "c"): 1, ("b", "a"): 5})
    assert bonds["a"]["b"] == bonds["b"]["a"] == pytest.approx(0.5 + 1.0)
    assert bonds["a"]["c"] == bonds["c"]["a"] == pytest.approx(0.5)


def test_forty_links_say_more_than_one_but_not_forty_times_as_much() -> None:
    bonds = bonds_of("abc", {("a", "b"): 40, ("a", "c"): 1})
    assert bonds["a"]["b"] / bonds["a"]["c"] == pytest.approx(log1p(40) / log1p(1))


def test_an_index_binds_no_note_to_another() -> None:
    notes = [f"{n}" for n in range(50)]
    bonds = bonds_of([*notes, "home"], {("home", note): 1 for note in notes})
    assert [bonds[note] for note in notes] == [{"home": pytest.approx(1 / 50)}] * 50


def test_a_note_without_links_has_no_bonds() -> None:
    assert bonds_of(["b", "a"], {}) == {"a": {}, "b": {}}


def test_order_is_by_path_whatever_the_links_come_in() -> None:
    counts = {("b", "a"): 1, ("c", "a"): 2, ("a", "c"): 3}
    turned = dict(reversed(list(counts.items())))
    one, other = bonds_of("abc", counts), bonds_of("cba", turned)
    assert [(p, list(near.items())) for p, near in one.items()] == [
        (p, list(near.items())) for p, near in other.items()
    ]
