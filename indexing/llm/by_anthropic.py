"""Anthropic.

Touches: network, through the door.
"""

from __future__ import annotations

import anthropic
import httpx
from llama_index.core.llms import LLM

from notehop.config.errors import ProviderError
from notehop.config.settings import LlmSettings
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.claude import ClaudeLLM
from notehop.indexing.llm.door import Door
from notehop.indexing.llm.gate import Gate
from notehop.indexing.llm.told import ToldLLM

NO_KEY = "none"
"""What the SDK is given for a key: the door puts in the true one."""

SERVICE_WINDOW = 200_000
"""Tokens of the window of every model of the service; some can be had with more."""


def build(llm: LlmSettings, asked: Asked, gate: Gate) -> LLM:
    """The model, behind the door.

    :raises ProviderError: if the temperature is more than it takes.
    """
    if llm.temperature is not None and llm.temperature > 1:
        raise ProviderError(
            f"llm.temperature = {llm.temperature:g}: {asked.provider} takes 0 to 1; lower it"
        )
    inner = ClaudeLLM(
        anthropic.Anthropic(
            api_key=NO_KEY,
            base_url=asked.url,
            # The door sends again, and knows for how long to wait.
            max_retries=0,
            timeout=llm.timeout_s,
            http_client=httpx.Client(transport=Door(gate), trust_env=False),
        ),
        model=llm.model,
        max_tokens=llm.max_tokens,
        temperature=llm.temperature,
        window=llm.context_window or SERVICE_WINDOW,
    )
    return ToldLLM(inner, asked)
