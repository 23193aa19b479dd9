"""Embedding by torch: thousands of passages, as fast as this machine can.

Importing this file imports torch; only functions import it.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.utils import infer_torch_device
from llama_index.embeddings.huggingface import HuggingFaceEmbedding

from notehop.config.errors import ModelError
from notehop.indexing.display import counted
from notehop.indexing.embed.embedder import Kind, OnBatch, TokenOffsets, Vectors, read_tokenizer
from notehop.indexing.embed.identity import MIN_COSINE, PROBES, ModelDescription, describe_model
from notehop.indexing.embed.models import quiet_loading

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings

PASS_TOKENS = 2_048
OTHER_PASS_TOKENS = 131_072
"""Tokens of a pass through the model at most, on a processor and on other devices. On a processor
wider passes are no faster (with all-MiniLM-L6-v2 8,192 tokens were a tenth slower than 2,048), and
their memory grows with them: a pass of a model with a window of 8,192 would take gigabytes."""

EVEN = 4
"""Passes are as many tokens wide as a multiple of this. The libraries under torch prepare a kernel for
each shape they meet; with every width among them, a long run took a tenth more time, and half a
gigabyte."""

BATCH, OTHER_BATCH = 32, 1_024
"""Texts of a pass at most. More than 32 gain nothing on a processor and cost memory; an H100 embedded
350,000 tokens a second in passes of 1,024 and 206,000 in passes of 32. What does not fit is halved."""

MOST_PASSES = 4
"""Passes that run at once on a processor; its cores are divided among them. Each pass waits for its
own cores only, and one does while the other is in Python. More would wait for Python's lock."""

ENDLESS_WINDOW = 512
"""Window for models without one (static word vectors): a longer passage is hard to cite from."""


class TorchEmbedding(HuggingFaceEmbedding):  # type: ignore[misc]
    """LlamaIndex's embedding, whose :meth:`embed` sorts passages by length and uses all cores.

    Batches in the order in which texts come would pad many short ones to a long one: sorting is
    worth half again to nearly twice the throughput. The same text gives the same vector in whatever
    batch: to 1e-6 a component in float32; in bfloat16 the batch's width changes the rounding, by up
    to 2e-3 a component and a cosine of 0.9999 (seen with all-MiniLM-L6-v2 on an AMD EPYC). The
    parent's retries are left out: what fails on this machine once fails again.
    """

    max_length: float | None = None
    """Window; None or inf: endless."""
    max_tokens: int = ENDLESS_WINDOW
    """Tokens the model sees at once, special tokens and prompt included."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """In which the first module computes."""

    _description: ModelDescription = PrivateAttr()
    _tokens: TokenOffsets = PrivateAttr()
    _window: int = PrivateAttr(default=sys.maxsize)
    _pool: ThreadPoolExecutor | None = PrivateAttr(default=None)

    def __init__(self, description: ModelDescription, device: str) -> None:
        """Load a model in float32, for one pass at a time. Raises ModelError if it does not load."""
        source: dict[str, Any]
        if description.is_packed:
            from notehop.indexing.embed.packed_torch import unpacked_modules

            # No name, so that the parent looks for no folder.
            source = {"model_name": "", "modules": unpacked_modules()}
        else:
            source = {
                "model_name": str(description.folder),
                "local_files_only": True,
                "model_kwargs": {"dtype": torch.float32},
            }
        try:
            with quiet_loading():
                super().__init__(
                    device=device,
                    # Or LlamaIndex makes a folder in the home.
                    cache_folder=str(description.folder),
                    embed_batch_size=BATCH if device == "cpu" else OTHER_BATCH,
                    truncate_dim=description.truncate,
                    **source,
                )
        except Exception as exc:  # files of all kinds fail in all kinds of ways
            raise ModelError(
                f"embedding.model: {description.name} ({description.folder}) does not load on "
                f"{device} (embedding.device): {_why(exc, device)}"
            ) from exc
        # An empty prompt handed to the constructor would be replaced by what LlamaIndex knows.
        self.model.prompts = description.prompts._asdict()
        self.model_name = description.name
        self._description = description
        window = self.model.max_seq_length
        if window is not None and 0 < window < 1_000_000:
            self.max_tokens = self._window = int(window)
        packed = description.is_packed
        own = self.model.tokenizer if packed else own_tokenizer(description.name, self.model)
        self._tokens = TokenOffsets(own, description.prompts.passage)

    @property
    def description(self) -> ModelDescription:
        return self._description

    @property
    def model(self) -> Any:
        """The ``SentenceTransformer`` inside, with the prompts of the description."""
        return self._model

    @property
    def device(self) -> str:
        return str(self._device)

    @property
    def tokens(self) -> TokenOffsets:
        return self._tokens

    @property
    def dimensions(self) -> int:
        return self.description.dimensions

    def identity(self) -> dict[str, Any]:
        return self.description.identity()

    def use_processor(self, threads: int) -> None:
        """Run several passes of :meth:`embed` at once on so many threads of a processor.

        Two passes of one thread each do a tenth more than one of two threads: the threads of a
        pass wait for one another after each of its steps, the more so where the machine is busy.
        On another device than a processor nothing changes.
        """
        if self.device != "cpu":
            return
        if hasattr(self.model[0], "processing_kwargs") and self._window % EVEN == 0:
            text = self.model[0].processing_kwargs.setdefault("text", {})
            text["pad_to_multiple_of"] = EVEN
        if threads > 1:
            count = min(threads, MOST_PASSES)
            shares = [threads // count + (at < threads % count) for at in range(count)]

            def use_share() -> None:
                # The number is torch's own for each thread, so that all others keep theirs; but a
                # thread that has not asked for it yet would take that of the thread set last.
                torch.get_num_threads()
                torch.set_num_threads(shares.pop())

            self._pool = ThreadPoolExecutor(count, "embed", initializer=use_share)

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages, longest first: (n, d), in the order of ``texts``; (0, d) for none. Raises
        ModelError if the model fails."""
        tokens = self.tokens
        # One more than the window says that a text may not fit.
        sizes = [min(tokens.size(text) + tokens.overhead, self._window + 1) for text in texts]
        plan = passes(sizes, self.embed_batch_size, self._pass_tokens())

        def embedded(which: list[int]) -> Vectors:
            try:
                return self._encoded([texts[i] for i in which], "passage", len(which))
            except ModelError as exc:
                if len(which) == 1 or not isinstance(exc.__cause__, torch.OutOfMemoryError):
                    raise
            half = len(which) // 2
            return np.concatenate([embedded(which[:half]), embedded(which[half:])])

        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        done = 0
        run = map if self._pool is None else self._pool.map
        for which, found in zip(plan, run(embedded, plan), strict=True):
            rows[which] = found
            done += len(which)
            if on_batch is not None:
                on_batch(done)
        return rows

    def vectors(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Embed a few queries or passages: (n, d), n > 0, in the order of ``texts``. Raises ModelError
        if the model fails."""
        longest = min(max(map(len, texts)), self._window)
        fitting = self._pass_tokens() // max(1, longest)
        return self._encoded(list(texts), kind, max(1, min(fitting, self.embed_batch_size)))

    def _embed(self, inputs: list[Any], prompt_name: str | None = None) -> list[list[float]]:
        kind: Kind = "query" if prompt_name == "query" else "passage"
        rows: list[list[float]] = self.vectors(inputs, kind).tolist()
        return rows

    def _encoded(self, texts: list[str], kind: Kind, batch: int) -> Vectors:
        try:
            found = self.model.encode(
                texts, batch_size=batch, prompt_name=kind, normalize_embeddings=True, show_progress_bar=False
            )
        except (RuntimeError, ValueError, IndexError) as exc:
            raise ModelError(
                f"{self.description.name} failed on {counted(len(texts), 'text')} on "
                f"{self.device}: {_why(exc, self.device)}"
            ) from exc
        rows = np.asarray(found, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise ModelError(
                f"{self.description.name} gave vectors that are no numbers; its files may be "
                "damaged: fetch them again, or name another embedding.model"
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)

    def _pass_tokens(self) -> int:
        return PASS_TOKENS if self.device == "cpu" else OTHER_PASS_TOKENS


def load_bulk(settings: EmbeddingSettings) -> TorchEmbedding:
    """Load the model that the settings name.

    Importing torch and the rest takes 5 to 8 s, the bundled model itself under one.

    :raises ModelError: if the model is missing, is not what it should be, or does not load.
    :raises SettingsError: if ``embedding.dimensions`` cannot be had.
    """
    description = describe_model(settings)
    device = infer_torch_device() if settings.device == "auto" else settings.device
    loaded = TorchEmbedding(description, device)
    # The files may not have told how long a vector is, or may have been wrong.
    found = loaded.vectors(["length"], "passage").shape[1]
    if found != description.dimensions:
        raise ModelError(
            f"embedding.model: vectors of {description.name} have {found} dimensions, and not "
            f"{description.dimensions}; set embedding.dimensions to {found} or less"
        )
    if settings.precision == "auto":
        use_bfloat16(loaded)
    loaded.use_processor(torch.get_num_threads())
    return loaded


def use_bfloat16(loaded: TorchEmbedding) -> None:
    """Make a model that was loaded in float32 compute in bfloat16, where the hardware has instructions
    for it and the model's vectors stay what they are.

    Only the first module, the transformer, is halved; pooling and what follows stay in float32.
    Nothing is timed: the format, and with it the last digits of vectors, would depend on what else the
    machine does.
    """
    # Without instructions, bfloat16 is emulated, at a crawl. On GPUs it gains a tenth at best, and with
    # small passes takes four times as long (seen on an H100).
    has: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    if loaded.device != "cpu" or not (has.get("avx512_bf16") or has.get("amx_bf16")):
        return
    model, exact = loaded.model, loaded.model[0]
    reference = loaded.vectors(PROBES, "passage")
    half = copy.deepcopy(exact).to(torch.bfloat16)

    def widen(_module: Any, _inputs: Any, features: Any) -> Any:
        for key, value in features.items():
            if torch.is_tensor(value) and value.dtype == torch.bfloat16:
                features[key] = value.float()
        return features

    half.register_forward_hook(widen)
    model[0] = half
    try:
        cosine = float((reference * loaded.vectors(PROBES, "passage")).sum(axis=1).min())
    except ModelError:  # no numbers
        cosine = 0.0
    if cosine >= MIN_COSINE:
        loaded.precision = "bfloat16"
    else:
        model[0] = exact


def _why(exc: Exception, device: str) -> str:
    """Why a model fails on a device, and where else it may run."""
    advice = "" if device == "cpu" else "; try embedding.device = cpu"
    # What else is said of memory is torch's advice to programmers.
    full = isinstance(exc, torch.OutOfMemoryError)
    return f"{str(exc).partition('. ')[0] if full else exc}{advice}"


def passes(sizes: Sequence[int], most_texts: int, most_tokens: int) -> list[list[int]]:
    """Put texts of like length together: a pass is as wide as its longest, and the rest is padding.

    Longest first, so that what does not fit into memory fails at once, and the last passes, for
    which one thread may wait for another, are short. The same texts always make the same passes:
    in bfloat16 the width of a pass changes the rounding.

    :param sizes: tokens of each text.
    :param most_texts: in a pass, at least 1.
    :param most_tokens: of a pass, padding included; a longer text is alone.
    :returns: positions in ``sizes``, each in one pass; ties stand in order.
    """
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    found: list[list[int]] = []
    at = 0
    while at < len(order):
        fitting = most_tokens // max(1, -(-sizes[order[at]] // EVEN) * EVEN)
        count = max(1, min(most_texts, fitting))
        found.append(order[at : at + count])
        at += count
    return found


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
    return read_tokenizer(fast.to_str(), name)
