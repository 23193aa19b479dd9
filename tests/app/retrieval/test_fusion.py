"""The fusion retriever: votes, failures, dispatch and widening, both ways to run it."""

from __future__ import annotations

import asyncio
import threading

import pytest
from llama_index.core import Settings
from llama_index.core.llms import MockLLM
from llama_index.core.schema import QueryBundle, TextNode

from tests.support.fake_index import Broken, FakeIndex, Listed, ids
from tests.support.product import (
    AliasWidening,
    Beside,
    ModelError,
    QueryError,
    TitleRetriever,
    TracedQuery,
    WeightedFusionRetriever,
)


def ask_sync(retriever, query):
    return retriever.retrieve(query)


def ask_async(retriever, query):
    return asyncio.run(retriever.aretrieve(query))


@pytest.fixture(params=[ask_sync, ask_async], ids=["sync", "async"])
def ask(request):
    return request.param


def test_weights_decide(ask):
    signals = {"semantic": Listed(("a", 0.9)), "lexical": Listed(("b", 12.0))}
    even = WeightedFusionRetriever(signals)
    assert ids(ask(even, "?")) == ["a", "b"]
    lexical = WeightedFusionRetriever(signals, weights={"semantic": 1, "lexical": 100})
    assert ids(ask(lexical, "?")) == ["b", "a"]


def test_a_signal_without_weight_is_not_run(ask):
    idle = Listed(("b", 1.0))
    fusion = WeightedFusionRetriever(
        {"semantic": Listed(("a", 0.9)), "lexical": idle}, weights={"semantic": 1, "lexical": 0}
    )
    assert ids(ask(fusion, "?")) == ["a"]
    assert idle.queries == []


def test_every_hit_keeps_rank_and_score_of_each_signal(ask):
    fusion = WeightedFusionRetriever(
        {"semantic": Listed(("a", 0.9), ("b", 0.8)), "lexical": Listed(("b", 12.0))},
        weights={"semantic": 1.0, "lexical": 0.5},
    )
    best, second = ask(fusion, "?")
    assert best.node.metadata["signals"] == {
        "semantic": {"rank": 2, "score": 0.8, "weight": 1.0},
        "lexical": {"rank": 1, "score": 12.0, "weight": 0.5},
    }
    assert best.score == pytest.approx(1 / 62 + 0.5 / 61)
    assert second.node.metadata["signals"] == {"semantic": {"rank": 1, "score": 0.9, "weight": 1.0}}


def test_nodes_of_the_signals_are_not_changed(ask):
    signal = Listed(("a", 0.9))
    before = signal.nodes["a"].hash
    hit = ask(WeightedFusionRetriever({"semantic": signal}), "?")[0]
    assert hit.node is not signal.nodes["a"]
    assert signal.nodes["a"].metadata == {}
    assert signal.nodes["a"].hash == before


def test_twins_in_two_notes_stay_two_hits(ask):
    signals = {
        "semantic": Listed(("a", 0.9), ("b", 0.9), text="Same words."),
        "lexical": Listed(("b", 2.0), text="Same words."),
    }
    assert ids(ask(WeightedFusionRetriever(signals), "?")) == ["b", "a"]


def test_hits_without_a_score_do_not_vote(ask):
    fusion = WeightedFusionRetriever({"s": Listed(("a", None), ("b", float("nan")), ("c", 0.1))})
    found = ask(fusion, "?")
    assert ids(found) == ["c"]
    assert found[0].node.metadata["signals"]["s"]["rank"] == 1


def test_a_ranking_is_by_score_then_id_whatever_order_it_comes_in(ask):
    fusion = WeightedFusionRetriever({"s": Listed(("c", 0.1), ("b", 0.5), ("a", 0.5))})
    assert ids(ask(fusion, "?")) == ["a", "b", "c"]


def test_as_many_as_asked_for(ask):
    fusion = WeightedFusionRetriever({"s": Listed(("a", 0.3), ("b", 0.2))}, similarity_top_k=1)
    assert ids(ask(fusion, "?")) == ["a"]


def test_k_is_used(ask):
    fusion = WeightedFusionRetriever({"s": Listed(("a", 0.3))}, k=9)
    assert ask(fusion, "?")[0].score == pytest.approx(1 / 10)


def test_one_failing_signal_is_told_and_the_others_vote(ask):
    query = TracedQuery("?")
    fusion = WeightedFusionRetriever(
        {"semantic": Broken(RuntimeError("no")), "lexical": Listed(("a", 1))}
    )
    assert ids(ask(fusion, query)) == ["a"]
    assert query.trace.warnings == [
        "the semantic signal failed and did not vote (RuntimeError: no); "
        "the ranking is that of: lexical"
    ]


def test_a_warning_that_nobody_keeps_is_logged(ask, caplog):
    fusion = WeightedFusionRetriever(
        {"semantic": Broken(RuntimeError("no")), "lexical": Listed(("a", 1))}
    )
    ask(fusion, QueryBundle("?"))
    assert "the semantic signal failed" in caplog.text


def test_when_all_fail_the_first_error_is_raised(ask):
    fusion = WeightedFusionRetriever(
        {"semantic": Broken(ModelError("no weights")), "lexical": Broken(RuntimeError("no"))}
    )
    with pytest.raises(ModelError, match="no weights"):
        ask(fusion, "?")


def test_a_query_that_cannot_be_run_is_no_failing_signal(ask):
    fusion = WeightedFusionRetriever({"semantic": Broken(QueryError("empty")), "lexical": Listed()})
    with pytest.raises(QueryError, match="empty"):
        ask(fusion, "?")


class Outside(TitleRetriever):
    """Says it computes outside the interpreter, and waits until the others were asked."""

    outside = True

    def __init__(self, asked):
        super().__init__(FakeIndex(), with_text=False)
        self.asked = asked

    def _rank(self, *_):
        assert self.asked.wait(10)
        return [("a", 0.9)]


class Told(Listed):
    """Says when it is asked."""

    def __init__(self, asked, *hits):
        super().__init__(*hits)
        self.asked = asked

    def _retrieve(self, query_bundle):
        self.asked.set()
        return super()._retrieve(query_bundle)


@pytest.fixture
def beside():
    found = Beside(1)
    yield found
    found.close()


def test_others_are_asked_while_one_computes_outside(beside):
    asked = threading.Event()
    signals = {"semantic": Outside(asked), "lexical": Told(asked, ("b", 3.0), ("a", 2.0))}
    query = TracedQuery("?")
    found = WeightedFusionRetriever(signals, beside=beside).retrieve(query)
    assert query.trace.warnings == []
    plain = WeightedFusionRetriever(signals).retrieve("?")
    assert [(one.node_id, one.score) for one in found] == [
        (one.node_id, one.score) for one in plain
    ]
    assert ids(found) == ["a", "b"]
    assert set(query.trace.timings_ms) == {"semantic", "lexical"}


def test_failures_there_are_told_in_the_order_of_the_signals(beside):
    asked = threading.Event()
    asked.set()
    query = TracedQuery("?")
    signals = {
        "first": Broken(RuntimeError("one")),
        "semantic": Outside(asked),
        "second": Broken(RuntimeError("two")),
    }
    assert ids(WeightedFusionRetriever(signals, beside=beside).retrieve(query)) == ["a"]
    assert [told.split()[1] for told in query.trace.warnings] == ["first", "second"]


def test_a_query_that_cannot_be_run_ends_there_too(beside):
    asked = threading.Event()
    asked.set()
    signals = {"semantic": Outside(asked), "lexical": Broken(QueryError("empty"))}
    with pytest.raises(QueryError, match="empty"):
        WeightedFusionRetriever(signals, beside=beside).retrieve("?")


class Slow(TitleRetriever):
    """Says it computes outside the interpreter, and gives others time to be asked too early."""

    outside = True

    def __init__(self, early):
        super().__init__(FakeIndex(), with_text=False)
        self.early = early

    def _rank(self, *_):
        self.early.wait(0.2)
        return [("A.md:0", 0.9)]


def test_what_is_widened_waits_for_its_source_there_too(beside):
    early = threading.Event()
    lexical = Told(early, ("A.md:0", 1.0))
    index = FakeIndex().add("A.md", 0, aliases=("Nordlicht",))
    signals = {"semantic": Slow(early), "lexical": lexical}
    WeightedFusionRetriever(signals, widening=AliasWidening(index), beside=beside).retrieve(
        "ship date"
    )
    assert lexical.queries == ["ship date Nordlicht"]


def test_no_language_model_is_resolved(monkeypatch):
    monkeypatch.setattr(Settings, "_llm", None)
    fusion = WeightedFusionRetriever({"s": Listed(("a", 1.0))})
    assert isinstance(fusion._llm, MockLLM)
    assert Settings._llm is None


def test_it_tells_how_many_each_signal_found_and_how_long_it_took(ask):
    query = TracedQuery("?")
    ask(WeightedFusionRetriever({"s": Listed(("a", 1.0)), "l": Listed()}), query)
    assert query.trace.counts["fusion"] == {"s": 1, "l": 0}
    assert set(query.trace.timings_ms) == {"s", "l"}


@pytest.mark.parametrize("name", ["Aurora", "  aURORA ", "Nordlicht"])
def test_a_note_named_by_the_query_ranks_first(ask, name):
    index = FakeIndex().add("Aurora.md", 10, 20, aliases=("Nordlicht",)).add("B.md", 1)
    fusion = WeightedFusionRetriever(
        {"s": Listed(("B.md:0", 1.0), ("Aurora.md:1", 0.9)), "l": Listed(("B.md:0", 7.0))},
        dispatch=TitleRetriever(index, with_text=False),
    )
    assert ids(ask(fusion, name)) == ["Aurora.md:0", "B.md:0", "Aurora.md:1"]
    assert ids(ask(fusion, "Aurora B")) == ["B.md:0", "Aurora.md:1"]


def test_all_notes_of_that_name_come_before_the_rest(ask):
    index = FakeIndex()
    for folder in "abcdefgh":
        index.add(f"{folder}/Roadmap.md", 10)
    fusion = WeightedFusionRetriever(
        {"s": Listed(("top", 1.0)), "l": Listed(("top", 7.0))},
        k=1,
        dispatch=TitleRetriever(index, with_text=False),
    )
    found = ids(ask(fusion, "roadmap"))
    assert found == [*(f"{folder}/Roadmap.md:0" for folder in "abcdefgh"), "top"]


def widened(notes=5):
    index = (
        FakeIndex()
        .add("Aurora.md", 0, aliases=("Nordlicht", "project A"))
        .add("Sam.md", 5, aliases=("Samira",))
    )
    lexical = Listed(("Sam.md:0", 1.0))
    semantic = Listed(("Aurora.md:0", 0.9), ("Aurora.md:1", 0.8), ("Sam.md:0", 0.7))
    fusion = WeightedFusionRetriever(
        # The one that is widened stands first: its query still waits for the other.
        {"lexical": lexical, "semantic": semantic},
        widening=AliasWidening(index, notes=notes),
    )
    return fusion, semantic, lexical


@pytest.mark.parametrize(
    ("query", "notes", "expected"),
    [
        pytest.param("ship date", 5, "ship date Nordlicht project A Samira", id="all"),
        pytest.param("ship date", 1, "ship date Nordlicht project A", id="the best note"),
        pytest.param("Project  a ship date", 1, "Project  a ship date Nordlicht", id="new ones"),
    ],
)
def test_the_lexical_query_is_widened_by_aliases(ask, query, notes, expected):
    fusion, semantic, lexical = widened(notes)
    ask(fusion, query)
    assert (semantic.queries, lexical.queries) == ([query], [expected])


def test_widening_keeps_the_trace():
    query = TracedQuery("?")
    index = FakeIndex().add("A.md", 0, aliases=("B",))
    wide = AliasWidening(index).widened(query, ["A.md:0"])
    assert wide.query_str == "? B"
    assert isinstance(wide, TracedQuery)
    assert wide.trace is query.trace


def test_without_its_source_nothing_is_widened(ask):
    lexical = Listed(("a", 1.0))
    fusion = WeightedFusionRetriever(
        {"semantic": Broken(RuntimeError("no")), "lexical": lexical},
        widening=AliasWidening(FakeIndex()),
    )
    ask(fusion, "ship date")
    assert lexical.queries == ["ship date"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"retrievers": {}}, "no signal has a weight", id="no signal"),
        pytest.param({"weights": {"s": 0}}, "no signal has a weight", id="all weights 0"),
        pytest.param({"weights": {"s": -1}}, "0 or more", id="negative"),
        pytest.param({"weights": {"x": 1}}, "weights are given for x; the signals are: s", id="x"),
        pytest.param({"k": 0}, "k is 0", id="k"),
        pytest.param({"similarity_top_k": 0}, "similarity_top_k is 0", id="similarity_top_k"),
        pytest.param({"retrievers": {"title": Listed()}}, "name 'title'", id="reserved name"),
        pytest.param(
            {"widening": AliasWidening(FakeIndex())},
            "from 'semantic' to 'lexical'; the signals are: s",
            id="widening",
        ),
    ],
)
def test_mistakes_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        WeightedFusionRetriever(**({"retrievers": {"s": Listed()}} | options))


def test_nodes_may_be_of_any_retriever():
    signal = Listed(("a", 1.0))
    signal.nodes["a"] = TextNode(id_="a", text="Words.", metadata={"url": "x"})
    hit = WeightedFusionRetriever({"s": signal}).retrieve("?")[0]
    assert hit.node.get_content() == "Words."
    assert set(hit.node.metadata) == {"url", "signals"}


class Judge:
    """A judge that gives the same hits, and keeps what it was shown."""

    def __init__(self, *hits: tuple[str, float], error: Exception | None = None) -> None:
        self.hits = hits
        self.error = error
        self.shown: list[list[str]] = []

    def rank(self, query, candidates):
        assert query.query_str
        self.shown.append(list(candidates))
        if self.error is not None:
            raise self.error
        return list(self.hits)


def test_judges_see_what_was_found_and_vote_with_the_signals(ask):
    judge = Judge(("b", 0.5), ("new", 0.4))
    fusion = WeightedFusionRetriever(
        {"semantic": Listed(("a", 0.9), ("b", 0.8))},
        weights={"semantic": 1.0, "graph": 2.0},
        judges={"graph": judge},
        dispatch=None,
    )
    hits = ask(fusion, "?")
    assert judge.shown == [["a", "b"]]
    assert ids(hits) == ["b", "new", "a"]
    assert hits[0].node.metadata["signals"] == {
        "semantic": {"rank": 2, "score": 0.8, "weight": 1.0},
        "graph": {"rank": 1, "score": 0.5, "weight": 2.0},
    }


def test_a_judge_without_weight_is_not_asked(ask):
    judge = Judge(("b", 0.5))
    fusion = WeightedFusionRetriever(
        {"semantic": Listed(("a", 0.9))},
        weights={"semantic": 1.0, "graph": 0.0},
        judges={"graph": judge},
    )
    assert ids(ask(fusion, "?")) == ["a"]
    assert judge.shown == []


def test_a_judge_that_fails_does_not_vote(ask):
    query = TracedQuery("?")
    fusion = WeightedFusionRetriever(
        {"semantic": Listed(("a", 0.9))}, judges={"graph": Judge(error=ModelError("broken"))}
    )
    assert ids(ask(fusion, query)) == ["a"]
    [warning] = query.trace.warnings
    assert "the graph signal failed and did not vote" in warning


def test_what_the_query_names_stands_above_judges_too(ask):
    index = FakeIndex().add("a.md", 1).add("b.md", 2)
    fusion = WeightedFusionRetriever(
        {"semantic": Listed(("b.md:0", 0.9), ("a.md:0", 0.8))},
        judges={"subject": Judge(("b.md:0", 1.0))},
        dispatch=TitleRetriever(index, with_text=False),
    )
    assert ids(ask(fusion, "a")) == ["a.md:0", "b.md:0"]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        pytest.param({"semantic": 1.0}, "the signals are: semantic, graph", id="no weight"),
        pytest.param({"semantic": 0.0, "graph": 1.0}, "no signal has a weight", id="judges alone"),
    ],
)
def test_weights_of_judges_are_checked(weights, said):
    with pytest.raises(ValueError, match=said):
        WeightedFusionRetriever(
            {"semantic": Listed(("a", 0.9))}, weights=weights, judges={"graph": Judge()}
        )


def test_a_judge_takes_no_name_of_a_signal():
    with pytest.raises(ValueError, match="a signal and a judge have one name"):
        WeightedFusionRetriever({"semantic": Listed(("a", 0.9))}, judges={"semantic": Judge()})


class Preparing:
    """A judge with work to do beforehand."""

    def __init__(self, failure=None):
        self.calls = []
        self.failure = failure

    def prepare(self, candidates):
        self.found = [*candidates]
        self.calls.append("prepare")
        if self.failure:
            raise self.failure

    def rank(self, _, candidates):
        self.calls.append("rank")
        return [(one, 1.0) for one in candidates]


def test_a_judge_prepares_while_signals_are_asked():
    judge = Preparing()
    fusion = WeightedFusionRetriever({"s": Listed(("a", 1.0))}, judges={"j": judge})
    assert ids(fusion.retrieve("?")) == ["a"]
    assert judge.calls == ["prepare", "rank"]
    assert judge.found == ["a"]


def test_a_judge_that_fails_beforehand_is_told_and_not_asked():
    judge, query = Preparing(RuntimeError("no")), TracedQuery("?")
    fusion = WeightedFusionRetriever({"s": Listed(("a", 1.0))}, judges={"j": judge})
    assert ids(fusion.retrieve(query)) == ["a"]
    assert judge.calls == ["prepare"]
    assert query.trace.warnings == [
        "the j signal failed and did not vote (RuntimeError: no); the ranking is that of: s"
    ]
