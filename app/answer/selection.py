"""Chooses what of the sources is quoted: the passage that answers, whole, from the sentence on that
does, and the best of further sources. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from notehop.app.answer.draft import Part, Quote, laid_out
from notehop.app.answer.facts import names_of
from notehop.app.answer.passages import BETWEEN, Passage, passages, properties
from notehop.app.answer.relevance import Asked, Candidate, Named, spells

OF_ONE = 120  # words that are quoted of one section: it is whole, as most are shorter

OF_ALL = 180
"""Words that are quoted in all: a screen. What these numbers are worth is in docs/evaluation.md."""

SOURCES = 3  # sources that are quoted, a section of each
NEAR = 2.0  # how much less likely than the best source another may be, as a difference of scores
DEFINED = 0.7  # the same where a definition or a property is asked for: one is enough
SHARPNESS = 2.0  # a source is as good as its best sentence and, by this much less, as its others

ABOVE = 15
"""Words above the sentence that answers that a reader has before it, so that a paragraph is read from
its beginning; where there are more, they come after it."""

SAYS_LITTLE = 7
"""Words above it that are not worth a quote of their own: "On the new bank, in drizzle."."""

LONGEST_LIST = 14  # items or rows that are quoted of one list or table
LISTED_AMONG = 8  # best candidates among which half of a list is that is quoted whole
POINTERS = 3  # candidates, best first, that are followed where they lead
FAR = 3.0  # how much less likely than a sentence what it leads to may be

TYPED = ("number_there", "date_there", "name_there", "place_there")
"""Features of a passage that has a value of the kind that is asked for."""

_ENUMERATES = re.compile(r": [^,;]+[,;] [^,;]+(?:[,;] | and | or )")
"""An item that is a list of its own."""

_TO_THE_END = r"[^.]{0,60}[.)!\]]*$"

_RECORD = re.compile(r"[{\[]+\s*[\"']")
"""How what a program wrote begins, as a line of its log: no prose."""

_VALUES = ("number", "date", "person", "place", "yesno")
_WORD = re.compile(r"\w+")

BESIDE_A_KEY = 1
"""Words that a question may have beside the note's name and the key of one of its properties, to ask
for no more than that."""

STEPS = 1.5
"""How much less likely than the best sentence of their note steps may be where it is asked how, in a
note that the question does not name."""

_OPEN = ("open", "comparison", "list")
"""Forms of questions that may ask for a property by another word than its key: "in what state is it?"."""

_NAMING = re.compile(r"(?:alias|aliases|tag|tags|title|cssclass|cssclasses)\b", re.IGNORECASE)
"""Properties that name a note and say nothing of it."""

_VIEW = re.compile(
    r"(?:```|~~~)\s*(?:dataview(?:js)?|tasks|query|base|tracker|kanban|calendar|button|meta-bind)\b",
    re.IGNORECASE,
)
"""Blocks in whose place a plugin shows something else: none says what something is."""


def select(
    ranked: Sequence[Candidate], asked: Asked, sources: Sequence[Named], limit: int
) -> list[Quote]:
    """Return what answers, the best source first, each from the sentence on that answers.

    :param ranked: best first.
    :param limit: sources at most.
    :returns: empty where nothing can be quoted.
    """
    found = [one for one in ranked if _quotable(one, asked.question.form)]
    found = _without_bystanders(found, asked, sources)
    found = _followed(found, sources, asked)
    if asked.question.form == "howto":
        found = _steps_first(found, sources, asked)
    found = _first_of(lambda one: _named_property(one, asked, sources), found)
    if any(one.subject for one in sources):
        # Who asks for news gets them before what a property calls status.
        found = _first_of(lambda one: one.passage.kind != "property", found)
    if asked.question.form == "definition":
        found = _first_of(_defines, found, 1.5)
    if asked.question.abbreviated:
        found = _first_of(lambda one: bool(one.features.get("spelt_out")), found)
    if not found:
        return []
    best: dict[int, Candidate] = {}
    for one in found:
        best.setdefault(one.source, one)
    worth = _worth(found)
    order = [*_sides(found, asked), *sorted(best, key=lambda at: (-worth[at], at))]
    top = best[order[0]]
    led = _led_to(top, found, sources, asked)
    settled = asked.question.form == "definition" and _defines(top)
    near = DEFINED if settled or _named_property(top, asked, sources) else NEAR
    quotes: list[Quote] = []
    shown: list[frozenset[str]] = []
    left = OF_ALL
    for at in dict.fromkeys([order[0], *led, *order]):
        one = best[at]
        read = passages(sources[one.source].source.text, asked.reading.sentences)
        if len(shown) == min(limit, SOURCES) or (
            shown and at not in led and worth[order[0]] - worth[at] > near
        ):
            break
        if any(_same(one.words, words) for words in shown) or (
            shown and _words(read[one.order]) > left
        ):
            continue
        orders, begin = _around(one, read, min(OF_ONE, left), found, asked)
        left -= sum(_words(read[each]) for each in orders)
        shown.append(frozenset(asked.reading.words(" ".join(read[at].text for at in orders))))
        quotes += _quotes(sources[one.source], orders, begin, read, asked)
    return quotes


def _led_to(
    one: Candidate, found: Sequence[Candidate], sources: Sequence[Named], asked: Asked
) -> list[int]:
    """The source that what is said beside a sentence leads to: the second note of a question of two."""
    beside = [other for other in found if other.source == one.source]
    for other in found:
        title = sources[other.source].source.title
        if other.source != one.source and any(_leads_to(each, title) for each in beside):
            fits = other.score >= one.score - FAR and _is_about(other, one, asked)
            return [other.source] if fits else []
    return []


def _worth(found: Sequence[Candidate]) -> dict[int, float]:
    """Source -> the score of its passages together."""
    scores: dict[int, list[float]] = {}
    for one in found:
        scores.setdefault(one.source, []).append(one.score)
    return {
        at: each[0]
        + math.log(sum(math.exp(SHARPNESS * (score - each[0])) for score in each)) / SHARPNESS
        for at, each in scores.items()
    }


def _around(
    one: Candidate, read: Sequence[Passage], most: int, found: Sequence[Candidate], asked: Asked
) -> tuple[set[int], int]:
    """What is quoted with a passage: what follows it, then what stands above it.

    :returns: the places, and the first of what answers: of a list that answers, its beginning.
    """
    passage, forms = one.passage, set(asked.question.forms)
    group = [at for at, other in enumerate(read) if other.group == passage.group]
    below = read[one.order + 1 : one.order + 2]
    defined = asked.question.form == "definition"
    inside: Sequence[int] = [
        at
        for at, each in enumerate(read)
        if each.heading == passage.heading and not (defined and _is_view(each))
    ]
    orders = {one.order}
    if passage.kind == "property" or asked.question.abbreviated or "news" in one.features:
        return orders, one.order
    if defined and _defines(one):
        if passage.kind == "heading" and below and below[0].heading == passage.heading:
            # What stands below says what it is.
            return {one.order, one.order + 1}, one.order
        inside = group if passage.kind == "prose" else ()
    elif passage.kind == "row" and not {"list", "comparison"} & forms:
        # A value stands in one row of a table.
        inside = [at for at in inside if at not in group]
    elif passage.kind in ("item", "row") and (
        {"list", "comparison", "howto"} & forms or _is_listed(one, found, group, asked)
    ):
        orders |= set(_part(one.order, group))
    begin = min(orders) if not _ENUMERATES.search(passage.text) else one.order
    length = sum(_words(read[at]) for at in orders)
    for step in (1, -1):
        at = max(orders) + 1 if step > 0 else min(orders) - 1
        while at in inside and length + _words(read[at]) <= most:
            length += _words(read[at])
            orders.add(at)
            at += step
    while (
        begin - 1 in orders
        and read[begin - 1].group == passage.group
        and passage.kind == "prose"
        and sum(_words(read[at]) for at in range(begin - 1, one.order)) <= ABOVE
    ):
        begin -= 1
    return orders, begin


def _part(order: int, group: Sequence[int]) -> Sequence[int]:
    """A list or table, whole if it is not long."""
    if len(group) <= LONGEST_LIST:
        return group
    at = max(0, min(group.index(order) - LONGEST_LIST // 2, len(group) - LONGEST_LIST))
    return group[at : at + LONGEST_LIST]


def _quotes(
    named: Named, orders: set[int], begin: int, read: Sequence[Passage], asked: Asked
) -> list[Quote]:
    """What is quoted of a source, from what answers on, and then what stands above it."""
    if read[begin].kind == "property":
        return [_quote_properties(named, asked)]
    answering = sorted(at for at in orders if at >= begin)
    led = {read[at].lead for at in answering}
    above = sorted(at for at in orders if at < begin and read[at].text not in led)
    quotes = [_quote(named, answering, read, asked)]
    if sum(_words(read[at]) for at in above) > SAYS_LITTLE:
        quotes.append(_quote(named, above, read, asked))
    return quotes


def _first_of(
    right: Callable[[Candidate], bool], ranked: list[Candidate], near: float = math.inf
) -> list[Candidate]:
    """The candidates, the best that is of a kind before all others.

    :param near: how much less likely it may be than the best of all, as a difference of scores.
    """
    best = next((one for one in ranked if right(one)), None)
    if best is None or best is ranked[0] or best.score < ranked[0].score - near:
        return ranked
    rest = [one for one in ranked if one is not best]
    return [replace(best, score=rest[0].score), *rest]


def _defines(one: Candidate) -> bool:
    return any(one.features.get(name) for name in ("term_is", "spelt_out", "of_its_note"))


def _is_about(one: Candidate, pointer: Candidate, asked: Asked) -> bool:
    """Whether a passage that a sentence leads to has a word of the question, or what it asks for, or
    is like it."""
    typed = any(one.features.get(name) for name in TYPED)
    return typed or asked.share(one.words) > 0 or one.likeness >= pointer.likeness / 2


def _followed(
    ranked: Sequence[Candidate], sources: Sequence[Named], asked: Asked
) -> list[Candidate]:
    """The candidates, with what a sentence leads to ("is described in X") in the place of it."""
    found = list(ranked)
    for pointer in found[:POINTERS]:
        if _has_value(pointer, asked):
            continue
        there = {
            at
            for at, named in enumerate(sources)
            if at != pointer.source and _leads_to(pointer, named.source.title)
        }
        meant = next((one for one in found if one.source in there), None)
        if meant is None or not _is_about(meant, pointer, asked):
            continue
        found.remove(pointer)
        if meant.score < found[0].score:
            found.remove(meant)
            found.insert(0, replace(meant, score=max(found[0].score, pointer.score)))
    return found


def _has_value(one: Candidate, asked: Asked) -> bool:
    """Whether a sentence that leads elsewhere may be an answer itself."""
    if one.features["says_where"]:
        return False
    return bool({"place", "person"} & set(asked.question.forms)) or any(
        one.features.get(name) for name in TYPED
    )


def _leads_to(one: Candidate, title: str) -> bool:
    """Whether a sentence says that more stands in another note, by its title."""
    text = one.passage.text
    if len(title) < 4 or title not in text:
        return False
    if one.features["says_where"]:
        return True
    name = re.escape(title)
    leads = rf"[,;:–—] see {name}|(?:[,;:–—]|\b(?:in|at|under|see)) {name} > "
    return re.search(rf"(?:{leads}){_TO_THE_END}", text) is not None


def _quotable(one: Candidate, form: str) -> bool:
    """Whether a passage says anything that the question does not."""
    record = one.passage.kind == "prose" and _RECORD.match(one.passage.text)
    if record or (form == "definition" and _is_view(one.passage)):
        return False
    if one.passage.kind not in ("prose", "item") or form == "list":
        return True
    return one.fresh > 0 and not one.features["bare"]


def _is_view(passage: Passage) -> bool:
    return passage.kind == "code" and _VIEW.match(passage.written) is not None


def _is_asked(one: Passage, asked: Asked) -> bool:
    """Whether a question asks for a property by its key."""
    key = frozenset(asked.reading.words(one.text.partition(":")[0]))
    return bool(key) and key <= asked.all_words


def _names(asked: Asked, named: Named) -> bool:
    """Whether a question names a note."""
    names = (frozenset(asked.reading.words(one)) for one in (named.source.title, *named.names))
    return any(bool(name) and name <= asked.all_words for name in names)


def _named_property(one: Candidate, asked: Asked, sources: Sequence[Named]) -> bool:
    """Whether a question asks for a property of a note, by its key and the note's name."""
    named = sources[one.source]
    return (
        one.passage.kind == "property"
        and _names(asked, named)
        and any(_is_asked(each, asked) for each in properties(named.source.text))
    )


def _without_bystanders(
    found: list[Candidate], asked: Asked, sources: Sequence[Named]
) -> list[Candidate]:
    """The candidates without properties and outlines of bases that are near by a note's name alone.

    The properties stay of a note that has nothing else.
    """
    told = {sources[one.source].source.path for one in found if one.passage.kind != "property"}

    def may(one: Candidate) -> bool:
        named = sources[one.source]
        if one.passage.kind == "property":
            return named.source.path not in told or _may_ask_for(one, asked, named)
        return not named.source.path.endswith(".base") or _names(asked, named)

    return [one for one in found if may(one)] or found


def _may_ask_for(one: Candidate, asked: Asked, named: Named) -> bool:
    """Whether a question may be for the properties of a note: it has one of their keys, or they a
    value of the kind that it asks for. An open question may call a key otherwise."""
    words, form = asked.reading.words, asked.question.form
    left = asked.words - frozenset(words(" ".join((named.source.title, *named.names))))
    if form in _OPEN:
        return bool(left)
    listed = [each.text for each in properties(named.source.text) if not _NAMING.match(each.text)]
    keys = (each.partition(":")[0] for each in listed)
    if left & frozenset(words(" ".join(listed if form == "yesno" else keys))):
        return True
    if form in ("person", "place"):
        return bool(names_of("; ".join(listed)))
    typed = any(one.features.get(name) for name in ("number_there", "date_there"))
    return typed and not one.features.get("measure_not_there")


def _steps_first(found: list[Candidate], sources: Sequence[Named], asked: Asked) -> list[Candidate]:
    """The candidates, the steps of the best one's note before what that note says about them, from
    the first step of their section on."""
    if not found or found[0].features.get("code") or found[0].features.get("step"):
        return found
    best, note = found[0], sources[found[0].source].source.path
    near = next(
        (
            one
            for one in found
            if one.features.get("step") and sources[one.source].source.path == note
        ),
        None,
    )
    if near is None or (
        near.score < best.score - STEPS and not _names(asked, sources[best.source])
    ):
        return found
    heading = sources[near.source].source.heading
    section = [
        at
        for at, named in enumerate(sources)
        if (named.source.path, named.source.heading) == (note, heading)
    ]
    for at in sorted(section, key=lambda at: sources[at].source.lines):
        read = passages(sources[at].source.text, asked.reading.sentences)
        order = next((order for order, one in enumerate(read) if one.mark[:1].isdigit()), None)
        if order is not None:
            first = replace(
                near, source=at, order=order, passage=read[order], score=best.score + STEPS
            )
            return [first, *found]
    return found


def _sides(found: Sequence[Candidate], asked: Asked) -> list[int]:
    """Of a comparison, the source of the best for each side."""
    first: list[int] = []
    for side in asked.question.sides:
        words = frozenset(asked.reading.words(side)) - asked.reading.small
        other = frozenset().union(
            *(frozenset(asked.reading.words(each)) for each in asked.question.sides if each != side)
        )
        best = next((one for one in found if (words - other) & one.words), None)
        if best is not None:
            first.append(best.source)
    return first


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether a passage says nothing that is not quoted already."""
    return bool(left) and len(left & right) >= 0.8 * len(left)


def _is_listed(
    one: Candidate, ranked: Sequence[Candidate], group: Sequence[int], asked: Asked
) -> bool:
    """Whether a list answers, and not one of its items."""
    if len(group) > LONGEST_LIST or any(form in asked.question.forms for form in _VALUES):
        return False
    if asked.question.form == "definition" and _defines(one):
        return False
    near = {(each.source, each.order) for each in ranked[:LISTED_AMONG]}
    beside = sum((one.source, at) in near for at in group)
    return beside > 1 and 2 * beside >= len(group)


def _words(passage: Passage) -> int:
    return len(passage.text.split())


def _quote(named: Named, orders: Sequence[int], read: Sequence[Passage], asked: Asked) -> Quote:
    parts = [Part(at, read[at], bool(read[at].lead)) for at in orders]
    name = _expansion(named, asked) if 0 in orders and named.opens else ""
    if parts[0].passage.kind == "heading" and len(parts) > 1:
        name = parts.pop(0).passage.text
    text, ranges = laid_out(parts)
    heading = parts[0].passage.heading
    known = named.source.heading.split(" > ")
    return Quote(named.source, text, ranges, "" if heading in known else heading, name)


def _quote_properties(named: Named, asked: Asked) -> Quote:
    """The properties that are asked for by their keys, and the others that say something of the note
    where more is asked: "who wrote it" does not ask for its author by the key."""
    words = asked.reading.words
    listed = properties(named.source.text)
    shown = [one for one in listed if _is_asked(one, asked)]
    keys = " ".join(one.text.partition(":")[0] for one in shown)
    known = frozenset(words(" ".join((named.source.title, *named.names, keys))))
    if not shown or len(asked.words - known) > BESIDE_A_KEY:
        shown += [one for one in listed if one not in shown and not _NAMING.match(one.text)]
    shown = shown or list(listed)
    text = f"{BETWEEN} ".join(one.text for one in shown)
    return Quote(named.source, text, tuple(place for one in shown for place in one.ranges))


def _expansion(named: Named, asked: Asked) -> str:
    """The title of a note that the question knows by another name, as by its abbreviation."""
    words = asked.reading.words
    title = frozenset(words(named.source.title))
    if spells(asked.question.about, named.source.title):
        return named.source.title
    if not asked.about or asked.about <= title:
        return ""
    return named.source.title if any(asked.about == set(words(one)) for one in named.names) else ""
