"""What a run reads, embeds and writes, and what it leaves alone."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent

from tests.support import product
from tests.support.notes import Bench

TWO_SECTIONS = """\
# Tides

## Spring
Spring tides come at new and full moon, when sun and moon pull in one line and the sea
rises highest on the wall that keeps it from the fields behind the village and its road.

## Neap
Neap tides come at the quarters, when sun and moon pull across each other and the water
neither rises far nor falls far, which is when the divers look at the foot of the wall.
"""


def test_a_link_stands_in_its_chunk_and_leads_to_that_of_its_heading(bench: Bench) -> None:
    bench.write("a.md", f"{TWO_SECTIONS}\nSee [[tides#Neap]].")
    bench.write("tides.md", TWO_SECTIONS)
    bench.index()
    (link,) = bench.links("a.md")
    assert len(bench.chunks("a.md")) > 1
    assert link.chunk_id == bench.chunks("a.md")[-1].id
    assert link.target_chunk_id == bench.chunks("tides.md")[-1].id


def test_other_settings_ask_for_a_rebuild(bench: Bench) -> None:
    bench.write("a.md", "Words.")
    bench.index()
    bench.settings = bench.settings.with_overrides({"chunking.min_tokens": 5})
    with pytest.raises(product.IndexMismatch, match=r"min_tokens 32, settings name min_tokens 5.*--rebuild"):
        bench.index()
    assert bench.index(rebuild=True).added == 1


def test_a_run_that_failed_says_what_it_got_done(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.limits = product.Limits(batch_notes=1)
    for name in ("a.md", "b.md"):
        bench.write(name, f"Words of {name}.")

    real, calls = product.Catalog.commit, []

    def once(self: product.Catalog, batch: product.Batch) -> int:
        calls.append(batch)
        if len(calls) == 2:
            raise product.IndexUnwritable("the disk is full")
        return real(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(product.Catalog, "commit", once)
        with pytest.raises(product.IndexUnwritable):
            bench.index()
    with bench.catalog() as catalog:
        assert catalog.generation == 1
    assert bench.indexer().update().added == 1


def test_a_note_that_fails_again_is_at_rest(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.md", "Words.")

    def breaks(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    with monkeypatch.context() as patch:
        patch.setattr("notehop.indexing.vault.parse.parse_note", breaks)
        first = bench.index()
        assert [path for path, _ in first.failed] == ["a.md"]
        assert "RecursionError" in first.failed[0][1]
        assert bench.index().generation == first.generation
    mended = bench.index()
    assert (mended.added, mended.failed) == (1, ())


def test_the_language_is_learnt_from_the_first_notes(bench: Bench) -> None:
    bench.index()
    bench.write("a.md", "Der Deich wurde im vergangenen Jahr erneuert, und die Schleuse hält nun.")
    bench.index()
    with bench.catalog() as catalog:
        assert catalog.meta()["fingerprint"]["language"] == "de"


def test_another_vaults_index_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.md", "Words.")
    bench.index()
    (tmp_path / "other").mkdir()
    first, bench.vault = bench.vault, tmp_path / "other"
    for rebuild in (False, True):
        with pytest.raises(product.IndexMismatch, match=r"index of .*vault, not of .*other"):
            bench.index(rebuild=rebuild)
    first.rename(tmp_path / "moved")
    bench.vault = tmp_path / "moved"
    assert bench.index().unchanged == 1


def test_notes_under_a_folder_that_cannot_be_listed_stay(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("open/a.md", "Words.")
    bench.write("shut/b.md", "Words too.")
    bench.index()
    listed = os.scandir

    def refuse(path: str | os.PathLike[str]) -> object:
        if Path(os.fspath(path)).name == "shut":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = bench.index()
    assert (report.deleted, report.notes) == (0, 2)
    assert "shut" in dict(report.skipped)


class Glossary(TransformComponent):
    """Tells the model what an abbreviation means, in a text that people are never shown."""

    words: dict[str, str]

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        for node in nodes:
            said = node.get_content(MetadataMode.NONE)
            known = [f"{short}: {long}" for short, long in self.words.items() if short in said]
            if known:
                node.metadata["glossary"] = "; ".join(known)
        return nodes


class FirstOf(Glossary):
    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        return [nodes[0], *super().__call__(nodes[1:])]


class Dropping(TransformComponent):
    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        return nodes[1:]


def test_a_transformation_changes_what_is_embedded_and_nothing_else(bench: Bench) -> None:
    bench.write("a.md", "MHW is at four.")
    bench.write("b.md", "Nothing else.")
    bench.index()
    before = [*bench.chunks("a.md"), *bench.chunks("b.md")]
    own = [Glossary(words={"MHW": "mean high water"})]
    bench.model.asked.clear()
    assert bench.indexer(own).run().changed == 2
    assert [text for text in bench.model.asked if "mean high water" in text] == bench.model.asked
    (a,), (b,) = bench.chunks("a.md"), bench.chunks("b.md")
    assert (a.text, a.tokens) == (before[0].text, before[0].tokens)
    assert (a.id == before[0].id, b.id == before[1].id) == (False, True)
    assert bench.indexer(own).run().unchanged == 2
    bench.write("c.md", "MHW again.")
    assert (bench.indexer(own).run().added, len(bench.chunks("c.md"))) == (1, 1)
    assert bench.index().changed == 3
    assert [*bench.chunks("a.md"), *bench.chunks("b.md")][0].id == before[0].id


def test_a_transformation_that_loses_a_passage_is_refused(bench: Bench) -> None:
    bench.write("a.md", "One.")
    with pytest.raises(product.UsageError, match=r"Dropping.* gave back other passages"):
        bench.indexer([Dropping()]).run()


def test_a_transformation_is_given_no_empty_list(bench: Bench) -> None:
    bench.limits = replace(bench.limits, batch_notes=1)
    own = [FirstOf(words={"MHW": "mean high water"})]
    bench.write("b.md", "Nothing else.")
    bench.indexer(own).run()
    bench.write("a.md", "MHW is at four.")
    os.utime(bench.vault / "b.md", (1, 1))
    assert bench.indexer(own).run().added == 1
