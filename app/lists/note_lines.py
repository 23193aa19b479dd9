"""The lines of notes that a question asks for: with a day of a property ("contracts that end in 2026"), with
another value of one ("invoices that are not paid"), saying who has a role ("who is the technician?"), or what
a property of a note that is named says ("pages of the Book of Knots")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from datetime import timedelta
from functools import cache, reduce
from itertools import chain, product

from notehop.app.answer.citations import fence_after
from notehop.app.answer.draft import MAX_QUOTED_NOTES
from notehop.app.answer.quotes.exact_values import SYNONYMS, WORD, is_agent_noun
from notehop.app.answer.quotes.question import parse_question
from notehop.app.lists.period import Period, parse_day
from notehop.app.lists.vault_question import (
    ACTION_WORDS,
    MAX_LIST_WORDS,
    NEGATION,
    NON_KIND_KEYS,
    POSSESSION_WORDS,
    PREFIX_LETTERS,
    WORDS,
    NoteLine,
    VaultQuestion,
    add_accents,
    content_words,
    normalize_words,
)
from notehop.app.retrieval.filters import Condition, Paths, keep_allowed
from notehop.app.retrieval.intents import (
    ALL_FUNCTION_WORDS,
    WORDS_BEFORE_NAME,
    SubjectFinder,
    name_candidates,
    strip_punctuation,
)
from notehop.indexing.stores.filter_labels import TYPE, key_label, property_key
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, ChunkRow, NoteRow
from notehop.indexing.vault.plain import sentence_spans

ListedLines = tuple[str, dict[ChunkId, tuple[str, int]]]
"""What the notes have in common, and the line of each with its number, by passage."""

ARTICLES = "|".join(map(re.escape, WORDS_BEFORE_NAME))
LABELLED_LINE = re.compile(r"[\s>*_+(\[-]*(?P<key>[^\W\d_][^:\n]{0,40}):{1,2}[\s*_\[]*(?P<value>\S.*)")
_KEY_SYNONYMS: Sequence[Sequence[str]] = WORDS["typed"]["held"]
_MODIFIER_KEYS = rf"(?:{'|'.join(chain(*_KEY_SYNONYMS))})\s?[-+]\s?"
_TYPED = re.compile(
    rf"(?<![\w/.:<`-])(?:/[a-z][\w-]*(?![\w/.])|--[a-z][\w-]*|`[^`\n]+`"
    rf"|(?:{_MODIFIER_KEYS})+(?:{WORDS['typed']['key']})(?!\w))",
    re.IGNORECASE,
)
_TYPED_QUESTION_WORDS = frozenset(WORDS["typed"]["asking"]) | ACTION_WORDS
_ENTRY_START = (
    r"\s*(?:(?P<head>#+ )|\|\s*|[-*+] +)[*_`\[(]*(?:{})(?![\w-])(?(head)\W*(?:\w+\W*){{0,2}}$|.*\w)"
)
"""The beginning of a row, an item or a heading that says something of what is typed."""
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_LETTER = re.compile(r"[^\W\d_]")
_OPEN_ENDED = re.compile(WORDS["open_ended"], re.IGNORECASE)
SUM_WORDS = frozenset(WORDS["sums"])
_ROLE_WORDS = frozenset(WORDS["rewriting"]["roles"])
_ASKS_WHO = re.compile(
    rf"^(?:(?P<who>{'|'.join(WORDS['rewriting']['who'])}) )?"
    rf"(?:{'|'.join(map(normalize_words, WORDS_BEFORE_NAME))}) (?P<role>.+)$"
)
_NUMBER_WORDS = frozenset(WORDS["of_a_number"])
_ELIDED = re.compile(r"\b(\w{1,2}['’])(?=\w{3})")  # "l'alarme"
SHORT_KEY_LETTERS = 3  # letters of a key that is the beginning of a word ("tel")
# Words that a role has, and lines that may tell who somebody is: more are of several things.
MAX_ROLE_WORDS = 3


def match_labelled_lines(chunk: ChunkRow) -> Iterator[tuple[int, str, re.Match[str]]]:
    """Yield the lines of a passage that begin with a key, code aside, each with its number and the match."""
    fence = "```" if chunk.kind == "code" else None
    for number, line in enumerate(chunk.text.splitlines(), chunk.first_line):
        fence = fence_after(fence, line)
        if fence is None and (said := LABELLED_LINE.match(line)):
            yield number, line, said


def find_typed_lines(question: VaultQuestion) -> ListedLines | None:
    """Read a question for no more than commands, flags or keys as typed ("what does /drop do?", "ctrl-r
    in Inkwell"): the rows, items and headings that begin with them; None where it is another, or one of them
    begins none, or several passages tell of it."""
    names = dict.fromkeys(one.strip("`") for one in _TYPED.findall(question.text))
    content = content_words(normalize_words(_TYPED.sub("", question.text)))
    required_tokens = frozenset(question.tokens(one for one in content if one not in _TYPED_QUESTION_WORDS))
    lines: dict[ChunkId, tuple[str, int]] = {}
    for name in names:
        entries = _find_entries(name, required_tokens, question)
        if not entries or len({*entries, *lines}) > MAX_QUOTED_NOTES:
            return None
        for one, (text, number) in entries.items():
            before, first = lines.get(one, ("", number))
            rows = text.split("\n")[2:] if before.startswith("|") else [text]
            lines[one] = "\n".join([*filter(None, [before]), *rows]), first
    return (f"What the notes have on {', '.join(names)}", lines) if lines else None


def _find_entries(
    name: str, required_tokens: frozenset[str], question: VaultQuestion
) -> dict[ChunkId, tuple[str, int]]:
    """The entries that begin with what is typed, each by its passage, that have the words beside it or stand
    in a note with them."""
    view, lexical = question.view, question.view.lexical
    is_key_combination = re.match(_MODIFIER_KEYS, name, re.IGNORECASE)
    keys = re.split(r"\s?[-+]\s?", name.casefold()) if is_key_combination else [name]
    alike = [next((one for one in _KEY_SYNONYMS if key in one), (key,)) for key in keys]
    typed = r"\s?[-+ ]\s?".join(f"(?:{'|'.join(map(re.escape, one))})" for one in alike)
    begins = re.compile(_ENTRY_START.format(typed), re.IGNORECASE)
    queries = product(map(question.tokens, map("-".join, product(*alike))), ("content", "h1", "h2", "h3"))
    ids = set().union(*(lexical.holding(words, field) for words, field in queries))
    entries: dict[ChunkId, tuple[str, int]] = {}
    for path in sorted({view.path_of(one) or "" for one in keep_allowed(sorted(ids), question.allowed)}):
        table: list[str] = []  # the head of the one that goes on
        for chunk in view.chunks_of(path):
            fence, lines = None, chunk.text.split("\n")
            for at, line in enumerate(lines):
                fence = fence_after(fence, line)
                table = [*table, line][:2] if line.startswith("|") else []
                entry = None if fence or chunk.kind == "code" else begins.match(line)
                if entry is None:
                    continue
                text = "\n".join([*table, line])
                if entry["head"]:
                    text = _HEADING.split("\n".join(lines[at + 1 :]), maxsplit=1)[0].strip()
                if required_tokens <= {*question.tokens(f"{path} {text}")} and _LETTER.search(text):
                    entries.setdefault(chunk.id, (text, chunk.first_line + at))
    return entries


def find_dated_lines(question: VaultQuestion, plain: str, period: Period) -> ListedLines | None:
    """Read a question for the notes with a day of a property, or in a line of their text that begins as one
    does, in a time ("which contracts end in 2026?", "birthdays in May"); None where it is another.

    :param plain: its words, without those of the time.
    """
    text, labels, content = question.text, question.view.labels, content_words(plain)
    asked_words = question.tokens(content)
    words = question.tokens(word for word in content if word not in POSSESSION_WORDS | ACTION_WORDS)
    if not content or max(len(words), len(content) / 2) > MAX_LIST_WORDS:
        return None
    if NEGATION.search(plain) or _OPEN_ENDED.search(text) or period.apply_bounds(text) is not period:
        return None
    kinds = question.match_terms(plain)
    own_words = cache(lambda key: question.matched_day_key_tokens(key, asked_words))
    in_text = [
        one
        for one in _dated_text_lines(asked_words, period, question)
        # Of a longer time, notes say by their names and properties when they were made.
        if period.end - period.first <= timedelta(days=1) or one[0] not in NON_KIND_KEYS
    ]
    found_by_note: dict[str, tuple[tuple[int, ...], str, str, NoteLine | None]] = {}
    properties = (
        (key, value.strip("['\"]"), labels.having(name, value), None)
        for name, value in labels.with_any(period.spellings)
        if (key := property_key(name)) is not None
        # The day of a link without quotes in the front matter was not read.
        if key not in NON_KIND_KEYS
        or value[:2] == "['"
        or any(key == one[1] for one in found_by_note.values())
    )
    several = False
    for key, value, notes, line in chain(in_text, properties):
        key_tokens = own_words(key)
        day = parse_day(value, yearly=period.yearly) if key_tokens else None
        if day is None or not period.contains(day):
            continue
        sort_key = day.timetuple()[period.yearly : 3]
        rest = [word for word in words if word not in key_tokens]
        for path in notes & question.notes_named_by(rest, kinds):
            before = found_by_note.setdefault(path, (sort_key, key, value, line))[3]
            several |= bool(line and before and line[2] != before[2])
    if several and all(line for *_, line in found_by_note.values()):
        return None  # one note with an entry for each
    lines: dict[ChunkId, tuple[str, int]] = {}
    for path, (_, key, value, line) in sorted(found_by_note.items(), key=lambda one: (one[1][0], one[0])):
        place = question.property_line(key, value, path)
        if place and not question.is_template(path):
            place = line or place
            lines[place[0]] = place[1:]
    keys = " or ".join(dict.fromkeys(key for _, key, _, _ in found_by_note.values()))
    last = period.end - timedelta(days=1)
    days = f"{period.first:%B}" if last > period.first else f"{period.first.day} {period.first:%B}"
    if not period.yearly:
        days = f"{period.first}" if last == period.first else f"{period.first} to {last}"
    return (f"{{has|have}} {keys} in {days}", lines) if lines else None


def _dated_text_lines(
    words: Sequence[str], period: Period, question: VaultQuestion
) -> Iterator[tuple[str, str, Paths, NoteLine]]:
    """The key, value, note and place of lines such as "Created: 2024-05-23", in passages with any of the
    words and a part of a day in that time."""

    def holding(*parts: str) -> set[ChunkId]:
        return question.view.lexical.holding(parts, "content")

    ids = set().union(*map(holding, words))
    ids &= set().union(*(holding(*question.tokenizer(part)) for part in period.spellings))
    for one in question.view.chunks(keep_allowed(sorted(ids), question.allowed)).values():
        for number, line, match in match_labelled_lines(one) if one.kind != "properties" else ():
            key, place = match["key"].rstrip("*_ "), (one.id, line.strip(), number)
            yield key_label(key), match["value"], frozenset([one.path]), place


def find_other_value_lines(
    question: VaultQuestion, kinds: Sequence[Condition], denied: Condition, within: Paths | None
) -> ListedLines | None:
    """Find the notes that have another value of the denied property, or none where that value is empty."""
    paths = frozenset(one for one in question.notes_matching_all(kinds) if not question.is_template(one))
    paths = paths if within is None else paths & within
    values = {value: notes & paths for value, notes in question.property_values(denied.key).items()}
    if denied.value:
        excluded = values.pop(denied.value, Paths())
        values = {value: notes - excluded for value, notes in values.items()}
        description = f"{{has|have}} another {denied.key} than {denied.value}"
    elif not any(values.values()):
        return None  # None of the kind has it: nothing says what it would be to have it.
    else:
        values = {"": paths.difference(*values.values())}
        description = f"{{has|have}} no {denied.key}"
    lines = question.property_lines(
        (denied.key, value, path) for value, notes in values.items() for path in sorted(notes)
    )
    return (description, lines) if lines else None


def find_line_of_named_note(question: VaultQuestion) -> tuple[str, NoteLine] | None:
    """Read a question for a property, by its key, of the note that it names: the note's title, and the line;
    None where it asks for anything beside, or how or why."""
    forms, plain = {*parse_question(question.text).forms}, question.plain
    if forms & {"howto", "reason", "comparison"} or NEGATION.search(plain) or _OPEN_ENDED.search(plain):
        return None
    for paths, words_beside in _notes_and_words(question):
        notes = [path for path in paths if not question.is_template(path)]
        words = [word for word in words_beside if word not in _NUMBER_WORDS] or words_beside
        # Each word, and how else it is spelt.
        alike = [
            frozenset(question.tokenizer.weights([one], question.view.lexical))
            for one in question.tokens(words)
        ]
        if not alike or len(notes) != 1:
            continue
        row = question.view.notes_at(notes)[notes[0]]
        for key in map(str, row.front_matter):
            begins = normalize_words(key)
            key_tokens = frozenset(question.tokens(content_words(begins)))
            is_abbreviation = len(begins) == SHORT_KEY_LETTERS and any(
                {begins, *words} <= one for one in SYNONYMS
            )
            is_doer_key = "person" in forms and is_agent_noun(begins, words_beside) and len(words_beside) == 1
            is_named = key_tokens <= frozenset().union(*alike) and all(key_tokens & one for one in alike)
            if is_abbreviation or is_doer_key or is_named:
                other = is_doer_key and not is_named and not begins.startswith(tuple(alike[0]))
                place = _sentence_of_doer(alike[0], row, question) if other else None
                place = place or question.property_line(key_label(key), None, row.path)
                # Nobody, and no place, is called by a number or a day.
                value = place[1].rpartition(":")[2] if place else ""
                tells = _LETTER.search(value) or not forms & {"person", "place"}
                if place and place[1] and tells:
                    return row.title, place
    return None


def _sentence_of_doer(verb: Set[str], note: NoteRow, question: VaultQuestion) -> NoteLine | None:
    """The sentence of a note in which somebody does with it what a verb says ("Ruth runs the marathon")."""
    about = {*question.tokens([note.title])}
    for chunk in question.view.chunks_of(note.path):
        for first, end in sentence_spans(chunk.text) if chunk.kind == "text" else ():
            words = WORD.findall(sentence := chunk.text[first:end].strip())
            who = (one[0].isupper() and one.casefold() not in ALL_FUNCTION_WORDS for one in words)
            does = (not verb.isdisjoint(question.tokens([one])) for one in words[1:])
            if about & {*question.tokens(words)} and any(map(all, zip(who, does, strict=False))):
                return chunk.id, sentence, chunk.first_line + chunk.text.count("\n", 0, first)
    return None


def _notes_and_words(question: VaultQuestion) -> Iterator[tuple[Paths, Sequence[str]]]:
    """The notes of each name that stands in a question, the longest first, and the other words that tell
    something; where none does, the notes with some of its words in their titles."""
    view, text = question.view, _ELIDED.sub(r"\1 ", question.text)
    notes_by_span = SubjectFinder(view, text, None).notes_by_span
    for first, end in notes_by_span:
        # "Ben" is a small word of another language, and somebody here.
        rest = normalize_words(f"{text[:first]} {text[end:]}")
        small = (one for one in rest.split() if one in ALL_FUNCTION_WORDS and question.tokenizer(one))
        yield (
            notes_by_span[first, end],
            content_words(rest) + [one for one in small if view.notes_named(one)],
        )
    titles = {
        word: frozenset(filter(None, view.paths_of(view.lexical.holding(word_tokens, "title"))))
        for word in (() if notes_by_span else content_words(normalize_words(text)))
        if (word_tokens := question.tokens(word))
    }
    if titled_notes := [paths for paths in titles.values() if paths]:
        yield (reduce(frozenset.intersection, titled_notes), [one for one in titles if not titles[one]])


def find_role_lines(question: VaultQuestion) -> ListedLines | None:
    """Read a question for who has a role, or belongs to a group; None where it is another, or no note says so
    by a property or in a line that begins with it ("Committee: Ida, Per"); a role alone ("the chair?") is
    asked for as a property has it."""
    view, match = question.view, _ASKS_WHO.match(question.plain)
    role, is_role_only = (match["role"], not match["who"]) if match else ("", False)
    tokens = question.tokens(role)
    if not 0 < len(tokens) <= MAX_ROLE_WORDS or view.named_any(name_candidates(role)):
        return None
    lines: dict[ChunkId, tuple[str, int]] = {}
    ids = keep_allowed(sorted(view.lexical.holding(tokens, "content")), question.allowed)
    for one in view.chunks(() if is_role_only else ids).values():
        for number, line, said in match_labelled_lines(one) if one.kind != "properties" else ():
            if question.tokens(said["key"]) == tokens and not question.is_template(one.path):
                lines[one.id] = line.strip(), number
    if len(lines) > MAX_ROLE_WORDS:
        lines = {}
    roles = sorted(find_roles(role, view), key=lambda one: role not in one[1].split())
    # Who is the president is no honorary president, where somebody is just that.
    exact_roles = [one for one in roles if is_role(one[0]) and normalize_words(one[1]) == role]
    for key, value, notes in exact_roles or (() if is_role_only else roles):
        # A mother-in-law is no mother.
        words = value.casefold().split()
        stems = [" ".join(question.tokens(one)) for one in words]
        begins, ends = stems[: len(tokens)] == tokens, stems[-len(tokens) :] == tokens
        # The assistant to the director is another than the director.
        apart = len(words) > len(tokens) and words[-len(tokens) - 1] in ALL_FUNCTION_WORDS
        if stems == tokens or (is_role(key) and (begins or (ends and not apart))):
            places = question.property_lines((key, value, path) for path in sorted(notes))
            lines |= {one: line for one, line in places.items() if line[0]}
    ends_of = (question.text[one.start() :] for one in re.finditer(r"\w+", question.text))
    typed = next((strip_punctuation(one) for one in ends_of if normalize_words(one) == role), role)
    return (f"{{tells|tell}} of the {typed}", lines) if lines else None


def find_roles(plain: str, view: Snapshot) -> Iterator[tuple[str, str, Paths]]:
    """Yield key, value and notes of the properties whose value may have words of a text."""
    begins = {word[:PREFIX_LETTERS] for word in content_words(plain)}
    for name, value in view.labels.with_any(add_accents(begins)):
        key = property_key(name) or (TYPE if name == TYPE else None)
        if key is not None and (key == TYPE or key not in NON_KIND_KEYS) and value != "true":
            yield key, value, view.labels.having(name, value)


def is_role(key: str) -> bool:
    return not _ROLE_WORDS.isdisjoint(normalize_words(key).split())
