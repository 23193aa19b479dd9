"""Exporting a model to ONNX once, checked against torch, and sharing the export among a user's vaults."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from notehop.config.errors import IndexUnwritable, ModelError
from notehop.indexing import faults
from notehop.indexing.embed.identity import MIN_COSINE, PROBES, ModelDescription, model_identity
from notehop.indexing.embed.models import MULTILINGUAL_WINDOW
from notehop.indexing.embed.onnx_model import (
    MANIFEST_FILE,
    MANIFEST_VERSION,
    ModelManifest,
    OnnxModel,
    checksum,
    read_manifest,
)

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings
    from notehop.indexing.embed.torch_embedding import TorchEmbedding


_OPSET = 17

_PATIENCE = 300.0
"""Seconds to wait for another process that exports: of a large model it takes minutes."""


def export_query_model(bulk: TorchEmbedding, folder: Path) -> str | None:
    """Export a model for queries, unless this very model stands there already.

    A fresh float32 copy of the model is exported and the export compared, on texts of many lengths,
    with torch as queries and with the bulk vectors as passages.

    :param folder: the index's model folder; made if missing. ``export.json`` is replaced last, so
        that a reader finds the old manifest or the new one.
    :returns: None, or why there is no export and torch has to serve queries.
    :raises IndexUnwritable: if the folder cannot be written; what was begun is removed.
    """
    import torch
    import transformers

    made_with = (
        f"torch {torch.__version__}, transformers {transformers.__version__}, opset {_OPSET}"
    )
    wanted = _manifest(bulk.description, bulk.max_tokens, made_with)
    names = ("identity", "made_with", "max_tokens", "truncate")
    with _writing(folder):
        there = read_manifest(folder)
        same = there and all(getattr(there, name) == getattr(wanted, name) for name in names)
        if there is not None and same and there.is_sound(folder):
            return there.reason
        made = _export(bulk, folder, wanted)
        _describe(folder, made)
    return made.reason


def describe_packed(description: ModelDescription, folder: Path) -> None:
    """Write down that a packed model serves queries by itself; nothing has to be exported.

    :param folder: as for :func:`export_query_model`.
    :raises IndexUnwritable: if the folder cannot be written.
    """
    manifest = _manifest(description, MULTILINGUAL_WINDOW)
    if read_manifest(folder) != manifest:
        with _writing(folder):
            _describe(folder, manifest)


def _manifest(description: ModelDescription, window: int, made_with: str = "") -> ModelManifest:
    return ModelManifest(
        identity=description.identity(),
        dimensions=description.dimensions,
        truncate=description.truncate,
        max_tokens=window,
        query_prompt=description.prompts.query,
        passage_prompt=description.prompts.passage,
        files={},
        made_with=made_with,
    )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Make a folder if it is missing; what its manifest does not name goes after the block."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            yield
        finally:
            manifest = read_manifest(folder)
            files = {} if manifest is None else manifest.files
            kept = {MANIFEST_FILE, *(name for name, _ in files.values())}
            for file in folder.iterdir():
                ours = file.name.startswith(("query-", "tokenizer-", MANIFEST_FILE))
                if ours and file.name not in kept and file.is_file():
                    file.unlink(missing_ok=True)
    except OSError as exc:
        raise IndexUnwritable(
            f"{folder}: the query model cannot be written ({exc.strerror or exc}); "
            "free space or permissions, then run: notehop index"
        ) from exc


def _describe(folder: Path, manifest: ModelManifest) -> None:
    """Write a manifest, whose files are there by now."""
    faults.point("export-drafted")
    new = folder / f"{MANIFEST_FILE}.part"
    new.write_text(manifest.text(), encoding="utf-8")
    new.replace(folder / MANIFEST_FILE)
    faults.point("export-described")


def _export(bulk: TorchEmbedding, folder: Path, manifest: ModelManifest) -> ModelManifest:
    """Write model and tokenizer; return the manifest that names them, or the reason there is none."""
    from notehop.indexing.embed.torch_embedding import TorchEmbedding, own_tokenizer

    key = hashlib.sha256(manifest.text().encode()).hexdigest()[:12]
    model, tokenizer = folder / f"query-{key}.onnx", folder / f"tokenizer-{key}.json"
    exact = TorchEmbedding(bulk.description, "cpu", bulk.embed_batch_size)
    own = own_tokenizer(bulk.description.name, exact.model).to_str()
    for file in (model, tokenizer):
        # Of one that another index shares, the name is taken over and not the content.
        file.unlink(missing_ok=True)
    tokenizer.write_text(own, encoding="utf-8")
    try:
        _trace(exact.model, bulk.description.truncate, model)
    except OSError:
        raise
    except Exception as exc:  # noqa: BLE001 (a model's own code may raise anything)
        return replace(manifest, reason=f"the export failed: {type(exc).__name__}: {_line(exc)}")
    faults.point("export-model-drafted")
    files = {"model": model, "tokenizer": tokenizer}
    made = replace(
        manifest,
        files={key: (file.name, file.stat().st_size) for key, file in files.items()},
        crc={key: checksum(file) for key, file in files.items()},
    )
    texts = list(PROBES)
    try:
        opened = OnnxModel(folder, made)
        queries = np.concatenate([opened.vectors([text], "query") for text in texts])
        passages = np.concatenate([opened.vectors([text], "passage") for text in texts])
    except ModelError as exc:
        return replace(manifest, reason=f"the export does not run: {_line(exc)}")
    by_query = (queries * exact.embed_together(texts, "query")).sum(axis=1)
    by_passage = (passages * bulk.embed_together(texts, "passage")).sum(axis=1)
    cosine = round(float(min(by_query.min(), by_passage.min())), 6)
    if cosine < MIN_COSINE:
        reason = f"the export disagrees with torch (cosine {cosine:.4f} < {MIN_COSINE})"
        return replace(manifest, cosine=cosine, reason=reason)
    return replace(made, cosine=cosine)


def _trace(model: Any, truncate: int | None, file: Path) -> None:
    import torch

    # Two texts of different length: the mask must be part of what is traced.
    features = model.preprocess([PROBES[1], PROBES[2]])
    names = [n for n in ("input_ids", "attention_mask", "token_type_ids") if n in features]
    tensors = {name for name, value in features.items() if torch.is_tensor(value)}
    if tensors != set(names) or "input_ids" not in names:
        raise ValueError(f"it takes {', '.join(sorted(tensors))}, which a tokenizer alone lacks")
    constants = {key: value for key, value in features.items() if key not in tensors}

    class Pipeline(torch.nn.Module):  # type: ignore[misc]
        """All modules of the model in order, cut to length and normalised."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            given = {**constants, **dict(zip(names, inputs, strict=True))}
            found = self.model(given)["sentence_embedding"][:, :truncate]
            return torch.nn.functional.normalize(found, dim=-1)

    axes = {name: {0: "texts", 1: "tokens"} for name in names} | {"vector": {0: "texts"}}
    with warnings.catch_warnings(), torch.no_grad():
        # What the tracer says of itself and of constants: the result is checked instead.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Pipeline().eval(),
            tuple(features[name] for name in names),
            str(file),
            input_names=names,
            output_names=["vector"],
            dynamic_axes=axes,
            opset_version=_OPSET,
            # The newer exporter needs onnxscript, which nothing else of notehop does.
            dynamo=False,
        )


def _line(exc: Exception) -> str:
    return next(iter(str(exc).strip().splitlines()), "no message")[:300]


def shared_exports() -> Path:
    """The folder of all exported models of this user."""
    return user_cache_path("notehop") / "query-models"


def shared_export(settings: EmbeddingSettings) -> Path:
    """The folder of the export of the model that the settings name, which need not be there. Raises
    ModelError if the model is missing."""
    identity = {**model_identity(settings), "version": MANIFEST_VERSION}
    key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    return shared_exports() / key


def usable(folder: Path) -> ModelManifest | None:
    """The export in a folder, if there is one, whole and as it was written."""
    found = read_manifest(folder)
    return found if found and found.reason is None and found.is_sound(folder) else None


@contextmanager
def one_at_a_time(shared: Path) -> Iterator[None]:
    """Let no other process export meanwhile: it would make the same. Without a cache, all may."""
    with ExitStack() as held:
        with suppress(OSError, Timeout, NotImplementedError):
            shared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = shared.with_suffix(".lock")
            held.enter_context(FileLock(file, timeout=_PATIENCE, fallback_to_soft=False))
        yield


def share(source: Path, target: Path) -> bool:
    """Put the export of one folder into another one, without a copy where the disk allows that.

    :returns: False if there is none that is sound, or the disk refuses.
    """
    manifest = usable(source)
    if manifest is None:
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _writing(target):
            for name, _ in manifest.files.values():
                draft = target / f"{name}.part"
                draft.unlink(missing_ok=True)
                try:
                    os.link(source / name, draft)
                except OSError:
                    shutil.copy2(source / name, draft)
                draft.replace(target / name)
            _describe(target, manifest)
    except (OSError, IndexUnwritable):
        return False
    return True
