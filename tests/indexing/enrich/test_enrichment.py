"""What is written about notes: once, within a budget, and never about a note that is private."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing.enrich.conftest import LONG, EnrichBench
from tests.support.product import ProviderError


def test_a_first_run_writes_all_and_a_second_nothing(bench: EnrichBench) -> None:
    done = bench.both()
    # Two summaries, and two headers for each: both notes are of two passages.
    assert done.written == {"extract": 2, "summary": 2, "header": 4}
    assert (done.calls, done.waiting, done.failed, done.stopped) == (6, 0, 0, None)
    assert bench.summaries()["Atlas.md"].model == "telling"
    assert bench.summaries()["Atlas.md"].text.startswith("Summed up: Atlas")
    again = bench.both()
    assert (again.calls, again.written) == (0, {})
    assert len(bench.llm.asked) == 6


def test_headers_change_vectors_and_nothing_that_is_shown(bench: EnrichBench) -> None:
    bench.index()
    before = bench.chunks("Atlas.md")
    bench.enrich()
    after = bench.chunks("Atlas.md")
    assert [c.text for c in after] == [c.text for c in before]
    assert [dict(c.tokens) for c in after] == [dict(c.tokens) for c in before]
    assert {c.id for c in after}.isdisjoint(c.id for c in before)
    embedded = [text for text in bench.model.asked if "Placed: Atlas" in text]
    assert len(embedded) == 2
    assert all(text.splitlines()[1].startswith("Placed:") for text in embedded)
    assert all(bench.model.tokens.size(text) <= bench.model.max_tokens for text in embedded)


def test_switched_off_it_is_as_if_it_had_never_been_on(bench: EnrichBench) -> None:
    bench.ask(headers="off", summaries="off")
    bench.index()
    never = bench.content()
    bench.ask(headers="llm", summaries="llm")
    bench.both()
    assert bench.content() != never
    bench.ask(headers="off", summaries="off")
    bench.index()
    assert bench.content() == never
    from tests.support.product import enrich

    assert enrich(bench.indexer(), bench.agree, load=bench.writer) is None
    assert bench.summaries() == {}
    # And on again: nothing is paid twice.
    asked = len(bench.llm.asked)
    bench.ask(headers="llm", summaries="llm")
    bench.both()
    assert len(bench.llm.asked) == asked
    assert bench.content() != never


def test_an_edit_asks_for_what_it_changed(bench: EnrichBench) -> None:
    sections = "".join(f"# Part {n}\nThis is {n}: {LONG}\n\n" for n in range(6))
    bench.write("Long.md", sections)
    bench.both()
    bench.llm.asked.clear()
    bench.write("Long.md", sections.replace("This is 4:", "That was 4:"))
    bench.both()
    headers = [prompt for prompt in bench.llm.asked if "Place this passage" in prompt]
    # The passage and its two neighbours: of the rest nothing that is sent has changed.
    assert len(headers) == 3
    assert len(bench.llm.asked) == 4


@pytest.mark.parametrize("gone", ["private", "deleted", "excluded"])
def test_what_leaves_the_index_leaves_with_its_bytes(bench: EnrichBench, gone: str) -> None:
    bench.llm.tell = lambda prompt: (
        "The zanzibar secret." if "Atlas" in prompt else "A boat of wood."
    )
    bench.both()
    bench.write("Atlas.md", f"# Plan\nAtlas ends {LONG}.\n\n# Cost\nIt is dear {LONG}.\n")
    bench.both()
    assert bench.bytes_hold("zanzibar")
    file = bench.vault / "Atlas.md"
    if gone == "deleted":
        file.unlink()
    elif gone == "private":
        file.write_text(f"---\nprivate: true\n---\n{file.read_text()}")
    else:
        bench.settings = bench.settings.with_overrides({"vault.exclude": ["Atlas.md"]})
    bench.index()
    assert not bench.bytes_hold("zanzibar")
    assert "Boat.md" in bench.summaries()


def test_a_note_made_private_after_the_plan_is_not_sent(bench: EnrichBench) -> None:
    bench.index()

    def agree(_: object) -> None:
        bench.write("Atlas.md", "---\nprivate: true\n---\nAtlas begins.")

    bench.enrich(agree)
    assert bench.llm.asked
    assert not any("Atlas begins" in prompt for prompt in bench.llm.asked)


@pytest.mark.parametrize(
    "budget", [{"max_calls": 2}, {"max_tokens": 1_200}], ids=["calls", "tokens"]
)
def test_a_budget_that_runs_out_is_gone_on_with(
    bench: EnrichBench, tmp_path: Path, budget: dict[str, int]
) -> None:
    bench.ask(**budget)
    first = bench.both()
    assert 0 < first.calls < 6
    assert first.waiting == 6 - first.calls
    assert "budget" in str(first.stopped)
    assert first.tokens <= bench.settings.enrich.max_tokens
    runs = 1
    while bench.both().waiting:
        runs += 1
        assert runs < 8
    assert len(bench.llm.asked) == 6
    (tmp_path / "other").mkdir()
    other = bench.fresh(tmp_path / "other")
    other.ask(max_calls=1_000, max_tokens=1_000_000)
    other.both()
    assert bench.content() == other.content()


def test_one_note_that_fails_does_not_keep_the_others(bench: EnrichBench) -> None:
    def tell(prompt: str) -> str:
        if "Boat" in prompt and "Sum up" in prompt:
            raise ProviderError("the note is too long for the model", "overflow")
        return "Well said."

    bench.llm.tell = tell
    done = bench.both()
    assert (done.failed, done.waiting, done.stopped) == (1, 0, None)
    with bench.store() as store:
        assert [(f.path, f.kind, f.reason) for f in store.failures()] == [
            ("Boat.md", "summary", "the note is too long for the model")
        ]
    # It falls back to its own sentences.
    assert bench.summaries()["Boat.md"].model is None
    asked = len(bench.llm.asked)
    for _ in range(5):
        bench.both()
    assert len(bench.llm.asked) == asked + 2


@pytest.mark.parametrize("kind", ["consent", "key", "refused", "rate"])
def test_a_provider_that_refuses_is_asked_once_and_the_index_stands(
    bench: EnrichBench, kind: str
) -> None:
    def tell(_: str) -> str:
        raise ProviderError("not today", kind)

    bench.llm.tell = tell
    done = bench.both()
    assert (done.calls, done.stopped, done.failed, done.waiting) == (1, "not today", 0, 6)
    assert len(bench.chunks("Atlas.md")) == 2
    bench.llm.tell = lambda _: "Now it goes."
    assert bench.both().waiting == 0


@pytest.mark.parametrize("said", ["", "```\n```", "<think>hm", "— …"])
def test_an_answer_without_words_is_a_failure(bench: EnrichBench, said: str) -> None:
    bench.llm.tell = lambda _: said
    done = bench.both()
    assert done.written == {"extract": 2}
    assert done.failed == 6


def test_without_a_model_the_summary_is_the_note_s_own(bench: EnrichBench) -> None:
    bench.ask(summaries="extract", headers="off")
    done = bench.both()
    assert done.written == {"extract": 2}
    assert bench.summaries()["Boat.md"].text.startswith("The boat is old")
    assert bench.llm.asked == []


def test_what_no_note_needs_any_more_is_swept_after_a_time(bench: EnrichBench) -> None:
    bench.llm.tell = lambda prompt: "Old zanzibar." if "boat is old" in prompt else "New."
    bench.both()
    bench.write("Boat.md", f"The boat is new and {LONG}.")
    bench.both()
    assert bench.bytes_hold("zanzibar")
    bench.ask(keep_days=0)
    bench.both()
    assert not bench.bytes_hold("zanzibar")


def test_a_damaged_store_is_made_anew_and_ends_no_run(bench: EnrichBench) -> None:
    bench.both()
    bench.layout.enrichment.write_bytes(b"no database" * 999)
    assert bench.summaries() == {}
    bench.write("Cup.md", "A cup.")
    told = bench.index().warnings
    assert len(told) == 1
    assert "made anew" in told[0]
    done = bench.enrich()
    assert (done.calls, done.stopped) == (6, None)


def test_the_owner_s_own_summary_is_enough(bench: EnrichBench) -> None:
    bench.write("Own.md", f"---\nsummary: My own words.\n---\n{LONG}")
    bench.both()
    assert "Own.md" not in bench.summaries()
    assert not any("Own" in prompt for prompt in bench.llm.asked)
