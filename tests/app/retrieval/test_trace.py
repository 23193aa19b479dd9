"""The record of a query."""

from __future__ import annotations

import pytest
from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.trace import Trace, TracedQuery, trace_of, view_for
from tests.app.retrieval.fake_index import FakeIndex


def test_a_traced_query_keeps_its_trace(caplog):
    query = TracedQuery("?")
    trace_of(query).warn("a leg is missing")
    assert query.trace.warnings == ["a leg is missing"]
    assert caplog.text == ""


@pytest.mark.parametrize("query", [QueryBundle("?"), None], ids=["plain", "none"])
def test_what_nobody_keeps_is_logged(query, caplog):
    trace_of(query).warn("a leg is missing")
    assert "a leg is missing" in caplog.text


def test_two_queries_do_not_share_a_trace():
    assert TracedQuery("?").trace is not TracedQuery("?").trace


def test_counts_of_a_stage_are_merged():
    trace = Trace()
    trace.count("fusion", semantic=3)
    trace.count("fusion", lexical=2)
    assert trace.counts == {"fusion": {"semantic": 3, "lexical": 2}}


def test_time_adds_up_also_when_a_stage_fails():
    trace = Trace()
    with trace.timed("search"):
        pass
    first = trace.timings_ms["search"]
    with pytest.raises(RuntimeError), trace.timed("search"):
        raise RuntimeError
    assert trace.timings_ms["search"] > first >= 0


def test_a_fixed_generation_is_taken_as_it_is():
    index = FakeIndex()
    assert view_for(QueryBundle("?"), index) is index
    assert view_for(None, index) is index
    query = TracedQuery("?")
    assert view_for(query, index) is index
    assert view_for(query, FakeIndex()) is not index


def test_all_stages_of_a_traced_query_see_one_generation():
    opened = iter([FakeIndex(generation=1), FakeIndex(generation=2)])
    query = TracedQuery("?")
    assert [view_for(query, lambda: next(opened)).generation for _ in range(2)] == [1, 1]
    assert view_for(TracedQuery("?"), lambda: next(opened)).generation == 2


def test_what_cannot_be_searched_is_a_warning_once():
    query = TracedQuery("?")
    for _ in range(2):
        view_for(query, FakeIndex(warnings=("3 chunks have no vector",)))
    assert query.trace.warnings == ["3 chunks have no vector"]
