"""Chooses how much of a section is quoted with the passage of it that answers. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from notehop.app.answer.draft import Quote, QuotePart, lay_out
from notehop.app.answer.material import headings_at
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.asked_question import (
    Candidate,
    PreparedQuestion,
    is_answered_question,
)
from notehop.app.answer.quotes.blocks import VIEW_FENCE, Passage
from notehop.app.answer.quotes.exact import has_date, has_exact_value
from notehop.app.answer.quotes.passages import MIN_ENTRIES
from notehop.app.answer.quotes.reading import QuotableSource, is_label_only
from notehop.app.answer.quotes.rows import (
    MAX_LIST_ITEMS,
    MAX_SCORE_GAP,
    agreement_of,
    is_one_of_rows,
)
from notehop.app.retrieval.abbreviations import has_long_form
from notehop.indexing.tokens.words import fold

MAX_EXACT_GAP = 1.0  # the same where something exact is asked for
MAX_SCRAP_WORDS = 7  # words that are a scrap: what stands beside them comes along
MAX_WORDS_BEFORE = 15
"""Words above what answers that come before it, so that a section keeps its order."""

MAX_WHOLE_LIST_WORDS = 20  # words of a list that is whole, whatever of it answers
MAX_LIST_RANK = 8  # best candidates among which half of a list is that is quoted whole

MAX_STEP_GAP = 1.5
"""Score by which steps may be behind the best sentence of their note where it is asked how, in a
note that the question does not name."""

_INLINE_LIST = re.compile(r": [^,;]+[,;] [^,;]+(?:[,;] | and | or )")
"""An item that is a list of its own."""

_KEPT_LABEL = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['kept'])})\W*:")
_TAGGED = re.compile(r"[^\s:#]+:(?:\s+#\S+)+")

_TEXT_KINDS = ("prose", "item")
MIN_NAME_DIGITS = 4  # digits from which on a number may be what a row is called

_SUPPORTED_FORMS = ("reason", "yesno")
"""Forms of questions whose answer may need what stands beside it."""

MIN_LIKE_ITEMS = 2  # other items from which on a list is asked for, and not its items
_VALUE_FORMS = ("number", "date", "person", "place", "yesno")


def name_word_sets(quotable: QuotableSource, question: PreparedQuestion) -> list[frozenset[str]]:
    """Return the words of each name of a source's note, also those of "Heron (boat)" without its brackets."""
    short = re.sub(r" \([^()]*\)$", "", quotable.source.title)
    return [*question.name_word_sets(quotable), frozenset(question.analyzer.words(short))]


def notes_of_sides(
    ranked: Sequence[Candidate], question: PreparedQuestion
) -> list[list[Candidate]]:
    """Return, for each side of a comparison, the candidates of the notes that go by its name."""
    words = question.analyzer.words
    sides = [frozenset(words(side)) for side in question.parsed.sides]
    # Of "Otto or Ingo Preminger" the name of one ends behind the other, "Rich Man, Poor Man" behind a comma.
    every = question.all_words
    names = [(one, name_word_sets(one.quotable, question)) for one in ranked]
    return [
        [one for one, its in names if side in its]
        or [one for one, its in names if any(side < it <= every for it in its)]
        for side in sides
    ]


def has_compared_value(one: Candidate, question: PreparedQuestion) -> bool:
    """Whether a passage has a value of what is compared."""
    compared, passage, words = question.parsed.compared_kind, one.passage, question.analyzer.words
    return has_exact_value(question.parsed, compared, passage, passage.heading, words) or (
        compared == "age" and passage.kind == "property" and has_date(passage.text)
    )


class SectionQuoter:
    """Quotes sections around the passages that answer one question."""

    def __init__(self, question: PreparedQuestion, ranked: Sequence[Candidate]) -> None:
        """:param ranked: what may be quoted, best first."""
        self.question, self.ranked, self.words = question, ranked, question.analyzer.words
        self.form, self.forms = question.parsed.form, frozenset(question.parsed.forms)

    def select_around(self, candidate: Candidate, max_words: int) -> tuple[set[int], int]:
        """Choose what is quoted with a passage: what follows it, then what stands above it.

        :returns: the places, and the first of what answers: of a list that answers, its beginning.
        """
        passage, passages = candidate.passage, candidate.passages
        group = [at for at, other in enumerate(passages) if other.group == passage.group]
        below = passages[candidate.order + 1 : candidate.order + 2]
        defined = self.form == "definition"
        inside: Sequence[int] = [
            at
            for at, each in enumerate(passages)
            if each.heading == passage.heading
            and (each.rule_count == passage.rule_count or {"list", "comparison"} & self.forms)
            and not (defined and is_view(each))
        ]
        orders = {candidate.order}
        abbreviated = self.question.parsed.asks_long_form
        if "news" in candidate.features:
            return orders, candidate.order
        if passage.kind in ("item", "row") and self.question.has_quoted_phrase(passage):
            below_order = range(candidate.order + 1, len(passages))
            sub_items = takewhile(lambda at: passages[at].depth > passage.depth, below_order)
            return orders.union(sub_items), candidate.order
        if abbreviated:
            # What goes on with the entry of a glossary says more of it.
            entry = [at for at, other in enumerate(passages) if other.block == passage.block]
            is_short = (
                entry[0] == candidate.order
                and word_count(passages[at] for at in entry[1:]) <= MAX_WHOLE_LIST_WORDS
            )
            return {*entry} if is_short else orders, candidate.order
        if entries := self._answering_entries(candidate, inside, max_words):
            return entries, min(entries)
        if defined and defines(candidate):
            if passage.kind == "heading" and below and below[0].heading == passage.heading:
                # What stands below says what it is.
                return {candidate.order, candidate.order + 1}, candidate.order
            inside = group if passage.kind == "prose" else ()
        elif is_one_of_rows(candidate, self.forms):
            # A value stands in one row of a table; where none is called for, it may be any.
            agreement = agreement_of(passage, self.question)
            agreeing = [
                at for at in group if agreement_of(passages[at], self.question) >= agreement
            ]
            orders |= set(agreeing if len(agreeing) <= MAX_LIST_ITEMS else ())
            orders |= self._text_about_rows(candidate, orders)
            inside = ()
        elif passage.kind in ("item", "row") and self._is_whole(candidate, group):
            # Whole, if it is not long.
            at = group.index(candidate.order) - MAX_LIST_ITEMS // 2
            at = max(0, min(at, len(group) - MAX_LIST_ITEMS))
            orders |= set(group[at : at + MAX_LIST_ITEMS])
        elif (
            self._is_apart(candidate, group)
            and word_count(passages[at] for at in group) > MAX_WHOLE_LIST_WORDS
        ):
            orders |= self._answering_items(candidate, group)
            inside = ()
        begin = min(orders) if not _INLINE_LIST.search(passage.text) else candidate.order
        numbered = [at for at in group if passages[at].mark[:1].isdigit()]
        length = word_count(passages[at] for at in orders)
        for step in (1, -1):
            at = max(orders) + 1 if step > 0 else min(orders) - 1
            while at in inside and length + word_count([passages[at]]) <= max_words:
                length += word_count([passages[at]])
                orders.add(at)
                at += step
        while (last := max(orders)) > candidate.order and (
            self._leads_away(passages[last], candidate)
            or any(each.lead == passages[last].text for each in passages[last + 1 : last + 2])
            or is_answered_question(passages, last)
        ):
            orders.remove(last)
        if is_answered_question(passages, last):
            orders.add(last + 1)
        while passages[min(orders)].is_fragment:
            orders.remove(min(orders))
        if candidate.order in numbered:
            begin = min(orders.intersection(group))  # Steps come in their order.
        while (
            begin - 1 in orders
            and passages[begin - 1].group == passage.group
            and passage.kind == "prose"
            and word_count(passages[begin - 1 : candidate.order]) <= MAX_WORDS_BEFORE
        ):
            begin -= 1
        return orders - self._irrelevant_above(candidate, orders, begin), begin

    def _text_about_rows(self, candidate: Candidate, rows: Collection[int]) -> set[int]:
        """Return the text in a table's section that names some of its rows: has all words that one is called
        by, or, not at its beginning, a word with a capital that no other is called by."""
        passages, own, naming_blocks = candidate.passages, candidate.passage, set[int]()
        called: dict[bool, list[set[str]]] = {True: [], False: []}
        beside: list[int] = []
        for at, each in enumerate(passages):
            if each.group == own.group:
                name = re.findall(r"\w{2,}", each.text.partition(" | ")[0])
                name = [it for it in name if not it.isdecimal() or len(it) >= MIN_NAME_DIGITS]
                called[at in rows].append({*name} - self.question.analyzer.function_words)
            elif (each.headings, each.rule_count) == (
                own.headings,
                own.rule_count,
            ) and each.kind in _TEXT_KINDS:
                beside.append(at)
        for at in beside:
            words = re.findall(r"\w{2,}", passages[at].text)
            alone = {it for it in words[1:] if it[0].isupper()}.difference(*called[False])
            row_names = (one for one in called[True] if len(one) > 1 or not "".join(one).islower())
            if any(name and (name <= {*words} or name & alone) for name in row_names):
                naming_blocks.add(passages[at].block)
        return {at for at in beside if passages[at].block in naming_blocks}

    def _leads_away(self, passage: Passage, candidate: Candidate) -> bool:
        """Whether a passage, but of the list of the best, introduces what does not come along, has tags or
        names of notes alone, or stands under a label such as "References:" which is not asked for."""
        if passage.text.endswith(":"):
            return True
        if passage.group == candidate.passage.group and passage.kind == "item":
            return False
        label = fold(passage.lead or passage.text).casefold()
        is_kept = _KEPT_LABEL.match(label) or _TAGGED.fullmatch(label)
        is_asked_for = is_kept and not self.question.all_words.isdisjoint(
            self.question.analyzer.words(is_kept[0])
        )
        apart = passage.block != candidate.passage.block
        return not is_asked_for and (
            is_kept is not None or (apart and is_label_only(passage, self.question.analyzer))
        )

    def _is_whole(self, candidate: Candidate, group: Sequence[int]) -> bool:
        """Whether a list or table is asked for, or its steps."""
        if {"list", "comparison"} & self.forms or self._is_listed(candidate, group):
            return True
        return "howto" in self.forms and not self._stands_out(candidate, group)

    def _nearly_as_good(
        self, candidate: Candidate, group: Sequence[int], less: float
    ) -> list[Candidate]:
        """The other passages of a list that are nearly as good as one of them."""
        return [
            each
            for each in self.ranked
            if each.source_index == candidate.source_index
            and each.order != candidate.order
            and each.order in group
            and each.score >= candidate.score - less
        ]

    def _answering_entries(
        self, candidate: Candidate, inside: Sequence[int], max_words: int
    ) -> set[int]:
        """Return, of entries that are not asked for as a whole, that which answers by its own words,
        and those that do nearly as well; of commands that alone."""
        own, passages = candidate.passage.entry, candidate.passages
        if (
            not own
            or candidate.features["title_share"] >= 1
            or candidate.features["beside_title_share"] <= 0
        ):
            return set()
        text_by_entry: dict[
            int, str
        ] = {}  # entry -> what it is found by: of a command what it does
        for at in inside:
            passage = passages[at]
            text = passage.lead if passage.kind == "code" else passage.text
            text_by_entry[passage.entry] = f"{text_by_entry.get(passage.entry, '')} {text}"
        text_by_entry.pop(0, None)
        names = {*self.words(candidate.quotable.source.title)}
        share_by_entry = {
            entry: self.question.share({*self.words(text)} - names)
            for entry, text in text_by_entry.items()
        }
        command = any(passages[at].kind == "code" for at in inside if passages[at].entry == own)
        whole = {"comparison"} if command else {"list", "comparison"}
        if (
            len(text_by_entry) < MIN_ENTRIES
            or whole & self.forms
            or not 0 < share_by_entry[own] == max(share_by_entry.values())
        ):
            return set()
        near = () if command else self._nearly_as_good(candidate, inside, MAX_EXACT_GAP)
        good = dict.fromkeys([own, *(passages[each.order].entry for each in near)])
        orders: set[int] = set()
        for entry in filter(None, good):
            places = {at for at in inside if passages[at].entry == entry}
            if not orders or word_count(passages[at] for at in orders | places) <= max_words:
                orders |= places
        return orders

    def _is_apart(self, candidate: Candidate, group: Sequence[int]) -> bool:
        """Whether one or two items of a list that is not asked for answer, and no step, and nothing that
        others bear out."""
        item = candidate.passage.kind == "item" and not candidate.passage.mark[:1].isdigit()
        alone = self.form not in _SUPPORTED_FORMS or candidate.features["task"]
        return (
            bool(item and alone)
            and len(self._nearly_as_good(candidate, group, MAX_EXACT_GAP)) < MIN_LIKE_ITEMS
        )

    def _answering_items(self, candidate: Candidate, group: Sequence[int]) -> set[int]:
        """The items of a list that answer, with what is part of them."""
        good = {
            candidate.order,
            *(each.order for each in self._nearly_as_good(candidate, group, MAX_EXACT_GAP)),
        }
        orders: set[int] = set()
        last: Passage | None = None
        for at in group:
            passage = candidate.passages[at]
            part = last and (
                passage.block == last.block
                or passage.depth >= last.depth + (passage.kind == "item")
            )
            if not part:
                last = passage if at in good else None
            if part or at in good:
                orders.add(at)
        return orders

    def _stands_out(self, candidate: Candidate, group: Sequence[int]) -> bool:
        """Whether a passage is no step among others, but an item that alone says how."""
        query_words = self.question.words
        alone = query_words & candidate.words and not any(
            query_words & each.words for each in self._nearly_as_good(candidate, group, math.inf)
        )
        step = candidate.passage.mark[:1].isdigit() or self._nearly_as_good(
            candidate, group, MAX_STEP_GAP
        )
        return bool(alone) and not step

    def _is_listed(self, candidate: Candidate, group: Sequence[int]) -> bool:
        """Whether a list answers, and not one of its items."""
        if len(group) > MAX_LIST_ITEMS or self.forms.intersection(_VALUE_FORMS):
            return False
        near = {
            (each.source_index, each.order)
            for each in self.ranked[:MAX_LIST_RANK]
            if each.score >= candidate.score - MAX_STEP_GAP
        }
        beside = sum((candidate.source_index, at) in near for at in group)
        return beside > 1 and 2 * beside >= len(group)

    def _irrelevant_above(self, candidate: Candidate, orders: set[int], begin: int) -> set[int]:
        """Return what is above the answer, if it is long, none of it answers nearly as well, and it has no
        further word of the question."""
        above, passages = {at for at in orders if at < begin}, candidate.passages
        if self.form == "reason" or _is_beginning(above, begin, passages):
            return set()
        if word_count(passages[at] for at in orders - above) <= MAX_SCRAP_WORDS:
            return set()
        near = (each for each in self.ranked if each.score >= candidate.score - MAX_SCORE_GAP)
        if any(it.source_index == candidate.source_index and it.order in above for it in near):
            return set()
        has = self.words(" ".join(passages[at].text for at in orders - above))
        adds = self.question.words.intersection(
            self.words(" ".join(passages[at].text for at in above))
        )
        return set() if adds.difference(has) else above

    def make_quotes(self, candidate: Candidate, orders: set[int], begin: int) -> list[Quote]:
        """Quote some passages of a source, in its order."""
        passages = candidate.passages
        # What introduces code comes with it, a heading stands below the quote.
        orders = {at for at in orders if at >= begin or passages[at].kind != "heading"}
        above = [at for at in orders if at < begin and passages[at].text != passages[begin].lead]
        answering = [at for at in orders if at >= begin]
        scrap = word_count(passages[at] for at in answering) <= MAX_SCRAP_WORDS
        if scrap or _is_beginning(above, begin, passages):
            return [self._make_quote(candidate, sorted(orders))]
        return [self._make_quote(candidate, sorted(part)) for part in (answering, above) if part]

    def quote_rows(self, rows: Sequence[Candidate], name: str) -> Quote:
        """Quote some rows of a table in one source; ``name`` stands above them."""
        orders = {one.order for one in rows}
        orders |= self._text_about_rows(rows[0], orders)
        return replace(self._make_quote(rows[0], sorted(orders), chosen=True), defined_name=name)

    def _make_quote(
        self, candidate: Candidate, orders: Sequence[int], *, chosen: bool = False
    ) -> Quote:
        quotable, passages = candidate.quotable, candidate.passages
        title = {*self.words(quotable.source.title)}  # a callout may say it again
        parts = [
            QuotePart(
                at,
                passage,
                passage.kind != "prose" or not title.issuperset(self.words(passage.lead)),
            )
            for at, passage in ((at, passages[at]) for at in orders)
        ]
        name = (
            quotable.source.title
            if 0 in orders and quotable.begins_note and knows_by_alias(self.question, quotable)
            else ""
        )
        if parts[0].passage.kind == "heading" and len(parts) > 1:
            name = parts.pop(0).passage.text
        last = passages[orders[-1]]
        is_list = sum(each.passage.group == last.group for each in parts) > 1
        after = passages[orders[-1] + 1 :][:1]
        goes_on = after[0].group == last.group if after else quotable.is_cut_off
        text, ranges = lay_out(parts, goes_on=is_list and goes_on and not chosen)
        headings = headings_at(
            quotable.source.text, quotable.headings_above, parts[0].passage.ranges[0][0]
        )
        return Quote(quotable.source, text, ranges, headings, name)


def _is_beginning(above: Collection[int], begin: int, passages: Sequence[Passage]) -> bool:
    """Whether what stands above a passage is a few words of its list or paragraph."""
    own = passages[begin]
    is_text = own.kind in ("prose", "code")
    same = all(
        passages[at].group == own.group or (is_text and passages[at].kind == "prose")
        for at in above
    )
    return same and word_count(passages[at] for at in above) <= MAX_WORDS_BEFORE


def knows_by_alias(question: PreparedQuestion, quotable: QuotableSource) -> bool:
    """Whether the question knows a note by another name than its title, as an abbreviation."""
    if has_long_form(question.parsed.defined_term, quotable.source.title):
        return True
    about, names = question.defined_words, question.name_word_sets(quotable)
    return bool(about) and not about <= names[0] and about in names


def defines(one: Candidate) -> bool:
    return any(one.features.get(name) for name in ("term_is", "spelt_out", "of_its_note"))


def is_view(passage: Passage) -> bool:
    return passage.kind == "code" and VIEW_FENCE.match(passage.markdown) is not None


def word_count(parts: Iterable[Passage]) -> int:
    """Return the length of some passages in words."""
    return sum(len(one.text.split()) for one in parts)


STEP_NUMBER = re.compile(r"\d+[.)] ")


def put_steps_in_order(quotes: Sequence[Quote]) -> list[Quote]:
    """Return the quotes, the steps of the section of the first before the others, in their order."""

    def place(one: Quote) -> tuple[str, str]:
        return one.source.path, one.source.heading

    own = [one for one in quotes if place(one) == place(quotes[0]) and STEP_NUMBER.match(one.text)]
    own.sort(key=lambda one: (one.source.lines, one.ranges))
    return [*own, *(one for one in quotes if one not in own)]


def points_to(one: Candidate, title: str) -> bool:
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


def put_first(
    right: Callable[[Candidate], bool], ranked: list[Candidate], near: float = math.inf
) -> list[Candidate]:
    """Return the candidates, the best that is of a kind before all others.

    :param near: how much less likely it may be than the best of all, as a difference of scores.
    """
    best = next((one for one in ranked if right(one)), None)
    if best is None or best is ranked[0] or best.score < ranked[0].score - near:
        return ranked
    rest = [one for one in ranked if one is not best]
    return [replace(best, score=rest[0].score), *rest]
