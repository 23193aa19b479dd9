"""What a question calls by other words than the notes do: somebody by a role ("my supervisor"), the newest
note of a kind ("the last meeting with Ida"), a property by how much there is ("how deep is the hold?"), a
note by its name ("notes about Ida"); and a question that goes on from another ("and the day after?").
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, timedelta
from typing import NamedTuple

from notehop.app.lists.note_conditions import ASKS_ABOUT_TIME, find_conditions
from notehop.app.lists.note_lines import ARTICLES, find_roles, is_role
from notehop.app.lists.period import TIME_PATTERNS, Period, expand_names, next_month, parse_period
from notehop.app.lists.tasks import parse_task_questions
from notehop.app.lists.vault_question import (
    WORDS,
    VaultQuestion,
    content_words,
    normalize_words,
    notes_stating_day,
)
from notehop.app.retrieval.filters import Paths
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS, name_candidates
from notehop.app.retrieval.relevance import past_date_in_name
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.words import fold

_TABLE = WORDS["rewriting"]
_POSSESSIVES = re.compile(_TABLE["own"], re.IGNORECASE)
_LAST = re.compile(rf"(?:\b(?:{ARTICLES})\s+)?\b(?:{_TABLE['last']})\s+(?=\w)", re.IGNORECASE)
_WITH = re.compile(rf"^(?P<kind>.+?)\s+(?:{_TABLE['with']})\s+(?P<names>.+)$", re.IGNORECASE)
_OF = re.compile(_TABLE["of"], re.IGNORECASE)
_ANY = re.compile(_TABLE["any"], re.IGNORECASE)
_NOTES = re.compile(_TABLE["notes"], re.IGNORECASE)
_HOW = [re.compile(one, re.IGNORECASE) for one in _TABLE["how"]]
_WORD = re.compile(r"[^\W_][\w'’-]*")
MAX_KIND_WORDS = 6  # words that may name a kind of notes and with whom


class NewestNote(NamedTuple):
    """The newest note of a kind, how many there are of the kind, and the ``phrase`` that means it."""

    path: str
    total: int
    phrase: str
    kind: str


def find_newest_note(question: VaultQuestion) -> NewestNote | None:
    """Find the newest note of a kind where a question asks for it ("my last meeting with Ida"), by the day
    that it says it is of, up to today; None where it names none, or few notes of that kind say a day."""
    text, view, today = question.text, question.view, question.today
    match = _LAST.search(text)
    if match is None or parse_period(text, today) is not None:
        return None
    words = [*_WORD.finditer(text, match.end())][:MAX_KIND_WORDS]
    if words and normalize_words(words[0][0]) in ALL_FUNCTION_WORDS:
        return None  # "the latest on the mesh"
    for count in range(len(words), 0, -1):
        kind = " ".join(one[0] for one in words[:count])
        kind_words = with_match["kind"] if (with_match := _WITH.match(kind)) else kind
        if not ALL_FUNCTION_WORDS.isdisjoint(normalize_words(kind_words).split()):
            continue  # "meeting before the call"
        if not content_words(normalize_words(words[count - 1][0])):
            continue
        after = " ".join(text[words[count - 1].end() :].split()[:MAX_KIND_WORDS])
        narrowed = after and normalize_words(after.split()[0]) in ALL_FUNCTION_WORDS
        if not with_match and (narrowed or _WITH.match(f"{kind} {after}")):
            break  # one with somebody else, or "before the summer"
        paths = _notes_of_kind(kind, question)
        paths = frozenset(path for path in paths if not question.is_template(path))
        dates = view.catalog.dates(paths)
        days = {path: dates[path] for path in sorted(notes_stating_day(view.notes_at(paths)))}
        past = [path for path, day in days.items() if day[:10] <= f"{today}"]
        if past and 2 * len(days) > len(paths) > (count == 1):
            newest = max(past, key=days.__getitem__)
            return NewestNote(newest, len(paths), text[match.start() : words[count - 1].end()], kind)
    return None


def _notes_of_kind(kind: str, question: VaultQuestion) -> Paths:
    """The notes of a kind, by what they have in common or by their names, and with what is said before or
    behind it ("the Alder meeting")."""
    if said := _WITH.match(kind):
        paths = _notes_of_kind(said["kind"], question)
        return paths and paths & _notes_mentioning(said["names"], paths, question)
    plain, view = normalize_words(kind), question.view
    if found := find_conditions(question, f"{WORDS['asks'][0]} {plain}"):
        return question.notes_matching_all(found)
    called = view.lexical.holding(question.tokens(plain), "title")
    paths = frozenset(filter(None, view.paths_of(called)))
    names, _, last = plain.rpartition(" ")
    if not paths and names:
        paths = _notes_of_kind(last, question)
        return paths and paths & _notes_mentioning(names, paths, question)
    return paths


def _notes_mentioning(names: str, paths: Paths, question: VaultQuestion) -> Paths:
    """Return the notes among these that say names in their title or properties, or else anywhere."""
    words, view = question.tokens(content_words(normalize_words(names))), question.view
    called = {*view.paths_of(view.lexical.holding(words, "title"))}
    chunks = view.chunks(view.lexical.holding(words, "content")).values()
    called |= {one.path for one in chunks if one.kind == "properties"}
    return paths & called or paths & {one.path for one in chunks}


def reword_question(question: VaultQuestion) -> dict[str, str]:
    """Words of a question -> what the notes have in their place. Names are given of notes that are in its
    vault."""
    if measured := _reword_measure(question):
        return measured
    about = _NOTES.match(question.text)
    if about is not None and question.view.notes_named(about["name"]):
        return {question.text: about["name"]}
    newest = find_newest_note(question)
    if newest is not None:
        row = question.view.notes_at([newest.path]).get(newest.path)
        return {} if row is None else {newest.phrase: f"{newest.phrase} {row.title}"}
    return _reword_role(question.text, question.view)


def _reword_role(text: str, view: Snapshot) -> dict[str, str]:
    """A role that one note has, with the name of that note beside it: nobody but who asks has "my
    supervisor", and it is in its place."""
    roles: dict[str, Paths] = {}
    for key, value, notes in find_roles(normalize_words(text), view):
        words = value.split()
        # The supervisor is the "main supervisor"; the director is no "assistant to the director".
        shorter = words[-1] if ALL_FUNCTION_WORDS.isdisjoint(words) else ""
        for role in (value, shorter or value) if is_role(key) else ():
            roles[role] = roles.get(role, frozenset()) | notes
    for role in sorted(roles, key=len, reverse=True):
        pattern = rf"\b(?P<article>{ARTICLES})\s+{re.escape(role)}\b"
        match = re.search(pattern, text, re.IGNORECASE)
        if match is None or len(roles[role]) > 1 or view.notes_named(role):
            continue
        is_possessive = _POSSESSIVES.fullmatch(match["article"])
        after = _WORD.search(text, match.end())
        # "A friend" may be any; the "sales figures" are none of who does sales, "of Alien" is another.
        is_followed = after and (
            _OF.fullmatch(after[0]) or ALL_FUNCTION_WORDS.isdisjoint(normalize_words(after[0]).split())
        )
        if not is_possessive and is_followed:
            continue
        if _ANY.fullmatch(match["article"]):
            continue
        for row in view.notes_at(roles[role]).values():
            return {match[0]: row.title if is_possessive else f"{match[0]} {row.title}"}
    return {}


def _reword_measure(question: VaultQuestion) -> dict[str, str]:
    """Reword a question of how much ("how deep is the hold?") with the property of the note that it names,
    or a word that a passage has with its name."""
    text, view = question.text, question.view
    match = next(filter(None, (one.match(text) for one in _HOW)), None)
    how = "" if match is None else fold(match["how"]).casefold()
    nouns = next((one["nouns"] for one in _TABLE["measures"] if how in one["how"]), ())
    if match is None or not nouns:
        return {}
    name = match["name"]
    words = question.tokens(content_words(normalize_words(name)))
    paths = next(filter(None, map(view.notes_named, name_candidates(name))), [])
    if words and not paths:  # the one note with the words in its name
        titled_notes = {*view.paths_of(view.lexical.holding(words, "title"))}
        paths = [*filter(None, titled_notes)] if len(titled_notes) == 1 else []
    keys = [key for row in view.notes_at(paths).values() for key in map(str, row.front_matter)]
    # The cost is the "cost", if there is one beside a price.
    nouns = sorted(nouns, key=lambda noun: noun != how)
    measure_keys = (key for noun in nouns for key in keys if noun in normalize_words(key).split())
    if key := next(measure_keys, ""):
        return {text: f"{key} {name}"}
    if not words or any(map(view.lexical.frequency, question.tokens(how))):
        return {}
    for noun in nouns:
        both = {*words, *question.tokens(noun)}
        for one in view.chunks(view.lexical.holding(both, "content")).values():
            # The lines of a day have nothing to do with one another.
            lines = one.text.splitlines() if past_date_in_name(one.path) else ()
            if not lines or any(both <= {*question.tokens(line)} for line in lines):
                return {text: f"{noun} {name}"}
    return {}


_AND = rf"(?:{WORDS['comparing']['and']} )?"
_LATER, _EARLIER, _OF_MONTH, _ONLY = (
    re.compile(_AND + expand_names(WORDS["time"][one]), re.IGNORECASE)
    for one in ("later", "earlier", "of_its_month", "only")
)


def shift_period(question: str, follow_up: str, today: date, year: str = "") -> str:
    """Put another time in the place of a question's own ("and the day after", "and the 14th"), or add
    what narrows its list ("and only those for the bathroom"); empty where the follow-up is another.
    ``year`` is that of the notes by which a time without one was answered; empty where it is not known."""
    text = follow_up.strip(" ?!.…")
    ahead = any(True for _ in parse_task_questions(question, today, lambda _: ()))
    if only := _ONLY.fullmatch(text):
        lists = ahead or ASKS_ABOUT_TIME.search(normalize_words(question))
        return f"{question.rstrip(' ?!.…')} {only['of']}?" if lists else ""
    previous = parse_period(question, today, ahead=ahead)
    if previous and previous.yearly and year:
        previous = next(
            (one for one in previous.with_earlier_years() if f"{one.first.year}" == year), previous
        )
    says_year = re.search(r"\b(?:19|20)\d\d\b", question) is not None
    period = previous and _other_period(previous, text, today, ahead=ahead, says_year=says_year)
    if not (previous and period):
        return ""
    first, end = period
    time_text = f"{first}" if end - first == timedelta(1) else f"{first} to {end - timedelta(1)}"
    time_text = f"{first:%B %Y}" if first.day == 1 and end == next_month(first) else time_text
    return f"{previous.rest[: previous.at]}{time_text}{previous.rest[previous.at :]}"


def _other_period(
    previous: Period, text: str, today: date, *, ahead: bool, says_year: bool
) -> tuple[date, date] | None:
    """The time that a text names, beside one that was spoken of; None for none, or for years."""
    period = parse_period(text, today, ahead=ahead)
    if period and ALL_FUNCTION_WORDS.issuperset(normalize_words(period.rest).split()):
        shift = previous.first.year - period.first.year if period.yearly and says_year else 0
        with suppress(ValueError):  # 29 February
            first, end = (one.replace(year=one.year + shift) for one in (period.first, period.end))
            return (first, end) if period.is_short else None
    if match := _OF_MONTH.fullmatch(text):
        with suppress(ValueError):
            first = previous.first.replace(day=int(match["day"]))
            return first, first + timedelta(days=1)
    later = _LATER.fullmatch(text) is not None
    if not (later or _EARLIER.fullmatch(text)):
        return None
    if TIME_PATTERNS["month"].search(text):
        first = next_month(previous.first) if later else (previous.first.replace(day=1) - timedelta(days=1))
        return first.replace(day=1), next_month(first)
    weekend = TIME_PATTERNS["weekend"].search(text)
    step = timedelta(days=7 if weekend or TIME_PATTERNS["week"].search(text) else 1)
    if weekend:
        return (
            (previous.first + step, previous.end + step)
            if later
            else (previous.first - step, previous.end - step)
        )
    return (previous.end, previous.end + step) if later else (previous.first - step, previous.first)
