"""Signals that look at what others found: subject, last notes, links, recency."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from llama_index.core.schema import QueryBundle

from tests.support.fake_index import FakeIndex
from tests.support.product import GraphSignal, RecencySignal, RecentSignal, Subject, SubjectSignal

QUERY = QueryBundle("?")


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp()


NOW = at("2026-11-20")


def clock() -> float:
    return NOW


def dated(index: FakeIndex, path: str, *, created: str | None = None, file: str | None = None):
    """Give a note a date of creation, or its file a time."""
    row = index.notes[path]
    if created is not None:
        row = replace(row, created=at(created))
    if file is not None:
        row = replace(row, modified=at(file), mtime_ns=int(at(file) * 1e9))
    index.notes[path] = row


def ids(hits) -> list[str]:
    return [one for one, _ in hits]


def paths(hits) -> list[str]:
    return [one.rpartition(":")[0] for one, _ in hits]


class TestSubject:
    def test_a_note_stands_for_its_best_candidate_else_its_first_chunk(self) -> None:
        index = FakeIndex().add("Atlas.md", 1, 2, 3)
        signal = SubjectSignal(index, Subject(index, "Atlas", str.split))
        assert ids(signal.rank(QUERY, ["Atlas.md:2", "Atlas.md:1"])) == ["Atlas.md:2"]
        assert ids(signal.rank(QUERY, [])) == ["Atlas.md:0"]

    def test_filters_hold(self) -> None:
        index = FakeIndex().add("Atlas.md", 1, 2)
        signal = SubjectSignal(index, Subject(index, "Atlas", str.split), allowed={"Atlas.md:1"})
        assert ids(signal.rank(QUERY, [])) == ["Atlas.md:1"]
        nothing = SubjectSignal(index, Subject(index, "Atlas", str.split), allowed=set())
        assert nothing.rank(QUERY, []) == []


class TestGraph:
    def test_a_hub_that_nobody_asked_for_gains_nothing(self) -> None:
        index = FakeIndex().add("Hub.md", 1, rank=0.9).add("a.md", 1, rank=0.01).add("b.md", 1)
        for number in range(50):
            index.add(f"x{number}.md", 1).link(f"x{number}.md", "Hub.md")
        index.link("b.md", "a.md").link("a.md", "Absent.md")
        assert paths(GraphSignal(index).rank(QUERY, ["b.md:0", "Hub.md:0", "a.md:0"])) == ["a.md"]

    def test_a_note_links_once_and_not_to_itself(self) -> None:
        index = FakeIndex().add("a.md", 1, 2).add("b.md", 1)
        index.link("a.md", "b.md").link("a.md", "b.md", chunk=1).link("b.md", "b.md")
        found = GraphSignal(index, k=9).rank(QUERY, ["a.md:1", "b.md:0", "a.md:0"])
        assert found == [("b.md:0", 1 / 10)]


class TestRecency:
    def signal(self, index: FakeIndex) -> RecencySignal:
        return RecencySignal(index, clock=clock)

    def test_the_age_is_counted_from_the_newest_that_was_found(self) -> None:
        index = FakeIndex().add("2009-03-02.md", 1).add("2009-03-01.md", 1)
        found = self.signal(index).rank(QUERY, ["2009-03-01.md:0", "2009-03-02.md:0"])
        assert paths(found) == ["2009-03-02.md", "2009-03-01.md"]
        assert found[0][1] == 1.0

    def test_notes_of_one_day_keep_their_order(self) -> None:
        index = FakeIndex()
        for name in ("b.md", "a.md", "c.md"):
            index.add(name, 1)
            dated(index, name, file="2026-11-19")
        found = self.signal(index).rank(QUERY, ["b.md:0", "c.md:0", "a.md:0"])
        assert paths(found) == ["b.md", "c.md", "a.md"]

    def test_files_of_a_copied_vault_do_not_pass_for_news(self) -> None:
        index = FakeIndex().add("2026-01-05.md", 1).add("Plan.md", 1).add("2026-01-04.md", 1)
        dated(index, "Plan.md", file="2026-11-19")
        found = self.signal(index).rank(QUERY, ["Plan.md:0", "2026-01-04.md:0", "2026-01-05.md:0"])
        assert paths(found) == ["2026-01-05.md", "2026-01-04.md"]


class TestRecent:
    def brought(self, index: FakeIndex, allowed=None) -> list[str]:
        subject = Subject(index, "Atlas", str.split)
        return ids(RecentSignal(index, subject, clock=clock, allowed=allowed).rank(QUERY, []))

    def log(self, *names: str, chunk: int = 0) -> FakeIndex:
        index = FakeIndex().add("Atlas.md", 1)
        for name in names:
            index.add(name, 1, 2).link(name, "Atlas.md", chunk=chunk)
        return index

    def test_what_is_older_than_a_month_before_the_last_is_no_news(self) -> None:
        index = self.log("2026-11-09.md", "2026-10-01.md")
        index.link("2026-11-09.md", "Atlas.md", chunk=1)
        assert self.brought(index) == ["2026-11-09.md:0"], "by the first chunk that links to it"

    def test_plans_for_the_future_are_no_news(self) -> None:
        assert self.brought(self.log("2027-03-01.md", "2026-11-09.md")) == ["2026-11-09.md:0"]

    def test_days_come_before_notes_that_go_on(self) -> None:
        index = self.log("2026-11-09.md", "List.md", "Old list.md")
        dated(index, "List.md", file="2026-11-19")
        dated(index, "Old list.md", file="2025-01-01")
        assert self.brought(index) == ["2026-11-09.md:0", "List.md:0"]

    def test_a_date_of_creation_makes_a_day(self) -> None:
        index = self.log("Meeting.md", "List.md")
        dated(index, "Meeting.md", created="2026-11-11", file="2026-11-19")
        dated(index, "List.md", file="2026-11-19")
        assert self.brought(index) == ["Meeting.md:0", "List.md:0"]

    def test_without_days_the_last_changes_count(self) -> None:
        index = self.log("a.md", "b.md")
        dated(index, "a.md", file="2026-11-01")
        dated(index, "b.md", file="2026-11-02")
        assert self.brought(index) == ["b.md:0", "a.md:0"]

    def test_filters_hold(self) -> None:
        index = self.log("2026-11-09.md", "2026-11-08.md")
        assert self.brought(index, {"2026-11-08.md:0"}) == ["2026-11-08.md:0"]
