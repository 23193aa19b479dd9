"""The semantic weight of a query follows the languages of query, notes and model."""

from __future__ import annotations

import pytest

from notehop.app.container.weighing import weigh
from notehop.app.retrieval.intents import Reading
from notehop.config import load_settings


@pytest.mark.parametrize(
    ("query", "notes", "model", "falls"),
    [
        pytest.param("when is the launch of Atlas?", "en", "all-MiniLM-L6-v2", False, id="english"),
        pytest.param("Atlas 2027", "en", "all-MiniLM-L6-v2", False, id="names-and-numbers"),
        pytest.param("Kühlschrank", "de", "all-MiniLM-L6-v2", True, id="german-notes"),
        pytest.param("wann ist die Abgabe?", "en", "all-MiniLM-L6-v2", True, id="german-query"),
        pytest.param("九十五度", "en", "all-MiniLM-L6-v2", True, id="chinese-query"),
        pytest.param("سعر الشاي", "en", "all-MiniLM-L6-v2", True, id="arabic-query"),
        pytest.param("Atlas", "und", "all-MiniLM-L6-v2", False, id="lists-and-code"),
        pytest.param("九十五度", "zh", "multilingual-e5-small", False, id="a-model-for-all"),
    ],
)
def test_where_the_model_does_not_read_the_words_decide(
    query: str, notes: str, model: str, falls: bool
) -> None:
    settings = load_settings().with_overrides({"embedding.model": model})
    weights = weigh(query, settings, Reading("none", query), notes)
    base = settings.retrieval.weights
    left = settings.retrieval.unread_share if falls else 1.0
    assert weights.by_signal["semantic"] == pytest.approx(base.semantic * left)
    assert weights.by_signal["lexical"] == base.lexical
    assert any("does not read" in reason for reason in weights.reasons) is falls


def test_a_search_by_meaning_alone_still_finds() -> None:
    settings = load_settings().with_overrides({"retrieval.weights.lexical": 0})
    weights = weigh("Kühlschrank", settings, Reading("none", "Kühlschrank"), "de")
    assert weights.by_signal["semantic"] > 0
