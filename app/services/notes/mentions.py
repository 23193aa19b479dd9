"""Where notes say the name of another note without linking to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from posixpath import basename

from notehop.app.answer.citations import code_spans
from notehop.app.models import Mention
from notehop.app.services.notes.current_notes import as_now, flat
from notehop.app.services.open_vault import Place
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, is_pdf, link_name
from notehop.indexing.stores.model import ChunkId, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import words_in_order
from notehop.indexing.vault.model import Lines, Note
from notehop.indexing.vault.plain import plain_text
from notehop.indexing.vault.sentences import sentence_spans

LISTED = 20  # mentions that are listed; no further note is read for more
READ = 40  # notes that are read for them: what the index takes for a mention may be a link

LONGEST_NAME = 6  # words of a name that is looked for in the text of a note
LONGEST_UNSPACED = 8  # signs of one in a text without blanks between words

LOOKED_AT = 20_000
"""Characters of a note in which names of other notes are looked for; what stands further on is found
from the notes that it names, and in the list of the whole vault."""

SHORTEST = 2  # letters that a name of one word must have: every text says ``a``
SENTENCE = 300  # characters of a sentence that are shown

UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
)
"""Letters of scripts without blanks between words."""

_NO_NAMES = frozenset(("tags", "tag", "aliases", "alias", "title", "type", "cssclasses", "summary"))
"""Properties whose values name no notes."""

DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-?W\d{2}|\d{4}-\d{2}")
"""What a note of a day, week or month is called; as a value of a property it is a date, no name."""

_WORD = re.compile(r"\w+(?:['’.&+-]\w+)*[+#]*")
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>|#]|\d{1,9}[.)])[ \t]?)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")


def mentions_of(
    view: Snapshot, place: Place, tokenizer: Tokenizer, note: Note
) -> tuple[list[Mention], int]:
    """The first mentions of a note, by path and line, and how many the notes have that were read for them."""
    names = names_of((note.name, note.title, *note.aliases), tokenizer.language)
    if not names:
        return [], 0
    holding = {view.path_of(id_) for name in names for id_ in passages_with(view, tokenizer, name)}
    # None in PDFs: reading one takes a second.
    paths = sorted(path for path in holding - {None, note.path} if path and not is_pdf(path))[:READ]
    pattern = pattern_of(names)
    found: list[Mention] = []
    count = 0
    for file in as_now(place, paths):
        if len(found) == LISTED:
            break
        if file is not None and file.note is not None:
            said = [*_in_properties(file.note, property_values(file.note), names)]
            own = [*unlinked(file.note, pattern)]
            count += len(said) + len(own)
            found += said[: LISTED - len(found)]
            found += mentions(file.note, own[: LISTED - len(found)], tokenizer.language)
    return found, count


def names_in(view: Snapshot, note: Note, language: str) -> dict[str, Mention]:
    """Note -> where a note first names it without a link."""
    body = note.text[note.body_start : note.body_start + LOOKED_AT]
    words = [one.span() for one in _WORD.finditer(body)]
    runs = {
        " ".join(body[words[at][0] : words[end][1]].split())
        for at in range(len(words))
        for end in range(at, min(at + LONGEST_NAME, len(words)))
    }
    # Without blanks between words, a name may begin at any sign.
    runs |= {
        body[at : at + length]
        for start, end in words
        if UNSPACED.search(body, start, end)
        for at in range(start, end)
        for length in range(2, min(LONGEST_UNSPACED, end - at) + 1)
    }
    values = property_values(note)
    runs |= values.keys()
    paths = {path for paths in view.named_any(runs).values() for path in paths}
    said = {fold(run) for run in runs}
    # What is titled otherwise is named by its file all the same.
    paths |= {path for path in view.paths() if link_name(path) in said}
    rows = view.notes_at(sorted(paths - {note.path}))
    found = {path: first_naming(note, values, row, language) for path, row in rows.items()}
    return {path: naming for path, naming in found.items() if naming is not None}


def first_naming(
    note: Note, values: Mapping[str, tuple[int, str]], row: NoteRow, language: str
) -> Mention | None:
    """Where a note first names another in its text or its properties (``values``), without a link.
    Pure."""
    name = basename(row.path).removesuffix(NOTE_SUFFIX)
    names = names_of((name, row.title, *row.aliases), language)
    if not names:
        return None
    headings, lines = {one.line for one in note.headings}, Lines(note.text)
    places = (
        one
        for one in unlinked(note, pattern_of(names))
        if lines.at(one.start()) not in headings and is_called(one[0], names)
    )
    return next(chain(mentions(note, places, language), _in_properties(note, values, names)), None)


def _in_properties(
    note: Note, values: Mapping[str, tuple[int, str]], names: Iterable[str]
) -> Iterator[Mention]:
    """The values of properties that are one of these names."""
    called = {name.casefold() for name in names}
    for said, (line, sentence) in values.items():
        if said.casefold() in called:
            yield Mention(path=note.path, title=note.title, line=line, name=said, sentence=sentence)


def is_called(said: str, names: Iterable[str]) -> bool:
    """Whether a text is a name: of one word only if it begins as one, or ``home`` would name Home."""
    return len(said.split()) > 1 or any(
        said[0] == name[0] for name in names if name.casefold() == said.casefold()
    )


def property_values(note: Note) -> dict[str, tuple[int, str]]:
    """Texts that are values of properties -> the line, and the property with its value."""
    lines = note.text[: note.body_start].splitlines()
    found: dict[str, tuple[int, str]] = {}
    for key, value in note.front_matter.items():
        if str(key).casefold() in _NO_NAMES:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one.strip() and "[[" not in one and not DAY.fullmatch(one):
                said = " ".join(one.split())
                at = next((n for n, line in enumerate(lines, 1) if said in line), 1)
                found.setdefault(said, (at, f"{key}: {said}"))
    return found


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
    return (char.isalnum() or char == "_") and not UNSPACED.match(char)


def passages_with(view: Snapshot, tokenizer: Tokenizer, name: str) -> Collection[ChunkId]:
    """The passages that hold all the words of a name."""
    words = [tokenizer.of_phrase_word(word) for word in words_in_order(name)]
    return view.lexical.holding(words, "content")


def unlinked(note: Note, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The mentions in the body of a note that stand in no link, code or comment. Pure."""
    hidden = [(link.start, link.end) for link in note.links]
    hidden += [(edit.start, edit.end) for edit in note.edits]
    hidden += code_spans(note.text)
    for match in pattern.finditer(note.text, note.body_start):
        if not any(start < match.end() and match.start() < end for start, end in hidden):
            yield match


def mentions(note: Note, matches: Iterable[re.Match[str]], language: str) -> Iterator[Mention]:
    """Each place with the sentence that holds it. Pure."""
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
    if len(said) <= SENTENCE:
        return said
    # Of a longer one the words around the place.
    at = len(before)
    room = SENTENCE - 2  # for the marks that say where it was cut
    start = max(0, min(at - room // 2, len(said) - room))
    first = said.find(" ", start, at) + 1 if start else 0
    cut = said[first : first + room].rstrip()
    return f"{'…' if first else ''}{cut}{'…' if first + len(cut) < len(said) else ''}"
