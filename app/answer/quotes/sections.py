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
from notehop.app.answer.quotes.blocks import VIEW_FENCE, Passage
from notehop.app.answer.quotes.exact_values import has_date, has_exact_value
from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion, is_answered_question
from notehop.app.answer.quotes.table_rows import MAX_LIST_ITEMS, agreement_of, is_one_of_rows
from notehop.app.answer.quotes.text_analyzer import QuotableSource, is_label_only
from notehop.app.retrieval.abbreviations import has_long_form
from notehop.indexing.tokens.words import fold

MAX_EXACT_GAP = (
    1.0  # score by which a source or item may be behind the best where something exact is asked for
)
MAX_LEAD_WORDS = 40
"""Words of the paragraph of what answers, which stands first where much of its section is above it."""

MAX_WORDS_BEFORE = 15
"""Words of a section above the passage that answers, from which on that stands first."""

MAX_ENTRY_WORDS = 20  # words that go on with an entry of a glossary, and say more of it
MIN_SHARE_ALONE = 0.3  # of the question, by weight, that an item has which is quoted so
MAX_ITEMS_ALONE = 2  # items that answer, up to which they are quoted without the rest of their list
MAX_WORDS_BELOW_ROWS = 60  # words of a section below its table, which come with some rows of it

MAX_STEP_GAP = 1.5
"""Score by which steps may be behind the best sentence of their note where it is asked how, in a
note that the question does not name."""

_KEPT_LABEL = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['kept'])})\W*:")
_TAGGED = re.compile(r"[^\s:#]+:(?:\s+#\S+)+")

_TEXT_KINDS = ("prose", "item")


def name_word_sets(quotable: QuotableSource, question: PreparedQuestion) -> list[frozenset[str]]:
    """Return the words of each name of a source's note, also those of "Heron (boat)" without its brackets."""
    short = re.sub(r" \([^()]*\)$", "", quotable.source.title)
    return [*question.name_word_sets(quotable), frozenset(question.analyzer.words(short))]


def notes_of_sides(ranked: Sequence[Candidate], question: PreparedQuestion) -> list[list[Candidate]]:
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

    def select_around(self, candidate: Candidate, max_words: int) -> set[int]:
        """Return the places of what is quoted with a passage: its section, or what is around it there.

        :param max_words: words that a section has at most if it is whole.
        """
        passage, passages = candidate.passage, candidate.passages
        if "news" in candidate.features:
            return {candidate.order}
        if self.question.has_quoted_phrase(passage):
            below = range(candidate.order + 1, len(passages))
            part = takewhile(lambda at: _is_part(passages[at], passage), below)
            return {*part, *(at for at, one in enumerate(passages) if one.block == passage.block)}
        if self.question.parsed.asks_long_form:
            # What goes on with the entry of a glossary says more of it.
            entry = [at for at, other in enumerate(passages) if other.block == passage.block]
            more = word_count(passages[at] for at in entry[1:])
            is_short = entry[0] == candidate.order and more <= MAX_ENTRY_WORDS
            return {*entry} if is_short else {candidate.order}
        section = self._section_of(candidate)
        group = [at for at in section if passages[at].group == passage.group]
        if self.form == "definition" and defines(candidate):
            if passage.kind == "heading":
                # What stands below says what it is.
                below = range(candidate.order, candidate.order + 2)
                return {at for at in below if at in section}
            entry = [at for at in group if passages[at].entry == passage.entry]
            section = entry if passage.kind == "prose" else [candidate.order]
        elif is_one_of_rows(candidate, self.forms):
            return self._rows_with_text(candidate, group, section)
        elif passage.kind in ("item", "row") and {"list", "comparison", "howto"} & self.forms:
            # A list is asked for, or steps.
            begin = section.index(group[0])
            above = [passages[at] for at in section[:begin]]
            has_steps = "howto" in self.forms and any(one.kind == "item" for one in above)
            if has_steps and word_count(passages[at] for at in section) <= max_words:
                begin = 0
            return self._fit(candidate, section[begin:], max_words, section[begin])
        elif items := self._standing_out(candidate, section):
            return items
        return self._trim(candidate, self._fit(candidate, section, max_words))

    def _section_of(self, candidate: Candidate) -> list[int]:
        """Return the places of what stands under one heading with a passage, in one piece."""
        passage, passages = candidate.passage, candidate.passages

        def is_beside(at: int) -> bool:
            each = passages[at]
            return (
                each.headings == passage.headings
                and each.rule_count == passage.rule_count
                and (each.kind == "property") == (passage.kind == "property")
                and not (self.form == "definition" and is_view(each))
            )

        above = takewhile(is_beside, range(candidate.order - 1, -1, -1))
        below = takewhile(is_beside, range(candidate.order + 1, len(passages)))
        return [*reversed([*above]), candidate.order, *below]

    def _standing_out(self, candidate: Candidate, section: Sequence[int]) -> set[int]:
        """Return one or two that alone answer, of a list or entries that are not asked for, with their parts;
        of commands one."""
        passages, own = candidate.passages, candidate.passage
        group = [at for at in section if passages[at].group == own.group]
        if own.kind == "code" and own.entry:  # one of several commands
            return {at for at in section if passages[at].entry == own.entry}
        by_lead = self.question.share(frozenset(self.words(own.lead)))
        if own.kind != "item" or by_lead >= candidate.features["text_share"]:
            return set()
        near = (
            one.order
            for one in self.ranked
            if one.source_index == candidate.source_index and one.score >= candidate.score - MAX_EXACT_GAP
        )
        good = {candidate.order, *near}.intersection(group)
        is_short = word_count(passages[at] for at in group) <= MAX_ENTRY_WORDS
        supported = self.form in ("reason", "yesno") and not candidate.features["task"]
        count = len({passages[at].block for at in group})
        most = min(MAX_ITEMS_ALONE, max(1, (count - 1) // 2))
        alone = candidate.features["text_share"] >= MIN_SHARE_ALONE and len(good) <= most
        if is_short or supported or not alone:
            return set()
        items: set[int] = set()
        begins = group[0]
        for at in group:
            begins = begins if _is_part(passages[at], passages[begins]) else at
            if at in good or not items.isdisjoint(range(begins, at)):
                items.add(at)
        return items

    def _fit(
        self, candidate: Candidate, section: Sequence[int], max_words: int, begin: int | None = None
    ) -> set[int]:
        """Return a section if it is not too long, else what of it is around a passage, or behind a place."""
        passages = candidate.passages
        orders, words = {candidate.order}, word_count([candidate.passage])
        begin = candidate.order if begin is None else begin
        for at in sorted(section, key=lambda at: (abs(at - begin), -at)):
            words += word_count([passages[at]]) if at not in orders else 0
            if words > max_words:
                break
            orders.add(at)
        return orders

    def _trim(self, candidate: Candidate, orders: set[int]) -> set[int]:
        """Return the places without what says nothing at the beginning and end."""
        passages = candidate.passages
        while (last := max(orders)) > candidate.order and (
            self._leads_away(passages[last], candidate)
            or any(each.lead == passages[last].text for each in passages[last + 1 : last + 2])
            or is_answered_question(passages, last)
        ):
            orders.remove(last)
        if is_answered_question(passages, last):
            orders.add(last + 1)
        while min(orders) < candidate.order and (
            passages[min(orders)].is_fragment or passages[min(orders)].kind == "heading"
        ):
            orders.remove(min(orders))
        return orders

    def _rows_with_text(self, candidate: Candidate, table: Sequence[int], section: Sequence[int]) -> set[int]:
        """Return the rows of a table that agree with the question as that which answers does, with the text
        below the table where it is short."""
        passages = candidate.passages
        # A value stands in one row of a table; where none is called for, it may be any.
        agreement = agreement_of(candidate.passage, self.question)
        rows = {at for at in table if agreement_of(passages[at], self.question) >= agreement}
        rows = rows if len(rows) <= MAX_LIST_ITEMS else {candidate.order}
        return rows | self._short_text_below(candidate, section)

    def _short_text_below(self, candidate: Candidate, section: Sequence[int]) -> set[int]:
        """Return the text below the table of a section, which may say more of its rows, if it is short."""
        passages = candidate.passages
        table = passages[candidate.order].group
        end = max(at for at in section if passages[at].group == table)
        below = section[section.index(end) + 1 :]
        beside = {*takewhile(lambda at: passages[at].kind in _TEXT_KINDS, below)}
        words = word_count(passages[at] for at in beside)
        return beside if words <= MAX_WORDS_BELOW_ROWS else set()

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

    def make_quotes(self, candidate: Candidate, orders: Collection[int]) -> list[Quote]:
        """Quote some passages of a source, in its order; what answers stands first as well, if it is late."""
        passages, own = candidate.passages, candidate.passage
        whole = self._make_quote(candidate, sorted(orders))
        before = word_count(passages[at] for at in orders if at < candidate.order)
        listed = {"list", "comparison"} & self.forms or own.mark[:1].isdigit()
        in_order = "howto" in self.forms or (own.kind == "item" and listed)
        if before < MAX_WORDS_BEFORE or in_order or own.kind not in _TEXT_KINDS:
            return [whole]
        lead = [at for at, each in enumerate(passages) if each.block == own.block]
        if word_count(passages[at] for at in lead) > MAX_LEAD_WORDS:
            lead = [candidate.order]
        if 2 * word_count(passages[at] for at in lead) > word_count(passages[at] for at in orders):
            return [whole]
        return [self._make_quote(candidate, lead, chosen=True), whole]

    def quote_rows(self, rows: Sequence[Candidate], name: str) -> Quote:
        """Quote some rows of a table in one source; ``name`` stands above them."""
        orders = {one.order for one in rows}
        orders |= self._short_text_below(rows[0], self._section_of(rows[0]))
        return replace(self._make_quote(rows[0], sorted(orders), chosen=True), defined_name=name)

    def _make_quote(self, candidate: Candidate, orders: Sequence[int], *, chosen: bool = False) -> Quote:
        quotable, passages = candidate.quotable, candidate.passages
        title = {*self.words(quotable.source.title)}  # a callout may say it again
        parts = [
            QuotePart(at, passage, passage.kind != "prose" or not title.issuperset(self.words(passage.lead)))
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
        headings = headings_at(quotable.source.text, quotable.headings_above, parts[0].passage.ranges[0][0])
        return Quote(quotable.source, text, ranges, headings, name)


def _is_part(passage: Passage, of: Passage) -> bool:
    """Whether a passage below another belongs to it: to its paragraph, its item or its entry."""
    if of.entry:
        return passage.entry == of.entry
    return passage.block == of.block or (of.kind == "item" and passage.depth > of.depth)


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
        bool(one.features["says_where"]) or re.search(rf"(?:{leads})[^.]{{0,60}}[.)!\]]*$", text) is not None
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
