"""Embedding ahead: the model works on the notes of one write while those before it are stored.

Touches: model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from notehop.indexing.pipeline.meter import Meter
from notehop.indexing.stores.limits import LIMITS

if TYPE_CHECKING:
    from notehop.indexing.pipeline.vectorise import Matrix


class EmbedAhead:
    """Takes texts whose vectors will be asked for, and gives them when they are.

    A few texts, and the first many, are embedded at once, in the caller's thread: that is where the
    model is opened, since two threads that import libraries can lock each other up. All others are
    embedded in a thread of their own, in the order in which they came.
    """

    def __init__(self, meter: Meter, few: int = LIMITS.embed_beside) -> None:
        """Embed through a meter, which shows how far the texts are.

        :param few: characters up to which texts are embedded in the caller's thread.
        """
        self._meter = meter
        self._few = few
        self._opened = False
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: dict[str, tuple[Future[Matrix], int]] = {}

    def __enter__(self) -> EmbedAhead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        if exc is not None:
            self._meter.stop()
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
            self._put(fresh, self._pool.submit(self._meter.embed, fresh, notes))
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
        job.set_result(self._meter.embed(texts, notes))
        self._put(texts, job)

    def _put(self, texts: Sequence[str], job: Future[Matrix]) -> None:
        self._jobs.update((text, (job, row)) for row, text in enumerate(texts))
