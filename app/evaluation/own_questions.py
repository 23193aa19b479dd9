"""Questions made out of a vault's own headings, aliases and links, without a language model. Pure.

What its owner wrote says what belongs together: a heading names its section, an alias its note, and
the sentence around a link is about the note that the link leads to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

from notehop.app.evaluation.metrics import CHUNKS, CONTEXT, NOTES, usual
from notehop.app.evaluation.questions import KnownQuestion, LinkPair, QuestionSet, Target
from notehop.indexing.graph.files import fold, link_name
from notehop.indexing.graph.fragments import Outline, find_fragment
from notehop.indexing.graph.model import Status
from notehop.indexing.stores.model import LinkRow, NoteRow
from notehop.indexing.vault.link_text import LinkText, words
from notehop.indexing.vault.model import LinkKind

One = TypeVar("One")

Terms = Callable[[str], Sequence[str]]
"""Text -> the words that the index knows it by."""

HEADING_TERMS = 2
"""Words that a heading needs to be asked for: ``Notes`` or ``2026`` names no section."""

SENTENCE_TERMS = 5
"""Words that a sentence needs without the text of its link, to still say what it is about."""

HELD_OUT_SHARE = 10
"""At most one link in so many is held out: the graph must stay the one that is measured."""


@dataclass(frozen=True, slots=True)
class LinkSentence:
    """A link in a sentence: what a question is made of."""

    source: str
    target: str
    line: int
    text: str


def own_questions(
    notes: Sequence[NoteRow],
    links: Iterable[LinkRow],
    terms: Terms,
    *,
    most: int,
    seed: int = 0,
) -> list[QuestionSet]:
    """Make the question sets of a vault, each of at most ``most`` questions; empty ones are none.

    ``headings`` find their sections, ``aliases`` their notes. ``anchors`` are sentences around a
    link, without its text, that find its target while the note that holds them is out of the
    search. ``held-out links`` are such sentences, too: their notes are there, their links are not.

    The same vault gives the same questions. A note gives one question of a kind, and which notes
    are asked about is settled by hashes, so that a changed note changes no other question.

    :param notes: the indexed notes.
    :param links: the links that they hold.
    :param seed: another seed, other questions.
    """
    cited, total = _cited(links, terms)
    by_hash = _one_a_note(seed, "link", ((one.source, one.line, one) for one in cited))
    # A filter by the path of the others would take other notes, too.
    anchors = [one for one in by_hash if "*" not in one.source and "?" not in one.source][:most]
    rest = [one for one in by_hash if one not in anchors] or by_hash
    held_out = rest[: min(most, total // HELD_OUT_SHARE)]
    sets = [
        QuestionSet("headings", _headings(notes, terms, most, seed), usual(CHUNKS)),
        QuestionSet("aliases", _aliases(notes, most, seed), usual(NOTES)),
        QuestionSet(
            "anchors",
            tuple(_question("anchor", one, without=one.source) for one in anchors),
            usual(NOTES),
        ),
        QuestionSet(
            "held-out links",
            tuple(_question("held-out", one) for one in held_out),
            CONTEXT,
            held_out=frozenset[LinkPair]((one.source, one.target) for one in held_out),
        ),
    ]
    return [one for one in sets if one.questions]


def _one_a_note(seed: int, kind: str, found: Iterable[tuple[str, object, One]]) -> list[One]:
    """One of each note, chosen and ordered by hash: no choice depends on how many others there are.

    :param found: the note of each, and what tells it from the others of that note.
    """

    def place(*parts: object) -> bytes:
        said = "\0".join(map(str, (seed, kind, *parts)))
        return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    best: dict[str, tuple[bytes, One]] = {}
    for note, which, one in found:
        at = place(note, which)
        if note not in best or at < best[note][0]:
            best[note] = (at, one)
    return [best[path][1] for path in sorted(best, key=place)]


def _headings(
    notes: Sequence[NoteRow], terms: Terms, most: int, seed: int
) -> tuple[KnownQuestion, ...]:
    """Headings that stand once in the vault and name no note."""
    names = _names(notes)
    said = Counter(fold(text) for note in notes for _, text, _ in note.outline)

    def found() -> Iterator[tuple[str, str, tuple[NoteRow, str, int]]]:
        for note in notes:
            for _, text, line in note.outline:
                plain = not re.search(r"[\[\]^#|<>*`]", text)
                if plain and said[fold(text)] == 1 and fold(text) not in names:
                    yield note.path, text, (note, text, line)

    asked: list[KnownQuestion] = []
    for note, text, line in _one_a_note(seed, "heading", found()):
        if len(asked) == most:
            break
        span = find_fragment(Outline(note.outline, note.blocks, note.line_count), text)
        if span is None or span.first_line != line or len(set(terms(text))) < HEADING_TERMS:
            continue
        target = Target(note.path, text, (span.first_line, span.last_line))
        asked.append(KnownQuestion(f"heading {note.path}:{line}", text, (target,)))
    return tuple(asked)


def _aliases(notes: Sequence[NoteRow], most: int, seed: int) -> tuple[KnownQuestion, ...]:
    """Aliases that no other note goes by, and that are not the name of their own."""
    names = _names(notes)
    found = (
        (note.path, alias, (note, alias))
        for note in notes
        for alias in note.aliases
        if alias.strip()
        and names[fold(alias)] == 1
        and fold(alias) not in (fold(note.title), link_name(note.path))
    )
    chosen = _one_a_note(seed, "alias", found)
    return tuple(
        KnownQuestion(f"alias {note.path}: {alias}", alias, (Target(note.path),))
        for note, alias in chosen[:most]
    )


def _names(notes: Sequence[NoteRow]) -> Counter[str]:
    """Each title, alias and file name -> how many notes go by it."""
    names: Counter[str] = Counter()
    for note in notes:
        names.update({fold(note.title), link_name(note.path), *map(fold, note.aliases)})
    return names


def _cited(links: Iterable[LinkRow], terms: Terms) -> tuple[list[LinkSentence], int]:
    """The links whose sentence still says something without them, and how many links lead on."""
    found: list[LinkSentence] = []
    total = 0
    for link in links:
        if link.target_chunk_id is None or link.target_path in (None, link.path):
            continue
        total += 1
        text = _without_link(link)
        if text is not None and len(set(terms(text))) >= SENTENCE_TERMS:
            found.append(LinkSentence(link.path, str(link.target_path), link.line, text))
    return found, total


def _without_link(link: LinkRow) -> str | None:
    """The sentence of a link without the link's text; None where that is not found in it."""
    if link.kind != LinkKind.LINK or link.status != Status.RESOLVED:
        return None
    shown = words(LinkText(link.raw_target, link.fragment, link.display))
    if not shown:
        return None
    text, removed = re.subn(re.escape(" ".join(shown.split())), " ", link.sentence, flags=re.I)
    return " ".join(text.split()) if removed else None


def _question(kind: str, one: LinkSentence, without: str | None = None) -> KnownQuestion:
    name = f"{kind} {one.source}:{one.line} -> {one.target}"
    return KnownQuestion(name, one.text, (Target(one.target),), without)
