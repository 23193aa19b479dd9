"""What the lexical index costs at 30,000 chunks, beside plain bm25s on the same tokens."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Sequence
from itertools import islice, product
from pathlib import Path
from time import perf_counter

import bm25s
import numpy as np
import pytest

from tests.support.product import FieldTokens, LexicalIndex, Tokenizer, detect_language

CHUNKS = 30_000
WORDS = 200_000
UPDATES = 1_500

WORD = ["".join(letters) for letters in islice(product("aeinorst", repeat=6), WORDS)]

Doc = tuple[str, FieldTokens]


class Corpus:
    """Chunks of words that occur as in prose (Zipf), repeatable."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._reach = np.cumsum(1 / np.arange(1, WORDS + 1))
        self._count = 0

    def words(self, count: int) -> tuple[str, ...]:
        """So many words, drawn by their frequency."""
        at = np.searchsorted(self._reach, self._random.random(count) * self._reach[-1])
        return tuple(WORD[number] for number in at.tolist())

    def chunk(self) -> Doc:
        """A chunk of 180 words with title, heading and tags."""
        self._count += 1
        id_ = hashlib.sha256(str(self._count).encode()).hexdigest()[:32]
        return id_, {
            "title": self.words(4),
            "tags": ("project", "idea"),
            "h1": self.words(3),
            "content": self.words(180),
        }

    def queries(self, count: int) -> list[list[str]]:
        """Queries of up to five words, without the 20 commonest (those are function words)."""
        common = set(WORD[:20])
        drawn = (self.words(10) for _ in range(count))
        return [[word for word in words if word not in common][:5] for words in drawn]


def say(what: str, result: str) -> None:
    """Print one line of the table."""
    print(f"{what:34}{result}")


def in_ms(calls: Sequence[Callable[[], object]]) -> str:
    """Run each once; median, 95th percentile and longest time."""
    times = []
    for call in calls:
        start = perf_counter()
        call()
        times.append((perf_counter() - start) * 1000)
    p95 = float(np.percentile(times, 95))
    return f"median {statistics.median(times):7.3f}  p95 {p95:7.3f}  longest {max(times):8.1f} ms"


@pytest.mark.bench
def test_queries_updates_and_files(tmp_path: Path) -> None:
    corpus = Corpus()
    docs = [corpus.chunk() for _ in range(CHUNKS)]
    queries = corpus.queries(300)
    print(f"\n{CHUNKS} chunks, {WORDS} possible words")

    start = perf_counter()
    index = LexicalIndex.build(docs)
    built = perf_counter() - start
    plain = bm25s.BM25()
    start = perf_counter()
    plain.index([list(fields["content"]) for _, fields in docs], show_progress=False)
    say("build", f"{built:.2f} s ({built / (perf_counter() - start):.2f} x bm25s)")

    def asked() -> str:
        return in_ms([lambda q=q: index.top(q, 100) for q in queries])  # type: ignore[misc]

    say("query", asked())
    say(
        "query, bm25s (content alone)",
        in_ms([lambda q=q: plain.retrieve([q], k=100, show_progress=False) for q in queries]),  # type: ignore[misc]
    )
    some = {id_ for id_, _ in docs[: CHUNKS // 40]}
    half = {id_ for id_, _ in docs[: CHUNKS // 2]}
    for share, allowed in (("2.5 %", some), ("50 %", half)):
        calls = [lambda q=q, a=allowed: index.top(q, 100, a) for q in queries]  # type: ignore[misc]
        say(f"query, {share} allowed", in_ms(calls))

    changes = [(docs[number][0], corpus.chunk()) for number in range(UPDATES)]
    updates = [lambda c=change: index.update([c[0]], [c[1]]) for change in changes]  # type: ignore[misc]
    say("replace a chunk (longest: a merge)", in_ms(updates))
    say("query over the tail", asked())
    say("merge and save", in_ms([lambda: index.save(tmp_path, 1, "bench")]))
    size = (tmp_path / "postings.bin").stat().st_size
    say("save", in_ms([lambda: index.save(tmp_path, 2, "bench")]) + f"  {size / 1e6:.0f} MB")
    say("load", in_ms([lambda: LexicalIndex.load(tmp_path)] * 5))


@pytest.mark.bench
def test_tokens_a_second() -> None:
    text = " ".join(Corpus().words(400_000))
    prose = "The notes on Apollo's landing (v2.1) are state-of-the-art: naïve, but fooBar works. "
    for name, sample in (("distinct words", text), ("prose", prose * 20_000)):
        tokenizer = Tokenizer("en")
        start = perf_counter()
        tokens = tokenizer(sample)
        seconds = perf_counter() - start
        size = len(sample.encode()) / 1e6
        say(name, f"{size / seconds:5.1f} MB/s, {len(tokens)} tokens")
    say("language of a vault", in_ms([lambda: detect_language([prose] * 20_000)]))
