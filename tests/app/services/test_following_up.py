"""A follow-up is understood after what was said before it, and never brings in anything else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse

from notehop import open_vault
from tests.support.notes import NOTES
from tests.support.product import VaultHandle
from tests.support.real_index import opened_with
from tests.support.scripted_llm import ScriptedLLM
from tests.support.tables import rows

pytestmark = pytest.mark.model

FIRST = "Who needs more weeks for the tiles?"
SECOND = "And when is its launch?"
MEANT = "When is the launch of Atlas?"


class Talker(ScriptedLLM):
    """Says one thing where it is to condense, and another where it is to answer."""

    means: str = MEANT

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        told = super().complete(prompt, formatted, **kwargs)
        return CompletionResponse(text=self.means) if "<follow-up>" in prompt else told


@pytest.fixture
def opened(indexed: tuple[Path, Path]) -> Iterator[Callable[..., VaultHandle]]:
    handles: list[VaultHandle] = []

    def make(llm: ScriptedLLM | None = None) -> VaultHandle:
        handles.append(open_vault(indexed[0], index_dir=indexed[1], llm=llm))
        return handles[-1]

    yield make
    for handle in handles:
        handle.close()


def condensing(llm: ScriptedLLM) -> list[str]:
    return [prompt for prompt in llm.asked if "<follow-up>" in prompt]


def test_a_follow_up_is_searched_for_as_what_it_means(opened: Callable[..., VaultHandle]) -> None:
    llm = Talker(says="In June [1].")
    vault = opened(llm)
    first = vault.ask(FIRST, conversation_id="a")
    assert (first.conversation.turn, first.conversation.question) == (1, None)
    second = vault.ask(SECOND, conversation_id="a")
    assert (second.conversation.turn, second.conversation.question) == (2, MEANT)
    assert second.sources[0].path == "Atlas.md"
    assert second.sources[0].heading == "Timeline"
    assert MEANT in llm.asked[-1]
    assert "condense" in second.timings_ms
    (prompt,) = condensing(llm)
    assert FIRST in prompt
    assert "In June [1]." in prompt


def test_a_stream_that_is_left_is_no_turn(opened: Callable[..., VaultHandle]) -> None:
    vault = opened(Talker(says="In June [1]."))
    events = vault.stream(FIRST, conversation_id="a")
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert vault.ask(FIRST, conversation_id="a").conversation.turn == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("means", rows(__file__, "a_model_cannot_set_filters"))
def test_a_model_cannot_set_filters(opened: Callable[..., VaultHandle], means: str) -> None:
    vault = opened(Talker(says="In June [1].", means=means))
    vault.ask(FIRST, conversation_id="a")
    second = vault.ask(SECOND, conversation_id="a")
    assert second.filters == []
    assert "Atlas.md" in {source.path for source in second.sources}


def test_a_model_that_fails_is_told_and_no_reason_to_fail(opened: Callable[..., VaultHandle]) -> None:
    llm = Talker(says="In June [1].")
    vault = opened(llm)
    vault.ask(FIRST, conversation_id="a")
    llm.fails = "the line is dead"
    second = vault.ask(SECOND, conversation_id="a")
    assert any("taken as it stands: ConnectionError: the line is dead" in one for one in second.warnings)
    assert second.mode == "extractive"


def withdraw(vault: VaultHandle) -> None:
    note = vault.place.vault / "people/Priya 1-1.md"
    note.write_text("---\nprivate: true\n---\n" + note.read_text(encoding="utf-8"))


def test_what_was_made_private_is_not_sent(tmp_path: Path) -> None:
    llm = Talker(says="Four weeks more [1].")
    with opened_with(tmp_path, NOTES, llm) as vault:
        vault.ask(FIRST, conversation_id="a")
        withdraw(vault)
        vault.ask(SECOND, conversation_id="a")
    (prompt,) = condensing(llm)
    assert FIRST in prompt
    assert "Four weeks more" not in prompt


@pytest.mark.parametrize("means", rows(__file__, "a_quote_left_open_takes_no_filter_in"))
def test_a_quote_left_open_takes_no_filter_in(opened: Callable[..., VaultHandle], means: str) -> None:
    vault = opened(Talker(says="In May [1].", means=means))
    vault.ask(FIRST, conversation_id="a")
    second = vault.ask(f'{SECOND} path:"Priya 1-1.md" -path:Plan', conversation_id="a")
    assert second.filters == ['path:"Priya 1-1.md"', "-path:Plan"]


def test_a_question_made_of_what_became_private_is_not_sent(tmp_path: Path) -> None:
    llm = Talker(says="Priya has the flu [1].", means="When is the launch with the flu of Priya?")
    with opened_with(tmp_path, NOTES, llm) as vault:
        vault.ask(FIRST, conversation_id="a")
        llm.says = "In June [1]."
        vault.ask(f"path:Atlas.md {SECOND}", conversation_id="a")
        withdraw(vault)
        vault.ask("And who decides it?", conversation_id="a")
    before, after = condensing(llm)
    assert "flu" in before
    assert "flu" not in after
    assert SECOND in after
