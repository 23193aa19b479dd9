"""A GGUF file on this disk; no network is needed.

Touches: model (looks at the file).
"""

from __future__ import annotations

from llama_index.core.llms import LLM

from notehop.config.settings import LlmSettings
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.gguf import GgufLLM
from notehop.indexing.llm.gguf_file import gguf_file
from notehop.indexing.llm.load import STEADY
from notehop.indexing.llm.told import ToldLLM


def build(llm: LlmSettings, asked: Asked) -> LLM:
    """The model, not loaded yet.

    :raises ProviderError: if the file is not there, or is none of GGUF.
    """
    file = gguf_file(llm.model)
    inner = GgufLLM(
        file=file,
        window=llm.context_window,
        max_tokens=llm.max_tokens,
        temperature=STEADY if llm.temperature is None else llm.temperature,
        gpu_layers=llm.gpu_layers,
        threads=llm.threads,
    )
    return ToldLLM(inner, asked)
