"""Questions whose answers are known: golden sets from files, each with its vault; and those made out of
a vault's own headings, aliases and links, whose owner said by them what belongs together.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from notehop.config.errors import UsageError
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, link_name
from notehop.indexing.graph.resolve import Outline, Status, find_fragment
from notehop.indexing.stores.model import LinkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.vault.model import LinkKind
from notehop.indexing.vault.plain import LinkText, words

Lines = tuple[int, int]
"""First and last line of a passage, from 1, both included."""

LinkPair = tuple[str, str]
"""The note that holds a link, and the note it leads to."""


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A note that an answer rests on; or the heading or block that was asked for, and its lines."""

    path: str
    fragment: str | None = None
    lines: Lines | None = None

    def met_by(self, path: str, lines: Lines) -> bool:
        """Whether a passage is of this note and, where lines are asked for, holds one of them."""
        first, last = self.lines or lines
        return path == self.path and lines[0] <= last and lines[1] >= first

    def __str__(self) -> str:
        """The target as a link has it."""
        return self.path if self.fragment is None else f"{self.path}#{self.fragment}"


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question and all that its answer rests on, each once.

    ``without`` is a note that the search has to do without, as the question is a quote from it.
    ``answers`` are names of the one answer, the usual one first; empty where it is not known.
    """

    id: str
    text: str
    gold: tuple[Target, ...]
    without: str | None = None
    answers: tuple[str, ...] = ()

    @property
    def notes(self) -> frozenset[str]:
        """The notes that the answer rests on."""
        return frozenset(target.path for target in self.gold)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one kind about one vault; ``measure`` is that by which one counts as helped or hurt, and
    ``held_out`` are links that the search must not see.
    """

    name: str
    questions: tuple[KnownQuestion, ...]
    measure: str
    held_out: frozenset[LinkPair] = field(default=frozenset())


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """A named vault with its questions, in the order of the file, not placed in an index yet."""

    name: str
    vault: Path
    questions: tuple[KnownQuestion, ...]


def golden_sets(data: Path, work: Path) -> list[GoldenSet]:
    """Find the sets in ``data``: folders that hold ``queries.jsonl`` and ``vault.tar.gz``.

    :param data: the folder of the sets, or one of them.
    :param work: folder to unpack the vaults into; one that is unpacked already is used as it is.
    :returns: by name.
    :raises UsageError: if a set cannot be read, naming the file and the line.
    """
    files = sorted([*data.glob("queries.jsonl"), *data.glob("*/queries.jsonl")])
    # All questions are read before the first vault is unpacked: a mistake should show at once.
    found = [(file.resolve().parent, read_questions(file)) for file in files]
    return [GoldenSet(one.name, _unpacked(one, work), asked) for one, asked in found]


def _unpacked(folder: Path, work: Path) -> Path:
    target, archive = work / folder.name, folder / "vault.tar.gz"
    if not target.is_dir():
        partial = work / f"{folder.name}.partial"
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(partial, filter="data")
            partial.rename(target)
        except (OSError, tarfile.TarError) as exc:
            raise UsageError(f"{archive}: cannot be unpacked to {target}: {exc}") from exc
    if not (target / "vault").is_dir():
        raise UsageError(f"{archive}: holds no folder vault; pack the notes as vault/*.md")
    return target / "vault"


def read_questions(file: Path) -> tuple[KnownQuestion, ...]:
    """Read questions: an object a line with ``id``, ``question`` and ``gold``.

    ``gold``, ``answer``, ``answers`` and ``answer_aliases`` are those of docs/evaluation.md; other
    keys are left to whoever wrote them.

    :raises UsageError: naming the line that is not so, or the file that cannot be read.
    """
    return read_lines(file, _question, "not an object with id, question and gold")


QuestionT = TypeVar("QuestionT")


def read_lines(
    file: Path, make: Callable[[Any], QuestionT], otherwise: str
) -> tuple[QuestionT, ...]:
    """Read questions of some kind, one from each line that is not blank.

    :param otherwise: what a line is that no question can be made of.
    :raises UsageError: naming the line that is not so, or the file that cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UsageError(f"{file}: not UTF-8; save it as UTF-8") from exc
    except OSError as exc:
        raise UsageError(f"{file}: cannot be read: {exc.strerror}; check the path") from exc
    found: dict[str, QuestionT] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            name, question = str(row["id"]), make(row)
        except (ValueError, KeyError, TypeError, re.error) as exc:
            raise UsageError(f"{file}:{number}: {otherwise} ({exc!r})") from exc
        if name in found:
            raise UsageError(f"{file}:{number}: a second question {name}; give each its id")
        found[name] = question
    if not found:
        raise UsageError(f"{file}: holds no questions; write one object a line")
    return tuple(found.values())


def placed(
    questions: Sequence[KnownQuestion], view: Snapshot, origin: str
) -> tuple[KnownQuestion, ...]:
    """Return the questions with the lines of the headings and blocks that they ask for.

    :raises UsageError: if the index lacks a note or a note the place, naming the first few.
    """
    notes = view.notes_at(sorted({path for question in questions for path in question.notes}))
    found: list[KnownQuestion] = []
    lacking: dict[str, None] = {}
    for question in questions:
        gold: dict[Target, None] = {}
        for target in question.gold:
            note = notes.get(target.path)
            span = note and target.fragment is not None and _span(note, target.fragment)
            if note is None or span is None:
                lacking[str(target)] = None
            else:
                gold[replace(target, lines=span) if span else target] = None
        found.append(replace(question, gold=tuple(gold)))
    if lacking:
        named = list(lacking)[:3]
        more = f" and {len(lacking) - 3:,} more" if len(lacking) > 3 else ""
        raise UsageError(
            f"{origin}: gold that the index lacks: {', '.join(named)}{more}; "
            "correct the paths, or index the vault anew"
        )
    return tuple(found)


def _span(note: NoteRow, fragment: str) -> Lines | None:
    span = find_fragment(Outline(note.outline, note.blocks, note.line_count), fragment)
    return None if span is None else (span.first_line, span.last_line)


def _question(row: Any) -> KnownQuestion:
    if not isinstance(row["question"], str) or not row["question"].strip():
        raise ValueError("the question is no text")
    gold = row["gold"]
    if not isinstance(gold, list) or not gold or not all(isinstance(one, str) for one in gold):
        raise ValueError("gold is no list of paths")
    targets: dict[Target, None] = {}
    for written in gold:
        # The name of a note may hold # itself.
        path, suffix, fragment = written.partition(f"{NOTE_SUFFIX}#")
        targets[Target(path + NOTE_SUFFIX, fragment) if suffix else Target(written)] = None
    # The answer with its other names, each once; a number or a truth value as it is said.
    named = [] if row.get("answer") is None else [row["answer"]]
    for key in ("answers", "answer_aliases"):
        more = row.get(key) or []
        if not isinstance(more, list):
            raise ValueError(f"{key} is no list")
        named += more
    said: dict[str, None] = {}
    for answer in named:
        if not isinstance(answer, str | int | float):
            raise ValueError("an answer is neither text nor number")
        text = str(answer).strip()
        said[{"True": "yes", "False": "no"}[text] if isinstance(answer, bool) else text] = None
    text, answers = row["question"].strip(), tuple(filter(None, said))
    return KnownQuestion(str(row["id"]), text, tuple(targets), answers=answers)


One = TypeVar("One")

HEADING_TERMS = 2  # words that a heading needs: ``Notes`` or ``2026`` names no section
SENTENCE_TERMS = 5  # words that a sentence needs without its link, to still say what it is about

HELD_OUT_SHARE = 10
"""At most one link in so many is held out: the graph must stay the one that is measured."""


def own_questions(
    notes: Sequence[NoteRow],
    links: Iterable[LinkRow],
    terms: Callable[[str], Sequence[str]],
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

    :param links: those of the notes.
    :param terms: text -> the words that the index knows it by.
    :param seed: another seed, other questions.
    """
    leading = [
        link
        for link in links
        if link.target_chunk_id is not None and link.target_path not in (None, link.path)
    ]
    texts = ((link, _without_link(link)) for link in leading)
    sentences = (
        (link.path, link.line, (link, text))
        for link, text in texts
        if text is not None and len(set(terms(text))) >= SENTENCE_TERMS
    )
    cited = _one_a_note(seed, "link", sentences)
    # A filter by the path of the others would take other notes, too.
    anchors = [one for one in cited if not set("*?").intersection(one[0].path)][:most]
    rest = [one for one in cited if one not in anchors] or cited
    held_out = rest[: min(most, len(leading) // HELD_OUT_SHARE)]
    # Each title, alias and file name -> how many notes go by it.
    names: Counter[str] = Counter()
    for note in notes:
        names.update({fold(note.title), link_name(note.path), *map(fold, note.aliases)})
    # Aliases that no other note goes by, and that are not the name of their own.
    own_names = (
        (note.path, alias, (note.path, alias))
        for note in notes
        for alias in note.aliases
        if alias.strip()
        and names[fold(alias)] == 1
        and fold(alias) not in (fold(note.title), link_name(note.path))
    )
    aliases = tuple(
        KnownQuestion(f"alias {path}: {alias}", alias, (Target(path),))
        for path, alias in _one_a_note(seed, "alias", own_names)[:most]
    )
    of_anchors = tuple(_of_link("anchor", *one, without=one[0].path) for one in anchors)
    of_links = tuple(_of_link("held-out", *one) for one in held_out)
    unseen = frozenset[LinkPair]((link.path, str(link.target_path)) for link, _ in held_out)
    sets = (
        QuestionSet("headings", _headings(notes, names, terms, most, seed), "chunks.ndcg@10"),
        QuestionSet("aliases", aliases, "notes.ndcg@10"),
        QuestionSet("anchors", of_anchors, "notes.ndcg@10"),
        QuestionSet("held-out links", of_links, "context.all", held_out=unseen),
    )
    return [one for one in sets if one.questions]


def _one_a_note(seed: int, kind: str, found: Iterable[tuple[str, object, One]]) -> list[One]:
    """One of each note, chosen and ordered by hash: no choice depends on how many others there are. Of each
    its note is given, and what tells it from the others of that note.
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
    notes: Sequence[NoteRow],
    names: Mapping[str, int],
    terms: Callable[[str], Sequence[str]],
    most: int,
    seed: int,
) -> tuple[KnownQuestion, ...]:
    """Headings that stand once in the vault and name no note."""
    said = Counter(fold(text) for note in notes for _, text, _ in note.outline)
    found = (
        (note.path, text, (note, text, line))
        for note in notes
        for _, text, line in note.outline
        if not re.search(r"[\[\]^#|<>*`]", text)
        and said[fold(text)] == 1
        and fold(text) not in names
    )
    asked: list[KnownQuestion] = []
    for note, text, line in _one_a_note(seed, "heading", found):
        if len(asked) == most:
            break
        span = _span(note, text)
        if span is not None and span[0] == line and len(set(terms(text))) >= HEADING_TERMS:
            target = Target(note.path, text, span)
            asked.append(KnownQuestion(f"heading {note.path}:{line}", text, (target,)))
    return tuple(asked)


def _without_link(link: LinkRow) -> str | None:
    """The sentence of a link without the link's text; None where that is not found in it."""
    if link.kind != LinkKind.LINK or link.status != Status.RESOLVED:
        return None
    shown = words(LinkText(link.raw_target, link.fragment, link.display))
    if not shown:
        return None
    text, removed = re.subn(re.escape(" ".join(shown.split())), " ", link.sentence, flags=re.I)
    return " ".join(text.split()) if removed else None


def _of_link(kind: str, link: LinkRow, text: str, without: str | None = None) -> KnownQuestion:
    name = f"{kind} {link.path}:{link.line} -> {link.target_path}"
    return KnownQuestion(name, text, (Target(str(link.target_path)),), without)
