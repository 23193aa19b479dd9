"""The answer that a language model writes, as a LlamaIndex response synthesizer.

Touches: the language model that is handed in, which may be across the network.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.utils import get_tokenizer

from app.answer.draft import Draft, names_of, written
from app.answer.fitting import CountTokens, Fitted, fit
from app.answer.material import Material
from app.answer.pieces import MarkerFilter
from app.answer.prompts import ANSWER_PROMPT
from app.answer.pulled import pulled
from app.answer.synthesizer import VaultSynthesizer

_log = logging.getLogger(__name__)

PROMPT = "answer_prompt"

RESERVE = 1_000
"""Tokens of the window kept for the rules, the question and the answer, unless the model states a
longer answer."""


class LlmSynthesizer(VaultSynthesizer):
    """Asks a language model, and checks every marker of what it writes.

    A model that fails or says nothing does not leave the user without an answer: the fallback
    answers, and a warning says why. The prompt is :meth:`get_prompts` ``["answer_prompt"]``, with
    the variables ``context_str`` and ``query_str``.
    """

    def __init__(
        self,
        vault: str,
        llm: LLM,
        fallback: VaultSynthesizer,
        *,
        prompt: BasePromptTemplate = ANSWER_PROMPT,
    ) -> None:
        super().__init__(vault, llm)
        self._fallback = fallback
        self._prompt = prompt

    def draft(self, query: str, material: Material) -> Draft:
        """Ask the model once."""
        fitted = self._fit(query, material)
        try:
            text = self._llm.predict(self._prompt, context_str=fitted.context, query_str=query)
        except Exception as exc:  # noqa: BLE001 - any provider's error; the reply carries it
            return _instead(self._fallback.draft(query, material), exc)
        if not text.strip():
            return _instead(self._fallback.draft(query, material), None)
        return self._checked(fitted, text)

    async def adraft(self, query: str, material: Material) -> Draft:
        """Ask the model once, without blocking."""
        fitted = self._fit(query, material)
        try:
            text = await self._llm.apredict(
                self._prompt, context_str=fitted.context, query_str=query
            )
        except Exception as exc:  # noqa: BLE001 - any provider's error; the reply carries it
            return _instead(await self._fallback.adraft(query, material), exc)
        if not text.strip():
            return _instead(await self._fallback.adraft(query, material), None)
        return self._checked(fitted, text)

    def stream_draft(
        self, query: str, material: Material, cancelled: Callable[[], bool]
    ) -> Generator[str, None, Draft | None]:
        """Ask the model once, and hand on what it says while it says it.

        If it fails in the middle, the draft is that of the fallback, whatever was handed on.
        """
        fitted = self._fit(query, material)
        filtered = MarkerFilter(*names_of(fitted.material))
        said: list[str] = []
        try:
            with closing(pulled(lambda: self._tokens(query, fitted), cancelled)) as tokens:
                for token in tokens:
                    said.append(token)
                    if piece := filtered.feed(token):
                        yield piece
        except NotImplementedError:
            # A model that cannot stream answers at once.
            return (yield from super().stream_draft(query, material, cancelled))
        except Exception as exc:  # noqa: BLE001 - any provider's error; the reply carries it
            return (yield from self._stand_in(query, material, exc, cancelled))
        if cancelled():
            return None
        text = "".join(said)
        if not text.strip():
            return (yield from self._stand_in(query, material, None, cancelled))
        if piece := filtered.close():
            yield piece
        return self._checked(fitted, text)

    def _stand_in(
        self,
        query: str,
        material: Material,
        failure: Exception | None,
        cancelled: Callable[[], bool],
    ) -> Generator[str, None, Draft | None]:
        draft = yield from self._fallback.stream_draft(query, material, cancelled)
        return None if draft is None else _instead(draft, failure)

    def _tokens(self, query: str, fitted: Fitted) -> Generator[str, None, None]:
        """What the model says, as it comes; closing it closes the model's connection."""
        said = self._llm.stream(self._prompt, context_str=fitted.context, query_str=query)
        try:
            yield from said
        finally:
            if isinstance(said, Generator):
                said.close()

    def _get_prompts(self) -> PromptDictType:
        return {PROMPT: self._prompt}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._prompt = prompts.get(PROMPT, self._prompt)

    def _fit(self, query: str, material: Material) -> Fitted:
        metadata = self._llm.metadata
        reserve = max(RESERVE, metadata.num_output + RESERVE // 2) + len(query) // 2
        return fit(material, max(metadata.context_window - reserve, 1), _counter)

    def _checked(self, fitted: Fitted, text: str) -> Draft:
        draft = written(text, fitted.material)
        if not fitted.left_out:
            return draft
        warning = (
            f"{fitted.left_out} of the notes below did not fit the language model's window of "
            f"{self._llm.metadata.context_window} tokens; lower connected.context_chunks or take a "
            "model with a larger one"
        )
        return replace(draft, warnings=(*draft.warnings, warning))


def _instead(draft: Draft, failure: Exception | None) -> Draft:
    """The fallback's draft with the reason why it stands in; None: the model said nothing."""
    if failure is not None:
        _log.debug("the language model failed", exc_info=failure)
    reason = "it said nothing" if failure is None else _first_line(failure)
    warning = f"the language model gave no answer: {reason}; the notes are quoted instead"
    return replace(draft, warnings=(*draft.warnings, warning))


def _first_line(failure: Exception) -> str:
    lines = str(failure).strip().splitlines()
    return f"{type(failure).__name__}: {lines[0][:200]}" if lines else type(failure).__name__


def _counter() -> CountTokens:
    tokenizer = get_tokenizer()
    return lambda text: len(tokenizer(text))
