"""Themes come of the links, last while notes change, and hold nothing of what is not indexed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from llama_index.core.llms import LLM

from tests.support.notes import Bench
from tests.support.product import (
    SENDING,
    ProviderError,
    Settings,
    TextWriter,
    Theme,
    Themes,
    WriterLock,
    read_themes,
    sum_themes_up,
    themes_made_with,
    update_themes,
)
from tests.support.scripted_llm import ScriptedLLM

BIRDS = {
    "birds/Geese.md": "Geese eat grass on the marsh in winter. See [[Redshank]] and [[Mud]].",
    "birds/Redshank.md": "Redshank feed on the marsh, close to the [[Geese]].",
    "birds/Mud.md": "Mud of the marsh feeds [[Geese]] and [[Redshank]].",
    "birds/Nests.md": "Nests on the marsh: [[Geese]], [[Redshank]].",
}
BOATS = {
    "boats/Dinghy.md": "The dinghy needs planks and varnish. See [[Sails]] and [[Mast]].",
    "boats/Sails.md": "Sails of the dinghy, with varnish on the [[Mast]]; see [[Dinghy]].",
    "boats/Mast.md": "A mast for the [[Dinghy]], planks for the rest.",
    "boats/Oars.md": "Oars of the [[Dinghy]] need varnish, like the [[Mast]].",
}
OTHERS = {
    "Membership.md": "[[Geese]] [[Redshank]] [[Mud]] [[Nests]] [[Dinghy]] [[Sails]] [[Mast]] [[Oars]]",
    "Lonely.md": "Nobody links here.",
    "Pair.md": "See [[Other]].",
    "Other.md": "Of a pair.",
    "Templates/Bird.md": "[[Geese]] [[Redshank]] [[Dinghy]] [[Lonely]]",
    "Secret.md": "---\nprivate: true\n---\nA secret of [[Geese]], [[Dinghy]] and [[Lonely]].",
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.settings = with_themes(bench.settings)
    for path, text in (BIRDS | BOATS | OTHERS).items():
        bench.write(path, text)
    return bench


def with_themes(settings: Settings, **more: object) -> Settings:
    return settings.with_overrides(
        {"themes.enabled": True, **{f"themes.{key}": value for key, value in more.items()}}
    )


def themes(bench: Bench) -> Themes:
    found = read_themes(bench.layout.themes)
    assert found is not None
    return found


def by_name(bench: Bench) -> dict[str, Theme]:
    return {one.name: one for one in themes(bench).themes}


def keep(bench: Bench, load: Callable[[], LLM | None] | None = None) -> list[str]:
    with bench.catalog() as catalog:
        update_themes(bench.layout, catalog, bench.vault, bench.settings.themes)
    if load is None:
        return []

    def writer(*_: object) -> TextWriter | None:
        llm = load()
        return None if llm is None else TextWriter(llm, model="scripted", host="there.example")

    return sum_themes_up(bench.layout, bench.vault, bench.settings, "a test", writer)


def locked(bench: Bench) -> WriterLock:
    return WriterLock(bench.layout, "a test")


def follow(bench: Bench, *paths: str) -> None:
    """Index some paths as while following; themes are left to a later run."""
    indexer = bench.indexer()
    indexer.update(paths)


def test_what_belongs_together_is_a_theme(bench: Bench) -> None:
    bench.index()
    found = themes(bench)
    assert [set(one.notes) - {"Membership.md"} for one in found.themes] == [set(BIRDS), set(BOATS)]
    birds, boats = found.themes
    assert (birds.name, boats.name) == ("Geese", "Dinghy")
    assert birds.notes[0] == birds.named_after == "birds/Geese.md"
    assert "marsh" in birds.words
    assert "varnish" in boats.words
    assert found.small == (("Other.md", "Pair.md"),)
    assert found.unlinked == ("Lonely.md",)
    assert found.generation == bench.catalog().generation
    said = bench.layout.themes.read_text()
    assert not [word for word in ("Secret", "secret", "Templates") if word in said]


def test_a_note_goes_over_to_where_its_links_lead_now(bench: Bench) -> None:
    bench.index()
    before = by_name(bench)
    bench.write("birds/Nests.md", "A nest in the [[Dinghy]], below [[Mast]] and [[Oars]].")
    bench.index()
    after = by_name(bench)
    assert "birds/Nests.md" in after["Dinghy"].notes
    assert "birds/Nests.md" not in after["Geese"].notes
    assert {name: one.id for name, one in after.items()} == {
        name: one.id for name, one in before.items()
    }
    # What is worked out one change at a time is here what comes of nothing.
    bench.layout.themes.unlink()
    keep(bench)
    assert {one.name: set(one.notes) for one in themes(bench).themes} == {
        name: set(one.notes) for name, one in after.items()
    }


def test_the_name_stays_while_its_note_is_at_the_centre(bench: Bench) -> None:
    bench.index()
    for n in range(4):
        bench.write(f"birds/More {n}.md", "Of [[Redshank]] on the marsh.")
    bench.index()
    birds = by_name(bench)["Geese"]
    file = bench.layout.themes.read_bytes()
    bench.layout.themes.unlink()
    keep(bench)
    # From nothing it would be another one, with which more of its notes are linked now.
    assert set(by_name(bench)["Redshank"].notes) == set(birds.notes)
    bench.layout.themes.write_bytes(file)
    (bench.vault / "birds/Geese.md").unlink()
    bench.index()
    (after,) = (one for one in themes(bench).themes if "birds/Mud.md" in one.notes)
    assert (after.id, after.name) == (birds.id, "Redshank")


def test_a_note_that_becomes_private_leaves_the_file_at_once(bench: Bench) -> None:
    bench.write("birds/Geese.md", BIRDS["birds/Geese.md"] + " Zugunruhe and zugunruhe.")
    bench.write("birds/Mud.md", BIRDS["birds/Mud.md"] + " Zugunruhe too.")
    bench.index()
    assert "zugunruhe" in [word.casefold() for word in by_name(bench)["Geese"].words]
    for path in ("birds/Geese.md", "birds/Mud.md"):
        bench.write(path, "---\nprivate: true\n---\nZugunruhe.")
    follow(bench, "birds/Geese.md", "birds/Mud.md")
    said = bench.layout.themes.read_text().lower()
    assert "zugunruhe" not in said
    assert "birds/geese" not in said
    assert '"name": "geese"' not in said


def test_what_is_harmed_or_of_other_settings_is_made_anew(bench: Bench) -> None:
    bench.index()
    whole = bench.layout.themes.read_text()
    for harm in (whole[:-40], whole.replace("Geese", "Goose"), "", "{}", "[1]", "nonsense"):
        bench.layout.themes.write_text(harm)
        assert read_themes(bench.layout.themes) is None
        bench.index()
        assert bench.layout.themes.read_text() == whole
    bench.settings = with_themes(bench.settings, resolution=1.5)
    bench.index()
    assert themes(bench).made_with == themes_made_with(bench.settings.themes)


def test_a_model_sums_up_the_largest_first(bench: Bench) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm", max_calls=1)
    bench.index()
    llm = ScriptedLLM(says=" Birds of\nthe marsh. ")
    assert keep(bench, lambda: llm) == ["1 theme left to the next run: themes.max_calls is 1"]
    assert len(llm.asked) == 1
    assert "# Geese\nGeese eat grass" in llm.asked[0]
    summary = by_name(bench)["Geese"].summary
    assert summary is not None
    assert (summary.text, summary.model) == ("Birds of the marsh.", "scripted")
    # The next run goes on where this one was, then there is nothing left to ask.
    assert keep(bench, lambda: llm) == []
    assert keep(bench, lambda: llm) == []
    assert len(llm.asked) == 2
    assert "planks" in llm.asked[1]


def test_a_summary_holds_for_what_it_was_made_from(bench: Bench) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm")
    bench.index()
    llm = ScriptedLLM(says="What they say.")
    keep(bench, lambda: llm)
    bench.write("birds/Mud.md", BIRDS["birds/Mud.md"] + " It smells.")
    follow(bench, "birds/Mud.md")
    keep(bench)
    assert by_name(bench)["Geese"].summary is None
    assert by_name(bench)["Dinghy"].summary is not None
    keep(bench, lambda: llm)
    assert len(llm.asked) == 3


def test_a_model_that_fails_is_asked_once(bench: Bench) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm")
    bench.index()
    llm = ScriptedLLM(fails="no route to host")
    (told,) = keep(bench, lambda: llm)
    assert (
        told
        == "2 themes not summed up by the language model: the model scripted failed (no route to host)"
    )
    assert len(llm.asked) == 1

    def none() -> LLM | None:
        raise ProviderError("llm.model is empty; name one", kind="model")

    assert "llm.model is empty" in keep(bench, none)[0]
    assert "no language model" in keep(bench, lambda: None)[0]


def test_a_theme_that_the_model_has_no_words_for_stops_no_other(bench: Bench) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm")
    bench.index()

    def tell(prompt: str) -> str:
        if "planks" in prompt:
            return "About boats."
        call = SENDING.get()
        assert call is not None
        call.notice("The answer was held back.")
        return ""

    assert keep(bench, lambda: ScriptedLLM(tell=tell)) == [
        "The answer was held back.",
        "1 theme not summed up by the language model: it answered without words",
    ]
    birds, boats = by_name(bench)["Geese"].summary, by_name(bench)["Dinghy"].summary
    assert birds is None
    assert boats is not None
    assert boats.text == "About boats."


def test_a_note_made_private_a_moment_ago_is_not_sent(bench: Bench) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm")
    bench.index()
    bench.write("birds/Mud.md", "---\nprivate: true\n---\n" + BIRDS["birds/Mud.md"])
    llm = ScriptedLLM(says="What they say.")
    keep(bench, lambda: llm)
    assert len(llm.asked) == 1
    assert "planks" in llm.asked[0]


def test_a_note_made_private_meanwhile_leaves_no_summary(bench: Bench) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm", max_calls=1)
    bench.index()

    def withdraw(_: str) -> str:
        bench.write("birds/Mud.md", "---\nprivate: true\n---\n" + BIRDS["birds/Mud.md"])
        follow(bench, "birds/Mud.md")
        return "What they say."

    keep(bench, lambda: ScriptedLLM(tell=withdraw))
    assert all(one.summary is None for one in themes(bench).themes)


def test_nobody_waits_for_the_model(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.settings = with_themes(bench.settings, summaries="llm", max_calls=1)

    def write(_: str) -> str:
        with locked(bench):
            return "Birds."

    llm = ScriptedLLM(tell=write)
    monkeypatch.setattr("notehop.indexing.llm.providers.load_llm", lambda *_, **__: llm)
    report = bench.index()
    assert report.warnings == ("1 theme left to the next run: themes.max_calls is 1",)
    assert len(llm.asked) == 1
    summary = by_name(bench)["Geese"].summary
    assert summary is not None
    assert summary.text == "Birds."
