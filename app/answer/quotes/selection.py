"""Chooses what of the sources is quoted: the section that answers, and the best of further sources. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from notehop.app.answer.draft import Quote
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.daily_notes import EventSelector
from notehop.app.answer.quotes.exact_values import DIGITS
from notehop.app.answer.quotes.passages import split_properties
from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion
from notehop.app.answer.quotes.property_quotes import (
    OPEN_FORMS,
    FieldSelector,
    PropertySelector,
    has_typed_value,
    is_below_cause_heading,
    is_imported_property,
    section_positions,
)
from notehop.app.answer.quotes.sections import (
    MAX_EXACT_GAP,
    MAX_STEP_GAP,
    STEP_NUMBER,
    SectionQuoter,
    defines,
    has_compared_value,
    is_view,
    knows_by_alias,
    name_word_sets,
    notes_of_sides,
    points_to,
    put_first,
    put_steps_in_order,
    word_count,
)
from notehop.app.answer.quotes.table_rows import (
    MAX_LIST_ITEMS,
    MAX_SCORE_GAP,
    agreement_of,
    find_asked_rows,
    is_one_of_rows,
    put_named_row_first,
)
from notehop.app.answer.quotes.text_analyzer import QuotableSource
from notehop.app.retrieval.relevance import past_date_in_name
from notehop.indexing.tokens.words import fold

MAX_WORDS_PER_SECTION = 150
"""Words that are quoted of one section: it is whole, as most are shorter."""

MAX_WORDS_PER_ANSWER = 180
"""Words that are quoted in all: a screen. What these numbers are worth is in docs/evaluation.md."""

MAX_QUOTED_SOURCES = 3  # sources that are quoted, a section of each
MAX_DEFINITION_GAP = 0.7  # the same where a definition or a property is asked for: one is enough
BEST_SENTENCE_WEIGHT = 2.0
"""A source is as good as its best sentence and, by this much less, as its others."""


MAX_FOLLOWED_POINTERS = 3  # candidates, best first, that are followed where they lead
MAX_POINTER_GAP = 3.0  # how much less likely than a sentence what it leads to may be


def select_quotes(
    ranked: Sequence[Candidate], question: PreparedQuestion, sources: Sequence[QuotableSource], limit: int
) -> list[Quote]:
    """Return what answers, the best source first.

    :param ranked: best first.
    :param limit: sources at most.
    :returns: empty where nothing can be quoted.
    """
    quotes = _Selection(ranked, question, sources).make_quotes(limit)
    return [*{one.text: one for one in reversed(quotes)}.values()][::-1]  # none twice


class _Selection:
    """Orders the candidates of a question, and quotes the best."""

    def __init__(
        self, ranked: Sequence[Candidate], question: PreparedQuestion, sources: Sequence[QuotableSource]
    ) -> None:
        self.question, self.sources = question, sources
        self.words, parsed = question.analyzer.words, question.parsed
        self.form, self.forms = parsed.form, frozenset(parsed.forms)
        self.numbers = frozenset(_WHOLE_NUMBER.findall(parsed.text))
        self.properties = PropertySelector(question, sources)
        self.fields = FieldSelector(question)
        self.events = EventSelector(question, sources)
        usable = [one for one in ranked if self._is_quotable(one)]
        usable = [one for one in usable if re.search(r"\w", one.passage.unstruck_text)] or usable
        news = any(one.is_news_subject for one in sources)
        usable = self._order(usable, news=news) if usable else []
        # News come first as they are.
        self.newest = [] if news else self.events.find_newest(usable)
        events = self.newest or self.events.find_events(usable)
        self.events_first = [replace(one, score=usable[0].score) for one in events]
        usable = [*self.events_first, *(one for one in usable if one not in events)]
        self.field = self.fields.find_first(ranked)
        if self.field is not None and usable[:1] != [self.field]:
            usable, self.events_first, self.newest = [self.field, *usable], [], []
        self.ranked, self.compares_sides = usable, False

    def _order(self, ranked: list[Candidate], *, news: bool) -> list[Candidate]:
        """The candidates, what answers by more than its words first."""
        ranked = self._follow_pointers(self._drop_bystanders(self._drop_longer_names(ranked)))
        if self.form == "howto":
            ranked = self._put_steps_first(ranked)
        ranked = put_first(self.properties.is_asked_by_key, ranked)
        if ranked[0].passage.kind == "property":
            ranked = self._put_text_first(ranked)
        ranked = put_named_row_first(ranked, self._note_candidates(ranked[0]), self.question)
        if news:
            # Who asks for news gets them before what a property calls status.
            ranked = put_first(lambda one: "news" in one.features, ranked)
        if self.form == "list":
            ranked = put_first(partial(self._is_introduced, ranked[0]), ranked, MAX_SCORE_GAP)
        if self.form == "reason":
            ranked = put_first(partial(self._is_cause, ranked[0]), ranked)
        if self.form == "definition":
            ranked = put_first(defines, ranked, 1.5)
            ranked = put_first(lambda one: bool(one.features.get("says_what")), ranked, MAX_SCORE_GAP)
            # A note that explains several terms is called by each.
            ranked = put_first(self._explains_alias, ranked, MAX_SCORE_GAP)
            if not defines(ranked[0]) and self._heading_words(ranked[0]) != self.question.defined_words:
                ranked = put_first(self._opens_section, ranked, MAX_SCORE_GAP)
        if self.question.parsed.exact_kind:
            ranked = self._put_exact_first(ranked)
        if not self.question.numbers and not _FORMER_LABEL.search(self.question.parsed.folded):
            former = _FORMER_LABEL.match
            ranked = put_first(
                lambda one: not former(fold(one.passage.text).casefold()), ranked, MAX_SCORE_GAP
            )
        return self._keep_numbered(ranked)

    def make_quotes(self, limit: int) -> list[Quote]:
        """Return what answers, of so many sources at most."""
        if not self.ranked:
            return []
        sections = SectionQuoter(self.question, self.ranked)
        if rows := find_asked_rows(self.ranked, self._all_candidates, self.question):
            return [sections.quote_rows(*its) for its in rows]
        best: dict[int, Candidate] = {}
        for candidate in self.ranked:
            best.setdefault(candidate.source_index, candidate)
        scores = self._source_scores()
        first = self.ranked[0]
        settles = first is self.field or self.form == "definition"
        settles = settles or self.properties.is_asked_by_key(first) or self._is_below_number(first)
        cause = self.form == "reason" and is_below_cause_heading(first)
        leading = self.events_first or ([first] if settles or cause else self._side_candidates())
        best |= {one.source_index: one for one in reversed(leading)}
        by_score = sorted(best, key=lambda it: (-scores[it], it != first.source_index, it))
        order = [*(one.source_index for one in leading), *by_score]
        top = best[order[0]]
        pointed = [*self._pointed_sources(top), *self.events.find_later(top, self.ranked)]
        settled = self.form == "definition" and defines(top)
        settled = settled or self.properties.is_asked_by_key(top)
        max_gap = MAX_SCORE_GAP
        if self.compares_sides:
            max_gap = -math.inf
        elif top is self.field:
            max_gap = 0.0
        elif settled or self.properties.has_asked_value(top):
            max_gap = MAX_DEFINITION_GAP
        elif self.question.parsed.exact_kind:
            max_gap = MAX_EXACT_GAP
        # Where the best is a property, others may be what is asked for.
        in_words = top.passage.kind != "property"
        quotes: list[Quote] = []
        shown: list[frozenset[str]] = []
        wanted = {*pointed, *(one.source_index for one in leading)}
        words_left, least = MAX_WORDS_PER_ANSWER, (False, 1, -MAX_LIST_ITEMS, 1)
        for source in dict.fromkeys([order[0], *pointed, *order]):
            candidate, passages = best[source], best[source].passages
            if len(shown) == limit:
                break
            # Each item of a list says little by itself.
            gap = top.score - candidate.score
            if self.form == "list":
                gap = scores[order[0]] - scores[source]
            if shown and source not in wanted and gap > max_gap:
                continue
            if shown and in_words and self._is_only_properties(candidate):
                shown.append(candidate.words)  # Nothing worse stands in its place.
                continue
            if is_one_of_rows(candidate, self.forms):
                agrees = agreement_of(candidate.passage, self.question)
                if shown and agrees < least:
                    continue  # Another row is meant, or only the head has a word of the question.
                least = max(least, agrees)
            # One that says nothing that is not quoted already, or for which there is no room.
            words = candidate.words
            is_repeated = any(words and len(words & it) >= 0.8 * len(words) for it in shown)
            is_too_long = shown and word_count([candidate.passage]) > words_left
            if (is_repeated and source not in wanted) or is_too_long:
                continue
            orders, begin = {*section_positions(candidate)}, candidate.order
            if is_imported_property(candidate):
                more = self.properties.has_further_word
                own = candidate.quotable
                orders = {it for it in orders if it == begin or more(own, passages[it])}
                begin = min(orders)
            elif candidate is not self.field:
                most = min(MAX_WORDS_PER_SECTION, words_left)
                orders = sections.select_around(candidate, most)
                begin = min(orders)
            shown.append(frozenset(self.words(" ".join(passages[each].text for each in orders))))
            if passages[begin].kind == "property":
                beside = in_words and len(shown) > 1
                made = [self.properties.make_quote(candidate.quotable, beside=beside)]
            else:
                made = sections.make_quotes(candidate, orders)
            words_left -= sum(len(one.text.split()) for one in made)
            quotes += made
        day = top.quotable.day
        days = [past_date_in_name(one.source.path) for one in quotes]
        if self.newest and day == max(filter(None, days), default=None):
            quotes[0] = replace(quotes[0], defined_name=f"The newest that was found, of {day}")
        has_steps = quotes and STEP_NUMBER.match(quotes[0].text)
        return put_steps_in_order(quotes) if has_steps else quotes

    def _is_quotable(self, one: Candidate) -> bool:
        """Whether a passage says anything that the question does not."""
        if self.form == "definition" and is_view(one.passage):
            return False
        if self.form == "person" and one.passage.kind == "code":
            return False  # Commands tell of nobody.
        if one.passage.text.endswith(":") and one.order + 1 == len(one.passages):
            return False  # What it introduces is cut off.
        return self.question.says_more(one)

    def _source_scores(self) -> dict[int, float]:
        """Source -> the score of its passages together."""
        scores: dict[int, list[float]] = {}
        for one in self.ranked:
            scores.setdefault(one.source_index, []).append(one.score)
        return {
            at: each[0]
            + math.log(sum(math.exp(BEST_SENTENCE_WEIGHT * (score - each[0])) for score in each))
            / BEST_SENTENCE_WEIGHT
            for at, each in scores.items()
        }

    def _side_candidates(self) -> list[Candidate]:
        """Return, for each side of a comparison, what its note says of what is compared, or how it begins,
        else the best that speaks of it; where no side has a note, the best that speaks of all."""
        notes = notes_of_sides(self.ranked, self.question)
        if not self.question.parsed.compared_kind and not all(notes):
            notes = [[] for _ in notes]
        sides = [frozenset(self.words(side)) for side in self.question.parsed.sides]
        known, small = self.question.names, self.question.analyzer.function_words
        own = [
            (side & known or side).difference(small, *(one for one in sides if one != side)) for side in sides
        ]
        names = (name_word_sets(one.quotable, self.question) for one in self.ranked)
        with_words = [
            (one, one.words.union(self._heading_words(one), *its))
            for one, its in zip(self.ranked, names, strict=True)
        ]
        of_all = [one for one, words in with_words if sides and all(side & words for side in own)]
        if of_all and not any(notes):
            return of_all[:1]
        self.compares_sides = bool(self.question.parsed.compared_kind) and all(notes)
        chosen = [max(each, key=self._comparison_key) for each in notes if each]
        for side in (own[at] for at, each in enumerate(notes) if not each):
            chosen += [one for one, words in with_words if side & words][:1]
        return chosen

    def _comparison_key(self, one: Candidate) -> tuple[bool, float, float]:
        """Return how well a passage says what is compared, to sort by; else the note's beginning is best."""
        opens = one.features["opens_note"]
        if not self.question.parsed.compared_kind:
            return False, opens, 0.0
        return has_compared_value(one, self.question), opens, one.score

    def _pointed_sources(self, one: Candidate) -> list[int]:
        """The source that what is said beside a sentence leads to: the second note of a question of two."""
        beside = [other for other in self.ranked if other.source_index == one.source_index]
        for other in self.ranked:
            title = other.quotable.source.title
            elsewhere = other.source_index != one.source_index
            if elsewhere and any(points_to(each, title) for each in beside):
                near = other.score >= one.score - MAX_POINTER_GAP
                return [other.source_index] if near and self._is_about(other, one) else []
        return []

    def _follow_pointers(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """The candidates, with what a sentence leads to ("is described in X") in the place of it."""
        candidates = list(ranked)
        for pointer in candidates[:MAX_FOLLOWED_POINTERS]:
            if self._has_value(pointer):
                continue
            others = (one for one in candidates if one.source_index != pointer.source_index)
            targets = (one for one in others if points_to(pointer, one.quotable.source.title))
            target = next(targets, None)
            if target is None or not self._is_about(target, pointer):
                continue
            candidates.remove(pointer)
            if target.score < candidates[0].score:
                candidates.remove(target)
                candidates.insert(0, replace(target, score=max(candidates[0].score, pointer.score)))
        return candidates

    def _has_value(self, one: Candidate) -> bool:
        """Whether a sentence that leads elsewhere may be an answer itself."""
        if one.features["says_where"]:
            return False
        return bool({"place", "person"} & self.forms) or has_typed_value(one)

    def _is_about(self, one: Candidate, pointer: Candidate) -> bool:
        """Whether a passage that a pointer leads to has a word or value that is asked for, or is like it."""
        asked = has_typed_value(one) or self.question.share(one.words) > 0
        return asked or one.likeness >= pointer.likeness / 2

    def _explains_alias(self, one: Candidate) -> bool:
        """Whether a passage begins with what its note is asked for by, which is not its title."""
        own = all(one.features.get(name) for name in ("in_its_note", "term_first"))
        return own and knows_by_alias(self.question, one.quotable)

    def _opens_section(self, one: Candidate) -> bool:
        """Whether the section of what is to be defined begins with a passage."""
        begins = not one.order or one.passages[one.order - 1].headings != one.passage.headings
        about = frozenset(self.words(one.passage.heading)) - self.question.analyzer.function_words
        return one.passage.kind == "prose" and begins and about == self.question.defined_words

    def _drop_bystanders(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates without properties and outlines of bases that are near by a note's name alone.

        The properties stay of a note that has nothing else, unless somebody is asked for.
        """
        text = (one for one in ranked if one.passage.kind != "property")
        with_text = {one.path for one in text if not one.features["task"]}

        def may(one: Candidate) -> bool:
            quotable, is_named = one.quotable, self.question.is_named(one.quotable)
            if one.passage.kind == "property":
                alone = quotable.source.path not in with_text
                if quotable.begins_note and alone and self.form != "person":
                    return True
                if self.form == "definition" and alone:
                    return is_named and self.properties.says_something(quotable)
                # To a question for yes or no a value that it has is the answer.
                tells = self.form == "yesno" or self.properties.says_something(quotable)
                return tells and self.properties.may_be_asked(one)
            outline = quotable.source.path.endswith(".base") and not is_named
            return not outline and not self._is_only_properties(one)

        return [one for one in ranked if may(one)] or ranked

    def _is_only_properties(self, one: Candidate) -> bool:
        """Whether a passage is of the properties of a note, without more of the question than its name; an
        open question may have one word for the key of a note that it names."""
        quotable, listed = one.quotable, [one.passage] if is_imported_property(one) else []
        if one.passage.kind == "property":
            left = self.question.words - self.question.name_words(quotable)
            by_name = self.form == "open" and len(left) == 1 and self.question.is_named(quotable)
            listed = [] if by_name else [*split_properties(quotable.source.text)]
        more = self.properties.has_further_word
        return bool(listed) and not any(more(quotable, it) for it in listed)

    def _drop_longer_names(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates without notes whose name goes on with a digit behind that of one which is named:
        *Session 12* is not *Session 1*."""
        text = self.question.parsed.folded
        titles = [fold(quotable.source.title).casefold() for quotable in self.sources]
        named = {titles[one.source_index] for one in ranked}
        named = {one for one in named if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)}
        longer = [re.compile(rf"{re.escape(one)}\d") for one in sorted(named)]
        other = {one for one in {*titles} - named if any(each.match(one) for each in longer)}
        return [one for one in ranked if titles[one.source_index] not in other]

    def _put_text_first(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates, what a note says before its properties: where those say no more than the question,
        or where none of their keys is asked for by an open one, which it may call otherwise."""
        has_key = self.properties.has_asked_key(ranked[0])
        tells = self.properties.says_something(ranked[0].quotable)
        # Whoever is named there, nothing says that he did what is asked.
        lacks_person = self.form == "person" and not (ranked[0].features["text_share"] or has_key)
        if tells and not lacks_person and (self.form not in OPEN_FORMS or has_key):
            return ranked

        def says_it(one: Candidate) -> bool:
            right = not lacks_person or bool(one.features.get("name_there"))
            return one.path == ranked[0].path and one.passage.kind != "property" and right

        return put_first(says_it, ranked, MAX_SCORE_GAP if tells else math.inf)

    def _all_candidates(self, like: Candidate) -> Iterator[Candidate]:
        """The candidate at every place of what was found, in text order."""
        found = enumerate(self.sources)
        for at, quotable in sorted(found, key=lambda it: (it[1].source.path, it[1].source.lines)):
            passages = quotable.passages(self.question.analyzer.sentences)
            for order in range(len(passages)):
                yield replace(like, source_index=at, quotable=quotable, passages=passages, order=order)

    def _note_candidates(self, one: Candidate) -> Iterator[Candidate]:
        """The candidate at every place of what was found of its note, in text order."""
        return (other for other in self._all_candidates(one) if other.path == one.path)

    def _keep_numbered(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates, of the note of the best those alone that stand under the number which is asked for,
        that of a version, a chapter, a day; unless the best says it."""
        best = ranked[0]
        if self.numbers <= {*DIGITS.findall(best.passage.text)}:
            return ranked
        under = [one for one in ranked if one.path == best.path and self._is_below_number(one)]
        if not under or under[0].score < best.score - MAX_POINTER_GAP:
            return ranked
        under[0] = replace(under[0], score=best.score)
        return [*under, *(one for one in ranked if one.path != best.path)]

    def _is_below_number(self, one: Candidate) -> bool:
        return bool(self.numbers) and self.numbers <= {*DIGITS.findall(one.heading)}

    def _put_exact_first(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates, where the best lacks what an answer must have in it that first which has it; of who
        or where, a property of the note that is asked about."""
        if self.question.has_exact_value(ranked[0]):
            return ranked
        if self.form in ("person", "place"):
            return put_first(self.properties.has_asked_value, ranked, MAX_SCORE_GAP)
        return put_first(self.question.has_exact_value, ranked, MAX_SCORE_GAP)

    def _is_cause(self, best: Candidate, one: Candidate) -> bool:
        """Whether a passage says by its heading why something is so, in the note of the best or, if it is
        not far less likely, of what has as much of the question."""
        near = one.coverage >= best.coverage and one.score >= best.score - MAX_POINTER_GAP
        return is_below_cause_heading(one) and (near or one.path == best.path)

    def _is_introduced(self, best: Candidate, one: Candidate) -> bool:
        """Whether a passage is an item of a list, in the note of the best that is none, which a line
        introduces with as much of the question."""
        lead, share = one.passage.lead, self.question.share
        listed = (best.passage.kind, one.passage.kind) == ("prose", "item") and lead.endswith(":")
        enough = share(self.words(lead)) >= max(share(best.words), 1e-6)
        return listed and one.path == best.path and enough

    def _heading_words(self, one: Candidate) -> frozenset[str]:
        return frozenset(self.words(one.heading))

    def _heading_share(self, one: Candidate) -> float:
        """The share of the question that the heading above a passage has."""
        return self.question.share(self._heading_words(one))

    def _put_steps_first(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates, the steps of the best one's note before what that note says about them, from
        the first step of their section on."""
        best = ranked[0]
        if best.features.get("code") or best.features.get("step"):
            return ranked
        steps = (one for one in ranked if one.path == best.path and one.features.get("step"))
        step = next(steps, None)
        if step is None or self._heading_share(step) < self._heading_share(best):
            return ranked
        if step.score < best.score - MAX_STEP_GAP and not self.question.is_named(best.quotable):
            return ranked
        place = step.quotable.source.heading, step.passage.headings
        steps = (
            one
            for one in self._note_candidates(step)
            if (one.quotable.source.heading, one.passage.headings) == place and one.passage.mark[:1].isdigit()
        )
        first = min(steps, key=lambda one: (one.quotable.source.lines, one.source_index, one.order))
        return [replace(first, score=best.score + MAX_STEP_GAP), *ranked]


_FORMER_LABEL = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['former'])})")
_WHOLE_NUMBER = re.compile(rf"{DIGITS.pattern}(?![^\W\d_]|\d)")  # "5.1", and not "11ty"
