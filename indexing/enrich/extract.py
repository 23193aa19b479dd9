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
from dataclasses import dataclass, field

from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.plain import without_emphasis
from notehop.indexing.vault.sentences import sentence_spans

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$")
_TABLE = re.compile(r"^[ \t]*\|")
_CALLOUT = re.compile(r"^\[![^\]]*\][-+]?[ \t]*")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+")
_LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_FIELD = re.compile(r"^[\w][\w /-]{0,30}::[ \t]*")
_HTML = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>\n]*>|\{\{.*?\}\}|<%.*?%>", re.S)
_ANCHOR = re.compile(r"[ \t]\^[A-Za-z0-9-]+$")
_ADDRESS = re.compile(r"\bhttps?://\S+")
_TAGS = re.compile(r"(?:^|(?<=\s))#(?!\d+\b)[^\s#]+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")

_CALLOUT_TITLE = 60
"""Characters of the title of a callout, which is a heading; what is longer is text."""


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together: prose, or the items of a list with the line before it, if that
    ends in a colon."""

    prose: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)


def paragraphs(text: str) -> list[Paragraph]:
    """The paragraphs and lists of a passage, without headings, rules, tables, code and marks."""
    found: list[Paragraph] = []
    current: Paragraph | None = None
    fence: str | None = None
    for raw in _HTML.sub("", text).split("\n"):
        line = _QUOTE.sub("", raw)
        mark = _FENCE.match(line)
        if fence is not None:
            fence = None if mark and mark[1].startswith(fence) else fence
            continue
        if mark:
            fence, current = mark[1], None
            continue
        if not line.strip():
            # A blank line ends prose; a list goes on behind it, and begins behind its line.
            if current is not None and not current.items and not _opens(current):
                current = None
            continue
        callout = _CALLOUT.match(line.strip())
        titled = callout is not None and len(line.strip()) - callout.end() < _CALLOUT_TITLE
        if titled or _HEADING.match(line) or _RULE.match(line) or _TABLE.match(line):
            current = None
            continue
        item = _LIST_ITEM.match(line)
        words = bare(line[item.end() :] if item else line)
        if item:
            if current is None or (current.prose and not _opens(current)):
                found.append(current := Paragraph())
            if words:
                current.items.append(words)
        elif current is not None and current.items and raw[:1] in " \t":
            current.items[-1] = f"{current.items[-1]} {words}".strip()
        elif words:
            if current is None or current.items:
                found.append(current := Paragraph())
            current.prose.append(words)
    return [one for one in found if one.prose or one.items]


def bare(line: str) -> str:
    """A line without the marks of Markdown, block names, addresses and tags."""
    line = _FIELD.sub("", _CALLOUT.sub("", _ANCHOR.sub("", line.strip())))
    line = _LINK.sub(r"\1", line)
    line = without_emphasis(line)
    return " ".join(_TAGS.sub("", _ADDRESS.sub("", line)).split())


def sentences(lines: Sequence[str], language: str) -> Iterator[str]:
    """The sentences of a paragraph."""
    text = " ".join(lines)
    for start, end in sentence_spans(text, language):
        if sentence := text[start:end].strip():
            yield sentence


def _opens(paragraph: Paragraph) -> bool:
    """Whether a list that follows belongs to it."""
    return bool(paragraph.prose) and paragraph.prose[-1].rstrip().endswith((":", "："))


RULES = "extract-1"  # raised with any change of what comes out
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


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    prior: float
    words: Mapping[str, float]


def extract(title: str, passages: Sequence[str], tokenizer: Tokenizer) -> str:
    """Sum up passages of a note, or of notes, in their own words: at most two sentences.

    Of a text that is a list, the first items. The same passages give the same summary.

    :param passages: in the order of the text, as Markdown.
    :returns: at most 300 characters; empty if there is no sentence and no item.
    """
    # As one text: a block of code may begin in one passage and end in another.
    blocks = paragraphs("\n\n".join(passages)[:READ_CHARS])
    found = _candidates(blocks, tokenizer)
    if not found:
        return _listed(blocks)
    vectors = _weighted(found)
    centre = _centre(vectors, tokenizer(title))
    scores = [one.prior * _cosine(v, centre) for one, v in zip(found, vectors, strict=True)]
    best = max(range(len(found)), key=lambda at: (scores[at], -at))
    chosen = [best]
    if len(found[best].text) < ENOUGH:
        novel = {
            at: scores[at] - _NOVELTY * scores[at] * _cosine(vectors[at], vectors[best])
            for at in range(len(found))
            if at != best and len(found[at].text) + len(found[best].text) < LONGEST
        }
        second = max(novel, key=lambda at: (novel[at], -at), default=None)
        if second is not None and novel[second] >= _SECOND * scores[best]:
            chosen.append(second)
    sentence = [found[at].text for at in sorted(chosen)]
    # A line without an end would run into the next.
    ended = [text if _ends(text) else f"{text};" for text in sentence[:-1]]
    return cut(" ".join([*ended, sentence[-1]]), LONGEST)


def _candidates(blocks: Sequence[Paragraph], tokenizer: Tokenizer) -> list[_Candidate]:
    """The sentences that may stand for a note, each once."""
    found: dict[str, _Candidate] = {}
    first = next((at for at, block in enumerate(blocks) if block.prose), -1)
    for at, block in enumerate(blocks):
        priors = (_FIRST, _OPENING) if at == first else (1.0, 1.0)
        said = [
            (sentence, priors[number > 0])
            for number, sentence in enumerate(sentences(block.prose, tokenizer.language))
        ]
        # An item that is a sentence may stand for a note; a word or a name cannot.
        items = (item for item in block.items if _ends(item))
        said += [(one, _ITEM) for item in items for one in sentences([item], tokenizer.language)]
        for sentence, prior in said:
            if sentence not in found:
                candidate = _candidate(sentence, prior, tokenizer)
                if candidate is not None:
                    found[sentence] = candidate
    return [*found.values()]


def _candidate(sentence: str, prior: float, tokenizer: Tokenizer) -> _Candidate | None:
    """A sentence, unless it is a label, announces what follows, or is cut."""
    words = Counter(tokenizer.query(sentence))
    dense = any(ord(char) > 0x2E7F for char in sentence)
    announces = sentence.endswith((":", "：", "…", "..."))
    label = len(words) < 3 or (len(sentence) < _SHORTEST and not dense)
    if len(sentence) > LONGEST or announces or label:
        return None
    if not _ends(sentence):
        # A line without an end: a label, a byline, words from a form.
        prior *= _ITEM
    if sentence.endswith(("?", "？")):
        prior *= _QUESTION
    if sentence[0].islower():
        # The end of a sentence that a formula or a line of code stands in.
        prior *= _ITEM
    if not dense:
        prior *= math.sqrt(min(1.0, len(sentence) / _FULL))
    return _Candidate(sentence, prior, words)


def _ends(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip("\"'”’»)*_ ").endswith(
        (".", "!", "?", "。", "！", "？", "．", "।", "؟", "۔")
    )


def _weighted(found: Sequence[_Candidate]) -> list[dict[str, float]]:
    """The words of each candidate, of length 1, weighted by how few candidates have them."""
    among = Counter(word for one in found for word in one.words)
    return [
        _unit(
            {
                word: (1 + math.log(count)) * math.log(1 + len(found) / among[word])
                for word, count in one.words.items()
            }
        )
        for one in found
    ]


def _centre(vectors: Sequence[Mapping[str, float]], title: Sequence[str]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for vector in vectors:
        total.update(vector)
    centre = _unit(total)
    top = max(centre.values(), default=1.0)
    for word in dict.fromkeys(title):
        centre[word] = centre.get(word, 0.0) + _TITLE * top
    return _unit(centre)


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
    return {word: value / length for word, value in vector.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(value * other.get(word, 0.0) for word, value in one.items())


def _listed(blocks: Sequence[Paragraph]) -> str:
    """The first list with the line before it; or what lines there are."""
    for block in blocks:
        if block.items:
            intro = f"{' '.join(block.prose)} " if block.prose else ""
            items = [item.rstrip(" ;,.") for item in block.items]
            return cut(intro + "; ".join(items), LONGEST)
    return cut(" ".join(line for block in blocks for line in block.prose), LONGEST)


def cut(text: str, most: int) -> str:
    """The beginning of a line: whole sentences if they leave half of it, else whole words and …"""
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text[: most + 1])[:-1]]
    if ends and ends[-1] >= most // 2:
        return text[: ends[-1]].rstrip()
    begun = text[: most - 2]
    return (begun.rsplit(" ", 1)[0] if " " in begun[most // 2 :] else begun).rstrip(" ,;:") + " …"
