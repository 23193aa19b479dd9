"""A query's vector from onnxruntime and tokenizers alone, and the files it needs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from notehop.config.errors import ModelError
from notehop.indexing.embed.embedder import Kind, TokenOffsets, Vectors, read_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MANIFEST_FILE = "export.json"
MANIFEST_VERSION = 1
TOGETHER = 4
"""Texts of like length that go through the model at once: the model's weights are then read once for
all of them, and little of the work is padding."""

_FEATURES = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What ``export.json`` says; it is written last, so that files it names are whole.

    ``reason`` says why there is no ONNX model; then ``files`` is empty. ``files`` maps ``model``
    and ``tokenizer`` to (file name, bytes), ``crc`` to the CRC-32 of their content; it is empty in a
    manifest that 0.1.0 made. ``truncate`` is the length vectors are cut to, None for
    the model's own. ``cosine`` is the least agreement with torch that was seen. ``made_with`` names
    the libraries that exported it.
    """

    identity: dict[str, Any]
    dimensions: int
    truncate: int | None
    max_tokens: int
    query_prompt: str
    passage_prompt: str
    files: dict[str, tuple[str, int]]
    cosine: float | None = None
    reason: str | None = None
    made_with: str = ""
    crc: dict[str, int] = field(default_factory=dict)
    version: int = MANIFEST_VERSION

    def text(self) -> str:
        """The content of ``export.json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, sort_keys=True) + "\n"

    def is_sound(self, folder: Path) -> bool:
        """Whether its files are there, and hold what was written: 30 ms for 90 MB."""
        try:
            return all(
                (folder / name).stat().st_size == size
                and self.crc.get(key) in (None, checksum(folder / name))
                for key, (name, size) in self.files.items()
            )
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
    try:
        found = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        if found.pop("version") != MANIFEST_VERSION:
            return None
        files = {key: (str(name), int(size)) for key, (name, size) in found.pop("files").items()}
        return ModelManifest(files=files, **found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


class OnnxModel:
    """An exported model in a session of one thread; safe to share between threads."""

    def __init__(self, folder: Path, manifest: ModelManifest) -> None:
        """Open the files of a manifest. Raises ModelError if the runtime does not take them."""
        import onnxruntime

        self.cut = 0
        """Passages so far that were longer than the window."""
        self.max_tokens = manifest.max_tokens
        self._prompts = {"query": manifest.query_prompt, "passage": manifest.passage_prompt}
        self._dimensions = manifest.dimensions
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
        return TokenOffsets(self._read_tokenizer(), self._prompts["passage"])

    def _read_tokenizer(self) -> Tokenizer:
        try:
            text = self._tokenizer_file.read_text(encoding="utf-8")
        except (OSError, ValueError) as exc:
            raise ModelError(
                f"{self._tokenizer_file}: the tokenizer cannot be read ({exc})"
            ) from exc
        return read_tokenizer(text, self._tokenizer_file)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Embed texts, those of like length together: (n, d) with n > 0, in the order of ``texts``.
        Raises ModelError if the runtime fails."""
        encodings = [self._tokenizer.encode(self._prompts[kind] + text) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
        rows = np.empty((len(texts), self._dimensions), dtype=np.float32)
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
        if kind == "passage":
            self.cut += sum(bool(encoding.overflowing) for encoding in encodings)
        return rows

    def is_cut(self, query: str) -> bool:
        """Whether the window does not hold a query."""
        return bool(self._tokenizer.encode(self._prompts["query"] + query).overflowing)
