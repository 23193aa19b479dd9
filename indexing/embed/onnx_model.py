"""A query's vector from onnxruntime and tokenizers alone; the files that takes, exported once, checked
against torch, and shared among a user's vaults."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from notehop.config.errors import IndexUnwritable, ModelError
from notehop.indexing import crash_points
from notehop.indexing.embed.embedder import Kind, TokenOffsets, Vectors, read_tokenizer
from notehop.indexing.embed.identity import MIN_COSINE, PROBES, ModelDescription, model_identity
from notehop.indexing.embed.models import MULTILINGUAL_WINDOW
from notehop.indexing.stores.layout import read_json, replace_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from notehop.config.settings import EmbeddingSettings
    from notehop.indexing.embed.torch_embedding import TorchEmbedding

MANIFEST_FILE = "export.json"
MANIFEST_VERSION = 2
TOGETHER = 4
"""Texts of like length that go through the model at once: the model's weights are then read once for
all of them, and little of the work is padding."""

_OPSET = 17

_FEATURES = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What ``export.json`` says; it is written last, so that files it names are whole.

    ``reason`` says why there is no ONNX model; then ``files`` is empty. ``files`` maps ``model``
    and ``tokenizer`` to (file name, CRC-32 of its content).
    """

    identity: dict[str, Any]
    max_tokens: int
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    reason: str | None = None
    version: int = MANIFEST_VERSION

    def text(self) -> str:
        """The content of ``export.json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, sort_keys=True) + "\n"

    def is_sound(self, folder: Path) -> bool:
        """Whether its files are there, and hold what was written: 30 ms for 90 MB."""
        try:
            return all(checksum(folder / name) == crc for name, crc in self.files.values())
        except OSError:
            return False


def checksum(file: Path) -> int:
    """The CRC-32 of a file, read once in a process while its size and time stay what they are. Raises
    OSError if it cannot be read."""
    found = file.stat()
    return _checksum(file, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=64)
def _checksum(file: Path, *_: int) -> int:
    crc = 0
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            crc = zlib.crc32(piece, crc)
    return crc


def read_manifest(folder: Path) -> ModelManifest | None:
    """Read a manifest; None if none was made here, or by another version, or it is damaged.

    A manifest is derived: where it cannot be read, torch serves, and the next index run makes it anew.
    """
    found = read_json(ModelManifest, folder / MANIFEST_FILE)
    return found if found is not None and found.version == MANIFEST_VERSION else None


class OnnxModel:
    """An exported model in a session of one thread; safe to share between threads."""

    def __init__(self, folder: Path, manifest: ModelManifest) -> None:
        """Open the files of a manifest. Raises ModelError if the runtime does not take them."""
        import onnxruntime

        self.max_tokens = manifest.max_tokens
        self._identity = manifest.identity
        self._file = folder / manifest.files["model"][0]
        self._tokenizer_file = folder / manifest.files["tokenizer"][0]
        self._tokenizer = self._read_tokenizer()
        self._tokenizer.enable_truncation(max_length=manifest.max_tokens)
        onnxruntime.set_default_logger_severity(3)  # its probing for devices talks on stderr
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # Threads that spin while they wait take the cores that another program needs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                str(self._file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as exc:  # its errors share no other base
            raise ModelError(
                f"{self._file}: onnxruntime does not open it ({exc}); run: notehop index"
            ) from exc

    @cached_property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer, which cuts nothing; read when notes are cut."""
        return TokenOffsets(self._read_tokenizer(), self._identity["passage_prompt"])

    def _read_tokenizer(self) -> Tokenizer:
        try:
            text = self._tokenizer_file.read_text(encoding="utf-8")
        except (OSError, ValueError) as exc:
            raise ModelError(f"{self._tokenizer_file}: the tokenizer cannot be read ({exc})") from exc
        return read_tokenizer(text, self._tokenizer_file)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Embed texts, those of like length together: (n, d) with n > 0, in the order of ``texts``.
        Raises ModelError if the runtime fails."""
        prompt = self._identity[f"{kind}_prompt"]
        encodings = [self._tokenizer.encode(prompt + text) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
        rows = np.empty((len(texts), self._identity["dimensions"]), dtype=np.float32)
        for first in range(0, len(order), TOGETHER):
            group = order[first : first + TOGETHER]
            feed: dict[str, npt.NDArray[np.int64]] = {}
            for one in self._session.get_inputs():
                padded = np.zeros((len(group), len(encodings[group[-1]].ids)), dtype=np.int64)
                for row, at in zip(padded, group, strict=True):
                    row[: len(encodings[at].ids)] = getattr(encodings[at], _FEATURES[one.name])
                feed[one.name] = padded
            try:
                rows[group] = self._session.run(None, feed)[0]
            except Exception as exc:  # its errors share no other base
                raise ModelError(f"{self._file}: onnxruntime failed: {exc}") from exc
        return rows


def export_query_model(bulk: TorchEmbedding, folder: Path) -> str | None:
    """Export a model for queries.

    A fresh float32 copy of the model is exported and the export compared, on texts of many lengths,
    with torch as queries and with the bulk vectors as passages.

    :param folder: the index's model folder; made if missing. ``export.json`` is replaced last, so
        that a reader finds the old manifest or the new one.
    :returns: None, or why there is no export and torch has to serve queries.
    :raises IndexUnwritable: if the folder cannot be written; what was begun is removed.
    """
    with _writing(folder):
        made = _export(bulk, folder, ModelManifest(bulk.identity(), bulk.max_tokens))
        _describe(folder, made)
    return made.reason


def describe_packed(description: ModelDescription, folder: Path) -> None:
    """Write down that a packed model serves queries by itself; nothing has to be exported.

    :param folder: as for :func:`export_query_model`.
    :raises IndexUnwritable: if the folder cannot be written.
    """
    manifest = ModelManifest(description.identity(), MULTILINGUAL_WINDOW)
    if read_manifest(folder) != manifest:
        with _writing(folder):
            _describe(folder, manifest)


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
    replace_file(folder / MANIFEST_FILE, manifest.text())
    crash_points.point("export-described")


def _export(bulk: TorchEmbedding, folder: Path, manifest: ModelManifest) -> ModelManifest:
    """Write model and tokenizer; return the manifest that names them, or the reason there is none."""
    from notehop.indexing.embed.torch_embedding import TorchEmbedding, own_tokenizer

    key = hashlib.sha256(manifest.text().encode()).hexdigest()[:12]
    model, tokenizer = folder / f"query-{key}.onnx", folder / f"tokenizer-{key}.json"
    exact = TorchEmbedding(bulk.description, "cpu")
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
    crash_points.point("export-model-drafted")
    files = {"model": model, "tokenizer": tokenizer}
    made = replace(manifest, files={key: (file.name, checksum(file)) for key, file in files.items()})
    texts, cosine = list(PROBES), 1.0
    try:
        opened = OnnxModel(folder, made)
        pairs: dict[Kind, TorchEmbedding] = {"query": exact, "passage": bulk}
        for kind, torch_model in pairs.items():
            rows = np.concatenate([opened.vectors([text], kind) for text in texts])
            alike = (rows * torch_model.vectors(texts, kind)).sum(axis=1)
            cosine = min(cosine, float(alike.min()))
    except ModelError as exc:
        return replace(manifest, reason=f"the export does not run: {_line(exc)}")
    if cosine < MIN_COSINE:
        reason = f"the export disagrees with torch (cosine {cosine:.4f} < {MIN_COSINE})"
        return replace(manifest, reason=reason)
    return made


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


def _line(exc: Exception) -> str:
    return next(iter(str(exc).strip().splitlines()), "no message")[:300]


def shared_export(settings: EmbeddingSettings) -> Path:
    """The folder of the export of the model that the settings name, which need not be there. Raises
    ModelError if the model is missing."""
    identity = {**model_identity(settings), "version": MANIFEST_VERSION}
    key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    return user_cache_path("notehop") / "query-models" / key


def usable(folder: Path, identity: dict[str, Any]) -> ModelManifest | None:
    """The export in a folder, if there is one of the model of that identity, as it was written."""
    found = read_manifest(folder)
    if found is None or found.reason is not None or identity != found.identity:
        return None
    return found if found.is_sound(folder) else None


def share(source: Path, target: Path, identity: dict[str, Any]) -> bool:
    """Put the export of one folder into another one, without a copy where the disk allows that.

    :param identity: of the model that it has to be.
    :returns: False if there is none that is sound, or the disk refuses.
    """
    manifest = usable(source, identity)
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
