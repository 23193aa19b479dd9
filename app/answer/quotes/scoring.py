"""Scores how well a passage answers a question: named features, weighed by the fitted linear models of
``weights.json``, made by ``python -m tools.fit_answers``: docs/evaluation.md says what they are worth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from notehop.app.answer.names import capitalized_names
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact_values import (
    FILING_DATE,
    WORD,
    has_date,
    has_exact_value,
    has_number,
    has_occasion,
)
from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion
from notehop.app.answer.quotes.question import LEADING_ARTICLE
from notehop.app.answer.quotes.text_analyzer import (
    MAX_LABEL_WORDS,
    QuotableSource,
    TextAnalyzer,
    is_about_asker,
    is_label_only,
)
from notehop.app.retrieval.abbreviations import has_long_form
from notehop.indexing.tokens.words import fold

MAX_EMBEDDED_PASSAGES = 20
"""Passages whose vectors are compared, the best by words: vectors are most of the time that an
answer takes."""

MAX_EMBEDDED_CHARS = 300
"""Characters of a passage that its vector is made of: what a longer sentence is about is said."""

MIN_REPEATED_CHUNKS = 5
"""Chunks with all words of a sentence from which on it belongs to none of them."""

MIN_REPEATED_WORDS = 10  # different words of such a sentence: a shorter one may tell of many days

_COPULA = re.compile(
    r"^(?:\s*\([^)]{1,60}\))?[\s*_`\"”’]*(?:(?:is|are|was|were)(?! (?:not|like)\b)|means?|refers? to|stands?"
    r" for|denotes|describes|[:=–—]| - |ist(?! wie\b)|sind|bedeutet|bezeichnet|est|sont|designe|es|son"
    r"|significa|e|sono|sao|betekent|zijn|ar)(?:\s|$)"
)
_SAYS_WHERE = re.compile(
    r"^(?:see|siehe|voir|ver|vedi|zie|read|cf|more (?:in|on|at|about)|for more|refer to)\b"
    r"|\b(?:is|are|was|were) (?:\w+ )?(?:described|explained|listed|documented|kept|written|found|"
    r"covered|reasoned|noted|tracked|recorded|discussed) (?:\w+ ){0,2}(?:in|on|at|by|under)\b"
    r"|\b(?:can be found|is|are|belongs?) (?:in|at|to|under) [\w' >#-]{1,60}[.]?$"
)


@cache
def load_weights() -> Mapping[str, Mapping[str, float]]:
    """The fitted weights, by the name of their set: ``words`` choose what is compared, ``meaning`` the best
    of that, ``decision`` whether it answers."""
    text = Path(__file__).with_name("weights.json").read_text("utf-8")
    by_set: Mapping[str, Mapping[str, float]] = json.loads(text)
    return by_set


def score_passages(question: PreparedQuestion, sources: Sequence[QuotableSource]) -> list[Candidate]:
    """Return the passages that may answer, of which vectors were compared, best first, ties by place.

    :param sources: best first, connected notes after them.
    """
    best = _rank_by_weights(make_candidates(question, sources), load_weights()["words"])[
        :MAX_EMBEDDED_PASSAGES
    ]
    if not best:
        return []
    query, rows = question.analyzer.vectors(question.parsed.text, [comparison_text(one) for one in best])
    compared = []
    for candidate, like in zip(best, (rows @ query).tolist(), strict=True):
        meaning = {
            "likeness": like,
            "likeness_squared": like * like,
            "likeness_when_fresh": like * min(1.0, candidate.new_word_count / 5),
        }
        compared.append(replace(candidate, likeness=like, features={**candidate.features, **meaning}))
    ranked = _rank_by_weights(compared, load_weights()["meaning"])
    return [one for one in ranked if not _is_boilerplate(one, question.analyzer)] or ranked


def _is_boilerplate(one: Candidate, analyzer: TextAnalyzer) -> bool:
    """Whether many chunks have all words of a sentence, as what stands above the help of each command."""
    long = one.passage.kind == "prose" and len(one.words) >= MIN_REPEATED_WORDS
    return long and analyzer.has_chunks_with(one.words, MIN_REPEATED_CHUNKS)


def make_candidates(question: PreparedQuestion, sources: Sequence[QuotableSource]) -> list[Candidate]:
    """Return all passages in their order, with the features that need no model, unweighed."""
    together = _SourceContext(question, sources)
    return [
        one
        for at, quotable in enumerate(sources)
        for one in _source_candidates(at, quotable, question, together)
    ]


def comparison_text(candidate: Candidate) -> str:
    """Return a passage under the title of its note and its heading, which say who "she" is."""
    source, passage = candidate.quotable.source, candidate.passage
    heading = passage.heading or source.heading
    head = f"{source.title} > {heading}" if heading and heading != source.title else source.title
    return f"{head}: {passage.lead} {passage.text}"[:MAX_EMBEDDED_CHARS]


def _rank_by_weights(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> list[Candidate]:
    scored = [
        replace(one, score=sum(weights.get(name, 0.0) * has for name, has in one.features.items()))
        for one in candidates
    ]
    return sorted(scored, key=lambda one: (-one.score, one.source_index, one.order))


class _SourceContext:
    """The titles, people and news subjects of all sources of a question."""

    def __init__(self, question: PreparedQuestion, sources: Sequence[QuotableSource]) -> None:
        self._question = question
        self.subjects = [
            name
            for quotable in sources
            if quotable.is_news_subject
            for name in question.name_word_sets(quotable)
        ]
        self._titles = {quotable.source.title: quotable.source.path for quotable in sources}
        self._asks_of_own = "person" not in question.parsed.forms and is_about_asker(question.parsed.text)
        self._asked_people = [
            own for quotable in sources if quotable.is_about_person for own in self._asked_names(quotable)
        ]

    def _asked_names(self, quotable: QuotableSource) -> list[frozenset[str]]:
        """The words of the names of a note that a question has."""
        small, query_words = self._question.analyzer.function_words, self._question.all_words
        # Somebody may go by "I."
        return [one for one in self._question.name_word_sets(quotable) if one - small and one <= query_words]

    def is_about_another(self, quotable: QuotableSource, held: frozenset[str]) -> bool:
        """Whether a passage is of a note about somebody, and asked for is another, or who asks."""
        if not quotable.is_about_person or self._asked_names(quotable):
            return False
        return not any(one <= held for one in self._asked_people) if self._asked_people else self._asks_of_own

    def points_elsewhere(self, text: str, own: str) -> bool:
        """Whether a sentence of a note says that the answer stands in another."""
        plain = fold(text).casefold()
        match = _SAYS_WHERE.search(plain)
        # Who "is at college now" by the name of a note before it leads nowhere.
        return match is not None and any(
            path != own
            and len(title) > 3
            and title in text
            and fold(title).casefold() in plain[match.start() :]
            for title, path in self._titles.items()
        )


def _source_candidates(
    at: int, quotable: QuotableSource, question: PreparedQuestion, together: _SourceContext
) -> list[Candidate]:
    """The passages of a source with all features but those of meaning."""
    source, words, small = (quotable.source, question.analyzer.words, question.analyzer.function_words)
    names = question.name_word_sets(quotable)
    title = frozenset[str]().union(*names)
    # Who asks how many is told by a number, though the note has one in its name.
    exact = bool(question.parsed.exact_kind)
    told_by_name = frozenset(one for one in title if not (exact and one.isdigit()))
    heading = frozenset(words(source.heading))
    source_words = frozenset(words(source.text)) | title | heading
    passages = quotable.passages(question.analyzer.sentences)
    passage_words = [frozenset(words(one.text)) for one in passages]
    is_label = [is_label_only(one, question.analyzer, alone=len(passages) == 1) for one in passages]
    is_silent = [one.kind == "heading" or one.is_fragment for one in passages]
    texts = (at for at in range(len(passages)) if not (is_silent[at] or is_label[at]))
    begin = next(texts, 0)
    aliases = [name for name in names[1:] if name - small <= question.words and not name <= names[0]]
    base = {
        "rank": 0.0 if quotable.link_sentence else 1.0 / (at + 1),
        "top_three": float(at < 3 and not quotable.link_sentence),
        "linked": float(bool(quotable.link_sentence)),
        "link_likeness": quotable.link_likeness if quotable.link_sentence else 0.0,
        "link_share": question.share(words(quotable.link_sentence)) if quotable.link_sentence else 0.0,
        "title_share": question.share(title),
        "chunk_share": question.share(source_words),
        "alias_asked": max(map(question.share, aliases), default=0.0),
        "of_another": float(together.is_about_another(quotable, source_words)),
    }
    by_name = bool(question.defined_words) and any(question.defined_words == name - small for name in names)
    candidates: list[Candidate] = []
    for order, passage in enumerate(passages):
        if is_silent[order] and not (
            passage.kind == "heading" and has_long_form(question.parsed.defined_term, passage.text)
        ):
            continue
        heading_near = frozenset(words(passage.heading))
        above = heading | heading_near
        opens = quotable.begins_note and order == begin
        with_lead = passage_words[order] | frozenset(words(passage.lead))
        beside = frozenset[str]().union(
            *(
                passage_words[other]
                for other in (order - 1, order + 1)
                if 0 <= other < len(passages) and passages[other].group == passage.group
            )
        )
        new_words = len(passage_words[order] - small - question.all_words - told_by_name)
        in_text, in_lead = question.share(passage_words[order]), question.share(with_lead)
        apart = with_lead | above
        in_heading, in_title = question.share(apart), question.share(apart | title)
        in_beside = question.share(apart | title | beside)
        tells_by_role = (
            question.parsed.asks_by_role
            and not new_words
            and bool(question.words)
            and question.words <= passage_words[order]
        )
        features = {
            **base,
            "of_another": max(base["of_another"], question.names_another_number(passage, quotable, passages)),
            "title_tells": float(tells_by_role and not names[0] <= question.all_words),
            "rarest": max((one.share_in(apart | title) for one in question.rarest_term), default=0.0),
            "opens_note": float(opens),
            "text_share": in_text,
            "heading_share": in_heading - in_lead,
            "with_title_share": in_title - in_heading,
            "beside_share": in_beside - in_title,
            "above_share": question.share(above),
            "beside_title_share": question.share_beside(title, apart),
            "name_share": question.share_of_names(apart | title),
            **_shape_features(order, passage, passages, new_words),
            "bare": float(is_label[order]),
            **_form_features(question, passage, quotable, by_name, opens),
            "says_where": float(together.points_elsewhere(passage.text, source.path)),
        }
        if question.defined_words and question.defined_words <= apart | title:
            features["names_term"] = 1.0
            least = MIN_TELLING_WORDS - ("person" in question.parsed.forms)
            features["tells_of_term"] = float(new_words >= least and not features["task"])
        titles = [frozenset(words(one.lead)) - small for one in passages[max(0, order - 1) : order + 1]]
        titled = titles[-1] == question.defined_words or (by_name and titles[-1] in names)
        if question.defined_words and titled and passage.kind == "prose" and titles[-1] not in titles[:-1]:
            # A callout begins so, under the term or another name of its note.
            features |= dict.fromkeys(("term_is", "term_first", "says_what"), 1.0)
        if quotable.news_rank and any(name and name <= with_lead for name in together.subjects):
            features["news"] = 1.0 / quotable.news_rank
        candidates.append(
            Candidate(
                at,
                quotable,
                passages,
                order,
                passage_words[order],
                features,
                new_word_count=new_words,
                chunk_words=source_words,
                coverage=in_beside,
            )
        )
    return candidates


def _shape_features(
    order: int, passage: Passage, passages: Sequence[Passage], new_words: int
) -> dict[str, float]:
    """Return the features of a passage that do not depend on the question."""
    length = len(WORD.findall(passage.text))
    ends = passage.text.rstrip("*_\"'”’)")[-1:] in ".!?。！？…"
    first = order == 0 or passages[order - 1].heading != passage.heading
    return {
        "first": float(order == 0),
        "first_below_heading": float(first),
        "item": float(passage.kind == "item"),
        "row": float(passage.kind == "row"),
        "code": float(passage.is_command),
        "short": float(length < 4),
        "label": float(passage.kind == "prose" and not ends and length < 7),
        "long": min(1.0, length / 40),
        "fresh": min(1.0, new_words / 8),
        "asks": float(passage.text.rstrip().endswith("?")),
        "task": float(passage.text.startswith(_BOXES)),
    }


_BOXES = ("[ ]", "[x]")
MIN_TELLING_WORDS = 3
"""Words with which a passage says something of a term, and does not only name it."""


_FILED = re.compile(r"\b(?:creat|modif|updat|written|wrote|added)", re.IGNORECASE)


def _form_features(
    question: PreparedQuestion, passage: Passage, quotable: QuotableSource, by_name: bool, opens: bool
) -> dict[str, float]:
    """Whether a passage has what the form of the question asks for."""
    forms, text = question.parsed.forms, passage.unstruck_text
    features: dict[str, float] = {}
    # When a note was filed is no answer to a "when", unless that is asked for.
    without_filing = text if _FILED.search(question.parsed.text) else FILING_DATE.sub("", text)
    if "number" in forms:
        features["number_there" if has_number(without_filing, question.numbers) else "number_not_there"] = 1.0
    if question.parsed.measure:
        words, measure = question.analyzer.words, question.parsed.measure
        has_measure = has_exact_value(
            question.parsed, measure, passage, passage.heading, words, question.numbers
        )
        features["measure_there" if has_measure else "measure_not_there"] = 1.0
    if "date" in forms:
        dated = has_date(without_filing) or question.is_dated_by_note(passage, quotable)
        if dated or not has_occasion(without_filing, question.numbers):
            features["date_there" if dated else "date_not_there"] = 1.0
    if "person" in forms:
        names = [one for one in capitalized_names(text) if fold(one).casefold() not in question.all_words]
        features["name_there" if names else "name_not_there"] = 1.0
    if "place" in forms:
        features["place_there"] = float(bool(capitalized_names(text)) or "/" in text)
    if "howto" in forms:
        features["step"] = float(passage.kind == "item" and passage.mark[:1].isdigit())
        features["code_for_howto"] = float(passage.is_command or (passage.kind != "code" and "`" in text))
    if "list" in forms:
        features["item_for_list"] = float(passage.kind == "item")
    if question.defined_words and passage.kind != "code" and not text.startswith(_BOXES):
        features |= _definition_features(question, passage, quotable, by_name, opens)
    return features


_PART = re.compile(r"[.;] +(?=\W*\w)")  # behind what another part of a passage begins with
_WHILE = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['while'])})\b")
MAX_TERM_OFFSET_CHARS = 50  # characters in which the term stands that a sentence begins with


def _is_label(copula: re.Match[str] | None) -> bool:
    """Whether a term and what it is stand apart by a colon or dash."""
    return copula is not None and copula[0].strip('"*_`” ') in (*":=–—-",)


def _find_definition(question: PreparedQuestion, text: str) -> tuple[int, re.Match[str] | None, bool, bool]:
    """Return where the term ends with which a text begins, the copula behind it, whether it stands alone,
    and whether more than a few words follow."""
    begin = LEADING_ARTICLE.sub("", text)
    ends = [word.end() for word in re.finditer(r"\w+", begin[:MAX_TERM_OFFSET_CHARS])]
    end = next((at for at in ends if question.defined_words <= {*question.analyzer.words(begin[:at])}), 0)
    copula = _COPULA.match(begin[end:].lstrip(")")) if end else None
    alone = end > 0 and ends.index(end) < len(question.parsed.defined_term.split())
    if copula is not None and not alone and copula[0].strip('"*_`” ') in (":", "="):
        copula = None  # "Clay settles more than the limit: …" says nothing of the limit.
    says = copula is not None and len(WORD.findall(begin, end + copula.end())) > MAX_LABEL_WORDS
    return end, copula, alone, says


def _definition_features(
    question: PreparedQuestion, passage: Passage, quotable: QuotableSource, by_name: bool, opens: bool
) -> dict[str, float]:
    """Whether a passage says what something is, or a part of it does: a glossary may have several in one."""
    folded = fold(passage.unstruck_text).casefold()
    end, copula, alone, says = _find_definition(question, folded)
    begins = _WHILE.match(folded)
    other = begins is not None and begins[0].strip() not in question.parsed.defined_term.split()
    if copula is None or other:
        parts = (_find_definition(question, folded[one.end() :]) for one in _PART.finditer(folded))
        no_definition = (end, None, alone, False)
        end, copula, alone, says = next((one for one in parts if one[2] and _is_label(one[1])), no_definition)
    about = question.parsed.defined_term
    spelt = has_long_form(about, passage.text)
    if question.parsed.asks_long_form or question.parsed.asks_meaning_of_capitals:
        # Where the long form is asked for, a note that goes by the short one may only use it.
        named_so = (*quotable.all_names, passage.text)
        is_expanded = any(has_long_form(about, f"{about.upper()}: {one}") for one in named_so)
        opens, by_name = opens and is_expanded, by_name and (is_expanded or end == 0)
    return {
        "of_its_note": float(by_name and opens),
        "in_its_note": float(by_name),
        "term_is": float(copula is not None),
        "term_first": float(end > 0),
        "says_what": float(alone and says),
        "spelt_out": float(spelt),
    }
