"""The rerank as a stage: what is scored, what moves, and what happens when it cannot be had."""

import threading
from collections.abc import Sequence

import pytest
from llama_index.core.schema import NodeWithScore

from tests.support.fake_index import FakeIndex, ids, light
from tests.support.product import PAIRS_PER_PASS, ModelError, RerankPostprocessor, TracedQuery, stub_node


class Clock:
    """Seconds that pass only when something is done."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class ByPart:
    """A scorer that prefers late parts of a note; each pass takes ``seconds``."""

    name = "by part"

    def __init__(self, clock: Clock | None = None, seconds: float = 0.0):
        self.clock = clock or Clock()
        self.seconds = seconds
        self.passes: list[list[str]] = []
        self.turn = threading.Lock()

    def load(self) -> None:
        """Nothing to load."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:  # noqa: ARG002
        self.clock.now += self.seconds
        self.passes.append(list(texts))
        return [float(text.rsplit(" ", 1)[-1]) for text in texts]


class Missing(ByPart):
    def load(self) -> None:
        raise ModelError("rerank.model: none is not on this machine; run: notehop models pull it")


def vault() -> FakeIndex:
    return FakeIndex().add("A.md", 0, 1, 2, 3, 4, 5).add("B.md", 0)


def reranked(hits, scorer, query=None, view=None, **options):
    stage = RerankPostprocessor(
        view=view or vault(), scorer=scorer, clock=scorer.clock, **{"candidates": 4} | options
    )
    return stage.postprocess_nodes(hits, query_bundle=query or TracedQuery("?"))


def test_the_best_are_scored_and_the_others_stay_below_as_they_came():
    hits = light("A.md:0", "A.md:1", "A.md:2", "A.md:3", "A.md:5", "B.md:0")
    found = reranked(hits, ByPart())
    assert ids(found) == ["A.md:3", "A.md:2", "A.md:1", "A.md:0", "A.md:5", "B.md:0"]
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[:4] == [3.0, 2.0, 1.0, 0.0]
    assert scores[4] < 0.0


@pytest.mark.parametrize(
    ("record", "stays"),
    [
        ({"decided_by": ["recent"]}, True),
        ({"signals": {"subject": {"rank": 1, "score": None, "weight": 50.0}}}, False),
        ({"decided_by": []}, False),
    ],
    ids=["signals that decide", "one that votes, however much", "none"],
)
def test_a_signal_that_decides_is_not_overruled(record, stays):
    first = NodeWithScore(node=stub_node("A.md:0", **record), score=9.0)
    found = reranked([first, *light("A.md:1", "A.md:2")], ByPart())
    assert (ids(found)[0] == "A.md:0") is stays


def test_a_passage_is_scored_under_its_title_and_headings():
    scorer = ByPart()
    reranked(light("A.md:0", "B.md:0"), scorer)
    assert scorer.passes == [["A - Part 0\nA part 0", "B - Part 0\nB part 0"]]


def test_a_deleted_chunk_is_not_scored_and_stands_below():
    scorer = ByPart()
    found = reranked(light("gone", "A.md:0", "A.md:1"), scorer)
    assert ids(found) == ["A.md:1", "A.md:0", "gone"]
    assert sum(map(len, scorer.passes)) == 2


def test_over_budget_the_fused_order_stands_and_the_reply_says_so():
    hits = light("A.md:0", "A.md:1", "A.md:2", "A.md:3", "A.md:4", "A.md:5")
    clock, query = Clock(), TracedQuery("?")
    scorer = ByPart(clock, seconds=0.3)
    found = reranked(hits, scorer, query, candidates=6, budget_ms=200)
    assert found is hits
    assert len(scorer.passes) == 1
    assert query.trace.counts["rerank"] == {"candidates": 6, "scored": PAIRS_PER_PASS}
    [warning] = query.trace.warnings
    assert "by part had scored 4 of 6 passages when the 200 ms" in warning
    assert "the fused order stands" in warning
    assert not scorer.turn.locked()


def test_a_model_that_is_not_there_is_a_warning_not_an_error():
    hits = light("A.md:0", "A.md:1")
    query = TracedQuery("?")
    assert reranked(hits, Missing(), query) is hits
    assert query.trace.warnings == [
        "not reranked, the fused order stands: rerank.model: none is not on this machine; "
        "run: notehop models pull it"
    ]
