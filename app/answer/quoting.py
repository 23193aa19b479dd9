"""The answer without a language model, as a LlamaIndex response synthesizer.

Touches: the embedding model, through the reading it is given.
"""

from __future__ import annotations

from llama_index.core.llms import MockLLM

from app.answer.draft import Draft, quoted, silent
from app.answer.extractive import quotes
from app.answer.material import Material
from app.answer.relevance import Named, Reading
from app.answer.synthesizer import VaultSynthesizer


class ExtractiveSynthesizer(VaultSynthesizer):
    """Quotes the passages of the sources that answer best; asks no language model."""

    def __init__(self, vault: str, reading: Reading, *, max_sentences: int = 5) -> None:
        """:param max_sentences: how many sentences or list items are quoted at most."""
        # The base class would otherwise look for a language model of its own, across the network.
        super().__init__(vault, MockLLM())
        self._reading = reading
        self._max = max_sentences

    def draft(self, query: str, material: Material) -> Draft:
        """Quote what answers, or say that the vault does not."""
        sources = [
            Named(source, material.names.get(source.marker, ())) for source in material.sources
        ]
        found = quotes(query, sources, self._reading, self._max)
        return quoted(found) if found else silent(material.sources)
