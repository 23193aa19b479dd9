"""Chooses what of the sources is quoted: the passage that answers, whole, from the sentence on that
does, and the best of further sources. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from notehop.app.answer.draft import Quote
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.events import AskedEvents
from notehop.app.answer.quotes.exact import DIGITS
from notehop.app.answer.quotes.passages import properties
from notehop.app.answer.quotes.properties import (
    OPEN,
    AskedFields,
    AskedProperties,
    has_typed,
    is_cause,
    is_imported,
    section,
)
from notehop.app.answer.quotes.reading import Named
from notehop.app.answer.quotes.rows import (
    LONGEST_LIST,
    NEAR,
    agreement_of,
    is_one_of_rows,
    row_first,
    rows_asked,
)
from notehop.app.answer.quotes.sections import (
    EXACT,
    STEP,
    STEPS,
    Sections,
    defines,
    expands,
    first_of,
    in_order,
    is_view,
    leads_to,
    length_of,
    names_by,
    notes_of_sides,
    says_compared,
)
from notehop.app.retrieval.relevance import noted_on
from notehop.indexing.tokens.words import fold

OF_ONE = 120  # words that are quoted of one section: it is whole, as most are shorter
OF_ALL = 180
"""Words that are quoted in all: a screen. What these numbers are worth is in docs/evaluation.md."""

BRIEFLY_OF_ONE, BRIEFLY_OF_ALL = 60, 150
"""The same of one of several questions, and where it is not sure that they answer: enough to see whether a
passage does."""

SOURCES = 3  # sources that are quoted, a section of each
DEFINED = 0.7  # the same where a definition or a property is asked for: one is enough
SHARPNESS = 2.0  # a source is as good as its best sentence and, by this much less, as its others

POINTERS = 3  # candidates, best first, that are followed where they lead
FAR = 3.0  # how much less likely than a sentence what it leads to may be


def select(
    ranked: Sequence[Candidate],
    asked: Asked,
    sources: Sequence[Named],
    limit: int,
    *,
    brief: bool = False,
) -> list[Quote]:
    """Return what answers, the best source first, each from the sentence on that answers.

    :param ranked: best first.
    :param limit: sources at most.
    :param brief: whether less is quoted.
    :returns: empty where nothing can be quoted.
    """
    most = (BRIEFLY_OF_ONE, BRIEFLY_OF_ALL) if brief else (OF_ONE, OF_ALL)
    quotes = _Selection(ranked, asked, sources).quotes(limit, *most)
    return [*{one.text: one for one in reversed(quotes)}.values()][::-1]  # none twice


class _Selection:
    """What is quoted of some sources for one question."""

    def __init__(self, ranked: Sequence[Candidate], asked: Asked, sources: Sequence[Named]) -> None:
        self.asked, self.sources = asked, sources
        self.words, question = asked.reading.words, asked.question
        self.form, self.forms = question.form, frozenset(question.forms)
        self.numbers = frozenset(_ALONE.findall(question.text))
        self.properties = AskedProperties(asked, sources)
        self.fields = AskedFields(asked)
        self.events = AskedEvents(asked, sources)
        found = [one for one in ranked if self._is_quotable(one)]
        found = [one for one in found if re.search(r"\w", one.passage.told)] or found
        news = any(one.subject for one in sources)
        found = self._ordered(found, news=news) if found else []
        # News come first as they are.
        self.newest = [] if news else self.events.newest(found)
        told = self.newest or self.events.told(found)
        self.told = [replace(one, score=found[0].score) for one in told]
        found = [*self.told, *(one for one in found if one not in told)]
        self.field = self.fields.first(ranked)
        if self.field is not None and found[:1] != [self.field]:
            found, self.told, self.newest = [self.field, *found], [], []
        self.found, self.compares = found, False

    def _ordered(self, found: list[Candidate], *, news: bool) -> list[Candidate]:
        """The candidates, what answers by more than its words first."""
        found = self._followed(self._without_bystanders(self._of_the_name(found)))
        if self.form == "howto":
            found = self._steps_first(found)
        found = first_of(self.properties.is_named, found)
        if found[0].passage.kind == "property":
            found = self._text_first(found)
        found = row_first(found, self._places_of(found[0]), self.asked)
        if news:
            # Who asks for news gets them before what a property calls status.
            found = first_of(lambda one: "news" in one.features, found)
        if self.form == "list":
            found = first_of(partial(self._is_introduced, found[0]), found, NEAR)
        if self.form == "reason":
            found = first_of(partial(self._is_cause, found[0]), found)
        if self.form == "definition":
            found = first_of(defines, found, 1.5)
            found = first_of(lambda one: bool(one.features.get("says_what")), found, NEAR)
            # A note that explains several terms is called by each.
            found = first_of(self._explains_alias, found, NEAR)
            if not defines(found[0]) and self._headed(found[0]) != self.asked.about:
                found = first_of(self._opens_section, found, NEAR)
        if self.asked.question.exact:
            found = self._fitting(found)
        if not self.asked.numbers and not _FORMER.search(self.asked.question.plain):
            former = _FORMER.match
            found = first_of(lambda one: not former(fold(one.passage.text).casefold()), found, NEAR)
        return self._numbered_so(found)

    def quotes(self, limit: int, of_one: int, of_all: int) -> list[Quote]:
        """What answers, of so many sources at most, and words of one and of all."""
        if not self.found:
            return []
        sections = Sections(self.asked, self.found)
        if rows := rows_asked(self.found, self._places, self.asked):
            return [sections.rows(*its) for its in rows]
        best: dict[int, Candidate] = {}
        for one in self.found:
            best.setdefault(one.source, one)
        worth = self._worth()
        first = self.found[0]
        settles = first is self.field or self.form == "definition"
        settles = settles or self.properties.is_named(first) or self._is_numbered(first)
        cause = self.form == "reason" and is_cause(first)
        leading = self.told or ([first] if settles or cause else self._sides())
        best |= {one.source: one for one in reversed(leading)}
        order = [
            *(one.source for one in leading),
            *sorted(best, key=lambda at: (-worth[at], at != first.source, at)),
        ]
        top = best[order[0]]
        led = [*self._led_to(top), *self.events.later(top, self.found)]
        settled = self.form == "definition" and defines(top)
        near = NEAR
        if self.compares:
            near = -math.inf
        elif top is self.field:
            near = 0.0
        elif settled or self.properties.is_named(top) or self.properties.is_typed(top):
            near = DEFINED
        elif self.asked.question.exact:
            near = EXACT
        # Where the best is a property, others may be what is asked for.
        in_words = top.passage.kind != "property"
        quotes: list[Quote] = []
        shown: list[frozenset[str]] = []
        wanted = {*led, *(one.source for one in leading)}
        left, bar = of_all, (False, 1, -LONGEST_LIST, 1)
        for at in dict.fromkeys([order[0], *led, *order]):
            one, read = best[at], best[at].read
            if len(shown) == limit:
                break
            # Each item of a list says little by itself.
            less = worth[order[0]] - worth[at] if self.form == "list" else top.score - one.score
            if shown and at not in wanted and less > near:
                continue
            if shown and in_words and self._only_files(one):
                shown.append(one.words)  # Nothing worse stands in its place.
                continue
            if is_one_of_rows(one, self.forms):
                agrees = agreement_of(one.passage, self.asked)
                if shown and agrees < bar:
                    continue  # Another row is meant, or only the head has a word of the question.
                bar = max(bar, agrees)
            # One that says nothing that is not quoted already, or for which there is no room.
            same = any(one.words and len(one.words & it) >= 0.8 * len(one.words) for it in shown)
            if (same and at not in wanted) or (shown and length_of([one.passage]) > left):
                continue
            orders, begin = {*section(one)}, one.order
            if is_imported(one):
                more = self.properties.has_more
                orders = {it for it in orders if it == begin or more(one.named, read[it])}
                begin = min(orders)
            elif one is not self.field:
                orders, begin = sections.around(one, min(of_one, left))
            left -= length_of(read[each] for each in orders)
            shown.append(frozenset(self.words(" ".join(read[each].text for each in orders))))
            if read[begin].kind == "property":
                quotes.append(self.properties.quoted(one.named, beside=in_words and len(shown) > 1))
            else:
                quotes += sections.quoted(one, orders, begin)
        day = top.named.day
        days = [noted_on(one.source.path) for one in quotes]
        if self.newest and day == max(filter(None, days), default=None):
            quotes[0] = replace(quotes[0], name=f"The newest that was found, of {day}")
        return in_order(quotes) if quotes and STEP.match(quotes[0].text) else quotes

    def _is_quotable(self, one: Candidate) -> bool:
        """Whether a passage says anything that the question does not."""
        if self.form == "definition" and is_view(one.passage):
            return False
        if self.form == "person" and one.passage.kind == "code":
            return False  # Commands tell of nobody.
        if one.passage.text.endswith(":") and one.order + 1 == len(one.read):
            return False  # What it introduces is cut off.
        return self.asked.is_told_more(one)

    def _worth(self) -> dict[int, float]:
        """Source -> the score of its passages together."""
        scores: dict[int, list[float]] = {}
        for one in self.found:
            scores.setdefault(one.source, []).append(one.score)
        return {
            at: each[0]
            + math.log(sum(math.exp(SHARPNESS * (score - each[0])) for score in each)) / SHARPNESS
            for at, each in scores.items()
        }

    def _sides(self) -> list[Candidate]:
        """Of a comparison, for each side what the note that goes by its name says of what is compared, or how
        it begins, else the best that speaks of it; where no side has a note, the best that speaks of all."""
        notes = notes_of_sides(self.found, self.asked)
        if not self.asked.question.compared and not all(notes):
            notes = [[] for _ in notes]
        sides = [frozenset(self.words(side)) for side in self.asked.question.sides]
        known = self.asked.names
        own = [
            (side & known or side).difference(
                self.asked.reading.small, *(one for one in sides if one != side)
            )
            for side in sides
        ]
        told = [
            (one, one.words.union(self._headed(one), *names_by(one.named, self.asked)))
            for one in self.found
        ]
        of_all = [one for one, words in told if sides and all(side & words for side in own)]
        if of_all and not any(notes):
            return of_all[:1]
        self.compares = bool(self.asked.question.compared) and all(notes)
        chosen = [max(each, key=self._compares) for each in notes if each]
        for side in (own[at] for at, each in enumerate(notes) if not each):
            chosen += [one for one, words in told if side & words][:1]
        return chosen

    def _compares(self, one: Candidate) -> tuple[bool, float, float]:
        """How well a passage of the note of a side says what is compared; else how it begins is best."""
        opens = one.features["opens_note"]
        if not self.asked.question.compared:
            return False, opens, 0.0
        return says_compared(one, self.asked), opens, one.score

    def _led_to(self, one: Candidate) -> list[int]:
        """The source that what is said beside a sentence leads to: the second note of a question of
        two."""
        beside = [other for other in self.found if other.source == one.source]
        for other in self.found:
            title = other.named.source.title
            if other.source != one.source and any(leads_to(each, title) for each in beside):
                fits = other.score >= one.score - FAR and self._is_about(other, one)
                return [other.source] if fits else []
        return []

    def _followed(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """The candidates, with what a sentence leads to ("is described in X") in the place of it."""
        found = list(ranked)
        for pointer in found[:POINTERS]:
            if self._has_value(pointer):
                continue
            others = (one for one in found if one.source != pointer.source)
            meant = next((one for one in others if leads_to(pointer, one.named.source.title)), None)
            if meant is None or not self._is_about(meant, pointer):
                continue
            found.remove(pointer)
            if meant.score < found[0].score:
                found.remove(meant)
                found.insert(0, replace(meant, score=max(found[0].score, pointer.score)))
        return found

    def _has_value(self, one: Candidate) -> bool:
        """Whether a sentence that leads elsewhere may be an answer itself."""
        if one.features["says_where"]:
            return False
        return bool({"place", "person"} & self.forms) or has_typed(one)

    def _is_about(self, one: Candidate, pointer: Candidate) -> bool:
        """Whether a passage that a sentence leads to has a word of the question, or what it asks for,
        or is like it."""
        return (
            has_typed(one)
            or self.asked.share(one.words) > 0
            or one.likeness >= pointer.likeness / 2
        )

    def _explains_alias(self, one: Candidate) -> bool:
        """Whether a passage begins with what its note is asked for by, which is not its title."""
        own = all(one.features.get(name) for name in ("in_its_note", "term_first"))
        return own and expands(self.asked, one.named)

    def _opens_section(self, one: Candidate) -> bool:
        """Whether the section of what is to be defined begins with a passage."""
        begins = not one.order or one.read[one.order - 1].headings != one.passage.headings
        about = frozenset(self.words(one.passage.heading)) - self.asked.reading.small
        return one.passage.kind == "prose" and begins and about == self.asked.about

    def _without_bystanders(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates without properties and outlines of bases that are near by a note's name alone.

        The properties stay of a note that has nothing else, unless somebody is asked for.
        """
        told = {
            one.path for one in found if one.passage.kind != "property" and not one.features["task"]
        }

        def may(one: Candidate) -> bool:
            named = one.named
            if one.passage.kind == "property":
                if named.opens and named.source.path not in told and self.form != "person":
                    return True
                if self.form == "definition" and named.source.path not in told:
                    return self.asked.is_named(named) and self.properties.tells(named)
                # To a question for yes or no a value that it has is the answer.
                tells = self.form == "yesno" or self.properties.tells(named)
                return tells and self.properties.may_be_asked(one)
            outline = named.source.path.endswith(".base") and not self.asked.is_named(named)
            return not outline and not self._only_files(one)

        return [one for one in found if may(one)] or found

    def _only_files(self, one: Candidate) -> bool:
        """Whether a passage is of the properties of a note, without more of the question than its name; an
        open question may have one word for the key of a note that it names."""
        named, listed = one.named, [one.passage] if is_imported(one) else []
        if one.passage.kind == "property":
            left = self.asked.words - self.asked.name_words(named)
            by_name = self.form == "open" and len(left) == 1 and self.asked.is_named(named)
            listed = [] if by_name else [*properties(named.source.text)]
        return bool(listed) and not any(self.properties.has_more(named, it) for it in listed)

    def _of_the_name(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates without notes whose name goes on with a digit behind that of one which is named:
        *Session 12* is not *Session 1*."""
        text = self.asked.question.plain
        titles = [fold(named.source.title).casefold() for named in self.sources]
        own = {titles[one.source] for one in found}
        own = {one for one in own if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)}
        longer = [re.compile(rf"{re.escape(one)}\d") for one in sorted(own)]
        other = {one for one in {*titles} - own if any(each.match(one) for each in longer)}
        return [one for one in found if titles[one.source] not in other]

    def _text_first(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates, what a note says before its properties: where those say no more than the question,
        or where none of their keys is asked for by an open one, which it may call otherwise."""
        tells, asked = self.properties.tells(found[0].named), self.properties.has_asked(found[0])
        # Whoever is named there, nothing says that he did what is asked.
        who = self.form == "person" and not (found[0].features["text_share"] or asked)
        if tells and not who and (self.form not in OPEN or asked):
            return found

        def says(one: Candidate) -> bool:
            right = not who or bool(one.features.get("name_there"))
            return one.path == found[0].path and one.passage.kind != "property" and right

        return first_of(says, found, NEAR if tells else math.inf)

    def _places(self, like: Candidate) -> Iterator[Candidate]:
        """The candidate at every place of what was found, in text order."""
        found = enumerate(self.sources)
        for at, named in sorted(found, key=lambda it: (it[1].source.path, it[1].source.lines)):
            read = named.passages(self.asked.reading.sentences)
            for order in range(len(read)):
                yield replace(like, source=at, named=named, read=read, order=order)

    def _places_of(self, one: Candidate) -> Iterator[Candidate]:
        """The candidate at every place of what was found of its note, in text order."""
        return (other for other in self._places(one) if other.path == one.path)

    def _numbered_so(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates, of the note of the best those alone that stand under the number which is asked for,
        that of a version, a chapter, a day; unless the best says it."""
        best = found[0]
        if self.numbers <= {*DIGITS.findall(best.passage.text)}:
            return found
        under = [one for one in found if one.path == best.path and self._is_numbered(one)]
        if not under or under[0].score < best.score - FAR:
            return found
        under[0] = replace(under[0], score=best.score)
        return [*under, *(one for one in found if one.path != best.path)]

    def _is_numbered(self, one: Candidate) -> bool:
        return bool(self.numbers) and self.numbers <= {*DIGITS.findall(one.heading)}

    def _fitting(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates, where the best lacks what an answer must have in it that first which has it; of who
        or where, a property of the note that is asked about."""
        if self.asked.fits(found[0]):
            return found
        if self.form in ("person", "place"):
            return first_of(self.properties.is_typed, found, NEAR)
        return first_of(self.asked.fits, found, NEAR)

    def _is_cause(self, best: Candidate, one: Candidate) -> bool:
        """Whether a passage says by its heading why something is so, in the note of the best or, if it is
        not far less likely, of what has as much of the question."""
        near = one.covered >= best.covered and one.score >= best.score - FAR
        return is_cause(one) and (near or one.path == best.path)

    def _is_introduced(self, best: Candidate, one: Candidate) -> bool:
        """Whether a passage is an item of a list, in the note of the best that is none, which a line
        introduces with as much of the question."""
        lead, share = one.passage.lead, self.asked.share
        listed = (best.passage.kind, one.passage.kind) == ("prose", "item") and lead.endswith(":")
        return (
            listed
            and one.path == best.path
            and share(self.words(lead)) >= max(share(best.words), 1e-6)
        )

    def _headed(self, one: Candidate) -> frozenset[str]:
        return frozenset(self.words(one.heading))

    def _above(self, one: Candidate) -> float:
        """The share of the question that the heading above a passage has."""
        return self.asked.share(self._headed(one))

    def _steps_first(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates, the steps of the best one's note before what that note says about them, from
        the first step of their section on."""
        best = found[0]
        if best.features.get("code") or best.features.get("step"):
            return found
        steps = (one for one in found if one.path == best.path and one.features.get("step"))
        near = next(steps, None)
        if (
            near is None
            or (near.score < best.score - STEPS and not self.asked.is_named(best.named))
            or self._above(near) < self._above(best)
        ):
            return found
        place = near.named.source.heading, near.passage.headings
        steps = (
            one
            for one in self._places_of(near)
            if (one.named.source.heading, one.passage.headings) == place
            and one.passage.mark[:1].isdigit()
        )
        first = min(steps, key=lambda one: (one.named.source.lines, one.source, one.order))
        return [replace(first, score=best.score + STEPS), *found]


_FORMER = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['former'])})")
_ALONE = re.compile(rf"{DIGITS.pattern}(?![^\W\d_]|\d)")  # "5.1", and not "11ty"
