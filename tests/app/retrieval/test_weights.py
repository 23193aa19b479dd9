"""The weights of one query: what an intent sets, and what scales them."""

from __future__ import annotations

import pytest

from notehop.app.retrieval.weights import Weights

BOTH = Weights({"semantic": 1.0, "lexical": 0.5})


def test_an_intent_sets_what_it_names() -> None:
    changed = BOTH.with_changes({"lexical": 2.0, "recent": 50.0})
    assert changed.by_signal == {"semantic": 1.0, "lexical": 2.0, "recent": 50.0}
    assert BOTH.by_signal == {"semantic": 1.0, "lexical": 0.5}


def test_a_scaled_weight_says_why() -> None:
    changed = BOTH.scaled("lexical", 0.5, "few words").scaled("semantic", 0.1, "another language")
    assert changed.by_signal == {"semantic": 0.1, "lexical": 0.25}
    assert changed.reasons == ("few words", "another language")
    assert BOTH.scaled("lexical", 1.0, "nothing") is BOTH


def test_something_has_to_rank() -> None:
    alone = Weights({"semantic": 1.0, "lexical": 0.0})
    assert alone.scaled("semantic", 0.0, "another language") is alone


@pytest.mark.parametrize(
    ("signal", "factor", "said"),
    [
        pytest.param("semantic", -1.0, "must be 0 or more", id="negative"),
        pytest.param("graph", 1.0, "the signals are: semantic, lexical", id="unknown"),
    ],
)
def test_what_cannot_be_scaled(signal: str, factor: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        BOTH.scaled(signal, factor, "why")
