"""Layered mappings: each copy is what a dict of its own would be, and stays so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.indexing.stores import layered
from notehop.indexing.stores.layered import LayeredMap

keys = st.integers(0, 12)
changes = st.lists(st.tuples(st.lists(keys, max_size=4), st.dictionaries(keys, st.text())))


@given(start=st.dictionaries(keys, st.text()), steps=changes, most=st.sampled_from([0, 3, 99]))
def test_every_copy_is_the_dict_it_stands_for(
    start: dict[int, str], steps: list[tuple[list[int], dict[int, str]]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layered, "_OVER", most)
        made = LayeredMap(dict(start))
        copies = [(made, dict(start))]
        for removed, added in steps:
            expected = dict(copies[-1][1])
            for key in removed:
                expected.pop(key, None)
            expected |= added
            made = made.changed(removed, added)
            copies.append((made, expected))
    for copy, expected in copies:
        assert dict(copy) == expected
        assert sorted(copy) == sorted(expected)
        assert len(copy) == len(expected)
        assert copy.keys() == expected.keys()
        for key in range(13):
            assert (key in copy) is (key in expected)
            assert copy.get(key) == expected.get(key)
            assert copy.get(key, "none") == expected.get(key, "none")
        assert copy.get_all(range(13)) == [expected.get(key) for key in range(13)]


def test_a_key_that_is_not_there_is_an_error() -> None:
    made = LayeredMap({"a": 1}).changed(["a"], {"b": 2})
    assert made["b"] == 2
    with pytest.raises(KeyError):
        made["a"]
