"""Vectors of texts from the model: while the notes of one write are stored, those of the next are embedded.

Touches: model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.report import Progress
from notehop.indexing.stores.model import LIMITS

Matrix = NDArray[np.float32]

Embed = Callable[[Sequence[str]], Matrix]
"""Distinct texts (n > 0) -> L2-normalised float32 (n, dimensions), in the order given."""


class BackgroundEmbedder:
    """Takes texts whose vectors will be asked for, and gives them when they are.

    A few texts, and the first many, are embedded at once, in the caller's thread: that is where the
    model is opened, since two threads that import libraries can lock each other up. All others are
    embedded in a thread of their own, in the order in which they came.
    """

    def __init__(self, progress: EmbeddingProgress, few: int = LIMITS.embed_beside) -> None:
        """Embed through a progress, which shows how far the texts are.

        :param few: characters up to which texts are embedded in the caller's thread.
        """
        self._embedding = progress
        self._few = few
        self._opened = False
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: dict[str, tuple[Future[Matrix], int]] = {}

    def __enter__(self) -> BackgroundEmbedder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        if exc is not None:
            self._embedding.stop()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def want(self, texts: Iterable[str], notes: int) -> None:
        """Begin to embed texts; those that are wanted already are passed over.

        :param notes: how many notes are done with them.
        :raises ModelError: if the model fails at once; later it does so in :meth:`take`.
        """
        fresh = [text for text in dict.fromkeys(texts) if text not in self._jobs]
        if not fresh:
            return
        many = sum(map(len, fresh)) > self._few
        if many and self._opened:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "embed-ahead")
            self._put(fresh, self._pool.submit(self._embedding.embed, fresh, notes))
        else:
            self._now(fresh, notes)
        self._opened |= many

    def take(self, texts: Sequence[str]) -> Matrix:
        """The vectors of one or more distinct texts, which are forgotten then.

        Texts that nobody wanted are embedded now.

        :returns: shape (len(texts), dimensions), in the order of the texts.
        :raises ModelError: if the model fails.
        """
        unwanted = [text for text in texts if text not in self._jobs]
        if unwanted:
            self._now(unwanted, 0)
        found = [self._jobs.pop(text) for text in texts]
        return np.stack([job.result()[row] for job, row in found])

    def _now(self, texts: Sequence[str], notes: int) -> None:
        job: Future[Matrix] = Future()
        job.set_result(self._embedding.embed(texts, notes))
        self._put(texts, job)

    def _put(self, texts: Sequence[str], job: Future[Matrix]) -> None:
        self._jobs.update((text, (job, row)) for row, text in enumerate(texts))


class _Stopped(Exception):
    """Ends the embedding of texts that nobody waits for any more."""


class EmbeddingProgress:
    """Turns the passes of the model into notes, so that progress moves while a batch is embedded.

    ``texts`` counts what went through the model. One thread may embed while another stores.
    """

    def __init__(self, progress: Progress) -> None:
        self.texts = 0
        self._progress = progress
        self._embedder: Embedder | None = None
        self._cut = 0
        self._turn = threading.Lock()
        self._embedded = 0
        self._shown = 0
        self._stopped = False

    def watch(self, embedder: Embedder) -> None:
        """Embed with this model from now on."""
        self._embedder, self._cut = embedder, embedder.cut

    def embed(self, texts: Sequence[str], notes: int) -> Matrix:
        """Embed texts with which so many more notes are done, and show how far that is.

        :raises ModelError: if the model fails.
        :raises ValueError: if there is none.
        """
        if self._embedder is None:
            raise ValueError("no model to embed with")
        before = self._embedded

        def done(count: int) -> None:
            if self._stopped:
                raise _Stopped
            self.reached(before + notes * count // len(texts))

        matrix = self._embedder.embed(texts, done)
        self._embedded = before + notes
        with self._turn:
            self.texts += len(texts)
        return matrix

    def reached(self, notes: int) -> None:
        """Show that so many notes of the run are done, unless more were shown already."""
        with self._turn:
            if notes > self._shown:
                self._progress.advance(notes - self._shown)
                self._shown = notes

    def stop(self) -> None:
        """End what is being embedded at its next pass."""
        self._stopped = True

    def warnings(self) -> list[str]:
        """What the model did not see of the texts; empty if it saw all."""
        cut = self._embedder.cut - self._cut if self._embedder is not None else 0
        if not cut:
            return []
        return [f"{cut} texts were longer than the model's window; their ends have no vector"]
