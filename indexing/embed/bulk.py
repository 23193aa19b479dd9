"""The bulk door: thousands of passages through torch, as fast as this machine can.

Touches: model; network, only where the settings allow a download.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notehop.config.errors import ModelError, SettingsError
from notehop.indexing.embed.bundled import BUNDLED_NAME, verify_weights
from notehop.indexing.embed.card import ModelCard, check_dimensions, read_card
from notehop.indexing.embed.embedder import OnBatch, Vectors
from notehop.indexing.embed.multilingual import INSTALL, MULTILINGUAL_NAME, MULTILINGUAL_SHA256
from notehop.indexing.embed.packed import PackedModel
from notehop.indexing.embed.precision import Precision, settle_precision
from notehop.indexing.embed.tokens import TokenOffsets

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings
    from notehop.indexing.embed.huggingface import TorchEmbedding

ENDLESS_WINDOW = 512
"""Window for models without one (static word vectors): a longer passage is hard to cite from."""

_LLAMA_MAX_BATCH = 2048
"""Largest batch that LlamaIndex accepts; larger ones gain nothing anyway."""


class BulkEmbedder:
    """A loaded model that embeds passages.

    The same text gives the same vector in whatever batch: to 1e-6 a component in float32; in
    bfloat16 the batch's width changes the rounding, by up to 2e-3 a component and a cosine of
    0.9999 (seen with all-MiniLM-L6-v2 on an AMD EPYC).
    """

    def __init__(
        self, card: ModelCard, llama: TorchEmbedding, precision: Precision, device: str
    ) -> None:
        self.card = card
        self.precision = precision
        self.device = device
        self._llama = llama
        window = llama.model.max_seq_length
        endless = window is None or not 0 < window < 1_000_000
        self._max_tokens = ENDLESS_WINDOW if endless else int(window)
        own = llama.model.tokenizer if card.is_packed else own_tokenizer(card.name, llama.model)
        self._tokens = TokenOffsets(own, card.prompts.passage)
        if not endless:
            llama.measure_with(self._tokens)

    @property
    def llama(self) -> TorchEmbedding:
        """The LlamaIndex embedding, for an ``IngestionPipeline``; it sorts by length itself."""
        return self._llama

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self.card.dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens the model sees at once, special tokens and prompt included."""
        return self._max_tokens

    @property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer; it knows the passage prompt."""
        return self._tokens

    @property
    def cut(self) -> int:
        """Passages so far that were longer than the window, so that their end was not embedded."""
        return self._llama.cut

    def identity(self) -> dict[str, Any]:
        """Return what the fingerprint of an index names."""
        return self.card.identity()

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none.

        :raises ModelError: if the model fails.
        """
        return self._llama.passages(texts, on_batch)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries, with the query prompt: (n, d), in the order of ``texts``."""
        return self._llama.queries(texts)


def load_bulk(settings: EmbeddingSettings) -> BulkEmbedder:
    """Load the model that the settings name.

    Importing torch and the rest takes 5 to 8 s, the bundled model itself under one.

    :raises ModelError: if the model is missing, is not what it should be, or does not load.
    :raises SettingsError: if ``embedding.dimensions`` or ``embedding.device`` cannot be had.
    """
    card = read_card(settings)
    if card.name == BUNDLED_NAME:
        verify_weights(card.folder / "model.safetensors")
    elif card.is_packed:
        verify_weights(card.weights_file, MULTILINGUAL_SHA256, MULTILINGUAL_NAME, INSTALL)
    import torch

    if settings.threads:
        torch.set_num_threads(settings.threads)
    device = _device(settings.device)
    llama = load_torch(card, device, settings.batch_size)
    _check_loaded(card, settings, llama)
    precision = settle_precision(llama.model, device, settings.precision)
    llama.use_processor(torch.get_num_threads())
    return BulkEmbedder(card, llama, precision, device)


def load_torch(
    card: ModelCard, device: str, batch_size: int, **model_kwargs: Any
) -> TorchEmbedding:
    """Load a model in float32.

    :param model_kwargs: handed to transformers.
    :raises ModelError: if it does not load.
    """
    if card.is_packed:
        from notehop.indexing.embed.packed_torch import PackedEmbedding

        return PackedEmbedding(
            PackedModel(card.weights_file),
            card.prompts,
            device,
            min(batch_size, _LLAMA_MAX_BATCH),
            card.truncate,
        )
    with _quiet_loading():
        import torch

        from notehop.indexing.embed.huggingface import TorchEmbedding

        try:
            llama = TorchEmbedding(
                model_name=str(card.folder),
                device=device,
                cache_folder=str(card.folder),  # or LlamaIndex makes a folder in the home
                embed_batch_size=min(batch_size, _LLAMA_MAX_BATCH),
                normalize=True,
                truncate_dim=card.truncate,
                local_files_only=True,
                model_kwargs={"dtype": torch.float32, **model_kwargs},
            )
        except Exception as exc:  # files of all kinds fail in all kinds of ways
            raise ModelError(
                f"embedding.model: {card.name} ({card.folder}) does not load: {exc}"
            ) from exc
    # An empty prompt handed to the constructor would be replaced by what LlamaIndex knows.
    llama.model.prompts.update(query=card.prompts.query, text=card.prompts.passage)
    return llama


def _check_loaded(card: ModelCard, settings: EmbeddingSettings, llama: TorchEmbedding) -> None:
    """Measure a vector: the files may not have told how long it is, or may have been wrong."""
    found = llama.vectors(["length"], "text").shape[1]
    if found == card.dimensions:
        return
    check_dimensions(card.name, settings.dimensions, found)
    raise ModelError(
        f"embedding.model: vectors of {card.name} have {found} dimensions, and its files say "
        f"{card.dimensions}: the files do not belong together"
    )


def _device(wanted: str) -> str:
    import torch

    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return next(name for name, there in available.items() if there)
    if not available.get(wanted, False):
        there = ", ".join(name for name, there in available.items() if there)
        raise SettingsError(
            f"embedding.device is {wanted}, which torch does not find here; set auto or {there}"
        )
    return wanted


def own_tokenizer(name: str, model: Any) -> Any:
    """Copy the fast tokenizer as the model uses it, with the changes that its settings made."""
    from tokenizers import Tokenizer

    own = model.tokenizer
    fast = getattr(own, "backend_tokenizer", own)
    if not isinstance(fast, Tokenizer):
        raise ModelError(
            f"embedding.model: {name} has no fast tokenizer (tokenizer.json), without which "
            "passages cannot be measured; choose another model"
        )
    return Tokenizer.from_str(fast.to_str())


@contextmanager
def _quiet_loading() -> Iterator[None]:
    """Keep transformers' progress bars off the terminal: progress is for indexing to show."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
