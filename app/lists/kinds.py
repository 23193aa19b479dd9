"""The notes of a kind that a question asks for: each of its words as a type, a value of a property, a tag, a
folder or a time of the vault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import chain

from notehop.app.answer.quotes.question import parse_question
from notehop.app.lists.period import Period
from notehop.app.lists.vault_question import (
    ANYWHERE,
    ASKING,
    DONE,
    HAVING,
    LONGEST,
    NOT,
    WORDS,
    YEAR,
    VaultQuestion,
    folders_of,
    plain_words,
    saying_a_day,
    telling,
)
from notehop.app.retrieval.filters import Condition, Kind, Paths
from notehop.app.retrieval.intents import SMALL, names_of
from notehop.indexing.graph.files import NOTE_SUFFIX
from notehop.indexing.stores.reader import Snapshot

ASKS = re.compile(rf"^(?:(?:{'|'.join(WORDS['polite'])}) )?(?:{'|'.join(WORDS['asks'])})\b")
ASKS_OF_A_TIME = re.compile(rf"{ASKS.pattern}|^(?:{'|'.join(WORDS['asks_of_a_time'])})")
_OF_A_KIND, _THAT_ARE = re.compile(WORDS["of_a_kind"]), re.compile(WORDS["that_are"])
_NO_LIST = re.compile(WORDS["no_list"])
_NOT_YET, _UN = re.compile(WORDS["not_yet"]), re.compile(WORDS["un"])
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE)
_ROW = re.compile(r"^\|", re.MULTILINE)
_DECIDED = frozenset(WORDS["decided"])


def conditions_of(
    question: VaultQuestion, plain: str, period: Period | None = None
) -> tuple[Condition, ...]:
    """What the notes have to meet that a question wants listed; empty where it asks for something
    else, or has a word that is no type, property, tag, folder or time of the vault.

    :param plain: its words, without those of the time.
    """
    if period is None and (unmet := _NOT_YET.search(plain)):
        # What I have not read is to be read, or unread; "to" is no word of its own.
        kind = f"{WORDS['asks'][0]} {plain[: unmet.start()]}"
        for one in WORDS["unmet"]:
            found_so = conditions_of(question, f"{kind} {one.format(unmet['verb'])}")
            begins = one.partition("{")[0].strip()
            if any(plain_words(f"{two.value} {two.key}").startswith(begins) for two in found_so):
                return found_so
        return ()
    first_word = plain.partition(" ")[0]
    # "Books rated 5", "meetings in March": a kind alone, and what it is narrowed by.
    bare = not (ASKS if period is None else ASKS_OF_A_TIME).search(plain)
    if bare and first_word in ASKING:
        return ()
    if _NO_LIST.search(plain):
        return ()
    named = telling(plain)
    idle = HAVING if period is None else HAVING | DONE
    if period is not None and period.end - period.first <= timedelta(days=1):
        idle |= _DECIDED  # in a month, few of its notes tell
    left_over = [word for word in named if word not in idle]
    most = sum(not word.isdigit() for word in left_over)  # a version is one word
    if most > LONGEST or len(named) > 2 * LONGEST or (period is None and not left_over):
        return ()
    found = [*question.candidates(plain)]
    linked = question.linked_by_part(plain) if len(left_over) > 1 else []
    linked = [one for one in linked if all(one[1] != known for _, known in found)]
    found += linked
    kinds = frozenset[str]().union(*(words for words, _ in found))
    tokens = question.tokens(
        word for word in named if word not in idle or not kinds.isdisjoint(question.tokens(word))
    )
    meant: list[tuple[int, tuple[Condition, ...]]] = []
    for every in question.readings(tokens, found):
        chosen = _innermost(every)
        if sum(one.kind == "path" for one in chosen) > 1:
            continue  # of several, a note has to meet but one
        left = question.notes_meeting(chosen)
        if period is not None:
            left &= question.view.labels.dated(*period.days)
        left -= {note_of_folder(one.value) for one in chosen if one.kind == "path"}
        is_kind = _is_a_kind(chosen, left, plain, period, question)
        filed = [one for _, one in linked if one in chosen]
        if filed and not _are_filed(chosen, filed[0].key, question):
            continue
        if bare and not filed:
            is_kind = _narrows(chosen, period, tokens, question) or (
                _is_so(chosen, left, plain, question)
            )
            # "License: ISC" is no more than a property with its value.
            is_kind = is_kind or (
                len(chosen) == 1 and bool(question.key_words(chosen[0].key, tokens))
            )
        # What is not paid is not what has "paid", but may be what has "not paid".
        if NOT.search(plain) and not any(NOT.search(plain_words(one.value)) for one in chosen):
            continue
        if is_kind and not _is_name(chosen, left, plain, question):
            meant.append((len(left), chosen))
    most = max((count for count, _ in meant), default=0)
    # A type says what a note is; a folder of twice as many may be what people mean.
    best = next((chosen for count, chosen in meant if count and 2 * count >= most), None)
    of_days = not question.words_for_days.isdisjoint(question.tokens(_noun_and_rest(plain)[0]))
    if best is None and (of_days or (period is None and not bare)):
        best = _by_property(question, plain) or None
    if best is None or period is None:
        return best or ()
    first, end = period.days
    bounds: tuple[tuple[Kind, str, date], ...] = (
        ("after", first, date.min),
        ("before", end, date.max),
    )
    return (*best, *(Condition(kind, day) for kind, day, open_ in bounds if day != f"{open_}"))


def denied(
    question: VaultQuestion, plain: str
) -> Iterator[tuple[tuple[Condition, ...], Condition]]:
    """The kinds of notes of which a question wants those that are not so ("which invoices are not paid?"),
    and what they are not: a property without a value is one that they do not have; nothing where it asks
    for something else."""
    if len(telling(plain)) > 2 * LONGEST or not asks_for_a_list(plain):
        return
    words, behind = _without_denial(question, plain)
    named, not_so = (question.tokens(telling(one)) for one in (words, behind))
    if not not_so or len(named) > LONGEST:
        return
    found = question.candidates(words)
    for chosen in question.readings(named, found):
        for own, one in found:
            kinds = tuple(other for other in chosen if other != one)
            is_it = one in chosen and one.kind in ("property", "tag") and not_so[0] in own
            # Of a kind none of which is so, nothing says what it would be.
            if is_it and kinds and question.notes_meeting((*kinds, one)):
                yield kinds, one
    # What has no "due date" lacks what is due.
    day = frozenset(question.tokens(WORDS["of_a_day"]))
    for key in question.view.labels.property_keys():
        own = question.key_of_a_day(key, not_so)
        kind = [token for token in named if token not in own | day]
        if kind and own and own.issuperset({*not_so} - day or not_so):
            for chosen in question.readings(kind, found):
                yield chosen, Condition("property", "", key)


def _without_denial(question: VaultQuestion, plain: str) -> tuple[str, str]:
    """A question without the word that denies what is behind it, or without its beginning ("unpaid"), and
    what is behind; empty if there is none."""
    if said := NOT.search(plain):
        return f"{plain[: said.start()]}{plain[said.end() :]}", plain[said.end() :]
    for word in telling(plain):
        whole, rest = word, _UN.sub("", word)
        if rest != whole and not question.candidates(whole):
            return plain.replace(whole, rest), rest
    return plain, ""


def asks_for_a_list(plain: str) -> bool:
    """Whether a question asks for a list, or is no sentence and begins with what is to be listed."""
    first = plain.partition(" ")[0]
    return bool(ASKS.search(plain) or first not in ASKING or NOT.match(plain))


def _by_property(question: VaultQuestion, plain: str) -> tuple[Condition, ...]:
    """As :func:`conditions_of`, where what is to be listed is called otherwise than in the vault ("which
    papers did I rate 5?", of the literature): all notes, of one kind, with that value of a property that is
    asked for by its name, or with that year; empty where there are no such."""
    noun, rest = _noun_and_rest(plain)
    named, kind = question.tokens(telling(rest)), question.tokens(noun)
    known = chain.from_iterable(words for words, _ in question.candidates(plain))
    of_days = not question.words_for_days.isdisjoint(kind)
    if not named or noun in ASKING | HAVING | DONE or not {*known}.isdisjoint(kind):
        return ()
    # What a note is called by is something else.
    if question.view.lexical.holding(kind, "title") and not of_days:
        return ()
    asked, says_when = question.tokens(rest), rest.partition(" ")[0] in SMALL
    for chosen in question.readings(named, question.candidates(rest)):
        called = all(
            one.kind == "property"
            and (question.key_words(one.key, asked) or (says_when and YEAR.fullmatch(one.value)))
            for one in chosen
        )
        paths = question.notes_meeting(chosen) if called else Paths()
        if paths and (paths <= question.days if of_days else are_of_one_kind(question, paths)):
            return chosen
    return ()


def _noun_and_rest(plain: str) -> tuple[str, str]:
    """What a question wants listed, if that is its first word, and what it says of it."""
    asks = ASKS.match(plain)
    said = plain[asks.end() if asks else 0 :].split()
    noun, _, rest = " ".join(said[said[:1] == ["all"] :]).partition(" ")
    return noun, rest


def are_of_one_kind(question: VaultQuestion, paths: Paths) -> bool:
    """Whether several notes have their folder, their type or a tag in common; in a vault without folders,
    whether they have no other types."""
    rows = question.view.notes_at(paths).values()
    folders = {row.path.rpartition("/")[0] for row in rows}
    types = {row.page_type for row in rows}
    tags = [{*row.tags} for row in rows]
    same = any(len(one) == 1 and any(one) for one in (folders, types))
    same = same or (len(types) == 1 and not folders_of(question.view.labels.paths()))
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
    chosen: Sequence[Condition], period: Period | None, asked: list[str], question: VaultQuestion
) -> bool:
    """Whether a kind is narrowed by a time, or by a property that is called by its name."""
    kinds = [one for one in chosen if one.kind != "property"]
    keys = (one.key for one in chosen if one.kind == "property")
    named = period is not None or any(question.key_words(key, asked) for key in keys)
    return bool(kinds) and named


def _are_filed(chosen: Sequence[Condition], key: str, question: VaultQuestion) -> bool:
    """Whether most notes of a kind have a property: what it says is looked up there."""
    kinds = [one for one in chosen if one.kind != "property"]
    of_kind = question.notes_meeting(kinds)
    having = of_kind & Paths().union(*question.values(key).values())
    return bool(kinds) and 2 * len(having) >= len(of_kind)


def _is_so(chosen: Sequence[Condition], left: Paths, plain: str, question: VaultQuestion) -> bool:
    """Whether it is no more than what something is like and what it is: "active projects", "projects that are
    on hold"; what one note alone is like is a property of several such notes."""
    if len(chosen) != 2:
        return False

    def own(one: Condition) -> frozenset[str]:
        said = one.value.removesuffix("/**").rpartition("/")[2]
        return frozenset(question.tokens([one.key if one.value == "true" else said]))

    words = {*question.tokens(_THAT_ARE.sub(" ", plain).split())}
    return words == own(chosen[0]) | own(chosen[1]) and any(
        kind.kind != "property"
        and (like.kind == "property" or (like.kind == "tag" and len(left) > 1))
        and (len(left) > 1 or len(question.notes_meeting([kind])) > 1)
        for like, kind in (chosen, chosen[::-1])
    )


def _is_name(chosen: Sequence[Condition], left: Paths, plain: str, question: VaultQuestion) -> bool:
    """Whether all that is asked for is what the note that is called by a value says, and no more than one
    has that value, or it is asked who, or what, they are."""
    if len(chosen) != 1 or chosen[0].kind != "property":
        return False
    rest = {*question.tokens(telling(plain))}.difference(question.tokens(chosen[0].value))
    few = len(left) == 1 or _OF_A_KIND.search(plain) is not None
    called = map(question.view.notes_named, names_of(chosen[0].value))
    return few and not rest and any(called)


def _is_a_kind(
    chosen: Sequence[Condition],
    left: Paths,
    plain: str,
    period: Period | None,
    question: VaultQuestion,
) -> bool:
    """Whether the notes are what is asked for, and not what they say."""
    if any(one.kind in ("type", "property") for one in chosen):
        return True
    if _are_counted(chosen, left, question):
        return False
    if period is not None:
        named = len(saying_a_day(question.view.notes_at(left)))
        least = max(1, len(left) / 2) if period.end == date.max else 1
        return bool(chosen) or (period.is_short and named >= least)
    # One note with a tag may hold the list that is asked for.
    return len(left) > 1 and not _OF_A_KIND.search(plain)


def _are_counted(chosen: Sequence[Condition], left: Paths, question: VaultQuestion) -> bool:
    """Whether what the notes with a tag tell of is counted, and not they: a note that is called by the tag
    has a table of it, and leads to none of them."""
    if parse_question(question.text).exact_kind != "count" or any(
        one.kind != "tag" for one in chosen
    ):
        return False
    view = question.view
    called = {path for one in chosen for path in view.notes_named(one.value.rpartition("/")[2])}
    called -= {link.path for link in view.links_from(called) if link.target_path in left}
    return any(_ROW.search(chunk.text) for path in called for chunk in view.chunks_of(path))


def note_of_folder(folder: str) -> str:
    """The path of the note that has the name of the folder which it lies in; of a glob, a glob."""
    folder = folder.removesuffix("/**")
    return f"{folder}/{folder.rpartition('/')[2]}{NOTE_SUFFIX}"


def note_listing(plain: str, view: Snapshot, matched: Paths) -> str | None:
    """The note that goes by what is to be listed, alone or with a word beside it ("MOC Ethics"), and lists
    as many as ``matched``; None if there is none."""
    words = {*telling(plain)}
    called = [
        (len(own), path, own)
        for name, path in view.catalog.names()
        if words and words <= (own := {*plain_words(name).split()}) and len(own) <= len(words) + 1
    ]
    for _, path, own in sorted(called):
        text = "\n".join(one.text for one in view.chunks_of(path))
        links = {link.target_path for link in view.links_from([path]) if link.target_path}
        listed = max(len(links), len(_ITEM.findall(text)))
        is_it = path not in matched or len(own) == len(words)
        if is_it and listed >= max(3, len(matched - {path})):
            return path
    return None
