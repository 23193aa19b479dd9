"""A summary without a model: the sentences that stand best for a note. Pure.

A sentence stands for a note as far as its words are those of the whole (cosine to the centroid of
the sentences, words weighted by how few of them have them: Radev et al., Information Processing and
Management 2004) and of the title. The first paragraph is where people say what a note is about. The
second sentence must say something else than the first (Carbonell and Goldstein, SIGIR 1998).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from markdown_it import MarkdownIt

from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.plain import without_emphasis
from notehop.indexing.vault.sentences import sentence_spans, shortened

RULES = "extract-2"  # raised with any change of what comes out
LONGEST = 300  # characters of a summary
ENOUGH = 150  # characters after which one sentence is enough: two lines of a card
READ_CHARS = 20_000
"""Characters of a note that are looked at: what a note is about it says before that."""

_SHORTEST = 20  # characters of a sentence: shorter ones are labels

_FIRST, _OPENING, _ITEM, _QUESTION = 2.0, 1.3, 0.6, 0.7
"""Weights of the note's first sentence, others of its first paragraph, list items, questions."""

_TITLE = 0.5  # weight of the words of the title beside those of the text
_NOVELTY = 0.5  # share of a sentence's likeness to the first one that counts against it
_FULL = 50  # characters from which a sentence says something by itself; shorter ones count for less
_SECOND = 0.35  # share of the first one's score that the second must have

_NO_WORDS = re.compile(
    r"\{\{.*?\}\}|<%.*?%>|</?[a-zA-Z][^<>\n]*>|\bhttps?://\S+|^\[.\](?=\s)|^\w[\w /-]{0,30}::"
    r"|\s\^[A-Za-z0-9-]+$|(?:^|(?<=\s))#(?!\d+\b)[^\s#]+",
    re.DOTALL | re.MULTILINE,
)
"""What templates leave open, tags of HTML, addresses, boxes of tasks, names of fields and of blocks, tags."""


def extract(title: str, passages: Sequence[str], tokenizer: Tokenizer) -> str:
    """Sum up passages of a note, or of notes, in their own words: at most two sentences.

    Of a text that is a list, the first items. The same passages give the same summary.

    :param passages: in the order of the text, as Markdown.
    :returns: at most 300 characters; empty if there is no sentence and no item.
    """
    # As one text: a block of code may begin in one passage and end in another.
    blocks = list(_blocks("\n\n".join(passages)[:READ_CHARS]))
    found = _candidates(blocks, tokenizer)
    if not found:
        return _listed(blocks)
    texts = list(found)
    among = Counter(word for _, words in found.values() for word in words)
    vectors = [
        _unit(
            {
                word: (1 + math.log(count)) * math.log(1 + len(found) / among[word])
                for word, count in words.items()
            }
        )
        for _, words in found.values()
    ]
    total: Counter[str] = Counter()
    for vector in vectors:
        total.update(vector)
    centre = _unit(total)
    top = max(centre.values(), default=1.0)
    for word in dict.fromkeys(tokenizer(title)):
        centre[word] = centre.get(word, 0.0) + _TITLE * top
    centre = _unit(centre)
    priors = (prior for prior, _ in found.values())
    scores = [prior * _cosine(v, centre) for prior, v in zip(priors, vectors, strict=True)]
    best = max(range(len(texts)), key=lambda at: (scores[at], -at))
    chosen = [best]
    if len(texts[best]) < ENOUGH:
        novel = {
            at: scores[at] - _NOVELTY * scores[at] * _cosine(vectors[at], vectors[best])
            for at in range(len(texts))
            if at != best and len(texts[at]) + len(texts[best]) < LONGEST
        }
        second = max(novel, key=lambda at: (novel[at], -at), default=None)
        if second is not None and novel[second] >= _SECOND * scores[best]:
            chosen.append(second)
    sentences = [texts[at] for at in sorted(chosen)]
    # A line without an end would run into the next.
    ended = [text if _ends(text) else f"{text};" for text in sentences[:-1]]
    return shortened(" ".join([*ended, sentences[-1]]), LONGEST)


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The paragraphs (``p``) and list items (``li``) of a text; no headings, tables and code."""
    tags: list[str] = []
    for token in _markdown().parse(text):
        if token.nesting > 0:
            tags.append(token.tag)
        elif token.nesting < 0:
            tags.pop()
        elif token.type == "inline" and tags[-1] == "p":
            words = " ".join(without_emphasis(_NO_WORDS.sub("", token.content)).split())
            if words:
                yield "li" if "li" in tags else "p", words


def _candidates(
    blocks: Sequence[tuple[str, str]], tokenizer: Tokenizer
) -> dict[str, tuple[float, Counter[str]]]:
    """The sentences that may stand for a note, with their weight and their words."""
    found: dict[str, tuple[float, Counter[str]]] = {}
    opening = next((at for at, (kind, _) in enumerate(blocks) if kind == "p"), -1)
    for at, (kind, text) in enumerate(blocks):
        # An item that is a sentence may stand for a note; a word or a name cannot.
        if kind == "li" and not _ends(text):
            continue
        for number, (start, end) in enumerate(sentence_spans(text, tokenizer.language)):
            prior = (_FIRST if number == 0 else _OPENING) if at == opening else 1.0
            sentence = text[start:end].strip()
            words = Counter(tokenizer.query(sentence))
            # In some scripts few characters say much.
            dense = any(ord(char) > 0x2E7F for char in sentence)
            label = len(words) < 3 or (len(sentence) < _SHORTEST and not dense)
            announces = sentence.endswith((":", "：", "…", "..."))
            if sentence in found or label or announces or len(sentence) > LONGEST:
                continue
            # A question weighs less, as does what is short, or the beginning or end of a sentence.
            weight = 1.0 if _ends(sentence) else _ITEM
            if sentence.endswith(("?", "？")):
                weight *= _QUESTION
            if sentence[0].islower():
                # The end of a sentence that a formula or a line of code stands in.
                weight *= _ITEM
            if not dense:
                weight *= math.sqrt(min(1.0, len(sentence) / _FULL))
            found[sentence] = (_ITEM if kind == "li" else prior) * weight, words
    return found


def _ends(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip("\"'”’»)*_ ").endswith(
        (".", "!", "?", "。", "！", "？", "．", "।", "؟", "۔")
    )


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
    return {word: value / length for word, value in vector.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(value * other.get(word, 0.0) for word, value in one.items())


def _listed(blocks: Sequence[tuple[str, str]]) -> str:
    """The first list with the line before it; or what lines there are."""
    first = next((at for at, (kind, _) in enumerate(blocks) if kind == "li"), None)
    if first is None:
        return shortened(" ".join(text for _, text in blocks), LONGEST)
    items: list[str] = []
    for kind, text in blocks[first:]:
        if kind != "li":
            break
        items.append(text.rstrip(" ;,."))
    before = blocks[first - 1][1] if first else ""
    intro = f"{before} " if before.endswith((":", "：")) else ""
    return shortened(intro + "; ".join(items), LONGEST)
