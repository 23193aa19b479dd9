"""BERTs of 32 dimensions, made on the spot: random, but always the same, weights."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORDS = """
    the a of and to in is on with as was at by this from passage another warm note plan launch atlas
    why who when maps tiles beta weeks needs timeline project june more bread sourdough starter
    """.split()  # noqa: SIM905 (a list of strings is harder to read)
PIECES = [*"abcdefghijklmnopqrstuvwxyz0123456789.,-[]", *(f"##{c}" for c in "abcdefghijklmnop")]


def save_bert(
    folder: Path, kind: str, words: Iterable[str], *, seed: int, window: int = 64, **config: Any
) -> None:
    """Write the files of a BERT and its tokenizer, as a hub has them.

    :param kind: the class of transformers.
    :param words: its vocabulary, beside what every BERT has.
    :param config: of the model, where it is other than that of one layer and 64 positions.
    """
    import torch
    import transformers
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    torch.manual_seed(seed)
    known = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    vocabulary = {word: at for at, word in enumerate(known)}
    fast = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    fast.normalizer = BertNormalizer()
    fast.pre_tokenizer = BertPreTokenizer()
    fast.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=window,
    ).save_pretrained(folder)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        "initializer_range": 0.5,
    }
    made = transformers.BertConfig(vocab_size=len(vocabulary), **(sizes | config))
    getattr(transformers, kind)(made).save_pretrained(folder)


def save_cross_encoder(folder: Path, *, seed: int = 0) -> Path:
    """Write a cross-encoder of one layer, and return its folder."""
    words = [*WORDS, *PIECES]
    sizes = {"num_labels": 1, "max_position_embeddings": 512}
    save_bert(folder, "BertForSequenceClassification", words, seed=seed, **sizes)
    return folder
