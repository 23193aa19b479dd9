"""The languages that a model declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.languages import declared_languages, languages_read, reads
from tests.indexing.embed.conftest import embedding_settings


def settings(model: str) -> EmbeddingSettings:
    return embedding_settings(model)


def test_the_models_that_are_known() -> None:
    assert languages_read(settings("all-MiniLM-L6-v2")) == {"en"}
    assert languages_read(settings("sentence-transformers/all-MiniLM-L6-v2")) == {"en"}
    assert languages_read(settings("multilingual-e5-small")) is None
    assert languages_read(settings("someone/a-model-that-is-not-here")) is None


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        pytest.param("---\nlanguage: en\n---\n# A model\n", {"en"}, id="one"),
        pytest.param(
            "---\nlanguage:\n- de\n- zh-CN\n- pt_BR\n---\n", {"de", "zh", "pt"}, id="list"
        ),
        pytest.param("---\nlanguage: [no, sv]\n---\n", {"no", "sv"}, id="norwegian-is-no-no"),
        pytest.param("---\nlanguage: [multilingual, en]\n---\n", None, id="multilingual"),
        pytest.param("---\nlicense: mit\n---\n", None, id="not-said"),
        pytest.param("# A model\nlanguage: en\n", None, id="no-front-matter"),
        pytest.param("---\nlanguage: [en\n---\n", None, id="damaged"),
        pytest.param("---\n- language\n---\n", None, id="a-list"),
    ],
)
def test_what_a_card_declares(tmp_path: Path, card: str, expected: set[str] | None) -> None:
    file = tmp_path / "README.md"
    file.write_text(card)
    assert declared_languages(file) == expected


def test_no_card(tmp_path: Path) -> None:
    assert declared_languages(tmp_path / "README.md") is None


def test_an_unknown_model_may_read_anything() -> None:
    assert reads(None, "zh")
    assert reads({"en"}, "en")
    assert not reads({"en"}, "und")
