"""A cross-encoder of one layer, made on the spot: random, but always the same, weights."""

from __future__ import annotations

from pathlib import Path

WORDS = """
    the a of and to in is on with as was at by this from passage another warm note plan launch atlas
    why who when maps tiles beta weeks needs timeline project june more bread sourdough starter
    """.split()  # noqa: SIM905 (a list of strings is harder to read)


def save_cross_encoder(folder: Path, *, labels: int = 1, seed: int = 0) -> Path:
    """Write the files of a cross-encoder, as a hub has them, and return their folder."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(seed)
    pieces = [*"abcdefghijklmnopqrstuvwxyz0123456789.,-[]", *(f"##{c}" for c in "abcdefghijklmnop")]
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *pieces]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys(known))}
    fast = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    fast.normalizer = BertNormalizer()
    fast.pre_tokenizer = BertPreTokenizer()
    fast.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=fast,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
