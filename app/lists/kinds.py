"""The notes of a kind that a question asks for: each of its words as a type, a value of a property, a tag, a
folder or a time of the vault."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from unicodedata import normalize

from notehop.app.lists.period import Period
from notehop.app.retrieval.filters import Condition, Kind, Paths, notes_of
from notehop.app.retrieval.intents import SMALL
from notehop.indexing.graph.files import NOTE_SUFFIX
from notehop.indexing.stores.labels import TAG, TYPE, NoteLabels, property_key
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import day_in_name

LONGEST = 4  # words beside the small ones that may name what is to be listed
BEGINNING = 3  # letters of a word that a value has to have for it to be read: endings differ
CHOICES = 64  # ways to read a question that are tried
ANYWHERE = "**/"  # what a glob for a folder begins with
_MARKS = "\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327"  # that combine to accents

WORDS = tomllib.loads(Path(__file__).with_name("lists.toml").read_text("utf-8"))
_ASKS = re.compile(rf"^(?:(?:{'|'.join(WORDS['polite'])}) )?(?:{'|'.join(WORDS['asks'])})\b")
ASKS_OF_A_TIME = re.compile(rf"{_ASKS.pattern}|^(?:{'|'.join(WORDS['asks_of_a_time'])})")
_OF_A_KIND = re.compile(WORDS["of_a_kind"])
_NOT_YET = re.compile(WORDS["not_yet"])
NOT, _UN = re.compile(WORDS["not"]), re.compile(WORDS["un"])
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W_]+")
ASKING, DONE = SMALL | {*WORDS["asking"]}, frozenset(WORDS["done"])
DECIDED = frozenset(WORDS["decided"])
HAVING, NO_KIND = frozenset(WORDS["having"]), frozenset(WORDS["no_kind"])
_OF_A_DAY = SMALL | {*WORDS["of_a_day"]}
_DOER = re.compile(WORDS["doer"])
_GOES_ON, _IS_DONE = re.compile(WORDS["goes_on"]), re.compile(WORDS["is_done"])

Named = tuple[frozenset[str], Condition]
"""Words of a question, as the index has them, and what they name."""


def conditions_of(
    plain: str, period: Period | None, view: Snapshot, tokenizer: Tokenizer, today: date
) -> tuple[Condition, ...]:
    """What the notes have to meet that a question wants listed; empty where it asks for something
    else, or has a word that is no type, property, tag, folder or time of the vault."""
    if period is None and (unmet := _NOT_YET.search(plain)):
        # What I have not read is to be read, or unread; "to" is no word of its own.
        kind = f"{WORDS['asks'][0]} {plain[: unmet.start()]}"
        for one in WORDS["unmet"]:
            said = f"{kind} {one.format(unmet['verb'])}"
            found_so = conditions_of(said, None, view, tokenizer, today)
            begins = one.partition("{")[0].strip()
            if any(plain_words(f"{two.value} {two.key}").startswith(begins) for two in found_so):
                return found_so
        return ()
    labels, first_word = view.labels, plain.partition(" ")[0]
    # "Books rated 5", "meetings in March": a kind alone, and what it is narrowed by.
    bare = not (_ASKS if period is None else ASKS_OF_A_TIME).search(plain)
    if bare and first_word in ASKING:
        return ()
    named = telling(plain)
    idle = HAVING if period is None else HAVING | DONE
    if period is not None and period.end - period.first <= timedelta(days=1):
        idle |= DECIDED  # in a month, few of its notes tell
    left_over = [word for word in named if word not in idle]
    most = sum(not word.isdigit() for word in left_over)  # a version is one word
    if most > LONGEST or len(named) > 2 * LONGEST or (period is None and not left_over):
        return ()
    found = candidates(plain, labels, tokenizer)
    kinds = frozenset[str]().union(*(words for words, _ in found))
    named = [
        word
        for word in named
        if word not in idle or not kinds.isdisjoint(tokens_of(word, tokenizer))
    ]
    tokens = tokens_of(" ".join(named), tokenizer) if named else []
    asked_words = frozenset(tokens)
    read: list[tuple[int, tuple[Condition, ...]]] = []
    for every in islice(covering(tokens, found), CHOICES):
        chosen = _innermost(every)
        if sum(one.kind == "path" for one in chosen) > 1:
            continue  # of several, a note has to meet but one
        notes = [notes_of(one, labels, today) for one in chosen]
        if period is not None:
            notes.append(labels.dated(*period.days))
        left = reduce(frozenset.intersection, notes)
        left -= {note_of_folder(one.value) for one in chosen if one.kind == "path"}
        is_kind = _is_a_kind(chosen, left, plain, period, view)
        if bare:
            is_kind = _narrows(chosen, period, asked_words, tokenizer) or (
                len(left) > 1 and _is_so(chosen, plain, tokenizer)
            )
            # "License: ISC" is no more than a property with its value.
            is_kind = is_kind or (
                len(chosen) == 1 and bool(key_words(chosen[0].key, asked_words, tokenizer))
            )
        # What is not paid is not what has "paid", but may be what has "not paid".
        if NOT.search(plain) and not any(NOT.search(plain_words(one.value)) for one in chosen):
            continue
        if is_kind and not _is_name(chosen, left, view):
            read.append((len(left), chosen))
    most = max((count for count, _ in read), default=0)
    # A type says what a note is; a folder of twice as many may be what people mean.
    best = next((chosen for count, chosen in read if count and 2 * count >= most), None)
    if best is None and period is None and not bare:
        return _by_property(plain, view, tokenizer, today)
    if best is None or period is None:
        return best or ()
    first, end = period.days
    bounds: tuple[tuple[Kind, str, date], ...] = (
        ("after", first, date.min),
        ("before", end, date.max),
    )
    return (*best, *(Condition(kind, day) for kind, day, open_ in bounds if day != f"{open_}"))


def denied(
    plain: str, view: Snapshot, tokenizer: Tokenizer
) -> Iterator[tuple[tuple[Condition, ...], Condition]]:
    """The kinds of notes of which a question wants those that are not so ("which invoices are not paid?"),
    and what they are not: a property without a value is one that they do not have; nothing where it asks
    for something else."""
    if len(telling(plain)) > 2 * LONGEST or not asks_for_a_list(plain):
        return
    words, behind = _without_denial(plain, view.labels, tokenizer)
    named = tokens_of(" ".join(telling(words)), tokenizer)
    not_so = tokens_of(" ".join(telling(behind)), tokenizer)
    if not not_so or len(named) > LONGEST:
        return
    found = candidates(words, view.labels, tokenizer)
    for chosen in islice(covering(named, found), CHOICES):
        for own, one in found:
            kinds = tuple(other for other in chosen if other != one)
            is_it = one in chosen and one.kind in ("property", "tag") and not_so[0] in own
            # Of a kind none of which is so, nothing says what it would be.
            if is_it and kinds and notes_meeting((*kinds, one), view.labels):
                yield kinds, one
    # What has no "due date" lacks what is due.
    day = frozenset(tokens_of(" ".join(WORDS["of_a_day"]), tokenizer))
    for key in view.labels.property_keys():
        own = key_of_a_day(key, not_so, tokenizer)
        kind = [token for token in named if token not in own | day]
        if kind and own and own.issuperset({*not_so} - day or not_so):
            for chosen in islice(covering(kind, found), CHOICES):
                yield chosen, Condition("property", "", key)


def notes_meeting(conditions: Sequence[Condition], labels: NoteLabels) -> Paths:
    """The notes that meet them all, today."""
    return reduce(
        frozenset.intersection, (notes_of(one, labels, date.today()) for one in conditions)
    )


def _without_denial(plain: str, labels: NoteLabels, tokenizer: Tokenizer) -> tuple[str, str]:
    """A question without the word that denies what is behind it, or without its beginning ("unpaid"), and
    what is behind; empty if there is none."""
    if said := NOT.search(plain):
        return f"{plain[: said.start()]}{plain[said.end() :]}", plain[said.end() :]
    for word in telling(plain):
        whole, rest = word, _UN.sub("", word)
        if rest != whole and not candidates(whole, labels, tokenizer):
            return plain.replace(whole, rest), rest
    return plain, ""


def asks_for_a_list(plain: str) -> bool:
    """Whether a question asks for a list, or is no sentence and begins with what is to be listed."""
    first = plain.partition(" ")[0]
    return bool(_ASKS.search(plain) or first not in ASKING or NOT.match(plain))


def _by_property(
    plain: str, view: Snapshot, tokenizer: Tokenizer, today: date
) -> tuple[Condition, ...]:
    """As :func:`conditions_of`, where what is to be listed is called otherwise than in the vault ("which
    papers did I rate 5?", of the literature): all notes, of one kind, with that value of a property that is
    asked for by its name, or with that year; empty where there are no such."""
    asks = _ASKS.match(plain)
    said = plain[asks.end() :].split() if asks else []
    noun, _, rest = " ".join(said[said[:1] == ["all"] :]).partition(" ")
    named, kind = tokens_of(" ".join(telling(rest)), tokenizer), tokens_of(noun, tokenizer)
    known = chain.from_iterable(words for words, _ in candidates(plain, view.labels, tokenizer))
    if not named or noun in ASKING | HAVING | DONE or not {*known}.isdisjoint(kind):
        return ()
    # What a note is called by is something else.
    if view.lexical.holding(kind, "title"):
        return ()
    asked, found = frozenset(tokens_of(rest, tokenizer)), candidates(rest, view.labels, tokenizer)
    says_when = rest.partition(" ")[0] in SMALL
    for chosen in islice(covering(named, found), CHOICES):
        called = all(
            one.kind == "property"
            and (key_words(one.key, asked, tokenizer) or (says_when and _YEAR.fullmatch(one.value)))
            for one in chosen
        )
        notes = (notes_of(one, view.labels, today) for one in chosen)
        if called and are_of_one_kind(reduce(frozenset.intersection, notes), view):
            return chosen
    return ()


def are_of_one_kind(paths: Paths, view: Snapshot) -> bool:
    """Whether several notes have their folder, their type or a tag in common; in a vault without folders,
    whether they have no other types."""
    rows = view.notes_at(paths).values()
    folders = {row.path.rpartition("/")[0] for row in rows}
    types = {row.page_type for row in rows}
    tags = [{*row.tags} for row in rows]
    same = any(len(one) == 1 and any(one) for one in (folders, types))
    same = same or (len(types) == 1 and not folders_of(view.labels.paths()))
    return len(paths) > 1 and (same or bool(tags and set.intersection(*tags)))


def _innermost(chosen: Sequence[Condition]) -> tuple[Condition, ...]:
    """Without the folders that another one of them lies in; of a folder, and those of a name in several
    places, the ones in it."""
    places = [one.value for one in chosen if one.kind == "path"]
    places = [one for one in places if not any(two.startswith(f"{one}/") for two in places)]
    places.sort(key=lambda one: one.startswith(ANYWHERE))
    if [one.startswith(ANYWHERE) for one in places] == [False, True]:
        places = ["/".join(places)]
    others = [one for one in chosen if one.kind != "path"]
    return (*others, *(Condition("path", one) for one in places))


def _narrows(
    chosen: Sequence[Condition], period: Period | None, asked: Paths, tokenizer: Tokenizer
) -> bool:
    """Whether a kind is narrowed by a time, or by a property that is called by its name."""
    kinds = [one for one in chosen if one.kind != "property"]
    keys = (one.key for one in chosen if one.kind == "property")
    return bool(kinds) and (
        period is not None or any(key_words(key, asked, tokenizer) for key in keys)
    )


def _is_so(chosen: Sequence[Condition], plain: str, tokenizer: Tokenizer) -> bool:
    """Whether it is two words, what something is like and what it is: "active projects"."""
    words = [frozenset(tokens_of(one, tokenizer)) for one in plain.split()]
    if len(chosen) != 2 or len(words) != 2:
        return False
    like, kind = ([one for one in chosen if words[at] == _own(one, tokenizer)] for at in (0, 1))
    return any(one.kind in ("property", "tag") for one in like) and any(
        one.kind != "property" for one in kind if one not in like
    )


def _own(one: Condition, tokenizer: Tokenizer) -> frozenset[str]:
    said = one.key if one.value == "true" else one.value.removesuffix("/**").rpartition("/")[2]
    return frozenset(tokens_of(said, tokenizer))


def _is_name(chosen: Sequence[Condition], left: Paths, view: Snapshot) -> bool:
    """Whether it is the one note that is called so: a question for what it says."""
    names = {plain_words(one.value) for one in chosen if one.kind == "property"}
    if len(left) != 1 or len(chosen) > 1:
        return False
    (row,) = view.notes_at(left).values()
    return any(plain_words(name) in names for name in (row.title, *row.aliases))


def _is_a_kind(
    chosen: Sequence[Condition], left: Paths, plain: str, period: Period | None, view: Snapshot
) -> bool:
    """Whether the notes are what is asked for, and not what they say."""
    if any(one.kind in ("type", "property") for one in chosen):
        return True
    if period is not None:
        # The time of a file says little: a copy of the vault has new ones.
        rows = view.notes_at(left)
        named = sum(day_in_name(one) is not None or rows[one].created is not None for one in left)
        least = max(1, len(left) / 2) if period.end == date.max else 1
        return bool(chosen) or (period.is_short and named >= least)
    # One note with a tag may hold the list that is asked for.
    return len(left) > 1 and not _OF_A_KIND.search(plain)


def telling(plain: str) -> list[str]:
    """The words of a question that tell what is to be listed."""
    return [word for word in plain.split() if word not in ASKING]


def plain_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold()))


def tokens_of(text: str, tokenizer: Tokenizer) -> list[str]:
    """The words of a text as the index has them, small ones too."""
    return tokenizer(
        " ".join(WORDS["singular"].get(word, word) for word in plain_words(text).split())
    )


def key_words(key: str, asked: Collection[str], tokenizer: Tokenizer) -> frozenset[str]:
    """The words of a key that are asked for, where all of them are: who owns a thing is its owner."""
    own = tokens_of(key, tokenizer)
    doing = tokens_of(_DOER.sub("", key), tokenizer)
    return next((frozenset(one) for one in (own, doing) if one and {*one} <= {*asked}), frozenset())


def key_of_a_day(key: str, asked: Collection[str], tokenizer: Tokenizer) -> frozenset[str]:
    """As :func:`key_words`, of a key whose value is a day: what was read has a "date read"."""
    telling_words = (word for word in plain_words(key).split() if word not in _OF_A_DAY)
    own = key_words(" ".join(telling_words) or key, asked, tokenizer)
    return own and own.union({*asked}.intersection(tokens_of(key, tokenizer)))


def candidates(plain: str, labels: NoteLabels, tokenizer: Tokenizer) -> list[Named]:
    """Conditions all of whose words a question has, and those words; the surest kind first."""

    def named(text: str) -> frozenset[str]:
        return frozenset(tokens_of(text, tokenizer))

    asked = named(plain)
    said = telling(plain)
    begins = {word[:BEGINNING] for word in (*said, *tokens_of(" ".join(said), tokenizer))}
    written = [*chain.from_iterable(map(accented, sorted(begins)))]
    patterns = (
        re.escape(word) + (r"(?![^\W_])" if len(word) < BEGINNING else "")
        for word in sorted(begins)
    )
    one_of_them = re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})")
    opposite = {(not on, token) for on, token in _states(" ".join(said), tokenizer)}
    found: dict[str, list[Named]] = {"type": [], "property": [], "tag": [], "path": []}

    def add(kind: Kind, words: frozenset[str], value: str) -> None:
        if words and words <= asked:
            found[kind].append((words, Condition(kind, value)))

    for name, value in labels.with_any(written):
        if value != "true" and one_of_them.search(fold(value).casefold()) is None:
            continue
        key = property_key(name)
        if name == TYPE:
            add("type", named(value), value)
        elif name == TAG:
            add("tag", named(value.rpartition("/")[2]), value)
        elif key is not None and key not in NO_KIND and not value.startswith("[["):
            whole, words = named(key), named(value)
            full = key_words(key, asked, tokenizer)
            by_key = full or whole & asked
            if value == "true":
                words = whole
            elif full and 1 < len(words) <= LONGEST and not words <= asked:
                # "Which projects does Nuria lead?" has one of her names.
                words = frozenset(one for one in words & asked if not one.isdigit()) - by_key
            if (
                words
                and words <= asked
                and (by_key or not value[0].isdigit() or _YEAR.fullmatch(value))
                and opposite.isdisjoint(_states(value, tokenizer))
            ):
                found["property"].append((words | by_key, Condition("property", value, key)))
    same_name: dict[str, list[str]] = {}
    for folder in folders_of(labels.paths()):
        same_name.setdefault(folder.rpartition("/")[2].casefold(), []).append(folder)
    for folders in same_name.values():
        words = named(folders[0].rpartition("/")[2])
        if len(folders) > 1:
            add("path", words, f"{ANYWHERE}{folders[0].rpartition('/')[2]}/**")
        for folder in folders:
            add("path", words, folder)
    return [*chain.from_iterable(found.values())]


def accented(begins: str) -> Iterator[str]:
    """The beginning of a word, and what it is with an accent on one of its letters."""
    yield begins
    for at, letter in enumerate(begins):
        for mark in _MARKS:
            if len(one := normalize("NFC", letter + mark)) == 1:
                yield f"{begins[:at]}{one}{begins[at + 1 :]}"


def _states(text: str, tokenizer: Tokenizer) -> set[tuple[bool, str]]:
    """The words that say that something goes on, or that it is done (False), as the index has them, which
    has one word for both: books that I am reading are not those that I read."""
    said = ((_GOES_ON.search(word), word) for word in plain_words(text).split())
    return {
        (on is not None, token)
        for on, word in said
        if on or _IS_DONE.search(word)
        for token in tokens_of(word, tokenizer)
    }


def folders_of(paths: Iterable[str]) -> list[str]:
    """The folders that hold notes, and those that these lie in, sorted."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def note_of_folder(folder: str) -> str:
    """The path of the note that has the name of the folder which it lies in; of a glob, a glob."""
    folder = folder.removesuffix("/**")
    return f"{folder}/{folder.rpartition('/')[2]}{NOTE_SUFFIX}"


def covering(tokens: Sequence[str], found: Sequence[Named]) -> Iterator[tuple[Condition, ...]]:
    """The ways to say all of the words by conditions; none of them is looked for in vain."""
    if not tokens:
        yield ()
        return
    if not {*tokens} <= {*chain.from_iterable(words for words, _ in found)}:
        return
    for words, condition in found:
        if tokens[0] in words:
            left = [token for token in tokens if token not in words]
            for rest in covering(left, found):
                yield (condition, *rest)
