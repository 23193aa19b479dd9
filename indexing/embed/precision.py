"""Which number format bulk embedding computes in; a machine always takes the same for a model."""

from __future__ import annotations

import copy
from typing import Any, Literal

import numpy as np

from notehop.config.errors import ModelError

Precision = Literal["float32", "bfloat16"]

MIN_COSINE = 0.999
"""Least agreement of two ways to compute one vector; neighbours of a query then stay the same."""

PROBES: tuple[str, ...] = (
    "Budget",
    "What did we decide about the launch date?",
    "Meeting notes, 2026-03-14: Ana will call the printer; the draft goes out on Friday.",
    "def total(rows): return sum(row.price * row.count for row in rows)",
    "Die Brücke über den Fluss wurde im vergangenen Jahr erneuert und trägt nun auch Lastwagen.",
    "- [ ] milk\n- [x] bread\n- [ ] a present for Jonas, who turns seven on Sunday",
    "会議の議事録を来週までに共有してください。",
    (
        "A note is worth writing when its reader, who is usually its writer a year later, can act "
        "on it without remembering anything. That asks for a claim in the title, one idea in the "
        "text, and links that say why they are there. Notes that only collect quotations are "
        "found again as rarely as they are read, because nobody searches for words they have "
        "forgotten. The exceptions are lists: of books, of people, of things to try, where the "
        "order and the date carry the meaning and the prose would only be in the way. "
    )
    * 2,
)
"""Texts that two ways to compute vectors are compared on: short and long, prose, code, scripts."""


def settle_precision(model: Any, device: str, wanted: str) -> Precision:
    """Make a loaded ``SentenceTransformer`` compute in the wanted precision.

    Only the first module, the transformer, is halved; pooling and what follows stay in float32.

    :param model: loaded in float32.
    :param wanted: ``float32``, ``bfloat16``, or ``auto``: bfloat16 where the hardware has instructions
        for it and the model's vectors stay what they are. Nothing is timed: the format, and with it the
        last digits of vectors, would depend on what else the machine does.
    :returns: what it computes in now.
    :raises ModelError: if bfloat16 was asked for by name and changes the vectors too much.
    """
    if wanted == "float32" or (wanted == "auto" and not _has_bfloat16(device)):
        return "float32"
    exact = model[0]
    reference = _encode(model)
    model[0] = _halved(exact)
    cosine = float((reference * _encode(model)).sum(axis=1).min())
    if cosine >= MIN_COSINE:
        return "bfloat16"
    model[0] = exact
    if wanted == "bfloat16":
        raise ModelError(
            f"embedding.precision = bfloat16 changes vectors of this model too much (cosine "
            f"{cosine:.4f}, at least {MIN_COSINE} is needed); set auto or float32"
        )
    return "float32"


def _has_bfloat16(device: str) -> bool:
    """Whether a device has instructions for it: without, bfloat16 is emulated, at a crawl."""
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device != "cpu":
        return False
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def _halved(module: Any) -> Any:
    import torch

    half = copy.deepcopy(module).to(torch.bfloat16)

    def widen(_module: Any, _inputs: Any, features: Any) -> Any:
        for key, value in features.items():
            if torch.is_tensor(value) and value.dtype == torch.bfloat16:
                features[key] = value.float()
        return features

    half.register_forward_hook(widen)
    return half


def _encode(model: Any) -> Any:
    return np.asarray(
        model.encode(list(PROBES), normalize_embeddings=True, show_progress_bar=False),
        dtype=np.float32,
    )
