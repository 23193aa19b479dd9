"""A packed model unpacked for torch: bulk work at the pace and precision that the machine has.

Importing this file imports torch; only functions import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from sentence_transformers.base.modules import InputModule
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import BertConfig, BertModel

from notehop.indexing.embed.models import MULTILINGUAL_NAME, installed_file
from notehop.indexing.embed.packed import PackedModel, UnigramTokenizer
from notehop.indexing.embed.torch_embedding import EVEN

_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_TABLES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_KIND = {"w": "weight", "b": "bias"}


def unpacked_modules() -> list[torch.nn.Module]:
    """Unpack the weights: a second or two, and 470 MB for multilingual-e5-small."""
    packed = PackedModel(installed_file(MULTILINGUAL_NAME))
    return [_PackedTransformer(packed), Pooling(packed.width, pooling_mode="mean")]


class _PackedTransformer(InputModule):  # type: ignore[misc]
    """The first module of a ``SentenceTransformer``: texts -> the hidden state of each token."""

    def __init__(self, packed: PackedModel) -> None:
        super().__init__()
        self.tokenizer = UnigramTokenizer(packed)
        self.max_seq_length = packed.window
        self.bert = _bert(packed)

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **_kwargs: Any
    ) -> dict[str, torch.Tensor]:
        """Cut texts into pieces, at most as many as the model sees, and pad them to one width."""
        rows = [self.tokenizer.encode(f"{prompt or ''}{text}").ids for text in inputs]
        most = self.max_seq_length
        rows = [row if len(row) <= most else [*row[: most - 1], row[-1]] for row in rows]
        width = -(-max(map(len, rows), default=0) // EVEN) * EVEN
        missing = [width - len(row) for row in rows]
        filler = self.tokenizer.pad_token_id
        ids = [[*row, *[filler] * more] for row, more in zip(rows, missing, strict=True)]
        mask = [[1] * (width - more) + [0] * more for more in missing]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}

    def forward(self, features: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
        found = self.bert(input_ids=features["input_ids"], attention_mask=features["attention_mask"])
        features["token_embeddings"] = found.last_hidden_state
        return features

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Refuse: the packed file is where it is kept."""
        raise NotImplementedError("a packed model is kept in its own file")


def _bert(packed: PackedModel) -> BertModel:
    config = BertConfig(
        vocab_size=packed.words,
        hidden_size=packed.width,
        num_hidden_layers=packed.layers,
        num_attention_heads=packed.heads,
        intermediate_size=packed.inner,
        max_position_embeddings=packed.window,
        type_vocab_size=packed.types,
        layer_norm_eps=packed.epsilon,
    )
    # On no device: random weights for 118 million places would take longer than the right ones.
    with torch.device("meta"):
        model = BertModel(config, add_pooling_layer=False)
    shapes = {name: value.shape for name, value in model.state_dict().items()}
    weights = {}
    for name, values in packed.tensors():
        own = _TABLES.get(name)
        if own is None:
            layer, part, kind = name.split(".")
            own = f"encoder.layer.{layer.removeprefix('l')}.{_LAYER[part]}.{_KIND[kind]}"
        weights[own] = torch.from_numpy(values).reshape(shapes[own])
    model.load_state_dict(weights, assign=True)
    # What is counted and not learnt stands in no file.
    model.embeddings.position_ids = torch.arange(packed.window)[None]
    model.embeddings.token_type_ids = torch.zeros(1, packed.window, dtype=torch.long)
    return model.eval()
