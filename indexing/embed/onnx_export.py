"""Exporting a model to ONNX once, checked against torch, and sharing the export among a user's vaults."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from notehop.config.errors import IndexUnwritable, ModelError
from notehop.indexing import faults
from notehop.indexing.embed.identity import ModelDescription, model_identity
from notehop.indexing.embed.models import MULTILINGUAL_WINDOW
from notehop.indexing.embed.onnx_model import (
    MANIFEST_FILE,
    MANIFEST_VERSION,
    ModelManifest,
    checksum,
    read_manifest,
)
from notehop.indexing.embed.precision import MIN_COSINE, PROBES

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings
    from notehop.indexing.embed.torch_embedding import TorchEmbedding


_FEATURES = ("input_ids", "attention_mask", "token_type_ids")
_OPSET = 17
_PART = ".part"


def export_query_model(bulk: TorchEmbedding, folder: Path) -> str | None:
    """Export a model for queries, unless this very model stands there already.

    A fresh float32 copy of the model is exported and the export compared, on texts of many lengths,
    with torch as queries and with the bulk vectors as passages.

    :param folder: the index's model folder; made if missing. ``export.json`` is replaced last, so
        that a reader finds the old manifest or the new one.
    :returns: None, or why there is no export and torch has to serve queries.
    :raises IndexUnwritable: if the folder cannot be written; what was begun is removed.
    """
    manifest = ModelManifest(
        identity=bulk.identity(),
        dimensions=bulk.dimensions,
        truncate=bulk.description.truncate,
        max_tokens=bulk.max_tokens,
        query_prompt=bulk.description.prompts.query,
        passage_prompt=bulk.description.prompts.passage,
        files={},
        made_with=_made_with(),
    )
    key = hashlib.sha256(manifest.text().encode()).hexdigest()[:12]
    with _writing(folder):
        # What a run that was killed left takes the room that this one needs.
        _sweep(folder, lambda name: name.endswith(_PART))
        present = _present(folder, manifest)
        if present is not None:
            return present.reason
        with _undone(folder):
            manifest = _export(bulk, folder, manifest, key)
            _replace(folder / MANIFEST_FILE, manifest.text().encode())
        _sweep(folder, _not_of(manifest))
    return manifest.reason


def describe_packed(description: ModelDescription, folder: Path) -> None:
    """Write down that a packed model serves queries by itself; nothing has to be exported.

    :param folder: as for :func:`export_query_model`.
    :raises IndexUnwritable: if the folder cannot be written.
    """
    manifest = ModelManifest(
        identity=description.identity(),
        dimensions=description.dimensions,
        truncate=description.truncate,
        max_tokens=MULTILINGUAL_WINDOW,
        query_prompt=description.prompts.query,
        passage_prompt=description.prompts.passage,
        files={},
    )
    if read_manifest(folder) == manifest:
        return
    with _writing(folder):
        _replace(folder / MANIFEST_FILE, manifest.text().encode())
        _sweep(folder, _not_of(manifest))


def _made_with() -> str:
    import torch
    import transformers

    return f"torch {torch.__version__}, transformers {transformers.__version__}, opset {_OPSET}"


def _present(folder: Path, wanted: ModelManifest) -> ModelManifest | None:
    """The manifest that stands there, if it is of the same model and libraries, and whole."""
    found = read_manifest(folder)
    if found is None or not found.is_sound(folder):
        return None
    same = (found.identity, found.made_with, found.max_tokens, found.truncate) == (
        wanted.identity,
        wanted.made_with,
        wanted.max_tokens,
        wanted.truncate,
    )
    return found if same else None


def _export(bulk: TorchEmbedding, folder: Path, manifest: ModelManifest, key: str) -> ModelManifest:
    """Write model and tokenizer; return the manifest that names them, or the reason there is none."""
    from notehop.indexing.embed.torch_embedding import TorchEmbedding, own_tokenizer

    model_file = folder / f"query-{key}.onnx"
    tokenizer_file = folder / f"tokenizer-{key}.json"
    exact = TorchEmbedding(bulk.description, "cpu", bulk.embed_batch_size)
    _replace(tokenizer_file, own_tokenizer(bulk.description.name, exact.model).to_str().encode())
    draft = folder / f"{model_file.name}{_PART}"
    try:
        _trace(exact.model, bulk.description.truncate, draft)
    except OSError:
        raise
    except Exception as exc:  # noqa: BLE001 (a model's own code may raise anything)
        return replace(manifest, reason=f"the export failed: {type(exc).__name__}: {_line(exc)}")
    faults.point("export-model-drafted")
    draft.replace(model_file)
    faults.point("export-model-replaced")
    made = replace(
        manifest,
        files={
            "model": (model_file.name, model_file.stat().st_size),
            "tokenizer": (tokenizer_file.name, tokenizer_file.stat().st_size),
        },
        crc={"model": checksum(model_file), "tokenizer": checksum(tokenizer_file)},
    )
    try:
        cosine = _agreement(bulk, exact, folder, made)
    except ModelError as exc:
        return replace(manifest, reason=f"the export does not run: {_line(exc)}")
    if cosine < MIN_COSINE:
        return replace(
            manifest,
            cosine=cosine,
            reason=f"the export disagrees with torch (cosine {cosine:.4f} < {MIN_COSINE})",
        )
    return replace(made, cosine=cosine)


def _trace(model: Any, truncate: int | None, file: Path) -> None:
    import torch

    class Pipeline(torch.nn.Module):  # type: ignore[misc]
        """All modules of the model in order, cut to length and normalised."""

        def __init__(self, names: list[str], constants: dict[str, Any]) -> None:
            super().__init__()
            self.model = model
            self.names = names
            self.constants = constants

        def forward(self, *inputs: Any) -> Any:
            features = {**self.constants, **dict(zip(self.names, inputs, strict=True))}
            found = self.model(features)["sentence_embedding"][:, :truncate]
            return torch.nn.functional.normalize(found, dim=-1)

    # Two texts of different length: the mask must be part of what is traced.
    features = model.preprocess([PROBES[1], PROBES[2]])
    names = [name for name in _FEATURES if name in features]
    tensors = {name for name, value in features.items() if torch.is_tensor(value)}
    if tensors != set(names) or "input_ids" not in names:
        raise ValueError(f"it takes {', '.join(sorted(tensors))}, which a tokenizer alone lacks")
    pipeline = Pipeline(names, {k: v for k, v in features.items() if k not in tensors}).eval()
    axes = {name: {0: "texts", 1: "tokens"} for name in names} | {"vector": {0: "texts"}}
    with _tracer_silenced(), torch.no_grad():
        torch.onnx.export(
            pipeline,
            tuple(features[name] for name in names),
            str(file),
            input_names=names,
            output_names=["vector"],
            dynamic_axes=axes,
            opset_version=_OPSET,
            # The newer exporter needs onnxscript, which nothing else of notehop does.
            dynamo=False,
        )


@contextmanager
def _tracer_silenced() -> Iterator[None]:
    """Silence what the tracer says of itself and of constants: the result is checked instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _agreement(bulk: TorchEmbedding, exact: Any, folder: Path, manifest: ModelManifest) -> float:
    """Return the least cosine between the export and torch."""
    from notehop.indexing.embed.onnx_embedding import open_exported

    texts = list(PROBES)
    opened = open_exported(folder, manifest)
    queries = np.stack([opened.embed_query(text) for text in texts])
    passages = opened.embed(texts)
    by_query = (queries * exact.embed_queries(texts)).sum(axis=1)
    by_passage = (passages * bulk.vectors(texts, "text")).sum(axis=1)
    return round(float(min(by_query.min(), by_passage.min())), 6)


def _replace(file: Path, content: bytes) -> None:
    draft = file.with_name(f"{file.name}{_PART}")
    with draft.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    faults.point(f"export-{file.name}-drafted")
    draft.replace(file)
    faults.point(f"export-{file.name}-replaced")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Write in a folder, which is made if missing; what the disk refuses is an error of ours."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as exc:
        raise IndexUnwritable(
            f"{folder}: the query model cannot be written ({exc.strerror or exc}); "
            "free space or permissions, then run: notehop index"
        ) from exc


@contextmanager
def _undone(folder: Path) -> Iterator[None]:
    """Remove what the block has written if it fails: on a full disk nobody else would."""
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what is told is why it failed
            _sweep(folder, _not_of(read_manifest(folder)))
        raise


def _not_of(manifest: ModelManifest | None) -> Callable[[str], bool]:
    """Whether a manifest, if there is one, has no use for the file of a name."""
    kept = {MANIFEST_FILE, *(name for name, _ in (manifest.files.values() if manifest else ()))}
    return lambda name: name not in kept


def _sweep(folder: Path, useless: Callable[[str], bool]) -> None:
    """Remove those of our files that are of no use: of earlier exports and broken runs."""
    for file in sorted(folder.iterdir()):
        ours = file.name.startswith(("query-", "tokenizer-", MANIFEST_FILE))
        if ours and useless(file.name) and file.is_file():
            file.unlink(missing_ok=True)


def _line(exc: Exception) -> str:
    return next(iter(str(exc).strip().splitlines()), "no message")[:300]


_PATIENCE = 300.0
"""Seconds to wait for another process that exports: of a large model it takes minutes."""


def shared_exports() -> Path:
    """The folder of all exported models of this user."""
    return user_cache_path("notehop") / "query-models"


def shared_export(settings: EmbeddingSettings) -> Path:
    """The folder of the export of the model that the settings name, which need not be there.

    :raises ModelError: if the model is missing.
    """
    identity = {**model_identity(settings), "version": MANIFEST_VERSION}
    key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    return shared_exports() / key


def usable(folder: Path) -> ModelManifest | None:
    """The export in a folder, if it is whole and as it was written."""
    manifest = read_manifest(folder)
    return (
        manifest
        if manifest is not None and manifest.reason is None and manifest.is_sound(folder)
        else None
    )


@contextmanager
def one_at_a_time(shared: Path) -> Iterator[None]:
    """Let no other process export meanwhile: it would make the same. Without a cache, all may."""
    lock: FileLock | None = None
    with suppress(OSError, Timeout, NotImplementedError):
        shared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(shared.with_suffix(".lock"), timeout=_PATIENCE, fallback_to_soft=False)
        lock.acquire()
    try:
        yield
    finally:
        if lock is not None and lock.is_locked:
            lock.release()


def take_shared(shared: Path, folder: Path) -> bool:
    """Put the shared export into an index's model folder.

    :returns: False if there is none that is sound, or the disk refuses: one has to be made.
    """
    manifest = usable(shared)
    if manifest is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The description comes last, so that files it names are whole.
        for name in (*(name for name, _ in manifest.files.values()), MANIFEST_FILE):
            link(shared / name, folder / name)
    except OSError:
        return False
    return True


def give_shared(folder: Path, shared: Path) -> None:
    """Share the export of an index, if there is none; where the disk refuses, each has its own."""
    if usable(shared) is not None or usable(folder) is None:
        return
    draft = shared.with_name(f"{shared.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with suppress(OSError):
            shared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.mkdir(mode=0o700)
            if take_shared(folder, draft):
                # A damaged one, or one of another version, gives way.
                shutil.rmtree(shared, ignore_errors=True)
                draft.rename(shared)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def link(source: Path, target: Path) -> None:
    """Make a file another name of the source, or a copy of it; what was there is replaced.

    :raises OSError: if the disk refuses.
    """
    draft = target.with_name(f"{target.name}.part")
    draft.unlink(missing_ok=True)
    try:
        os.link(source, draft)
    except OSError:
        shutil.copy2(source, draft)
    draft.replace(target)
    # Of two names of one file, nothing is replaced.
    draft.unlink(missing_ok=True)
