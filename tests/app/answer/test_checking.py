"""An answer is checked sentence by sentence, whatever happens, and its text stays what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen

from notehop.app.answer.checking import Checked, Checker
from notehop.app.answer.cross_check import CrossCheck
from notehop.app.answer.draft import quoted, written
from notehop.app.answer.extractive import Quote
from notehop.app.answer.material import material_of
from notehop.app.answer.quoting import ExtractiveSynthesizer
from notehop.app.answer.relevance import Reading
from notehop.app.answer.writing import LlmSynthesizer
from notehop.config.errors import ModelError
from tests.app.answer.samples import connected_node, reading, source_node
from tests.app.scripted_llm import ScriptedLLM

NODES = [
    source_node(
        1,
        "# Plan\nThe atlas launch is on 14 June 2027. Tiles come first.",
        title="Atlas",
        first_line=4,
        last_line=5,
    ),
    source_node(2, "Coffee was good. The beta of the atlas starts on 2 May."),
    connected_node(1, "The atlas launch slipped once."),
]
MATERIAL = material_of(NODES, "My vault")
ANSWER = (
    "The atlas launch is on 14 June 2027 [1]. The beta starts on 2 May. [2] "
    "The atlas launch is on 14 June 2028 [1]. It slipped once [C1]. Nobody minds. Who knows?"
)


def check(text: str, read: Reading | None = None, **options: Any) -> Checked:
    checker = Checker(read or reading(), "My vault", **options)
    return checker.check(written(text, MATERIAL), MATERIAL)


def test_each_sentence_says_what_supports_it() -> None:
    found = check(ANSWER)
    assert [(one.support, one.flag, one.lacks) for one in found.claims] == [
        ("high", None, []),
        ("high", None, []),
        ("none", "unsupported", ["14 June 2028"]),
        ("none", "context", []),
        ("none", "uncited", []),
        (None, None, []),
    ]
    assert [ANSWER[slice(*one.span)] for one in found.claims] == [one.text for one in found.claims]
    assert found.warnings == ()


def test_evidence_is_the_words_of_the_source_in_their_lines() -> None:
    [first, second] = check(ANSWER).claims[:2]
    [evidence] = first.evidence
    assert evidence.quote == "The atlas launch is on 14 June 2027."
    assert (evidence.marker, evidence.support, evidence.lines) == ("[1]", "high", (5, 5))
    assert evidence.uri.endswith("file=notes%2FNote%201.md%23Plan")
    assert second.evidence[0].quote == "The beta of the atlas starts on 2 May."


def test_of_two_sources_each_has_its_own_support() -> None:
    [claim] = check("The beta of the atlas starts on 2 May [1][2].").claims
    assert claim.support == "high"
    assert [(one.marker, one.support) for one in claim.evidence] == [
        ("[1]", "none"),
        ("[2]", "high"),
    ]
    assert claim.evidence[0].quote == ""


def test_a_source_is_shown_with_its_best_support() -> None:
    best = check("The atlas launch is on 14 June 2028 [1]. Tiles come first [1].").best
    assert (best["[1]"].support, best["[1]"].quote) == ("high", "Tiles come first.")


def test_quotes_are_supported_by_construction() -> None:
    [one] = MATERIAL.sources[:1]
    draft = quoted([Quote(one, "Tiles come first.", ((44, 61),))])
    found = Checker(reading(), "My vault").check(draft, MATERIAL)
    assert [(claim.support, claim.flag) for claim in found.claims] == [
        (None, None),
        ("high", None),
        (None, None),
    ]
    assert found.best["[1]"].quote == "Tiles come first."


def broken(*_: object) -> Any:
    raise ModelError("the model is gone\nfor good")


def test_without_a_model_words_alone_are_compared_and_it_is_said() -> None:
    found = check("Atlas has a launch in June [1].", replace(reading(), vectors=broken))
    assert found.claims[0].support == "high"
    assert found.warnings == (
        "the citations were compared with the notes by words alone: the model is gone",
    )


def test_out_of_time_words_alone_are_compared_and_it_is_said() -> None:
    found = check(
        "Atlas has a launch in June [1]. So has the beta [2].",
        replace(reading(), vectors=broken),
        within_ms=0,
    )
    assert found.warnings == (
        "2 citations compared with the notes by words alone: the 0 ms of answer.check_ms were over",
    )


def test_a_check_that_breaks_does_not_break_the_answer() -> None:
    def fails(_: str) -> Sequence[Any]:
        raise KeyError("gone")

    found = check(ANSWER, replace(reading(), terms=fails))
    assert found.claims == ()
    assert found.warnings == ("the citations were not checked against the notes: KeyError",)


class Fixed:
    """Scores by a table; what it does not hold is a 0."""

    name = "fixed"

    def __init__(self, scores: dict[str, float], *, fails: bool = False) -> None:
        self._scores = scores
        self._fails = fails

    def load(self) -> None:
        if self._fails:
            raise ModelError("no such model")

    def take(self, seconds: float) -> bool:
        return seconds > 0

    def give(self) -> None:
        """Nobody waits."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [8.0 if text == query else self._scores.get(text, 0.0) for text in texts]


VAGUE = "Launch day of this atlas comes late [1]."


@pytest.mark.parametrize(("score", "support"), [(8.0, "high"), (0.0, "none"), (-9.0, "none")])
def test_a_cross_encoder_is_read_between_its_own_ends(score: float, support: str) -> None:
    """The sentence itself is at the upper end, an empty page at the lower one."""
    scorer = Fixed({"The atlas launch is on 14 June 2027.": score})
    found = check(VAGUE, cross=lambda: CrossCheck(scorer, budget_ms=100))
    assert found.claims[0].support == support
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("scorer", "budget", "warning"),
    [
        (Fixed({}, fails=True), 100, "without the cross-encoder: no such model"),
        (Fixed({}), 0, "the cross-encoder read 0 of the cited sentences: the 0 ms of"),
    ],
)
def test_a_cross_encoder_that_cannot_be_used(scorer: Fixed, budget: int, warning: str) -> None:
    plain = check(VAGUE)
    found = check(VAGUE, cross=lambda: CrossCheck(scorer, budget_ms=budget))
    assert found.claims == plain.claims
    assert warning in found.warnings[0]


class Writing(ScriptedLLM):
    """Streams its words one by one."""

    def stream_complete(
        self,
        prompt: str,  # noqa: ARG002
        formatted: bool = False,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> CompletionResponseGen:
        """Say a word at a time."""
        for word in self.says.split(" "):
            yield CompletionResponse(text="", delta=f"{word} ")


def answered(streamed: bool) -> dict[str, Any]:
    checker = Checker(reading(), "My vault")
    quoting = ExtractiveSynthesizer("My vault", reading(), checker=checker)
    synthesizer = LlmSynthesizer("My vault", Writing(says=ANSWER), quoting, checker=checker)
    if not streamed:
        response = synthesizer.synthesize("When?", NODES)
    else:
        events = synthesizer.streamed("When?", MATERIAL, lambda: False)
        while True:
            try:
                next(events)
            except StopIteration as end:
                response = end.value
                break
    assert response.metadata is not None
    return response.metadata


def test_a_streamed_answer_is_checked_as_one_at_once() -> None:
    at_once, streamed = answered(streamed=False), answered(streamed=True)
    assert at_once["timings_ms"]["check"] >= 0
    assert at_once["claims"] == streamed["claims"]
    assert at_once["citations"] == streamed["citations"]
    [first, second] = at_once["citations"]
    assert (first["support"], first["quote_lines"]) == ("high", (5, 5))
    assert second["quote"] == "The beta of the atlas starts on 2 May."
    assert len(at_once["claims"]) == 6
