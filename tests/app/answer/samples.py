"""Sources, connected notes and nodes for tests, with only what a test cares about spelled out."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from llama_index.core.schema import NodeWithScore, TextNode

from tests.support.product import ConnectedNote, LinkedFrom, NormalizedVectors, Source, Term, TextAnalyzer


def source(number: int, text: str, **fields: Any) -> Source:
    """A source of the note ``notes/Note NUMBER.md``."""
    values: dict[str, Any] = {
        "marker": f"[{number}]",
        "id": f"{number:032x}",
        "path": f"notes/Note {number}.md",
        "title": f"Note {number}",
        "heading": "",
        "lines": (1, 1),
        "score": 1.0 / number,
        "uri": "obsidian://open",
    }
    return Source(**{**values, "text": text, **fields})


def connected(number: int, text: str, **fields: Any) -> ConnectedNote:
    values: dict[str, Any] = {
        "label": f"C{number}",
        "path": f"linked/Linked {number}.md",
        "title": f"Linked {number}",
        "heading": "",
        "lines": (1, 1),
        "linked_from": LinkedFrom(path="notes/Note 1.md", title="Note 1", line=3, sentence="See."),
        "reason": "linked from Note 1",
        "uri": "obsidian://open",
    }
    return ConnectedNote(**{**values, "text": text, **fields})


def source_node(number: int, text: str, **metadata: Any) -> NodeWithScore:
    values: dict[str, Any] = {
        "path": f"notes/Note {number}.md",
        "title": f"Note {number}",
        "folder": "notes",
        "heading": "",
        "first_line": 1,
        "last_line": 1,
        "role": "source",
    }
    node = TextNode(id_=f"{number:032x}", text=text, metadata={**values, **metadata})
    return NodeWithScore(node=node, score=1.0 / number)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Cut after a full stop, question or exclamation mark; good enough for the texts of tests."""
    return [match.span() for match in re.finditer(r"[^.!?]+[.!?]*\s*", text)]


SMALL_WORDS = frozenset(re.findall(r"\w+", "a the is on in of to and who what when where did does do"))


def text_analyzer(
    likeness: dict[str, float] | None = None, *, absent: frozenset[str] = frozenset()
) -> TextAnalyzer:
    """Reads plain lower-case words, each as rare as the next.

    :param likeness: text -> its cosine to any query, 0 for a text that is not there; what two
        texts have in common is no more than that.
    :param absent: words that no note holds.
    """

    def words(text: str) -> list[str]:
        return re.findall(r"\w+", text.casefold())

    def terms(query: str) -> list[Term]:
        told = dict.fromkeys(word for word in words(query) if word not in SMALL_WORDS)
        return [Term(word, 1.0, missing=word in absent) for word in told]

    met: dict[str, int] = {}

    def vectors(query: str, texts: Sequence[str]) -> tuple[NormalizedVectors, NormalizedVectors]:  # noqa: ARG001
        known = likeness or {}
        rows = np.zeros((len(texts), 100), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            # A passage may come under the title of its note.
            like = next((known[end] for end in known if text.endswith(end)), 0.0)
            row[0], row[1 + met.setdefault(text, len(met))] = like, (1 - like**2) ** 0.5
        return np.eye(1, 100, dtype=np.float32)[0], rows

    return TextAnalyzer(
        words=words,
        terms=terms,
        sentences=split_sentences,
        vectors=vectors,
        known_names=lambda _: (),
        has_chunks_with=lambda *_: False,
    )
