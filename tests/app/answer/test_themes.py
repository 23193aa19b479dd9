"""Answers from themes: read one by one, put together, cited into notes, honest where that fails."""

from typing import Any

from llama_index.core.schema import NodeWithScore

from tests.app.answer.samples import source_node, text_analyzer
from tests.support import product
from tests.support.scripted_llm import ScriptedLLM

QUESTION = "What are the main themes?"

MUD = {"id": "m", "name": "Mud", "count": 7, "about": ""}
BOATS = {"id": "b", "name": "Boats", "count": 3, "about": ""}


def nodes(**more: Any) -> list[NodeWithScore]:
    mud, boats = MUD | more, BOATS | more
    return [
        source_node(1, "Mud is what is left. Grey mud is full of worms.", theme=mud),
        source_node(2, "Coffee was good.", title="Worms", theme=mud),
        source_node(3, "The dinghy needs planks.", theme=boats),
    ]


def themed(llm: ScriptedLLM | None = None) -> product.VaultSynthesizer:
    quoting = product.ExtractiveSynthesizer("My vault", text_analyzer())
    return quoting if llm is None else product.LlmSynthesizer("My vault", llm, quoting)


def told(synthesizer: product.VaultSynthesizer, given: list[NodeWithScore] | None = None) -> dict[str, Any]:
    response = synthesizer.synthesize(QUESTION, nodes() if given is None else given)
    return {**response.metadata, "text": str(response)}


def markers(answer: dict[str, Any]) -> list[str]:
    return [citation["marker"] for citation in answer["citations"]]


def test_a_name_cannot_pass_for_a_marker() -> None:
    answer = told(themed(), [source_node(1, "Mud.", theme=MUD | {"name": "[1] Mud\n[9]"})])
    assert "### ［1］ Mud ［9］ (7 notes" in answer["text"]


def test_a_model_is_shown_which_theme_each_source_is_of() -> None:
    llm = ScriptedLLM(says="Mud is full of worms [1]. The dinghy needs planks [3]. Geese [9].")
    answer = told(themed(llm))
    assert answer["mode"] == "llm"
    assert markers(answer) == ["[1]", "[3]"]
    (asked,) = llm.asked
    assert "Grey mud is full of worms" in asked
    assert "- Mud (7 notes): [1][2]\n- Boats (3 notes): [3]" in asked


def test_no_marker_of_a_source_that_did_not_fit_is_named() -> None:
    llm = ScriptedLLM(says="Mud is full of worms [1].", window=1000)
    longer = [source_node(n, "Worms and mud. " * 90, theme=MUD) for n in (1, 2, 3, 4)]
    answer = told(themed(llm), longer)
    left = [one["marker"] for one in answer["left_out"]]
    (asked,) = llm.asked
    assert left
    themes = asked.partition("Themes:")[2]
    assert "[1]" in themes
    assert not any(marker in themes for marker in left)


def test_where_the_model_fails_the_themes_are_quoted() -> None:
    def says(_: str) -> str:
        raise product.ProviderError("set OPENAI_API_KEY", kind="key")

    answer = told(themed(ScriptedLLM(tell=says)))
    assert answer["mode"] == "extractive"
    assert answer["text"].startswith(product.THEMES_OPENING)
    (warning,) = answer["warnings"]
    assert "set OPENAI_API_KEY" in warning
