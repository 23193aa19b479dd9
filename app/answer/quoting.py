"""The answer without a language model, as a LlamaIndex response synthesizer.

Touches: the embedding model, through the reading it is given.
"""

from __future__ import annotations

from llama_index.core.llms import MockLLM

from notehop.app.answer.checking import Checker
from notehop.app.answer.draft import Draft, quoted, silent
from notehop.app.answer.extractive import quotes
from notehop.app.answer.material import Material
from notehop.app.answer.relevance import Named, Reading
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.models import Source

SUBJECT, NEWS = "subject", "recent"
"""The signals that find what a question for news is about, and the newest notes with news of it."""


class ExtractiveSynthesizer(VaultSynthesizer):
    """Quotes the passages of the sources that answer best; asks no language model."""

    def __init__(
        self,
        vault: str,
        reading: Reading,
        *,
        max_sentences: int = 5,
        checker: Checker | None = None,
    ) -> None:
        """:param max_sentences: how many sentences or list items are quoted at most.
        :param checker: finds the place of each quote.
        """
        # The base class would otherwise look for a language model of its own, across the network.
        super().__init__(vault, MockLLM(), checker)
        self._reading = reading
        self._max = max_sentences

    def draft(self, query: str, material: Material) -> Draft:
        """Quote what answers, or say that the vault does not."""
        sources = [_named(source, material) for source in material.sources]
        found = quotes(query, sources, self._reading, self._max)
        return quoted(found) if found else silent(material.sources)


def _named(source: Source, material: Material) -> Named:
    return Named(
        source,
        material.names.get(source.marker, ()),
        subject=_decided(source, material, SUBJECT) > 0,
        news=_decided(source, material, NEWS),
    )


def _decided(source: Source, material: Material, signal: str) -> int:
    """The rank that a signal which decided gave a source; 0 if it gave none, or only voted."""
    if signal not in material.decided.get(source.marker, ()):
        return 0
    return int((source.signals or {}).get(signal, {}).get("rank") or 0)
