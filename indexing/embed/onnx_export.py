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
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from notehop.config.errors import IndexUnwritable, ModelError
from notehop.indexing import faults
from notehop.indexing.embed.identity import (
    MIN_COSINE,
    PROBES,
    ModelDescription,
    model_identity,
)
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


_FEATURES = ("input_ids", "attention_mask", "token_type_ids")
_OPSET = 17


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
    with _drafting(folder) as draft:
        present = read_manifest(folder)
        if present is not None and present.is_sound(folder) and _is_same(present, wanted):
            return present.reason
        made = _export(bulk, draft, wanted)
        (draft / MANIFEST_FILE).write_text(made.text(), encoding="utf-8")
        faults.point("export-drafted")
        _install(draft, folder, made)
    return made.reason


def describe_packed(description: ModelDescription, folder: Path) -> None:
    """Write down that a packed model serves queries by itself; nothing has to be exported.

    :param folder: as for :func:`export_query_model`.
    :raises IndexUnwritable: if the folder cannot be written.
    """
    manifest = _manifest(description, MULTILINGUAL_WINDOW)
    if read_manifest(folder) == manifest:
        return
    with _drafting(folder) as draft:
        (draft / MANIFEST_FILE).write_text(manifest.text(), encoding="utf-8")
        _install(draft, folder, manifest)


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
def _drafting(folder: Path) -> Iterator[Path]:
    """A folder for what is made for another, which is made if missing; it goes with the block."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What a run that was killed left takes the room that this one needs.
        for left in folder.glob("draft-*"):
            shutil.rmtree(left, ignore_errors=True)
        with TemporaryDirectory(prefix="draft-", dir=folder, ignore_cleanup_errors=True) as draft:
            yield Path(draft)
    except OSError as exc:
        raise IndexUnwritable(
            f"{folder}: the query model cannot be written ({exc.strerror or exc}); "
            "free space or permissions, then run: notehop index"
        ) from exc


def _install(source: Path, folder: Path, manifest: ModelManifest) -> None:
    """Put an export into a folder: its description comes last, and what that does not name goes."""
    names = [*(name for name, _ in manifest.files.values()), MANIFEST_FILE]
    for name in names:
        draft = folder / f"{name}.part"
        draft.unlink(missing_ok=True)
        try:
            os.link(source / name, draft)
        except OSError:
            shutil.copy2(source / name, draft)
        draft.replace(folder / name)
        # Of two names of one file, nothing is replaced.
        draft.unlink(missing_ok=True)
        faults.point(f"export-{name.partition('-')[0]}-installed")
    for file in folder.iterdir():
        ours = file.name.startswith(("query-", "tokenizer-", MANIFEST_FILE))
        if ours and file.name not in names and file.is_file():
            file.unlink(missing_ok=True)


def _is_same(found: ModelManifest, wanted: ModelManifest) -> bool:
    """Whether an export is of the same model, by the same libraries."""
    names = ("identity", "made_with", "max_tokens", "truncate")
    return all(getattr(found, name) == getattr(wanted, name) for name in names)


def _export(bulk: TorchEmbedding, draft: Path, manifest: ModelManifest) -> ModelManifest:
    """Write model and tokenizer; return the manifest that names them, or the reason there is none."""
    from notehop.indexing.embed.torch_embedding import TorchEmbedding, own_tokenizer

    key = hashlib.sha256(manifest.text().encode()).hexdigest()[:12]
    model, tokenizer = draft / f"query-{key}.onnx", draft / f"tokenizer-{key}.json"
    exact = TorchEmbedding(bulk.description, "cpu", bulk.embed_batch_size)
    own = own_tokenizer(bulk.description.name, exact.model).to_str()
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
    try:
        cosine = _agreement(bulk, exact, draft, made)
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

    # Two texts of different length: the mask must be part of what is traced.
    features = model.preprocess([PROBES[1], PROBES[2]])
    names = [name for name in _FEATURES if name in features]
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


def _agreement(bulk: TorchEmbedding, exact: Any, folder: Path, manifest: ModelManifest) -> float:
    """Return the least cosine between the export and torch."""
    texts = list(PROBES)
    opened = OnnxModel(folder, manifest)
    queries = np.concatenate([opened.vectors([text], "query") for text in texts])
    passages = np.concatenate([opened.vectors([text], "passage") for text in texts])
    by_query = (queries * exact.embed_together(texts, "query")).sum(axis=1)
    by_passage = (passages * bulk.embed_together(texts, "passage")).sum(axis=1)
    return round(float(min(by_query.min(), by_passage.min())), 6)


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


def take_shared(shared: Path, folder: Path) -> bool:
    """Put the shared export into an index's model folder.

    :returns: False if there is none that is sound, or the disk refuses: one has to be made.
    """
    manifest = usable(shared)
    if manifest is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _install(shared, folder, manifest)
    except OSError:
        return False
    return True


def give_shared(folder: Path, shared: Path) -> None:
    """Share the export of an index, if there is none; where the disk refuses, each has its own."""
    if usable(shared) is not None or usable(folder) is None:
        return
    with suppress(OSError):
        shared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with TemporaryDirectory(dir=shared.parent, suffix=".part") as parent:
            draft = Path(parent) / "export"
            draft.mkdir(mode=0o700)
            if take_shared(folder, draft):
                # A damaged one, or one of another version, gives way.
                shutil.rmtree(shared, ignore_errors=True)
                draft.rename(shared)
