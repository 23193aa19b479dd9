"""The languages of a vault's notes, and what is said of a model that does not read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.product import (
    Indexer,
    IndexLayout,
    advice,
    load_settings,
    report_lines,
)
from tests.support.readable_model import ReadableModel

GERMAN = "Der Ofen wird am Abend geheizt, damit die Stube am Morgen noch nicht kalt ist."
ENGLISH = "The stove is lit in the evening, so that the room is not cold in the morning."


@pytest.mark.parametrize(
    ("languages", "told"),
    [
        pytest.param({"en": 91, "de": 9}, None, id="less-than-a-tenth"),
        pytest.param({"en": 90, "de": 10}, "10% of the notes are in German", id="a-tenth"),
        pytest.param(
            {"zh": 50, "en": 30, "de": 20}, "70% of the notes are in Chinese and German", id="two"
        ),
        pytest.param({"en": 100}, None, id="english"),
        pytest.param({}, None, id="no-text"),
    ],
)
def test_a_tenth_of_the_notes_is_worth_a_word(languages: dict[str, int], told: str | None) -> None:
    said = advice(languages, load_settings().embedding)
    assert (said is None) is (told is None)
    if said is not None and told is not None:
        assert said.startswith(f"{told}, which all-MiniLM-L6-v2 does not read")
        assert 'model = "multilingual-e5-small"' in said
        assert said.endswith("run: notehop index --rebuild")


def test_the_report_says_it_when_something_was_written(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Ofen.md").write_text(GERMAN)
    (vault / "Stove.md").write_text(ENGLISH)
    indexer = Indexer(
        vault, load_settings(), IndexLayout(tmp_path / "index"), load=ReadableModel().load
    )
    first = indexer.run()
    assert first.languages == {"de": 1, "en": 1}
    assert [line for line in report_lines(first) if line.startswith("  advice")] == [
        f"  advice  {first.advice[0]}"
    ]
    assert first.as_json()["advice"] == list(first.advice)
    assert indexer.run().advice == ()
