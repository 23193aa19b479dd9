"""Vectors of texts from the model: while the notes of one write are stored, those of the next are embedded.

Touches: model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.report import Progress
from notehop.indexing.stores.model import LIMITS

Matrix = NDArray[np.float32]


Begin = Callable[[Callable[[], Any]], Future[Any]]
"""Begins work whose result is asked for later."""


@contextmanager
def beside(embedding: EmbeddingProgress) -> Iterator[Begin]:
    """Give what begins work in a thread of its own, in the order in which it comes.

    Until many texts were embedded, work is done at once, in the caller's thread: that is where the
    model is opened, since two threads that import libraries can lock each other up.
    """
    with ThreadPoolExecutor(1, "notehop-embed") as pool:

        def begin(work: Callable[[], Any]) -> Future[Any]:
            if embedding.opened:
                return pool.submit(work)
            done: Future[Any] = Future()
            done.set_result(work())
            return done

        try:
            yield begin
        except BaseException:
            embedding.stop()
            pool.shutdown(cancel_futures=True)
            raise


class _Stopped(Exception):
    """Ends the embedding of texts that nobody waits for any more."""


class EmbeddingProgress:
    """Turns the passes of the model into notes, so that progress moves while a batch is embedded.

    ``texts`` counts what went through the model, ``opened`` says whether many did at once. One
    thread may embed while another stores.
    """

    def __init__(self, progress: Progress, few: int = LIMITS.embed_beside) -> None:
        """Begin with nothing.

        :param few: characters up to which texts are few.
        """
        self.texts = 0
        self.opened = False
        self._few = few
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
        self.opened |= sum(map(len, texts)) > self._few
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
