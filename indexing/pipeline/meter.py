"""How far a batch has come: passages that went through the model, shown as notes done."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.embed.embedder import Embedder
from indexing.pipeline.vectorise import Matrix
from indexing.report import Progress

CHUNKS_SHARE = 0.6
"""Part of a batch's work that is its chunks; the sentences of its links are the rest."""


class Meter:
    """Turns the batches of the model into notes, so that progress moves while a batch is embedded.

    ``texts`` counts what went through the model.
    """

    def __init__(self, progress: Progress) -> None:
        self.texts = 0
        self._cut = 0
        self._progress = progress
        self._notes = 0
        self._shown = 0
        self._share = 0.0

    def begin(self, notes: int) -> None:
        """Start a batch of so many notes."""
        self._notes, self._shown, self._share = notes, 0, 0.0

    def end(self) -> None:
        """End it: all its notes are done."""
        self._show(self._notes)

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Matrix:
        """Embed texts and show how far that is."""
        before = self._share
        room = CHUNKS_SHARE if before == 0 else 1 - before

        def done(count: int) -> None:
            self._show(int(self._notes * (before + room * count / len(texts))))

        matrix = embedder.embed(texts, done)
        self._share = min(1.0, before + room)
        self.texts += len(texts)
        self._cut = embedder.cut
        return matrix

    def warnings(self) -> list[str]:
        """What the model did not see of the texts; empty if it saw all."""
        if not self._cut:
            return []
        return [f"{self._cut} texts were longer than the model's window; their ends have no vector"]

    def _show(self, notes: int) -> None:
        if notes > self._shown:
            self._progress.advance(notes - self._shown)
            self._shown = notes
