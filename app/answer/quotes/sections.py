"""How much of a section is quoted with the passage of it that answers. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from notehop.app.answer.draft import Part, Quote, laid_out
from notehop.app.answer.material import headings_at
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.asked_question import Asked, Candidate, is_asked
from notehop.app.answer.quotes.blocks import VIEW, Passage
from notehop.app.answer.quotes.exact import fits, has_date
from notehop.app.answer.quotes.passages import CARDS
from notehop.app.answer.quotes.reading import Named, is_bare
from notehop.app.answer.quotes.rows import LONGEST_LIST, NEAR, agreement_of, is_one_of_rows
from notehop.app.retrieval.abbreviations import spells
from notehop.indexing.tokens.words import fold

EXACT = 1.0  # the same where something exact is asked for
SAYS_LITTLE = 7  # words that are a scrap: what stands beside them comes along
BEFORE = 15  # words above what answers that come before it, so that a section keeps its order
SHORT = 20  # words of a list that is whole, whatever of it answers
LISTED_AMONG = 8  # best candidates among which half of a list is that is quoted whole

STEPS = 1.5
"""How much less likely than the best sentence of their note steps may be where it is asked how, in a
note that the question does not name."""

_ENUMERATES = re.compile(r": [^,;]+[,;] [^,;]+(?:[,;] | and | or )")
"""An item that is a list of its own."""

_KEPT = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['kept'])})\W*:")
_TAGGED = re.compile(r"[^\s:#]+:(?:\s+#\S+)+")

_TOLD = ("prose", "item")
YEAR = 4  # digits from which on a number may be what a row is called

_BORNE_OUT = ("reason", "yesno")
"""Forms of questions whose answer may need what stands beside it."""

ALIKE = 2  # other items from which on a list is asked for, and not its items
_VALUES = ("number", "date", "person", "place", "yesno")


def names_by(named: Named, asked: Asked) -> list[frozenset[str]]:
    """The words of each name of the note of a source, that of "Heron (boat)" by itself, too."""
    short = re.sub(r" \([^()]*\)$", "", named.source.title)
    return [*asked.called(named), frozenset(asked.reading.words(short))]


def notes_of_sides(found: Sequence[Candidate], asked: Asked) -> list[list[Candidate]]:
    """Of a comparison, for each side the candidates of the notes that go by its name."""
    words = asked.reading.words
    sides = [frozenset(words(side)) for side in asked.question.sides]
    # Of "Otto or Ingo Preminger" the name of one ends behind the other, "Rich Man, Poor Man" behind a comma.
    every = asked.all_words
    names = [(one, names_by(one.named, asked)) for one in found]
    return [
        [one for one, its in names if side in its]
        or [one for one, its in names if any(side < it <= every for it in its)]
        for side in sides
    ]


def says_compared(one: Candidate, asked: Asked) -> bool:
    """Whether a passage has a value of what is compared."""
    compared, passage, words = asked.question.compared, one.passage, asked.reading.words
    return fits(asked.question, compared, passage, passage.heading, words) or (
        compared == "age" and passage.kind == "property" and has_date(passage.text)
    )


class Sections:
    """What is quoted around passages, for one question."""

    def __init__(self, asked: Asked, found: Sequence[Candidate]) -> None:
        """:param found: what may be quoted, best first."""
        self.asked, self.found, self.words = asked, found, asked.reading.words
        self.form, self.forms = asked.question.form, frozenset(asked.question.forms)

    def around(self, one: Candidate, most: int) -> tuple[set[int], int]:
        """What is quoted with a passage: what follows it, then what stands above it.

        :returns: the places, and the first of what answers: of a list that answers, its beginning.
        """
        passage, read = one.passage, one.read
        group = [at for at, other in enumerate(read) if other.group == passage.group]
        below = read[one.order + 1 : one.order + 2]
        defined = self.form == "definition"
        inside: Sequence[int] = [
            at
            for at, each in enumerate(read)
            if each.heading == passage.heading
            and (each.part == passage.part or {"list", "comparison"} & self.forms)
            and not (defined and is_view(each))
        ]
        orders = {one.order}
        abbreviated = self.asked.question.abbreviated
        if "news" in one.features:
            return orders, one.order
        if passage.kind in ("item", "row") and self.asked.is_meant(passage):
            rest = range(one.order + 1, len(read))
            its = takewhile(lambda at: read[at].depth > passage.depth, rest)
            return orders.union(its), one.order
        if abbreviated:
            # What goes on with the entry of a glossary says more of it.
            entry = [at for at, other in enumerate(read) if other.block == passage.block]
            short = entry[0] == one.order and length_of(read[at] for at in entry[1:]) <= SHORT
            return {*entry} if short else orders, one.order
        if entries := self._entries(one, inside, most):
            return entries, min(entries)
        if defined and defines(one):
            if passage.kind == "heading" and below and below[0].heading == passage.heading:
                # What stands below says what it is.
                return {one.order, one.order + 1}, one.order
            inside = group if passage.kind == "prose" else ()
        elif is_one_of_rows(one, self.forms):
            # A value stands in one row of a table; where none is called for, it may be any.
            own = agreement_of(passage, self.asked)
            alike = [at for at in group if agreement_of(read[at], self.asked) >= own]
            orders |= set(alike if len(alike) <= LONGEST_LIST else ())
            orders |= self._on_rows(one, orders)
            inside = ()
        elif passage.kind in ("item", "row") and self._is_whole(one, group):
            # Whole, if it is not long.
            at = group.index(one.order) - LONGEST_LIST // 2
            at = max(0, min(at, len(group) - LONGEST_LIST))
            orders |= set(group[at : at + LONGEST_LIST])
        elif self._is_apart(one, group) and length_of(read[at] for at in group) > SHORT:
            orders |= self._answering(one, group)
            inside = ()
        begin = min(orders) if not _ENUMERATES.search(passage.text) else one.order
        numbered = [at for at in group if read[at].mark[:1].isdigit()]
        length = length_of(read[at] for at in orders)
        for step in (1, -1):
            at = max(orders) + 1 if step > 0 else min(orders) - 1
            while at in inside and length + length_of([read[at]]) <= most:
                length += length_of([read[at]])
                orders.add(at)
                at += step
        while (last := max(orders)) > one.order and (
            self._leads_away(read[last], one)
            or any(each.lead == read[last].text for each in read[last + 1 : last + 2])
            or is_asked(read, last)
        ):
            orders.remove(last)
        if is_asked(read, last):
            orders.add(last + 1)
        while read[min(orders)].is_fragment:
            orders.remove(min(orders))
        if one.order in numbered:
            begin = min(orders.intersection(group))  # Steps come in their order.
        while (
            begin - 1 in orders
            and read[begin - 1].group == passage.group
            and passage.kind == "prose"
            and length_of(read[begin - 1 : one.order]) <= BEFORE
        ):
            begin -= 1
        return orders - self._beside_the_point(one, orders, begin), begin

    def _on_rows(self, one: Candidate, rows: Collection[int]) -> set[int]:
        """What stands in the section of a table and names some of its rows: has all words that one is called
        by, or, not at its beginning, a word with a capital that no other is called by."""
        read, own, told = one.read, one.passage, set[int]()
        called: dict[bool, list[set[str]]] = {True: [], False: []}
        beside: list[int] = []
        for at, each in enumerate(read):
            if each.group == own.group:
                name = re.findall(r"\w{2,}", each.text.partition(" | ")[0])
                name = [it for it in name if not it.isdecimal() or len(it) >= YEAR]
                called[at in rows].append({*name} - self.asked.reading.small)
            elif (each.headings, each.part) == (own.headings, own.part) and each.kind in _TOLD:
                beside.append(at)
        for at in beside:
            said = re.findall(r"\w{2,}", read[at].text)
            alone = {it for it in said[1:] if it[0].isupper()}.difference(*called[False])
            named = (one for one in called[True] if len(one) > 1 or not "".join(one).islower())
            if any(name and (name <= {*said} or name & alone) for name in named):
                told.add(read[at].block)
        return {at for at in beside if read[at].block in told}

    def _leads_away(self, passage: Passage, one: Candidate) -> bool:
        """Whether a passage, but of the list of the best, introduces what does not come along, has tags or
        names of notes alone, or stands under a label such as "References:" which is not asked for."""
        if passage.text.endswith(":"):
            return True
        if passage.group == one.passage.group and passage.kind == "item":
            return False
        label = fold(passage.lead or passage.text).casefold()
        kept = _KEPT.match(label) or _TAGGED.fullmatch(label)
        asked = kept and not self.asked.all_words.isdisjoint(self.asked.reading.words(kept[0]))
        apart = passage.block != one.passage.block
        return not asked and (kept is not None or (apart and is_bare(passage, self.asked.reading)))

    def _is_whole(self, one: Candidate, group: Sequence[int]) -> bool:
        """Whether a list or table is asked for, or its steps."""
        if {"list", "comparison"} & self.forms or self._is_listed(one, group):
            return True
        return "howto" in self.forms and not self._stands_out(one, group)

    def _good(self, one: Candidate, group: Sequence[int], less: float) -> list[Candidate]:
        """The other passages of a list that are nearly as good as one of them."""
        return [
            each
            for each in self.found
            if each.source == one.source
            and each.order != one.order
            and each.order in group
            and each.score >= one.score - less
        ]

    def _entries(self, one: Candidate, inside: Sequence[int], most: int) -> set[int]:
        """Of several entries, if they are not asked for as a whole, that which answers by words of its own,
        and those that do nearly as well; of commands that alone."""
        own, read = one.passage.entry, one.read
        if not own or one.features["title_share"] >= 1 or one.features["beside_title_share"] <= 0:
            return set()
        told: dict[int, str] = {}  # entry -> what it is found by: of a command what it does
        for at in inside:
            its = read[at]
            text = its.lead if its.kind == "code" else its.text
            told[its.entry] = f"{told.get(its.entry, '')} {text}"
        told.pop(0, None)
        names = {*self.words(one.named.source.title)}
        has = {entry: self.asked.share({*self.words(text)} - names) for entry, text in told.items()}
        command = any(read[at].kind == "code" for at in inside if read[at].entry == own)
        whole = {"comparison"} if command else {"list", "comparison"}
        if len(told) < CARDS or whole & self.forms or not 0 < has[own] == max(has.values()):
            return set()
        near = () if command else self._good(one, inside, EXACT)
        good = dict.fromkeys([own, *(read[each.order].entry for each in near)])
        orders: set[int] = set()
        for entry in filter(None, good):
            places = {at for at in inside if read[at].entry == entry}
            if not orders or length_of(read[at] for at in orders | places) <= most:
                orders |= places
        return orders

    def _is_apart(self, one: Candidate, group: Sequence[int]) -> bool:
        """Whether one or two items of a list that is not asked for answer, and no step, and nothing that
        others bear out."""
        item = one.passage.kind == "item" and not one.passage.mark[:1].isdigit()
        alone = self.form not in _BORNE_OUT or one.features["task"]
        return bool(item and alone) and len(self._good(one, group, EXACT)) < ALIKE

    def _answering(self, one: Candidate, group: Sequence[int]) -> set[int]:
        """The items of a list that answer, with what is part of them."""
        good = {one.order, *(each.order for each in self._good(one, group, EXACT))}
        kept: set[int] = set()
        last: Passage | None = None
        for at in group:
            its = one.read[at]
            part = last and (
                its.block == last.block or its.depth >= last.depth + (its.kind == "item")
            )
            if not part:
                last = its if at in good else None
            if part or at in good:
                kept.add(at)
        return kept

    def _stands_out(self, one: Candidate, group: Sequence[int]) -> bool:
        """Whether a passage is no step among others, but an item that alone says how."""
        asked = self.asked.words
        alone = asked & one.words and not any(
            asked & each.words for each in self._good(one, group, math.inf)
        )
        step = one.passage.mark[:1].isdigit() or self._good(one, group, STEPS)
        return bool(alone) and not step

    def _is_listed(self, one: Candidate, group: Sequence[int]) -> bool:
        """Whether a list answers, and not one of its items."""
        if len(group) > LONGEST_LIST or self.forms.intersection(_VALUES):
            return False
        near = {
            (each.source, each.order)
            for each in self.found[:LISTED_AMONG]
            if each.score >= one.score - STEPS
        }
        beside = sum((one.source, at) in near for at in group)
        return beside > 1 and 2 * beside >= len(group)

    def _beside_the_point(self, one: Candidate, orders: set[int], begin: int) -> set[int]:
        """What stands above what answers, if it is long, nothing of it answers nearly as well, and it has no
        further word of the question."""
        above, read = {at for at in orders if at < begin}, one.read
        if self.form == "reason" or _is_beginning(above, begin, read):
            return set()
        if length_of(read[at] for at in orders - above) <= SAYS_LITTLE:
            return set()
        near = (each for each in self.found if each.score >= one.score - NEAR)
        if any(it.source == one.source and it.order in above for it in near):
            return set()
        has = self.words(" ".join(read[at].text for at in orders - above))
        adds = self.asked.words.intersection(self.words(" ".join(read[at].text for at in above)))
        return set() if adds.difference(has) else above

    def quoted(self, one: Candidate, orders: set[int], begin: int) -> list[Quote]:
        """What is quoted of a source, in its order."""
        read = one.read
        # What introduces code comes with it, a heading stands below the quote.
        orders = {at for at in orders if at >= begin or read[at].kind != "heading"}
        above = [at for at in orders if at < begin and read[at].text != read[begin].lead]
        answering = [at for at in orders if at >= begin]
        scrap = length_of(read[at] for at in answering) <= SAYS_LITTLE
        if scrap or _is_beginning(above, begin, read):
            return [self._quote(one, sorted(orders))]
        return [self._quote(one, sorted(part)) for part in (answering, above) if part]

    def rows(self, rows: Sequence[Candidate], name: str) -> Quote:
        """What is quoted of some rows of a table in one source; ``name`` stands above them."""
        orders = {one.order for one in rows}
        orders |= self._on_rows(rows[0], orders)
        return replace(self._quote(rows[0], sorted(orders), chosen=True), name=name)

    def _quote(self, one: Candidate, orders: Sequence[int], *, chosen: bool = False) -> Quote:
        named, read = one.named, one.read
        title = {*self.words(named.source.title)}  # a callout may say it again
        parts = [
            Part(at, its, its.kind != "prose" or not title.issuperset(self.words(its.lead)))
            for at, its in ((at, read[at]) for at in orders)
        ]
        name = (
            named.source.title if 0 in orders and named.opens and expands(self.asked, named) else ""
        )
        if parts[0].passage.kind == "heading" and len(parts) > 1:
            name = parts.pop(0).passage.text
        last = read[orders[-1]]
        listed = sum(each.passage.group == last.group for each in parts) > 1
        after = read[orders[-1] + 1 :][:1]
        goes_on = after[0].group == last.group if after else named.goes_on
        text, ranges = laid_out(parts, goes_on=listed and goes_on and not chosen)
        headings = headings_at(named.source.text, named.above, parts[0].passage.ranges[0][0])
        return Quote(named.source, text, ranges, headings, name)


def _is_beginning(above: Collection[int], begin: int, read: Sequence[Passage]) -> bool:
    """Whether what stands above a passage is a few words of its list or paragraph."""
    own = read[begin]
    told = own.kind in ("prose", "code")
    same = all(read[at].group == own.group or (told and read[at].kind == "prose") for at in above)
    return same and length_of(read[at] for at in above) <= BEFORE


def expands(asked: Asked, named: Named) -> bool:
    """Whether the question knows a note by another name than its title, as an abbreviation."""
    if spells(asked.question.about, named.source.title):
        return True
    about, names = asked.about, asked.called(named)
    return bool(about) and not about <= names[0] and about in names


def defines(one: Candidate) -> bool:
    return any(one.features.get(name) for name in ("term_is", "spelt_out", "of_its_note"))


def is_view(passage: Passage) -> bool:
    return passage.kind == "code" and VIEW.match(passage.written) is not None


def length_of(parts: Iterable[Passage]) -> int:
    """In words."""
    return sum(len(one.text.split()) for one in parts)


STEP = re.compile(r"\d+[.)] ")


def in_order(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, the steps of the section of the first before the others, in their order."""

    def place(one: Quote) -> tuple[str, str]:
        return one.source.path, one.source.heading

    own = [one for one in quotes if place(one) == place(quotes[0]) and STEP.match(one.text)]
    own.sort(key=lambda one: (one.source.lines, one.ranges))
    return [*own, *(one for one in quotes if one not in own)]


def leads_to(one: Candidate, title: str) -> bool:
    """Whether a sentence says that more stands in another note, by its title."""
    text = one.passage.text
    if len(title) < 4 or title not in text:
        return False
    name = re.escape(title)
    leads = rf"[,;:–—] see {name}|(?:[,;:–—]|\b(?:in|at|under|see)) {name} > "
    return (
        bool(one.features["says_where"])
        or re.search(rf"(?:{leads})[^.]{{0,60}}[.)!\]]*$", text) is not None
    )


def first_of(
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
