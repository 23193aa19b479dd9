"""What a model writes about notes: when, with whose consent, and in any order of edits and kills."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.support.notes import Bench
from tests.support.product import (
    EnrichmentStore,
    EnrichReport,
    ProviderError,
    Settings,
    Summary,
    agreement,
    count_tokens,
    crash_points,
    enrich,
    read_summaries,
)
from tests.support.scripted_llm import ScriptedLLM, plainly

LONG = " ".join(f"word{number}" for number in range(20))
"""A section that is a chunk of its own, and more than a model would be asked to sum up."""


class EnrichBench(Bench):
    """One vault whose index is made and then enriched, as ``notehop index`` does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.llm = ScriptedLLM(tell=plainly)
        self.costs: list[str] = []
        self.ask(summaries="llm", headers="llm")

    def ask(self, **enrich: Any) -> None:
        given = {f"enrich.{key}": value for key, value in enrich.items()}
        llm = {"llm.provider": "openai-compatible", "llm.model": "telling"}
        self.settings = self.settings.with_overrides({**llm, **given})

    def load(self, _settings: Settings, _folder: Path) -> ScriptedLLM:
        return self.llm

    def agree(self, costs: Sequence[str], _covered: bool) -> None:
        self.costs = [*costs]

    def enrich(self, agree: Callable[[Sequence[str], bool], str | None] | None = None) -> EnrichReport:
        done = enrich(self.indexer(), agree or self.agree, self.load)
        assert done is not None
        return done

    def both(self, *, rebuild: bool = False) -> EnrichReport:
        self.index(rebuild=rebuild)
        return self.enrich()

    def summaries(self) -> dict[str, Summary]:
        with self.catalog() as catalog:
            return read_summaries(self.layout.enrichment, catalog.notes())

    def store(self) -> EnrichmentStore:
        return EnrichmentStore.open(self.layout.enrichment)

    def bytes_hold(self, words: str) -> list[str]:
        files = self.layout.root.glob("enrichment.sqlite*")
        return [file.name for file in files if words.encode() in file.read_bytes()]

    def fresh(self, folder: Path) -> EnrichBench:
        """An index of the same vault made from nothing, with the same settings."""
        other = EnrichBench(folder)
        other.vault, other.settings = self.vault, self.settings
        return other


class Killed(BaseException):
    """What no handler catches."""


@pytest.fixture
def bench(tmp_path: Path) -> EnrichBench:
    made = EnrichBench(tmp_path)
    made.write("Atlas.md", f"# Plan\nAtlas begins {LONG}.\n\n# Cost\nIt is dear {LONG}.\n")
    made.write("Boat.md", f"The boat is old and {LONG}. It leaks {LONG}.\n")
    return made


@pytest.fixture
def killed_at() -> Iterator[Callable[[str, int], None]]:
    """Kill the process, as it were, when it passes a point for the n-th time."""

    def arm(name: str, times: int = 1) -> None:
        passed = 0

        def hook(point: str) -> None:
            nonlocal passed
            passed += point == name
            if point == name and passed == times:
                crash_points.hook = None
                raise Killed(name)

        crash_points.hook = hook

    yield arm
    crash_points.hook = None


def test_a_first_run_writes_all_and_a_second_nothing(bench: EnrichBench) -> None:
    done = bench.both()
    # Two summaries, and two headers for each: both notes are of two passages.
    assert done.written == {"summary": 2, "header": 4}
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
    assert [c.tokens for c in after] == [c.tokens for c in before]
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
    assert enrich(bench.indexer(), bench.agree, bench.load) is None
    assert bench.summaries() == {}
    assert not bench.bytes_hold("Placed:")
    bench.ask(headers="llm", summaries="llm")
    bench.both()
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
    bench.llm.tell = lambda prompt: "The zanzibar secret." if "Atlas" in prompt else "A boat of wood."
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

    def agree(*_: object) -> None:
        bench.write("Atlas.md", "---\nprivate: true\n---\nAtlas begins.")

    bench.enrich(agree)
    assert bench.llm.asked
    assert not any("Atlas begins" in prompt for prompt in bench.llm.asked)


def test_a_budget_that_runs_out_is_gone_on_with(bench: EnrichBench, tmp_path: Path) -> None:
    bench.ask(max_calls=2)
    first = bench.both()
    assert (first.calls, first.waiting) == (2, 4)
    assert "budget" in str(first.stopped)
    runs = 1
    while bench.both().waiting:
        runs += 1
        assert runs < 8
    assert len(bench.llm.asked) == 6
    (tmp_path / "other").mkdir()
    other = bench.fresh(tmp_path / "other")
    other.ask(max_calls=1_000)
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
        reason = "the note is too long for the model"
        failed = [{"path": "Boat.md", "kind": "summary", "reason": reason}]
        assert store.last_run()["failed"] == failed
    assert "Boat.md" not in bench.summaries()
    asked = len(bench.llm.asked)
    bench.llm.tell = plainly
    assert bench.both().failed == 0
    assert len(bench.llm.asked) == asked + 1
    with bench.store() as store:
        assert store.last_run()["failed"] == []


def test_notes_that_always_fail_keep_no_others(bench: EnrichBench) -> None:
    def tell(prompt: str) -> str:
        if "Slow" in prompt:
            raise ProviderError("nothing came in time", "timeout")
        return "Well said."

    bench.ask(headers="off")
    bench.llm.tell = tell
    for name in ("Slow 1", "Slow 2", "Slow 3", "Slow 4"):  # changed last: asked for first
        bench.write(f"{name}.md", f"{name} is {LONG}. {LONG}.\n")
    done = bench.both()
    assert (done.calls, done.failed, done.waiting) == (3, 3, 3)
    assert "3 requests in a row failed" in str(done.stopped)
    bench.both()
    assert set(bench.summaries()) == {"Atlas.md", "Boat.md"}
    # What always fails ends no run: what an edit left over is deleted.
    bench.llm.tell = lambda prompt: "Old zanzibar." if "A cup" in prompt else tell(prompt)
    bench.write("Cup.md", f"A cup and {LONG}. {LONG}.\n")
    bench.both()
    assert bench.bytes_hold("zanzibar")
    bench.write("Cup.md", f"A mug and {LONG}. {LONG}.\n")
    done = bench.both()
    assert (done.failed, done.waiting, done.stopped) == (4, 0, None)
    assert not bench.bytes_hold("zanzibar")
    # One that failed in a bad hour gets its turn, too.
    bench.llm.tell = lambda prompt: tell(prompt.replace("Slow 4", "Sloe 4"))
    bench.both()
    bench.both()
    assert "Slow 4.md" in bench.summaries()


def test_no_request_is_long_in_any_script(bench: EnrichBench) -> None:
    bench.write("Long.md", "".join(f"# {'标题' * 40}{n}\n{'字' * 900}。\n\n" for n in range(30)))
    bench.both()
    long = [prompt for prompt in bench.llm.asked if "标题" in prompt]
    assert len(long) > 30
    assert 3_000 < max(map(count_tokens, long)) < 4_000


@pytest.mark.parametrize("kind", ["consent", "key", "refused", "rate"])
def test_a_provider_that_refuses_is_asked_once_and_the_index_stands(bench: EnrichBench, kind: str) -> None:
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
    assert done.written == {}
    assert (done.failed, done.waiting) == (3, 3)


def test_what_no_note_needs_any_more_is_deleted(bench: EnrichBench) -> None:
    bench.llm.tell = lambda prompt: "Old zanzibar." if "boat is old" in prompt else "New."
    bench.both()
    assert bench.bytes_hold("zanzibar")
    bench.write("Boat.md", f"The boat is new and {LONG}.")
    bench.both()
    assert not bench.bytes_hold("zanzibar")


@pytest.mark.parametrize("headers", ["llm", "off"])
def test_a_model_that_is_not_agreed_to_costs_nothing_that_is_there(bench: EnrichBench, headers: str) -> None:
    bench.ask(headers=headers)
    bench.llm.tell = lambda prompt: "Of zanzibar." if "A cup" in prompt else plainly(prompt)
    bench.write("Cup.md", f"A cup of {LONG}. It leaks {LONG}.\n")
    bench.both()
    before = bench.settings
    bench.settings = before.with_overrides({"llm.model": "dear"})
    bench.index()
    assert bench.enrich(lambda *_: "no").stopped == "no"
    assert bench.bytes_hold("zanzibar")
    (bench.vault / "Cup.md").unlink()
    (bench.vault / "Boat.md").rename(bench.vault / "Ship.md")
    bench.index()
    assert not bench.bytes_hold("zanzibar")
    asked = len(bench.llm.asked)
    bench.settings = before
    assert bench.both().waiting == 0
    assert len(bench.llm.asked) - asked <= 3  # the moved note is named in what is sent
    assert not any("Atlas" in prompt for prompt in bench.llm.asked[asked:])
    assert set(bench.summaries()) == {"Atlas.md", "Ship.md"}


def test_without_a_provider_what_was_written_stays(bench: EnrichBench) -> None:
    bench.both()
    written = bench.summaries()
    bench.settings = bench.settings.with_overrides({"llm.provider": "none"})
    assert "names none" in str(bench.both().warnings)
    assert bench.summaries() == written != {}


def test_a_text_that_is_not_what_was_written_is_not_shown(bench: EnrichBench) -> None:
    bench.both()
    with closing(sqlite3.connect(bench.layout.enrichment)) as store, store:
        store.execute("UPDATE texts SET text = replace(text, 'Atlas', 'Btlas')")
    assert set(bench.summaries()) == {"Boat.md"}
    bench.model.asked.clear()
    bench.index(rebuild=True)
    embedded = " ".join(bench.model.asked)
    assert "Placed: Boat" in embedded
    assert "Btlas" not in embedded


def test_a_lock_that_cannot_be_had_is_told_from_one_that_is_held(bench: EnrichBench) -> None:
    bench.index()
    with FileLock(bench.layout.enriching_lock):
        assert "another process" in str(bench.enrich().stopped)
    bench.layout.enriching_lock.unlink(missing_ok=True)
    bench.layout.enriching_lock.mkdir()
    stopped = str(bench.enrich().stopped)
    assert "directory" in stopped
    assert "another process" not in stopped


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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_says_who_gets_what_for_how_much(bench: EnrichBench) -> None:
    bench.ask(max_calls=2)
    bench.both()
    written, host, takes, budget = bench.costs
    assert written == ("To be written: 2 summaries by the model and 4 headers of passages, by telling.")
    assert host == "The text of the notes goes to this machine."
    assert takes.startswith("That takes 6 requests: up to 1,")
    assert takes.endswith(" tokens sent, about 360 received.")
    assert "covers 2 of them; the next run goes on" in budget
    told = io.StringIO()
    assert agreement(yes=True, read=io.StringIO(), write=told)(["by m\x1b[2J."], False) is None
    assert told.getvalue().startswith("by m")
    assert "\x1b" not in told.getvalue(), "no name of a model writes to the terminal"


@pytest.mark.parametrize(("said", "goes"), [("y\n", True), ("Yes\n", True), ("\n", False), ("", False)])
def test_in_a_terminal_it_asks(said: str, goes: bool) -> None:
    told = Terminal()
    against = agreement(yes=False, read=Terminal(said), write=told)(["Much."], True)
    assert told.getvalue().endswith("Go on? [y/N] ")
    assert (against is None) is goes


def test_without_a_terminal_the_budget_decides() -> None:
    agree = agreement(yes=False, read=io.StringIO("y\n"), write=io.StringIO())
    assert agree([], True) is None
    assert "notehop index --yes" in str(agree([], False))


@pytest.mark.parametrize(
    ("point", "times"),
    [
        ("enrich-put", 2),
        ("enrich-inside-put", 1),
        ("enrich-redone", 2),
        ("catalog-inside-commit", 1),
        ("catalog-inside-commit", 2),
        ("enrich-forgot", 1),
    ],
)
def test_killed_anywhere_it_ends_as_a_fresh_index_would(
    bench: EnrichBench, tmp_path: Path, killed_at: Callable[..., None], point: str, times: int
) -> None:
    bench.both()
    bench.write("Boat.md", f"---\nprivate: true\n---\nSecret {LONG}.")
    bench.write("Cup.md", f"# Rim\nA cup of {LONG}.\n\n# Foot\nIt stands on {LONG}.\n")
    (bench.vault / "Atlas.md").rename(bench.vault / "Globe.md")
    killed_at(point, times)
    with suppress(Killed):
        bench.both()
    crash_points.hook = None
    bench.ask(headers="off")
    bench.index()
    bench.ask(headers="llm")
    bench.both()
    (tmp_path / "other").mkdir()
    fresh = bench.fresh(tmp_path / "other")
    fresh.both()
    assert bench.content() == fresh.content()
    assert bench.summaries() == fresh.summaries()
    with bench.store() as store:
        assert store.pending_reindex() == []
    assert not any("Secret" in prompt for prompt in bench.llm.asked)
