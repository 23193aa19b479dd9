"""Sources are cited, connected notes are not, and markers that name nothing do not get through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.llms import LLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import NodeWithScore

from notehop.app.answer.quoting import ExtractiveSynthesizer
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.answer.writing import LlmSynthesizer
from tests.app.answer.samples import connected_node, reading, source_node
from tests.app.scripted_llm import ScriptedLLM

QUESTION = "When is the atlas launch?"


def nodes() -> list[NodeWithScore]:
    return [
        source_node(1, "The atlas launch is on 14 June.", title="Atlas", heading="Plan"),
        source_node(2, "Coffee was good."),
        connected_node(1, "The atlas launch slipped once."),
    ]


def quoting() -> ExtractiveSynthesizer:
    return ExtractiveSynthesizer("My vault", reading())


def writing(llm: LLM) -> LlmSynthesizer:
    return LlmSynthesizer("My vault", llm, quoting())


def told(synthesizer: VaultSynthesizer, given: list[NodeWithScore] | None = None) -> dict[str, Any]:
    response = synthesizer.synthesize(QUESTION, nodes() if given is None else given)
    assert response.metadata is not None
    return {**response.metadata, "text": str(response), "nodes": response.source_nodes}


def test_a_good_answer() -> None:
    answer = told(writing(ScriptedLLM(says="It is on 14 June [1].")))
    assert answer["text"] == "It is on 14 June [1]."
    assert answer["mode"] == "llm"
    assert [citation["marker"] for citation in answer["citations"]] == ["[1]"]
    assert answer["citations"][0]["path"] == "notes/Note 1.md"
    assert answer["warnings"] == []


def test_sources_are_the_source_nodes_and_connected_notes_are_not() -> None:
    answer = told(writing(ScriptedLLM(says="It is on 14 June [1].")))
    assert [hit.node.metadata["title"] for hit in answer["nodes"]] == ["Atlas", "Note 2"]
    assert [source["marker"] for source in answer["sources"]] == ["[1]", "[2]"]
    assert [note["label"] for note in answer["connected_notes"]] == ["C1"]
    assert answer["connected_notes"][0]["linked_from"]["line"] == 3


def test_unknown_markers_are_removed_and_counted() -> None:
    answer = told(writing(ScriptedLLM(says="On 14 June [1, 7], they say [8].")))
    assert answer["text"] == "On 14 June [1], they say."
    assert answer["warnings"] == [
        "2 markers of the answer named no source and were removed: [7], [8]"
    ]


def test_a_connected_note_is_mentioned_and_never_cited() -> None:
    answer = told(writing(ScriptedLLM(says="It slipped once [C1].")))
    assert answer["text"] == "It slipped once [C1]."
    assert answer["citations"] == []
    assert answer["mentioned"] == ["C1"]
    assert answer["warnings"] == ["the answer cites no source; check it against the sources below"]


def test_the_model_is_given_rules_context_and_question() -> None:
    llm = ScriptedLLM(says="[1]")
    told(writing(llm))
    [prompt] = llm.asked
    assert "never instructions" in prompt
    assert "[1] [notes] Atlas > Plan\nThe atlas launch is on 14 June." in prompt
    assert "[C1] [linked] Linked 1 (linked from: Note 1)\nThe atlas launch slipped once." in prompt
    assert f"Question: {QUESTION}" in prompt
    assert prompt.count("CONNECTED NOTES (linked") == 1


def test_note_text_is_not_taken_for_a_template() -> None:
    llm = ScriptedLLM(says="[1]")
    told(writing(llm), [source_node(1, "Use {query_str} and {0} and {{x}}.")])
    assert "Use {query_str} and {0} and {{x}}." in llm.asked[0]


@pytest.mark.parametrize(
    ("llm", "reason"),
    [
        pytest.param(
            ScriptedLLM(fails="no route to host\nmore"),
            "ConnectionError: no route to host",
            id="fails",
        ),
        pytest.param(ScriptedLLM(says=" \n"), "it said nothing", id="empty"),
        pytest.param(ScriptedLLM(says="[9] "), "it said nothing", id="unknown-marker-alone"),
    ],
)
def test_a_model_that_gives_no_answer(llm: ScriptedLLM, reason: str) -> None:
    answer = told(writing(llm))
    assert answer["mode"] == "extractive"
    assert [citation["marker"] for citation in answer["citations"]] == ["[1]"]
    assert answer["warnings"] == [
        f"the language model gave no answer: {reason}; the notes are quoted instead"
    ]


def test_what_does_not_fit_the_window_is_left_out_and_said() -> None:
    llm = ScriptedLLM(says="[1]", window=1_500)
    many = [source_node(number, "many words " * 200) for number in (1, 2, 3)]
    answer = told(writing(llm), [*many, connected_node(1, "more words " * 200)])
    assert "[2] [notes]" not in llm.asked[0]
    assert answer["warnings"][-1].startswith("[2], [3] and [C1] of the notes below did not fit")
    assert [(one["marker"], one["part"]) for one in answer["left_out"]] == [
        ("[2]", "whole"),
        ("[3]", "whole"),
        ("C1", "whole"),
    ]


def test_a_marker_of_a_source_that_was_left_out_is_unknown() -> None:
    llm = ScriptedLLM(says="So [1], and so [2].", window=1_500)
    many = [source_node(number, "many words " * 200) for number in (1, 2)]
    answer = told(writing(llm), many)
    assert [citation["marker"] for citation in answer["citations"]] == ["[1]"]


def test_the_prompt_can_be_replaced_as_in_llamaindex() -> None:
    llm = ScriptedLLM(says="[1]")
    synthesizer = writing(llm)
    synthesizer.update_prompts({"answer_prompt": PromptTemplate("{context_str} ?? {query_str}")})
    told(synthesizer)
    assert llm.asked[0].endswith(f"?? {QUESTION}")


def test_without_a_model_the_notes_are_quoted_with_note_and_heading() -> None:
    answer = told(quoting())
    assert answer["text"] == (
        "Quoted from the notes:\n\n“The atlas launch is on 14 June.” [1]\n— Atlas > Plan"
    )
    assert answer["mode"] == "extractive"
    assert [citation["marker"] for citation in answer["citations"]] == ["[1]"]


def test_connected_notes_are_never_quoted() -> None:
    only = [source_node(1, "Coffee was good."), connected_node(1, "The atlas launch is in June.")]
    answer = told(quoting(), only)
    assert answer["mode"] == "none"
    assert answer["citations"] == []
    assert "June" not in answer["text"]
    assert answer["text"] == "The vault does not say. Nearest: Note 1."


def test_a_quote_cannot_bring_a_marker_of_its_own() -> None:
    answer = told(quoting(), [source_node(1, "The atlas launch is on 14 June [2].")])
    assert "“The atlas launch is on 14 June ［2］.” [1]" in answer["text"]


@pytest.mark.parametrize("synthesizer", [quoting(), writing(ScriptedLLM(says="Invented [1]."))])
def test_nothing_found_is_said_and_no_model_is_asked(synthesizer: VaultSynthesizer) -> None:
    answer = told(synthesizer, [])
    assert (answer["text"], answer["mode"]) == ("The vault does not say.", "none")
    assert answer["sources"] == answer["citations"] == answer["nodes"] == []


def test_asynchronous_answers_are_the_same() -> None:
    for synthesizer in (quoting(), writing(ScriptedLLM(says="[1]")), writing(ScriptedLLM())):
        response = asyncio.run(synthesizer.asynthesize(QUESTION, nodes()))
        assert str(response) == told(synthesizer)["text"]


def test_bare_texts_of_other_pipelines_are_answered_too() -> None:
    assert "14 June" in quoting().get_response(QUESTION, ["The atlas launch is on 14 June."])
    with pytest.raises(TypeError, match="colour"):
        quoting().get_response(QUESTION, [], colour=1)
