"""How a reply came about, on the terminal."""

from __future__ import annotations

import pytest

from notehop.app.cli.show_answer import show_hits
from notehop.app.cli.show_explanation import show_explanation
from notehop.app.models import Explanation, Hit, SearchResult
from tests.app.answer.samples import connected, source

FORGED = "a\n[9] Forged"


def reply(**changes: object) -> SearchResult:
    first = source(
        1,
        "text",
        path="Atlas.md",
        heading="Timeline",
        score=0.2,
        signals={
            "semantic": {"rank": 1, "score": 0.71234, "weight": 1.0},
            "subject": {"rank": 2, "score": 1.0, "weight": 0.5},
            "title": {"rank": 1, "score": 1.0, "weight": 4.0},
        },
        rerank={"score": 3.25, "rank_before": 4.0, "score_before": 0.1},
    )
    second = source(
        2,
        "text",
        path="Plan.md",
        signals={"expansion": {"rank": 1, "score": None, "weight": None}},
        expanded_from={"path": "Atlas.md", "line": 7, "way": "forward", "depth": 1, "edges": 2},
    )
    note = connected(1, "text", path="Budget.md")
    told = {
        "hits": [Hit(**one.model_dump(), file=one.path) for one in (first, second)],
        "connected_notes": [note],
        "generation": 1,
        "intent": "status",
        "explanation": Explanation(
            intent="status",
            rule="what is the status of {x}",
            about="the Atlas",
            subject=["Atlas.md"],
            weights={"semantic": 0.05, "subject": 0.5, "graph": 0.0},
            reasons=["the query is German, the model reads English"],
            rrf_k=20,
            template_share=0.5,
            counts={"fusion": {"semantic": 9}, "expansion": {"added": 3}},
        ),
        "timings_ms": {"semantic": 1.25, "total": 9.0},
    }
    return SearchResult.model_validate({**told, **changes})


def shown(result: SearchResult, capsys: pytest.CaptureFixture[str]) -> str:
    show_explanation(result, result.hits)
    return capsys.readouterr().out


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_intent_and_what_made_the_weights(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(reply(), capsys)
    assert "intent: status (rule: what is the status of {x})" in text
    assert "about: the Atlas" in text
    assert "subject: Atlas.md" in text
    assert "weights: semantic 0.05, subject 0.5\n" in text
    assert "fused: the sum of weight / (20 + rank)" in text
    assert "because: the query is German, the model reads English" in text


def test_each_signal_says_rank_and_score(capsys: pytest.CaptureFixture[str]) -> None:
    table = rows(shown(reply(), capsys))
    assert ["note", "fused", "semantic", "subject", "title", "expansion"] in table
    first = ["[1]", "Atlas.md", ">", "Timeline", "0.1000", "1.", "(0.71)", "2.", "(1.00)", "1."]
    assert [*first, "(1.00)", "-"] in table
    assert any(row[:2] == ["[2]", "Plan.md"] and row[-4:] == ["-", "-", "-", "1."] for row in table)


def test_the_fused_score_is_not_that_of_the_rerank(capsys: pytest.CaptureFixture[str]) -> None:
    assert any(row[:3] == ["[2]", "Plan.md", "-"] for row in rows(shown(reply(), capsys)))
    full = reply()
    hits = [one.model_copy(update={"rerank": None}) for one in full.hits]
    table = rows(shown(full.model_copy(update={"hits": hits}), capsys))
    assert any(row[:5] == ["[1]", "Atlas.md", ">", "Timeline", "0.2000"] for row in table)


def test_what_is_held_back_says_why_and_how_far(capsys: pytest.CaptureFixture[str]) -> None:
    full = reply()
    hit = full.hits[0].model_copy(update={"held_back": "it is a template"})
    text = shown(full.model_copy(update={"hits": [hit]}), capsys)
    assert "[1] held back: it is a template; it keeps 0.5 of its score" in text


def test_a_list_of_the_newest_has_no_weights(capsys: pytest.CaptureFixture[str]) -> None:
    listed = Explanation(intent="none", about="", weights={}, reasons=["there are no words"])
    text = shown(reply(explanation=listed), capsys)
    assert "because: there are no words" in text
    assert "weights" not in text
    assert any(row[:2] == ["note", "score"] for row in rows(text))


def test_rerank_expansion_and_connection(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(reply(), capsys)
    table = rows(text)
    assert ["[1]", "3.250", "4."] in table
    assert ["[2]", "Atlas.md", "7", "forward", "1", "2"] in table
    assert any(row and row[0] == "C1" for row in table)
    assert "expansion: added 3" in text
    assert "milliseconds: semantic 1.2, total 9.0" in text


def test_without_them_there_are_no_such_tables(capsys: pytest.CaptureFixture[str]) -> None:
    full = reply()
    bare = [one.model_copy(update={"rerank": None, "expanded_from": None}) for one in full.hits]
    text = shown(full.model_copy(update={"hits": bare, "connected_notes": []}), capsys)
    assert "rank before" not in text
    assert "by a link in" not in text
    assert "connected by" not in text


def test_nothing_is_shown_that_was_not_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    result = reply(explanation=None)
    show_hits(result, lambda: "")
    assert "fused" not in capsys.readouterr().out


def test_names_stay_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    told = Explanation(intent="status", about=FORGED, subject=[FORGED], weights={"semantic": 1})
    forged = reply(explanation=told)
    hit = forged.hits[0].model_copy(update={"path": f"{FORGED}.md", "heading": FORGED})
    text = shown(forged.model_copy(update={"hits": [hit]}), capsys)
    assert not any(line.startswith("[9]") for line in text.splitlines())
