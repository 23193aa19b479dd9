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
    ACTION_WORDS,
    ANY_FOLDER,
    ASKING_WORDS,
    MAX_LIST_WORDS,
    NEGATION,
    POSSESSION_WORDS,
    WORDS,
    YEAR_PATTERN,
    VaultQuestion,
    all_folders,
    content_words,
    normalize_words,
    notes_stating_day,
)
from notehop.app.retrieval.filters import Condition, ConditionKind, Paths
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS, name_candidates
from notehop.indexing.graph.files import NOTE_SUFFIX
from notehop.indexing.stores.reader import Snapshot

ASKS_FOR_LIST = re.compile(rf"^(?:(?:{'|'.join(WORDS['polite'])}) )?(?:{'|'.join(WORDS['asks'])})\b")
ASKS_ABOUT_TIME = re.compile(rf"{ASKS_FOR_LIST.pattern}|^(?:{'|'.join(WORDS['asks_of_a_time'])})")
_OF_A_KIND, _THAT_ARE = re.compile(WORDS["of_a_kind"]), re.compile(WORDS["that_are"])
_NO_LIST = re.compile(WORDS["no_list"])
_NOT_YET, _NEGATIVE_PREFIX = re.compile(WORDS["not_yet"]), re.compile(WORDS["un"])
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE)
_TABLE_ROW = re.compile(r"^\|", re.MULTILINE)
_DECISION_WORDS = frozenset(WORDS["decided"])


def find_conditions(
    question: VaultQuestion, plain: str, period: Period | None = None
) -> tuple[Condition, ...]:
    """Find the conditions of the notes that a question wants listed; empty where it asks for something
    else, or has a word that is no type, property, tag, folder or time of the vault.

    :param plain: its words, without those of the time.
    """
    if period is None and (unmet := _NOT_YET.search(plain)):
        # What I have not read is to be read, or unread; "to" is no word of its own.
        kind = f"{WORDS['asks'][0]} {plain[: unmet.start()]}"
        for one in WORDS["unmet"]:
            found_so = find_conditions(question, f"{kind} {one.format(unmet['verb'])}")
            begins = one.partition("{")[0].strip()
            if any(normalize_words(f"{two.value} {two.key}").startswith(begins) for two in found_so):
                return found_so
        return ()
    first_word = plain.partition(" ")[0]
    # "Books rated 5", "meetings in March": a kind alone, and what it is narrowed by.
    is_bare = not (ASKS_FOR_LIST if period is None else ASKS_ABOUT_TIME).search(plain)
    if is_bare and first_word in ASKING_WORDS:
        return ()
    if _NO_LIST.search(plain):
        return ()
    content = question.content_words(plain)
    idle = POSSESSION_WORDS if period is None else POSSESSION_WORDS | ACTION_WORDS
    if period is not None and period.end - period.first <= timedelta(days=1):
        idle |= _DECISION_WORDS  # in a month, few of its notes tell
    left_over = [word for word in content if word not in idle]
    most = sum(not word.isdigit() for word in left_over)  # a version is one word
    if most > MAX_LIST_WORDS or len(content) > 2 * MAX_LIST_WORDS or (period is None and not left_over):
        return ()
    matches = [*question.match_terms(plain)]
    linked_matches = question.match_linked_names(plain) if len(left_over) > 1 else []
    linked_matches = [one for one in linked_matches if all(one[1] != known for _, known in matches)]
    matches += linked_matches
    kinds = frozenset[str]().union(*(words for words, _ in matches))
    tokens = question.tokens(
        word for word in content if word not in idle or not kinds.isdisjoint(question.tokens(word))
    )
    choices: list[tuple[Paths, tuple[Condition, ...]]] = []
    for reading in question.interpretations(tokens, matches):
        chosen = _innermost_folders(reading)
        if sum(one.kind == "path" for one in chosen) > 1:
            continue  # of several, a note has to meet but one
        notes = question.notes_matching_all(chosen)
        if period is not None:
            notes &= question.view.labels.dated(*period.iso_bounds)
        notes -= {folder_note_path(one.value) for one in chosen if one.kind == "path"}
        is_kind = _is_a_kind(chosen, notes, plain, period, question)
        filed = [one for _, one in linked_matches if one in chosen]
        if filed and not _most_have_property(chosen, filed[0].key, question):
            continue
        if is_bare and not filed:
            is_kind = _is_narrowed(chosen, period, tokens, question) or (
                _is_value_and_kind(chosen, notes, plain, question)
            )
            # "License: ISC" is no more than a property with its value.
            is_kind = is_kind or (
                len(chosen) == 1 and bool(question.matched_key_tokens(chosen[0].key, tokens))
            )
        # What is not paid is not what has "paid", but may be what has "not paid".
        if NEGATION.search(plain) and not any(NEGATION.search(normalize_words(one.value)) for one in chosen):
            continue
        if is_kind and not _is_note_name(chosen, notes, plain, question):
            choices.append((notes, chosen))
    most = max((len(notes) for notes, _ in choices), default=0)
    # A type says what a note is; a folder of twice as many may be what people mean, and one that has
    # few others beside these, none of which says by type or tags that it is another.
    best, found = None, Paths()
    for notes, chosen in choices:
        others = question.view.notes_at(notes - found).values() if found < notes else ()
        is_wider = len(others) < len(found) and not any(one.page_type or one.tags for one in others)
        if (notes and 2 * len(notes) >= most) if best is None else (others and is_wider):
            best, found = chosen, notes
    of_days = not question.day_tokens.isdisjoint(question.tokens(_noun_and_rest(plain)[0]))
    if best is None and (of_days or (period is None and not is_bare)):
        best = _conditions_by_property(question, plain) or None
    if best is None or period is None:
        return best or ()
    first, end = period.iso_bounds
    bounds: tuple[tuple[ConditionKind, str, date], ...] = (
        ("after", first, date.min),
        ("before", end, date.max),
    )
    return (*best, *(Condition(kind, day) for kind, day, open_ in bounds if day != f"{open_}"))


def find_denied(question: VaultQuestion, plain: str) -> Iterator[tuple[tuple[Condition, ...], Condition]]:
    """Yield the kinds of notes of a question with a negation ("which invoices are not paid?"), each with the
    condition that is denied: a property without a value is one that they do not have; nothing where it asks
    for something else."""
    if len(content_words(plain)) > 2 * MAX_LIST_WORDS or not asks_for_a_list(plain):
        return
    words, behind = _split_denial(question, plain)
    kind_tokens, denied_tokens = (question.tokens(content_words(one)) for one in (words, behind))
    if not denied_tokens or len(kind_tokens) > MAX_LIST_WORDS:
        return
    matches = question.match_terms(words)
    for chosen in question.interpretations(kind_tokens, matches):
        for tokens, one in matches:
            kinds = tuple(other for other in chosen if other != one)
            is_it = one in chosen and one.kind in ("property", "tag") and denied_tokens[0] in tokens
            # Of a kind none of which is so, nothing says what it would be.
            if is_it and kinds and question.notes_matching_all((*kinds, one)):
                yield kinds, one
    # What has no "due date" lacks what is due.
    day = frozenset(question.tokens(WORDS["of_a_day"]))
    for key in question.view.labels.property_keys():
        tokens = question.matched_day_key_tokens(key, denied_tokens)
        kind = [token for token in kind_tokens if token not in tokens | day]
        if kind and tokens and tokens.issuperset({*denied_tokens} - day or denied_tokens):
            for chosen in question.interpretations(kind, matches):
                yield chosen, Condition("property", "", key)


def _split_denial(question: VaultQuestion, plain: str) -> tuple[str, str]:
    """A question without the word that denies what is behind it, or without its beginning ("unpaid"), and
    what is behind; empty if there is none."""
    if match := NEGATION.search(plain):
        return f"{plain[: match.start()]}{plain[match.end() :]}", plain[match.end() :]
    for word in content_words(plain):
        whole, rest = word, _NEGATIVE_PREFIX.sub("", word)
        if rest != whole and not question.match_terms(whole):
            return plain.replace(whole, rest), rest
    return plain, ""


def asks_for_a_list(plain: str) -> bool:
    """Tell whether a question asks for a list, or is no sentence and begins with what is to be listed."""
    first = plain.partition(" ")[0]
    return bool(ASKS_FOR_LIST.search(plain) or first not in ASKING_WORDS or NEGATION.match(plain))


def _conditions_by_property(question: VaultQuestion, plain: str) -> tuple[Condition, ...]:
    """As :func:`find_conditions`, where what is to be listed is called otherwise than in the vault ("which
    papers did I rate 5?", of the literature): all notes, of one kind, with that value of a property that is
    asked for by its name, or with that year; empty where there are no such."""
    noun, rest = _noun_and_rest(plain)
    value_tokens, noun_tokens = question.tokens(content_words(rest)), question.tokens(noun)
    known_words = chain.from_iterable(words for words, _ in question.match_terms(plain))
    of_days = not question.day_tokens.isdisjoint(noun_tokens)
    if (
        not value_tokens
        or noun in ASKING_WORDS | POSSESSION_WORDS | ACTION_WORDS
        or not {*known_words}.isdisjoint(noun_tokens)
    ):
        return ()
    # What a note is called by is something else.
    if question.view.lexical.holding(noun_tokens, "title") and not of_days:
        return ()
    asked_tokens, says_when = question.tokens(rest), rest.partition(" ")[0] in ALL_FUNCTION_WORDS
    for chosen in question.interpretations(value_tokens, question.match_terms(rest)):
        is_named = all(
            one.kind == "property"
            and (
                question.matched_key_tokens(one.key, asked_tokens)
                or (says_when and YEAR_PATTERN.fullmatch(one.value))
            )
            for one in chosen
        )
        paths = question.notes_matching_all(chosen) if is_named else Paths()
        if paths and (paths <= question.dated_notes if of_days else are_of_one_kind(question, paths)):
            return chosen
    return ()


def _noun_and_rest(plain: str) -> tuple[str, str]:
    """Split a question into the noun that it wants listed, its first word, and the rest."""
    asks = ASKS_FOR_LIST.match(plain)
    words = plain[asks.end() if asks else 0 :].split()
    noun, _, rest = " ".join(words[words[:1] == ["all"] :]).partition(" ")
    return noun, rest


def are_of_one_kind(question: VaultQuestion, paths: Paths) -> bool:
    """Tell whether several notes have their folder, their type or a tag in common; in a vault without
    folders, whether they have no other types."""
    rows = question.view.notes_at(paths).values()
    folders = {row.path.rpartition("/")[0] for row in rows}
    types = {row.page_type for row in rows}
    tags = [{*row.tags} for row in rows]
    same = any(len(one) == 1 and any(one) for one in (folders, types))
    same = same or (len(types) == 1 and not all_folders(question.view.labels.paths()))
    return len(paths) > 1 and (same or bool(tags and set.intersection(*tags)))


def _innermost_folders(chosen: Sequence[Condition]) -> tuple[Condition, ...]:
    """Drop the folders that another one of them lies in; of a folder, and those of a name in several
    places, the ones in it."""
    places = [one.value for one in chosen if one.kind == "path"]
    places = [one for one in places if not any(two.startswith(f"{one}/") for two in places)]
    places.sort(key=lambda one: one.startswith(ANY_FOLDER))
    if [one.startswith(ANY_FOLDER) for one in places] == [False, True]:
        places = ["/".join(places)]
    others = [one for one in chosen if one.kind != "path"]
    return (*others, *(Condition("path", one) for one in places))


def _is_narrowed(
    chosen: Sequence[Condition], period: Period | None, asked: list[str], question: VaultQuestion
) -> bool:
    """Tell whether a kind is narrowed by a time, or by a property that is called by its name."""
    kinds = [one for one in chosen if one.kind != "property"]
    keys = (one.key for one in chosen if one.kind == "property")
    named = period is not None or any(question.matched_key_tokens(key, asked) for key in keys)
    return bool(kinds) and named


def _most_have_property(chosen: Sequence[Condition], key: str, question: VaultQuestion) -> bool:
    """Tell whether most notes of a kind have a property: what it says is looked up there."""
    kinds = [one for one in chosen if one.kind != "property"]
    of_kind = question.notes_matching_all(kinds)
    having = of_kind & Paths().union(*question.property_values(key).values())
    return bool(kinds) and 2 * len(having) >= len(of_kind)


def _is_value_and_kind(
    chosen: Sequence[Condition], notes: Paths, plain: str, question: VaultQuestion
) -> bool:
    """Tell whether a question is only a value and a kind: "active projects", "projects that are on hold";
    what one note alone is like is a property of several such notes."""
    if len(chosen) != 2:
        return False

    def value_tokens(one: Condition) -> frozenset[str]:
        last_part = one.value.removesuffix("/**").rpartition("/")[2]
        return frozenset(question.tokens([one.key if one.value == "true" else last_part]))

    words = {*question.tokens(_THAT_ARE.sub(" ", plain).split())}
    return words == value_tokens(chosen[0]) | value_tokens(chosen[1]) and any(
        kind.kind != "property"
        and (like.kind == "property" or (like.kind == "tag" and len(notes) > 1))
        and (len(notes) > 1 or len(question.notes_matching_all([kind])) > 1)
        for like, kind in (chosen, chosen[::-1])
    )


def _is_note_name(chosen: Sequence[Condition], notes: Paths, plain: str, question: VaultQuestion) -> bool:
    """Tell whether a question asks for the note that a value names: no more than one note has the value, or
    it is asked who, or what, they are."""
    if len(chosen) != 1 or chosen[0].kind != "property":
        return False
    rest = {*question.tokens(content_words(plain))}.difference(question.tokens(chosen[0].value))
    few = len(notes) == 1 or _OF_A_KIND.search(plain) is not None
    named_notes = map(question.view.notes_named, name_candidates(chosen[0].value))
    return few and not rest and any(named_notes)


def _is_a_kind(
    chosen: Sequence[Condition], notes: Paths, plain: str, period: Period | None, question: VaultQuestion
) -> bool:
    """Tell whether the notes themselves are asked for, and not what they say."""
    if any(one.kind in ("type", "property") for one in chosen):
        return True
    if _are_counted(chosen, notes, question):
        return False
    if period is not None:
        stating_day = len(notes_stating_day(question.view.notes_at(notes)))
        least = max(1, len(notes) / 2) if period.end == date.max else 1
        return bool(chosen) or (period.is_short and stating_day >= least)
    # One note with a tag may hold the list that is asked for.
    return len(notes) > 1 and not _OF_A_KIND.search(plain)


def _are_counted(chosen: Sequence[Condition], notes: Paths, question: VaultQuestion) -> bool:
    """Tell whether the things that tagged notes are about are to be counted, not the notes: a note that is
    called by the tag has a table of them, and links to none of the notes."""
    if parse_question(question.text).exact_kind != "count" or any(one.kind != "tag" for one in chosen):
        return False
    view = question.view
    tag_notes = {path for one in chosen for path in view.notes_named(one.value.rpartition("/")[2])}
    tag_notes -= {link.path for link in view.links_from(tag_notes) if link.target_path in notes}
    return any(_TABLE_ROW.search(chunk.text) for path in tag_notes for chunk in view.chunks_of(path))


def folder_note_path(folder: str) -> str:
    """The path of the note that has the name of the folder which it lies in; of a glob, a glob."""
    folder = folder.removesuffix("/**")
    return f"{folder}/{folder.rpartition('/')[2]}{NOTE_SUFFIX}"


def find_listing_note(plain: str, view: Snapshot, matched: Paths) -> str | None:
    """Find the note that is called by what is to be listed, alone or with a word beside it ("MOC Ethics"),
    and lists as many as ``matched``; None if there is none."""
    words = {*content_words(plain)}
    candidates = [
        (len(name_words), path, name_words)
        for name, path in view.catalog.names()
        if words
        and words <= (name_words := {*normalize_words(name).split()})
        and len(name_words) <= len(words) + 1
    ]
    for _, path, name_words in sorted(candidates):
        text = "\n".join(one.text for one in view.chunks_of(path))
        links = {link.target_path for link in view.links_from([path]) if link.target_path}
        listed = max(len(links), len(_ITEM.findall(text)))
        is_it = path not in matched or len(name_words) == len(words)
        if is_it and listed >= max(3, len(matched - {path})):
            return path
    return None
