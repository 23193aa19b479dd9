"""Which embedding a run takes: the exported model, torch, or both; or a cluster's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config import Settings
from notehop.config.settings import EmbeddingSettings
from notehop.indexing import crash_points
from notehop.indexing.embed import onnx_model
from notehop.indexing.embed.embedder import BulkEmbedder, Embedder, OnBatch, Vectors
from notehop.indexing.embed.identity import describe_model, model_identity
from notehop.indexing.embed.models import MULTILINGUAL_NAME
from notehop.indexing.stores.layout import IndexLayout

if TYPE_CHECKING:
    from notehop.indexing.embed.torch_embedding import TorchEmbedding


LoadEmbedder = Callable[[EmbeddingSettings, Path], Embedder]
"""(settings, model folder of the index) -> a model, loaded as far as cutting notes takes it."""

SMALL_CHANGE, PACKED_CHANGE = 80_000, 20_000
"""Characters of text up to which the exported model embeds them: 70,000 take 6.3 s of processor time with it
and 15.1 with torch. That of the extra ``multilingual`` takes 1 ms a token, torch for it 10 s to begin."""


class TooMuchToEmbed(Exception):
    """More has to be embedded than a follower does itself: a process of its own shall do it."""


def load_torch(settings: EmbeddingSettings) -> TorchEmbedding:
    """The model for bulk work; ModelError if it is missing or does not load."""
    from notehop.indexing.embed.torch_embedding import load_bulk

    return load_bulk(settings)


class SmallOrBulk:
    """The exported model of an index, and one for bulk work, loaded when it comes.

    Notes whose text the index knows are cut and not embedded: moving a folder loads no torch.
    """

    def __init__(
        self,
        exported: Embedder,
        settings: EmbeddingSettings,
        bulk: Callable[[EmbeddingSettings], BulkEmbedder] = load_torch,
        most: int | None = None,
    ) -> None:
        """
        :param bulk: loads what embeds in bulk; called at most once.
        :param most: characters that the exported model embeds; None: as many as it does sooner.
        """
        self._exported, self._settings, self._load_bulk = exported, settings, bulk
        self._bulk: BulkEmbedder | None = None
        usual = PACKED_CHANGE if settings.model == MULTILINGUAL_NAME else SMALL_CHANGE
        self._most = usual if most is None else most
        self.dimensions = exported.dimensions
        self.max_tokens = exported.max_tokens
        self.tokens = exported.tokens

    def identity(self) -> dict[str, Any]:
        return self._exported.identity()

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none."""
        if self._bulk is None and sum(map(len, texts)) <= self._most:
            return self._exported.embed(texts, on_batch)
        if self._bulk is None:
            self._bulk = self._load_bulk(self._settings)
        return self._bulk.embed(texts, on_batch)


def load_embedder(settings: EmbeddingSettings, folder: Path) -> Embedder:
    """Load both, torch when it is needed; export the model if it is not.

    :raises ModelError: if the model is missing or does not load.
    """
    # Not above: it stands on LlamaIndex, which a run that finds nothing to do can do without.
    from notehop.indexing.embed.onnx_embedding import load_query

    if settings.model == MULTILINGUAL_NAME:
        onnx_model.describe_packed(describe_model(settings), folder)
        return SmallOrBulk(load_query(folder, settings), settings)
    manifest = onnx_model.read_manifest(folder)
    if manifest is not None and manifest.reason is not None:
        return load_torch(settings)
    shared, identity = onnx_model.shared_export(settings), model_identity(settings)
    known = onnx_model.usable(folder, identity) or onnx_model.share(shared, folder, identity)
    bulk = None if known else load_torch(settings)
    if bulk is not None:
        onnx_model.export_query_model(bulk, folder)
    if onnx_model.usable(shared, identity) is None:
        onnx_model.share(folder, shared, identity)
    return bulk or SmallOrBulk(load_query(folder, settings), settings)


def lacks_query_model(layout: IndexLayout) -> bool:
    """Whether the model that was exported for queries is not as it was written; it is forgotten then.
    Raises IndexUnwritable if the disk refuses."""
    manifest = onnx_model.read_manifest(layout.model)
    if manifest is not None and manifest.is_sound(layout.model):
        return False
    layout.remove(layout.model / onnx_model.MANIFEST_FILE)
    crash_points.point("export.json-removed")
    return True


@contextmanager
def embedding_by(
    ray: str | None, settings: Settings, folder: Path, tell: Callable[[str], None]
) -> Iterator[LoadEmbedder]:
    """Give what loads the embedding of a run: that of this machine, or of a Ray cluster.

    :param ray: address of the cluster, which is joined for the body; None for this machine.
    :param folder: of the index, where it is written down what goes to other machines.
    :param tell: hears which machines those are.
    :raises UsageError: if the address is none.
    :raises ProviderError: ``consent``, if the cluster is not on this machine and nobody named it.
    :raises ModelError: if it cannot be joined.
    """
    if ray is None:
        yield load_embedder
        return
    from notehop.indexing.embed.ray_embedding import Address, RayWorkers, joined
    from notehop.indexing.llm.egress import EgressLog

    def load(chosen: EmbeddingSettings, model: Path) -> Embedder:
        local = load_embedder(chosen, model)  # with the model for queries, which is exported here
        workers = RayWorkers(cluster, chosen, local.identity(), EgressLog(folder))
        return SmallOrBulk(local, chosen, lambda _: workers, most=-1)

    with joined(Address.of(ray), settings.privacy.allow_hosts, tell) as cluster:
        yield load
