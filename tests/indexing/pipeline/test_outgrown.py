"""A vault whose notes come to be in another language than its first ones."""

from __future__ import annotations

import pytest

from notehop.indexing.pipeline import Indexer
from tests.indexing.pipeline.conftest import Bench

GERMAN = (
    "# Sitzung {}\nDie Häuser der Gemeinde wurden in den letzten Jahren von vielen Familien "
    "bewohnt, und die Straßen waren voller Kinder. Wir haben über die Verträge gesprochen."
)


def language(bench: Bench) -> str:
    with bench.catalog() as catalog:
        return str(catalog.meta()["fingerprint"]["language"])


def begun_in_english(bench: Bench) -> Indexer:
    bench.write("welcome.md", "# Welcome\nThis is your new vault, make a note of something.")
    indexer = Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load)
    indexer.update()
    assert language(bench) == "en"
    for number in range(8):
        bench.write(f"{number}.md", GERMAN.format(number))
    return indexer


@pytest.mark.parametrize("follows", [True, False], ids=["following", "by hand"])
def test_it_is_indexed_as_one_that_began_so(bench: Bench, follows: bool) -> None:
    indexer = begun_in_english(bench)
    if follows:
        update = indexer.update([f"{number}.md" for number in range(8)])
        assert (update.added, update.wrote) == (8, True)
        told = update.warnings
    else:
        report = indexer.run()
        assert report.added == 8
        told = report.warnings
    assert any("most notes are in German by now" in said for said in told)
    assert language(bench) == "de"
    followed = bench.content()
    bench.index(rebuild=True)
    assert bench.content() == followed
    assert not indexer.update().wrote


def test_a_language_that_was_set_stays(bench: Bench) -> None:
    bench.settings = bench.settings.with_overrides({"lexical.language": "en"})
    indexer = begun_in_english(bench)
    assert not any("most notes" in said for said in indexer.run().warnings)
    assert language(bench) == "en"


def test_a_few_notes_more_change_nothing(bench: Bench) -> None:
    for number in range(8):
        bench.write(f"{number}.md", GERMAN.format(number))
    bench.index()
    bench.write("9.md", "# Welcome\nThis is a note in English, about what we did on that day.")
    assert bench.index().warnings == ()
    assert language(bench) == "de"


def test_the_model_is_not_made_ready_again(bench: Bench) -> None:
    indexer = begun_in_english(bench)
    bench.layout.model.mkdir()
    (bench.layout.model / "query.onnx").write_bytes(b"ready")
    indexer.run()
    assert language(bench) == "de"
    assert (bench.layout.model / "query.onnx").read_bytes() == b"ready"
