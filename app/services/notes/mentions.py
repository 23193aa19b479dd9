"""Where notes say the name of another note without linking to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from posixpath import basename

from notehop.app.answer.citations import code_spans
from notehop.app.models import Mention
from notehop.app.services.notes.current_notes import as_now
from notehop.app.services.open_vault import Place
from notehop.indexing.graph.files import NOTE_SUFFIX, is_pdf
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, NoteRow
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import FUNCTION_WORDS, UNSPACED, words_in_order
from notehop.indexing.vault.model import Lines, Note
from notehop.indexing.vault.plain import clipped, flat, plain_text, sentence_spans

LISTED = 20  # mentions that are listed; no further note is read for more
READ = 40  # notes that are read for them: what the index takes for a mention may be a link

SHORTEST = 2  # letters that a name of one word must have: every text says ``a``
SENTENCE = 300  # characters of a sentence that are shown

_UNSPACED = re.compile(rf"[{UNSPACED}]")

_NO_NAMES = frozenset(("tags", "tag", "aliases", "alias", "title", "type", "cssclasses", "summary"))
"""Properties whose values name no notes."""

DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-?W\d{2}|\d{4}-\d{2}")
"""What a note of a day, week or month is called; as a value of a property it is a date, no name."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>|#]|\d{1,9}[.)])[ \t]?)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")


def mentions_of(view: Snapshot, place: Place, tokenizer: Tokenizer, note: Note) -> tuple[list[Mention], int]:
    """The first mentions of a note, by path and line, and how many the notes have that were read for them."""
    names = names_of((note.name, note.title, *note.aliases), tokenizer.language)
    holding = {view.path_of(id_) for name in names for id_ in passages_with(view, tokenizer, name)}
    # None in PDFs: reading one takes a second.
    paths = sorted(path for path in holding - {None, note.path} if path and not is_pdf(path))[:READ]
    found: list[Mention] = []
    count = 0
    for naming in as_now(place, paths):
        if len(found) == LISTED:
            break
        if naming is not None:
            own = [*_unlinked(naming, names)]
            count += len(own)
            found += _mentions(naming, own[: LISTED - len(found)], tokenizer.language)
    return found, count


def first_naming(note: Note, row: NoteRow, language: str, longer: Collection[str] = ()) -> Mention | None:
    """Where a note first names another in its text or a property, without a link: in no heading, no head of
    a table and no line that shows the link, and a name of one word only as it begins, or ``home`` would
    name Home. Pure.

    :param longer: names of other notes that hold one of this ("Sync Plus"): what says them names those.
    """
    name = basename(row.path).removesuffix(NOTE_SUFFIX)
    names = names_of((name, row.title, *row.aliases), language)
    headings, lines = {one.line for one in note.headings}, Lines(note.text)
    initials = {name.casefold(): name[0] for name in names}
    written = note.text.split("\n")

    def counts(one: re.Match[str]) -> bool:
        number, said = lines.at(one.start()), one[0].casefold()
        line, below = written[number - 1].casefold(), "".join(written[number : number + 1])
        linked = any(f"[[{said}{end}" in line for end in ("]", "|", "\\|", "#"))
        longer_one = " ".join(said.split()) in others
        if linked or number in headings or is_below_a_head(below) or longer_one:
            return False
        return len(said.split()) > 1 or initials.get(said) == one[0][0]

    others = {" ".join(name.casefold().split()) for name in longer} - initials.keys()
    # What is longer is found first.
    places = filter(counts, _unlinked(note, [*names, *others]))
    return next(chain(_mentions(note, places, language), _in_properties(note, names)), None)


def is_below_a_head(line: str) -> bool:
    """Whether a line divides the head of a table from its rows."""
    return "|" in line and "-" in line and not line.strip(" \t>|:-")


def _in_properties(note: Note, names: Iterable[str]) -> Iterator[Mention]:
    """The values of properties that are one of the names, with the property as their sentence."""
    called = {name.casefold() for name in names if not DAY.fullmatch(name)}
    lines = note.text[: note.body_start].splitlines()
    for key, value in note.front_matter.items():
        for one in value if isinstance(value, list) else [value]:
            said = " ".join(one.split()) if isinstance(one, str) else ""
            if said.casefold() in called and str(key).casefold() not in _NO_NAMES:
                at = next((n for n, line in enumerate(lines, 1) if said in line), 1)
                sentence = f"{key}: {said}"
                yield Mention(path=note.path, title=note.title, line=at, name=said, sentence=sentence)


def names_of(said: Iterable[str], language: str) -> list[str]:
    """The names by which a note may be mentioned, of its file name, title and aliases.

    Names that every text says are left out: of one letter, or words such as ``and``.
    """
    small = FUNCTION_WORDS.get(language, frozenset())
    names: dict[str, str] = {}
    for one in said:
        words = words_in_order(one)
        if not words or (len(words) == 1 and (len(words[0]) < SHORTEST or words[0] in small)):
            continue
        names.setdefault(" ".join(one.casefold().split()), " ".join(one.split()))
    return list(names.values())


def passages_with(view: Snapshot, tokenizer: Tokenizer, name: str) -> Collection[ChunkId]:
    """The passages that hold all the words of a name."""
    words = [tokenizer.of_phrase_word(word) for word in words_in_order(name)]
    return view.lexical.holding(words, "content")


def pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Finds the names as whole words, without case; the longest where several begin alike."""

    def whole(name: str) -> str:
        words = r"\s+".join(re.escape(word) for word in name.split())
        before = r"(?<!\w)" if _is_spaced(name[0]) else ""
        after = r"(?!\w)" if _is_spaced(name[-1]) else ""
        return f"{before}{words}{after}"

    ordered = sorted(names, key=len, reverse=True)
    return re.compile("|".join(f"(?:{whole(name)})" for name in ordered), re.IGNORECASE)


def _is_spaced(char: str) -> bool:
    return (char.isalnum() or char == "_") and not _UNSPACED.match(char)


def _unlinked(note: Note, names: Collection[str]) -> Iterator[re.Match[str]]:
    """The places in the body of a note that say one of the names and stand in no link, code or comment."""
    hidden = [(link.start, link.end) for link in note.links]
    hidden += [(edit.start, edit.end) for edit in note.edits]
    hidden += code_spans(note.text)
    for match in pattern_of(names).finditer(note.text, note.body_start) if names else ():
        if not any(start < match.end() and match.start() < end for start, end in hidden):
            yield match


def _mentions(note: Note, matches: Iterable[re.Match[str]], language: str) -> Iterator[Mention]:
    """Each place with the sentence that holds it."""
    lines = Lines(note.text)
    for one in matches:
        yield Mention(
            path=note.path,
            title=note.title,
            line=lines.at(one.start()),
            name=" ".join(one[0].split()),
            sentence=_sentence_at(note, one.span(), language),
        )


def _sentence_at(note: Note, place: tuple[int, int], language: str) -> str:
    """The sentence that holds a mention, as plain text on one line."""
    begins, ends = place
    text = note.text
    start, end = note.body_start, len(text)
    for gap in _PARAGRAPH.finditer(text, note.body_start):
        if gap.end() <= begins:
            start = gap.end()
        elif gap.start() >= ends:
            end = gap.start()
            break
    if heading := _HEADING.match(text, text.rfind("\n", 0, begins) + 1):
        start, end = heading.end(), text.find("\n", ends) % (len(text) + 1)
    for first, last in sentence_spans(text[start:end], language):
        if first <= begins - start < last:
            end, start = start + max(last, ends - start), start + first
            break
    before, said = (flat(plain_text(note, start, until)) for until in (begins, end))
    return clipped(said, 0, len(said), len(before), SENTENCE)
