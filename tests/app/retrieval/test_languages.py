"""A model counts where it reads the language, and little where it does not."""

from __future__ import annotations

import pytest

from notehop.app.retrieval.languages import semantic_share

ENGLISH = frozenset({"en"})


@pytest.mark.parametrize(
    ("asked", "notes", "model", "factor"),
    [
        pytest.param("en", "en", ENGLISH, 1.0, id="all-english"),
        pytest.param(None, "en", ENGLISH, 1.0, id="query-leaves-it-open"),
        pytest.param("zh", "zh", ENGLISH, 0.05, id="chinese"),
        pytest.param(None, "de", ENGLISH, 0.05, id="a-word-to-german-notes"),
        pytest.param("de", "en", ENGLISH, 0.05, id="german-among-english-notes"),
        pytest.param("en", "de", ENGLISH, 1.0, id="english-to-german-notes"),
        pytest.param("und", "en", ENGLISH, 0.05, id="a-query-in-none-of-the-known"),
        pytest.param(None, None, ENGLISH, 1.0, id="nothing-known"),
        pytest.param("zh", "zh", None, 1.0, id="a-model-for-all"),
        pytest.param("fr", "de", frozenset({"de", "fr"}), 1.0, id="a-model-for-two"),
    ],
)
def test_the_share_follows_the_languages(
    asked: str | None, notes: str | None, model: frozenset[str] | None, factor: float
) -> None:
    share = semantic_share(asked, notes, model, 0.05)
    assert share.factor == factor
    assert bool(share.reason) is (factor < 1)


def test_the_reason_says_whose_language_it_is() -> None:
    asked = semantic_share("zh", "en", ENGLISH, 0.05)
    notes = semantic_share(None, "de", ENGLISH, 0.05)
    assert asked.reason == "the query is in Chinese, which the embedding model does not read"
    assert notes.reason == "the notes are in German, which the embedding model does not read"
