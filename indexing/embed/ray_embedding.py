"""Embedding on the workers of a Ray cluster: batches go out, vectors come back, the dead are replaced.

Touches: network.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from notehop.config.errors import ModelError, NotehopError
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.embedder import OnBatch, Vectors
from notehop.indexing.embed.identity import describe_model
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.embed.ray_cluster import INSTALL_THERE, RayCluster, Slot

if TYPE_CHECKING:
    from notehop.indexing.embed.tokenizer import TokenOffsets
    from notehop.indexing.embed.torch_embedding import TorchEmbedding
    from notehop.indexing.llm.egress import Attempt

BATCH_CHARACTERS = 65_536
SMALLEST_BATCH = 4_096
"""Characters of texts that a worker is given at once: half a second of four cores. Fewer where few
are left, so that all workers have some."""

BATCHES_EACH = 4
"""Batches for each worker at least: the slow ones take fewer, and none waits long for the last."""

IN_FLIGHT = 2
"""Batches that a worker has: one that it embeds, and one that waits there meanwhile."""

MOST_LOSSES = 3
"""Workers that may die over one batch, and one after the other on one place of a node."""

START_S = 180.0
"""Seconds until the first worker must have its model, or a cluster in full use room for one."""

_LOOK_S = 5.0
"""Seconds between two looks at which nodes there are."""

Begin = Callable[[Slot, int, int], "Attempt | None"]
"""(where, bytes, attempt), before it is sent -> what writes down how that ended; None for nothing."""


class EmbeddingWorker:
    """An actor: the model, loaded once, on a node of the cluster."""

    def __init__(self) -> None:
        self._model: TorchEmbedding | None = None

    def open(self, release: str, settings: dict[str, Any], identity: dict[str, Any]) -> None:
        """Load the model, if it is the one that the index is made with.

        :raises ModelError: if it is missing here or another one, or if notehop is.
        """
        if (here := version("notehop")) != release:
            raise ModelError(
                f"has notehop {here}, and {release} asks; run there: "
                f"pip install 'notehop[ray]=={release}'"
            )
        wanted = EmbeddingSettings(**settings)
        found = describe_model(wanted).identity()
        for key, value in identity.items():
            if found.get(key) != value:
                raise ModelError(
                    f"has another {wanted.model}: its {key} is {found.get(key)!r}, and the index is "
                    f"made with {value!r}; install the same model there"
                )
        from notehop.indexing.embed.torch_embedding import load_bulk

        self._model = load_bulk(wanted)

    def embed(self, texts: list[str]) -> tuple[Vectors, int]:
        """Embed passages: (n, d) in their order, and how many of them were longer than the window."""
        assert self._model is not None
        before = self._model.cut
        return self._model.embed(texts), self._model.cut - before


class RayEmbedding(BaseEmbedding):
    """A LlamaIndex embedding whose passages are embedded on a Ray cluster, and queries here."""

    cut: int = 0
    _local: QueryEmbedder = PrivateAttr()
    _workers: _Workers = PrivateAttr()

    @classmethod
    def on(
        cls,
        cluster: RayCluster,
        local: QueryEmbedder,
        settings: EmbeddingSettings,
        begin: Begin = lambda *_: None,
    ) -> RayEmbedding:
        """Embed on a cluster with the model that embeds queries here.

        :param begin: told of each batch before it is sent.
        """
        made = cls(model_name=local.model_name, embed_batch_size=2048)
        made._local = local
        made._workers = _Workers(cluster, settings, local.identity(), begin)
        return made

    @classmethod
    def class_name(cls) -> str:
        return "RayEmbedding"

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._local.dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens the model sees at once."""
        return self._local.max_tokens

    @property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer."""
        return self._local.tokens

    def identity(self) -> dict[str, Any]:
        """Return what the fingerprint of an index names."""
        return self._local.identity()

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none.

        :raises ModelError: if no worker can be had, or the model fails on one.
        """
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        done = 0
        for which, (found, cut) in self._workers.embed(texts):
            rows[which] = found
            self.cut += cut
            done += len(which)
            if on_batch is not None:
                on_batch(done)
        return rows

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self.embed(texts).tolist()
        return rows

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._local.get_query_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await self._local.aget_query_embedding(query)


@dataclass(slots=True, eq=False)
class _Worker:
    slot: Slot
    actor: Any
    opening: Any
    flying: dict[Any, _Part] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Part:
    """Texts that go to a worker together, and how often one died over them."""

    which: list[int]
    texts: list[str]
    losses: int = 0
    attempt: Attempt | None = None

    @property
    def bytes(self) -> int:
        return sum(len(text.encode("utf-8", "replace")) for text in self.texts)


Embedded = tuple[list[int], tuple[Vectors, int]]


class _Workers:
    """The actors of one run: as many as the cluster has room for, made anew when they die."""

    def __init__(
        self,
        cluster: RayCluster,
        settings: EmbeddingSettings,
        identity: dict[str, Any],
        begin: Begin,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._identity = identity
        self._begin = begin
        self._workers: dict[Slot, _Worker] = {}
        self._deaths: Counter[Slot] = Counter()
        self._reason = ""
        self._looked = 0.0

    def embed(self, texts: Sequence[str]) -> Iterator[Embedded]:
        """Each batch as it is done, with the places of its texts."""
        if not texts:
            return
        from ray.exceptions import RayError

        try:
            yield from self._embedded(texts)
        except (RayError, ConnectionError) as exc:
            raise ModelError(
                f"--ray {self._cluster.address.text}: the cluster is gone ({_first_line(exc)}); what "
                "was committed stays: run it again when the cluster is back"
            ) from exc
        finally:
            for worker in self._workers.values():
                worker.flying.clear()

    def _embedded(self, texts: Sequence[str]) -> Iterator[Embedded]:
        import ray

        self._fill()
        parts = deque(parts_of(texts, BATCHES_EACH * len(self._workers)))
        waiting_since = time.monotonic()
        while parts or any(worker.flying for worker in self._workers.values()):
            if time.monotonic() - self._looked > _LOOK_S:
                self._fill()
            self._hand_out(parts)
            refs = [ref for worker in self._workers.values() for ref in worker.flying]
            refs += [one.opening for one in self._workers.values() if one.opening is not None]
            done, _ = ray.wait(refs, timeout=_LOOK_S)
            for ref in done:
                yield from self._taken(ref, parts)
            if any(worker.opening is None for worker in self._workers.values()):
                waiting_since = time.monotonic()
            elif time.monotonic() - waiting_since > START_S:
                raise ModelError(
                    f"--ray {self._cluster.address.text}: no worker began within {START_S:.0f} s "
                    f"({self._cluster.free()}); free some, or wait until others are done"
                )

    def _fill(self) -> None:
        """Start a worker wherever there is room for one.

        :raises ModelError: if there is none left.
        """
        self._looked = time.monotonic()
        slots = self._cluster.slots(self._settings.device)
        for slot in slots:
            if slot not in self._workers and self._deaths[slot] < MOST_LOSSES:
                self._workers[slot] = self._started(slot)
        if not self._workers:
            what = "GPUs" if self._settings.device == "cuda" else "CPUs or GPUs"
            why = self._reason or f"no node has {what} for Ray (`ray status`)"
            raise ModelError(f"--ray {self._cluster.address.text}: no worker can be had: {why}")

    def _started(self, slot: Slot) -> _Worker:
        actor = self._cluster.start(EmbeddingWorker, slot)
        settings = self._settings.model_copy(
            # Ray says how many threads a worker has.
            update={"device": slot.device(self._settings.device), "threads": 0}
        )
        opening = actor.open.remote(version("notehop"), settings.model_dump(), self._identity)
        return _Worker(slot, actor, opening)

    def _hand_out(self, parts: deque[_Part]) -> None:
        """Give every worker that has its model what it can take, all of them in turn."""
        for room in range(IN_FLIGHT):
            for worker in self._workers.values():
                if parts and worker.opening is None and len(worker.flying) <= room:
                    part = parts.popleft()
                    part.attempt = self._begin(worker.slot, part.bytes, part.losses + 1)
                    worker.flying[worker.actor.embed.remote(part.texts)] = part

    def _taken(self, ref: Any, parts: deque[_Part]) -> Iterator[Embedded]:
        """What a call came to; one that was lost with its worker goes back to the others."""
        import ray
        from ray.exceptions import RayTaskError

        worker = next(
            (one for one in self._workers.values() if ref == one.opening or ref in one.flying),
            None,
        )
        if worker is None:  # lost with another call of its worker
            return
        part = worker.flying.get(ref)
        try:
            found = ray.get(ref)
        except RayTaskError as exc:
            self._end(part, error="model")
            raise self._failed(worker.slot, exc) from exc
        except ray.exceptions.RayError as exc:
            self._lost(worker, exc, parts)
            return
        if part is None:
            worker.opening = None
            return
        del worker.flying[ref]
        del self._deaths[worker.slot]
        self._end(part, bytes_in=found[0].nbytes)
        yield part.which, found

    def _lost(self, worker: _Worker, exc: Exception, parts: deque[_Part]) -> None:
        """Go on without a worker that died, and with its batches."""
        import ray

        del self._workers[worker.slot]
        self._deaths[worker.slot] += 1
        # One that lost what it sent, or is slow to answer, may live on.
        ray.kill(worker.actor)
        where = f"node {worker.slot.host}"
        self._reason = f"{where}: {_why(exc)}"
        for part in worker.flying.values():
            self._end(part, error="refused")
            part.losses += 1
            if part.losses >= MOST_LOSSES:
                raise ModelError(
                    f"--ray {self._cluster.address.text}: {part.losses} workers died over the same "
                    f"{len(part.texts)} texts, the last on {where} ({_why(exc)}); if its memory ran "
                    "out, set a smaller embedding.batch_size"
                ) from exc
            parts.appendleft(part)
        self._looked = 0.0  # its node may be gone, or take another worker

    def _failed(self, slot: Slot, exc: Any) -> NotehopError:
        cause = exc.cause
        told = str(cause) if isinstance(cause, NotehopError) else _first_line(cause)
        return ModelError(f"--ray {self._cluster.address.text}: node {slot.host} {told}")

    @staticmethod
    def _end(part: _Part | None, *, bytes_in: int = 0, error: str | None = None) -> None:
        if part is not None and part.attempt is not None:
            part.attempt.end(bytes_in=bytes_in, error=error)


def parts_of(texts: Sequence[str], least: int) -> list[_Part]:
    """Put texts of like length together, the longest first: padding is wasted work.

    :param least: about how many parts there shall be, where there are texts for it.
    """
    size = min(BATCH_CHARACTERS, max(SMALLEST_BATCH, sum(map(len, texts)) // least))
    found: list[_Part] = []
    room = 0
    for place in sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place)):
        if room <= 0:
            found.append(_Part([], []))
            room = size
        found[-1].which.append(place)
        found[-1].texts.append(texts[place])
        room -= len(texts[place]) + 1
    return found


def _why(exc: Exception) -> str:
    """What ended a worker, in a line."""
    said = str(exc)
    if "No module named 'notehop" in said:
        return INSTALL_THERE
    return _first_line(exc)


def _first_line(exc: BaseException) -> str:
    return next((line.strip() for line in str(exc).splitlines() if line.strip()), repr(exc))
