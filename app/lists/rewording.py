"""What a question calls by other words than the notes do: somebody by a role ("my supervisor"), the newest
note of a kind ("the last meeting with Ida"), a property by how much there is ("how deep is the hold?"), a
note by its name ("notes about Ida"); and a question that goes on from another ("and the day after?").
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, timedelta
from typing import NamedTuple

from notehop.app.lists.kinds import ASKS_OF_A_TIME, conditions_of
from notehop.app.lists.lines import ARTICLE, is_role, roles_in
from notehop.app.lists.period import SAYS, Period, next_month, period_of, with_names
from notehop.app.lists.tasks import task_questions
from notehop.app.lists.vault_question import (
    WORDS,
    VaultQuestion,
    plain_words,
    saying_a_day,
    telling,
)
from notehop.app.retrieval.filters import Paths
from notehop.app.retrieval.intents import SMALL, names_of
from notehop.app.retrieval.relevance import noted_on
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.words import fold

_TABLE = WORDS["rewriting"]
_OWN = re.compile(_TABLE["own"], re.IGNORECASE)
_LAST = re.compile(rf"(?:\b(?:{ARTICLE})\s+)?\b(?:{_TABLE['last']})\s+(?=\w)", re.IGNORECASE)
_WITH = re.compile(rf"^(?P<kind>.+?)\s+(?:{_TABLE['with']})\s+(?P<names>.+)$", re.IGNORECASE)
_OF = re.compile(_TABLE["of"], re.IGNORECASE)
_ANY = re.compile(_TABLE["any"], re.IGNORECASE)
_NOTES = re.compile(_TABLE["notes"], re.IGNORECASE)
_HOW = [re.compile(one, re.IGNORECASE) for one in _TABLE["how"]]
_WORD = re.compile(r"[^\W_][\w'’-]*")
LONGEST_KIND = 6  # words that may name a kind of notes and with whom


class Newest(NamedTuple):
    """The newest note of a kind, and how many there are of it; the words that mean it."""

    path: str
    of: int
    said: str
    kind: str


def newest_meant(question: VaultQuestion) -> Newest | None:
    """The newest note of the kind that a question names so, with whom or what it says: by the day that it
    says it is of, up to today; None where it names none, or few of the notes of that kind say a day."""
    text, view, today = question.text, question.view, question.today
    found = _LAST.search(text)
    if found is None or period_of(text, today) is not None:
        return None
    words = [*_WORD.finditer(text, found.end())][:LONGEST_KIND]
    if words and plain_words(words[0][0]) in SMALL:
        return None  # "the latest on the mesh"
    for count in range(len(words), 0, -1):
        kind = " ".join(one[0] for one in words[:count])
        own = said["kind"] if (said := _WITH.match(kind)) else kind
        if not SMALL.isdisjoint(plain_words(own).split()):
            continue  # "meeting before the call"
        if not telling(plain_words(words[count - 1][0])):
            continue
        after = " ".join(text[words[count - 1].end() :].split()[:LONGEST_KIND])
        narrowed = after and plain_words(after.split()[0]) in SMALL
        if not said and (narrowed or _WITH.match(f"{kind} {after}")):
            break  # one with somebody else, or "before the summer"
        paths = _of_kind(kind, question)
        paths = frozenset(path for path in paths if not question.is_template(path))
        dates = view.catalog.dates(paths)
        days = {path: dates[path] for path in sorted(saying_a_day(view.notes_at(paths)))}
        past = [path for path, day in days.items() if day[:10] <= f"{today}"]
        if past and 2 * len(days) > len(paths) > (count == 1):
            newest = max(past, key=days.__getitem__)
            return Newest(newest, len(paths), text[found.start() : words[count - 1].end()], kind)
    return None


def _of_kind(kind: str, question: VaultQuestion) -> Paths:
    """The notes of a kind, by what they have in common or by their names, and with what is said before or
    behind it ("the Alder meeting")."""
    if said := _WITH.match(kind):
        paths = _of_kind(said["kind"], question)
        return paths and paths & _with(said["names"], paths, question)
    plain, view = plain_words(kind), question.view
    if found := conditions_of(question, f"{WORDS['asks'][0]} {plain}"):
        return question.notes_meeting(found)
    called = view.lexical.holding(question.tokens(plain), "title")
    paths = frozenset(filter(None, view.paths_of(called)))
    names, _, last = plain.rpartition(" ")
    if not paths and names:
        paths = _of_kind(last, question)
        return paths and paths & _with(names, paths, question)
    return paths


def _with(names: str, paths: Paths, question: VaultQuestion) -> Paths:
    """Those of some notes that say names in their title or properties, or else anywhere."""
    words, view = question.tokens(telling(plain_words(names))), question.view
    called = {*view.paths_of(view.lexical.holding(words, "title"))}
    chunks = view.chunks(view.lexical.holding(words, "content")).values()
    called |= {one.path for one in chunks if one.kind == "properties"}
    return paths & called or paths & {one.path for one in chunks}


def reworded(question: VaultQuestion) -> dict[str, str]:
    """Words of a question -> what the notes have in their place. Names are given of notes that are in its
    vault."""
    if measured := _measured(question):
        return measured
    about = _NOTES.match(question.text)
    if about is not None and question.view.notes_named(about["name"]):
        return {question.text: about["name"]}
    newest = newest_meant(question)
    if newest is not None:
        row = question.view.notes_at([newest.path]).get(newest.path)
        return {} if row is None else {newest.said: f"{newest.said} {row.title}"}
    return _role_named(question.text, question.view)


def _role_named(text: str, view: Snapshot) -> dict[str, str]:
    """A role that one note has, with the name of that note beside it: nobody but who asks has "my
    supervisor", and it is in its place."""
    roles: dict[str, Paths] = {}
    for key, value, notes in roles_in(plain_words(text), view):
        words = value.split()
        # The supervisor is the "main supervisor"; the director is no "assistant to the director".
        shorter = words[-1] if SMALL.isdisjoint(words) else ""
        for role in (value, shorter or value) if is_role(key) else ():
            roles[role] = roles.get(role, frozenset()) | notes
    for role in sorted(roles, key=len, reverse=True):
        pattern = rf"\b(?P<article>{ARTICLE})\s+{re.escape(role)}\b"
        said = re.search(pattern, text, re.IGNORECASE)
        if said is None or len(roles[role]) > 1 or view.notes_named(role):
            continue
        own, after = _OWN.fullmatch(said["article"]), _WORD.search(text, said.end())
        # "A friend" may be any; the "sales figures" are none of who does sales, "of Alien" is another.
        beside = after and (
            _OF.fullmatch(after[0]) or SMALL.isdisjoint(plain_words(after[0]).split())
        )
        if not own and beside:
            continue
        if _ANY.fullmatch(said["article"]):
            continue
        for row in view.notes_at(roles[role]).values():
            return {said[0]: row.title if own else f"{said[0]} {row.title}"}
    return {}


def _measured(question: VaultQuestion) -> dict[str, str]:
    """How much there is of something -> the property of the note that is named, or a word that a passage
    has with its name, in its place."""
    text, view = question.text, question.view
    found = next(filter(None, (one.match(text) for one in _HOW)), None)
    how = "" if found is None else fold(found["how"]).casefold()
    nouns = next((one["nouns"] for one in _TABLE["measures"] if how in one["how"]), ())
    if found is None or not nouns:
        return {}
    name = found["name"]
    words = question.tokens(telling(plain_words(name)))
    paths = next(filter(None, map(view.notes_named, names_of(name))), [])
    if words and not paths:  # the one note with the words in its name
        called = {*view.paths_of(view.lexical.holding(words, "title"))}
        paths = [*filter(None, called)] if len(called) == 1 else []
    keys = [key for row in view.notes_at(paths).values() for key in map(str, row.front_matter)]
    own = (key for noun in nouns for key in keys if noun in plain_words(key).split())
    if key := next(own, ""):
        return {text: f"{key} {name}"}
    if not words or any(map(view.lexical.frequency, question.tokens(how))):
        return {}
    for noun in nouns:
        both = {*words, *question.tokens(noun)}
        for one in view.chunks(view.lexical.holding(both, "content")).values():
            # The lines of a day have nothing to do with one another.
            lines = one.text.splitlines() if noted_on(one.path) else ()
            if not lines or any(both <= {*question.tokens(line)} for line in lines):
                return {text: f"{noun} {name}"}
    return {}


_AND = rf"(?:{WORDS['comparing']['and']} )?"
_LATER, _EARLIER, _OF_MONTH, _ONLY = (
    re.compile(_AND + with_names(WORDS["time"][one]), re.IGNORECASE)
    for one in ("later", "earlier", "of_its_month", "only")
)


def going_on(question: str, follow_up: str, today: date, year: str = "") -> str:
    """A question with another time in the place of its own ("and the day after", "and the 14th"), or with
    what narrows its list ("and only those for the bathroom"); empty where the follow-up is another.
    ``year`` is that of the notes by which a time without one was answered; empty where it is not known."""
    text = follow_up.strip(" ?!.…")
    ahead = any(True for _ in task_questions(question, today, lambda _: ()))
    if only := _ONLY.fullmatch(text):
        lists = ahead or ASKS_OF_A_TIME.search(plain_words(question))
        return f"{question.rstrip(' ?!.…')} {only['of']}?" if lists else ""
    was = period_of(question, today, ahead=ahead)
    if was and was.yearly and year:
        was = next((one for one in was.and_before() if f"{one.first.year}" == year), was)
    says_year = re.search(r"\b(?:19|20)\d\d\b", question) is not None
    another = was and _another(was, text, today, ahead=ahead, says_year=says_year)
    if not (was and another):
        return ""
    first, end = another
    said = f"{first}" if end - first == timedelta(1) else f"{first} to {end - timedelta(1)}"
    said = f"{first:%B %Y}" if first.day == 1 and end == next_month(first) else said
    return f"{was.rest[: was.at]}{said}{was.rest[was.at :]}"


def _another(
    was: Period, text: str, today: date, *, ahead: bool, says_year: bool
) -> tuple[date, date] | None:
    """The time that a text names, beside one that was spoken of; None for none, or for years."""
    own = period_of(text, today, ahead=ahead)
    if own and SMALL.issuperset(plain_words(own.rest).split()):
        shift = was.first.year - own.first.year if own.yearly and says_year else 0
        with suppress(ValueError):  # 29 February
            first, end = (one.replace(year=one.year + shift) for one in (own.first, own.end))
            return (first, end) if own.is_short else None
    if found := _OF_MONTH.fullmatch(text):
        with suppress(ValueError):
            first = was.first.replace(day=int(found["day"]))
            return first, first + timedelta(days=1)
    later = _LATER.fullmatch(text) is not None
    if not (later or _EARLIER.fullmatch(text)):
        return None
    if SAYS["month"].search(text):
        first = next_month(was.first) if later else (was.first.replace(day=1) - timedelta(days=1))
        return first.replace(day=1), next_month(first)
    weekend = SAYS["weekend"].search(text)
    step = timedelta(days=7 if weekend or SAYS["week"].search(text) else 1)
    if weekend:
        return (was.first + step, was.end + step) if later else (was.first - step, was.end - step)
    return (was.end, was.end + step) if later else (was.first - step, was.first)
