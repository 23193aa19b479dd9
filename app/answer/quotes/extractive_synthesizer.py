"""The answer without a language model, as a LlamaIndex response synthesizer.

Touches: the embedding model, through the analyzer it is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from notehop.app.answer.claims import Checker
from notehop.app.answer.draft import (
    CONFIDENT_LIKELIHOOD,
    MIN_ANSWER_LIKELIHOOD,
    Draft,
    Quote,
    QuotedSpan,
    QuotePart,
    QuoteResult,
    draft_no_answer,
    draft_note_list,
    draft_quotes,
    draft_task_list,
    lay_out,
)
from notehop.app.answer.follow_up import with_subject
from notehop.app.answer.material import Material, promote_connected
from notehop.app.answer.quotes.exact_values import has_bare_amount, has_number
from notehop.app.answer.quotes.passages import split_into_passages
from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion
from notehop.app.answer.quotes.property_quotes import has_typed_value
from notehop.app.answer.quotes.question import is_form_word, is_question_word, parse_question
from notehop.app.answer.quotes.scoring import load_weights, score_passages
from notehop.app.answer.quotes.sections import has_compared_value, notes_of_sides
from notehop.app.answer.quotes.selection import MAX_QUOTED_SOURCES, select_quotes
from notehop.app.answer.quotes.text_analyzer import (
    QuotableSource,
    TextAnalyzer,
    find_person,
    quotable_sources,
    refers_back,
)
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.answer.theme_prompt import ThemeSources, group_by_theme
from notehop.app.models import Source
from notehop.app.retrieval.abbreviations import has_long_form
from notehop.app.retrieval.subqueries import split_query, split_questions
from notehop.indexing.tokens.words import fold, joined_words

DOUBTFUL_LIKELIHOOD = 0.8  # likelihood of what seems to be surer, and may be beside the point


TOP_PASSAGES = 3  # passages, best first, that are looked at
RIVAL_PASSAGES = 5  # passages that those which have what an answer must have are compared with

EXPANSION_FEATURES = ("spelt_out", "term_is", "in_its_note")
"""Features of a passage that may say what an abbreviation stands for."""

_DEFINITION_FEATURES = ("of_its_note", "term_is", "spelt_out", "title_tells")


def decision_features(
    question: PreparedQuestion, ranked: Sequence[Candidate], sources: Sequence[QuotableSource]
) -> dict[str, float]:
    """Return the features that tell an answer from a passage that merely shares words with the question.

    :param ranked: best first.
    """
    direct = [one.source for one in sources if not one.link_sentence]
    weak = bool(direct) and all(source.weak for source in direct)
    absent = all(term.missing or (term.absent and weak) for term in question.terms)
    if not ranked or question.total_weight <= 0 or absent:
        # What has no word in common with any note is near some by chance alone. Only a question in
        # another language may be answered by meaning, unless nothing is near it.
        return {"nothing": 1.0}
    term = question.parsed.defined_term
    if question.parsed.asks_long_form and not any(
        any(one.features.get(name) for name in EXPANSION_FEATURES)
        or has_long_form(term, one.quotable.source.title)
        for one in ranked
    ):
        # Whoever uses an abbreviation does not say what it stands for.
        return {"nothing": 1.0}
    # A label or a link that repeats the question is near it, and is not quoted.
    ranked = [one for one in ranked if question.says_more(one)] or ranked
    best = ranked[:TOP_PASSAGES]
    covered = max(one.coverage for one in best)
    top = ranked[0]
    held = frozenset[str]().union(*(one.chunk_words for one in best))
    lacking = [term.weight for term in question.terms if term.word not in held]
    defined = max(max(one.features.get(name, 0.0) for name in _DEFINITION_FEATURES) for one in best)
    shared = max(one.features["name_share"] for one in best)
    if question.parsed.compared_kind:
        # Each side has a note of its own.
        shared = question.share_of_names(held)
    # What the treatment of gout is may be told without a sentence that defines it, if notes have its words.
    known = not any(term.missing and not term.common for term in question.terms)
    needs_no_definition = question.parsed.defines_part and known
    defines = question.parsed.form == "definition" and (defined or not needs_no_definition)
    features = {
        "constant": 1.0,
        "likeness": top.likeness,
        "covered": covered,
        "title_share": max(one.features["title_share"] for one in best),
        "beside_title": max(one.features["beside_title_share"] for one in best),
        "uncovered_rarity": max(lacking, default=0.0) / 10,
        "names_lack": 1.0 - shared,
        "number_lacks": float(any(_lacks_number(number, best) for number in question.numbers)),
        "unknown_name": float(question.has_unknown_name and not question.parsed.sides),
        "weak": float(weak),
        "defined": defined,
        "definition": float(defines),
        "howto": float(question.parsed.form == "howto"),
        "words": min(1.0, len(question.terms) / 8),
        "few_words": float(
            len(question.terms) <= 2
            and covered >= 0.3
            and (question.parsed.asks_long_form or not _unknown_words(question))
        ),
        "foreign": float(any(term.absent and not term.missing for term in question.terms)),
        **_exact_features(question, ranked),
    }
    if defines and not defined:
        names_it = any(one.features.get("names_term") for one in best)
        tells = any(one.features.get("tells_of_term") for one in best)
        features["term_unnamed"] = float(not names_it)
        features["term_only_named"] = float(names_it and not tells)
    if top.features.get("news"):
        features["news"] = 1.0
    return features


def _unknown_words(question: PreparedQuestion, *, telling: bool = False) -> list[str]:
    """Return the words of a question that no note has, as they are written, but those that say what kind
    of answer is wanted.

    :param telling: leave out everyday words, unless they are names: a note may say them otherwise.
    """
    missing = (one for one in question.terms if one.missing)
    words = dict.fromkeys(
        one.as_typed or one.word
        for one in missing
        if not (telling and one.common) or one.word in question.names
    )
    return [word for word in words if not is_form_word(word)]


MIN_COMPOUND_LETTERS = 6  # of a word that a longer one which holds it says, and not by chance
MIN_ROW_COVERAGE = 0.5  # of a row of a table that may answer how many


def _words_worth_naming(words: Sequence[str], sources: Sequence[QuotableSource]) -> list[str]:
    """Return the unknown words that are worth naming: no bare numbers, which are amounts or
    years more often than names, none by which it is only asked, and none that stands within a longer word
    of the sources."""
    texts = (f"{one.source.title}\n{one.source.text}" for one in sources)
    source_text = fold("\n".join(texts)).casefold()
    return [
        word
        for word in words
        if not word.isdecimal()
        and not is_question_word(word)
        and (len(word) < MIN_COMPOUND_LETTERS or fold(word).casefold() not in source_text)
    ]


def _exact_features(question: PreparedQuestion, ranked: Sequence[Candidate]) -> dict[str, float]:
    """Return the features of a question for something exact, as a sum: how near what has one is, and how
    much nearer what has none."""
    if not question.parsed.exact_kind:
        return {}
    exact = [
        one
        for one in ranked
        if question.share(one.chunk_words) > 0.0
        and (
            question.has_exact_value(one)
            # The head of a table, or nothing, says what a number of its rows counts.
            or (
                question.parsed.exact_kind == "count"
                and one.passage.kind == "row"
                and one.coverage >= MIN_ROW_COVERAGE
                and has_number(one.passage.text, question.numbers)
            )
            # "New glasses 149"
            or (
                question.parsed.exact_kind == "money"
                and one.features["text_share"] >= 1.0
                and has_bare_amount(one.passage.text)
            )
        )
    ]
    likeness = max((one.likeness for one in exact), default=0.0)
    share = max((one.coverage for one in exact), default=0.0)
    return {
        "asks_exactly": 1.0,
        "exact_likeness": likeness,
        "exact_farther": max(0.0, max(one.likeness for one in ranked[:RIVAL_PASSAGES]) - likeness),
        "exact_covered": share,
        "exact_uncovered": 1.0 - max(one.coverage for one in ranked[:TOP_PASSAGES]),
        "exact_covers_less": max(0.0, max(one.coverage for one in ranked[:RIVAL_PASSAGES]) - share),
    }


# By weight, of a question:
MAX_UNKNOWN_SHARE = 0.4  # share that words make up which no note has: too much to be sure
MAX_SHARE_BESIDE = 0.2  # share, beside the name of its note, up to which a few words say none of it
MAX_SHORT_PASSAGE_WORDS = 10  # of such words
MIN_LIKENESS_GAIN = 0.06  # by which they bring their note nearer to the question than its name alone is


def _is_doubtful(question: PreparedQuestion, ranked: Sequence[Candidate]) -> bool:
    """Whether what is likely to answer may be beside the point: no note has what much of the question
    turns on, or it is told of somebody else, or of the notes compared one lacks a value of what is compared,
    or it is a property or a few words, near only by the name of their note."""
    unknown = {*_unknown_words(question, telling=True)}
    weight = sum(one.weight for one in question.terms if one.missing and one.as_typed in unknown)
    top = next((one for one in ranked if question.says_more(one)), ranked[0])
    if weight > MAX_UNKNOWN_SHARE * question.total_weight or top.features["of_another"]:
        return True
    words = question.analyzer.words
    if question.share(words(top.passage.unstruck_text)) < question.share(words(top.passage.text)):
        return True  # "~~Serve with cream.~~ Serve with yoghurt."
    if question.parsed.exact_kind == "date" and not question.has_exact_value(top):
        return True
    if question.parsed.compared_kind:
        notes = notes_of_sides(ranked, question)
        if any(notes):
            return not all(any(has_compared_value(one, question) for one in each) for each in notes)
    is_short = top.passage.kind == "property" or len(top.passage.text.split()) <= MAX_SHORT_PASSAGE_WORDS
    if not is_short or question.defined_words or has_typed_value(top):
        return False
    share = question.share_beside_names(top)
    if share >= MAX_SHARE_BESIDE:
        return False
    if top.passage.kind == "property" and not share:
        return True  # "Status: stalled" is near whatever its tags and title say.
    query, rows = question.analyzer.vectors(question.parsed.text, [top.quotable.source.title])
    return bool(top.likeness < float(rows[0] @ query) + MIN_LIKENESS_GAIN)


def _lacks_number(number: str, best: Sequence[Candidate]) -> bool:
    """Whether a number of the question stands in none of the passages, nor above them."""
    whole = re.compile(rf"(?<!\d){re.escape(number)}(?!\d)")
    for candidate in best:
        passage, source = candidate.passage, candidate.quotable.source
        above = (passage.heading, source.title, source.heading)
        if whole.search(" ".join((passage.lead, passage.text, *above))):
            return False
    return True


def answer_likelihood(features: Mapping[str, float]) -> float:
    """Return the likelihood of an answer, 0 to 1, by its :func:`decision_features`."""
    if "nothing" in features:
        return 0.0
    weights = load_weights()["decision"]
    total = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def find_unmentioned_sides(question: PreparedQuestion, sources: Sequence[QuotableSource]) -> list[str]:
    """Return the sides of a comparison of which no source has a word of its own, or no note their name,
    as they are written."""
    words, sides = question.analyzer.words, question.parsed.sides
    source_words = frozenset().union(*(words(one.all_text) for one in sources))
    unknown_names = frozenset(term.word for term in question.terms if term.missing) & question.names
    unmentioned = []
    for side in sides:
        others = frozenset(words(" ".join(one for one in sides if one != side)))
        side_words = frozenset(words(side)) - others - question.analyzer.function_words
        if side_words and (side_words & unknown_names or not side_words & source_words):
            unmentioned.append(side)
    return unmentioned


def find_quotes(
    query: str,
    sources: Sequence[QuotableSource],
    analyzer: TextAnalyzer,
    limit: int,
    own: str = "",
    phrases: Sequence[str] = (),
) -> QuoteResult:
    """Find what of the sources answers best; of a query with several questions, what answers each.

    :param sources: best first, connected notes last.
    :param limit: sources at most.
    :param own: as in :class:`Material`, and so ``phrases``.
    """
    names = joined_words("\n".join("\n".join((one.source.heading, *one.all_names)) for one in sources))
    # What is called so need not say it.
    if phrases := [one for one in phrases if joined_words(one) not in names]:
        return _find_for_one(query, sources, analyzer, limit, phrases=phrases)
    if own:
        return _find_carried(query, own, sources, analyzer, limit)
    (first, stands_alone), *then = split_query(query)
    if (
        stands_alone
        and len(then) == 1
        and "person" in parse_question(first).forms
        and refers_back(then[0][0])
    ):
        return _find_person_then(first, then[0][0], sources, analyzer)
    questions = split_questions(query)
    result = _find_for_one(query, sources, analyzer, limit)
    if len(questions) == 1:
        return result
    # What answers all of it may say nothing of one of them.
    results = [_find_for_one(one, sources, analyzer, 1) for one in questions]
    more = [quote for one in results if one.is_answer for quote in one.quotes[:1]]
    quotes = _merge_quotes(result.quotes if result.is_answer else (), more)
    if not quotes:
        return result
    # Where nothing answers one of them, it is not sure that all is answered.
    weakest = max(MIN_ANSWER_LIKELIHOOD, min(one.likelihood for one in results))
    return replace(result, quotes=quotes, likelihood=max(result.likelihood, weakest))


def _find_person_then(
    first: str, then: str, sources: Sequence[QuotableSource], analyzer: TextAnalyzer
) -> QuoteResult:
    """Find who is asked for, and then what is asked of him, in the note of whom the answer names."""
    result = _find_for_one(first, sources, analyzer, 1)
    if not result.is_answer:
        return result
    title, text = result.quotes[0].source.title, result.quotes[0].text
    given = (title, text, parse_question(first), analyzer.sentences)
    name = find_person(*given, analyzer.known_names)
    # Else another may be meant, who has no note.
    certain = find_person(*given, lambda _: ()) == name
    theirs = [one for one in sources if name and name in one.all_names]
    if theirs:
        told = _find_carried(with_subject(then, name), then, theirs, analyzer, 1)
        if told.is_answer:
            least = min(result.likelihood, told.likelihood, 1.0 if certain else DOUBTFUL_LIKELIHOOD)
            return replace(result, quotes=_merge_quotes(result.quotes, told.quotes), likelihood=least)
    left = with_subject(then, name).rstrip("?") if name and certain else then
    return replace(result, unmentioned_sides=[*result.unmentioned_sides, left])


def _merge_quotes(quotes: Sequence[Quote], more: Sequence[Quote]) -> list[Quote]:
    """The quotes, with those of the others that quote nothing of them again."""
    merged = [*quotes]
    for quote in more:
        same = (one.ranges for one in merged if one.source is quote.source)
        if not any(a < d and c < b for its in same for a, b in its for c, d in quote.ranges):
            merged.append(quote)
    return merged


def _find_for_one(
    query: str,
    sources: Sequence[QuotableSource],
    analyzer: TextAnalyzer,
    limit: int,
    *,
    phrases: Sequence[str] = (),
) -> QuoteResult:
    question = PreparedQuestion(parse_question(query), analyzer, phrases)
    ranked = score_passages(question, sources)
    with_phrase = [one for one in ranked if question.has_quoted_phrase(one.passage)]
    ranked = with_phrase or ranked
    likelihood = answer_likelihood(decision_features(question, ranked, sources))
    if likelihood >= CONFIDENT_LIKELIHOOD and _is_doubtful(question, ranked):
        likelihood = DOUBTFUL_LIKELIHOOD
    if with_phrase:
        likelihood = max(likelihood, MIN_ANSWER_LIKELIHOOD)
    return QuoteResult(
        select_quotes(ranked, question, sources, limit),
        likelihood,
        _words_worth_naming(_unknown_words(question, telling=True), sources),
        find_unmentioned_sides(question, sources),
    )


def _find_carried(
    query: str, own: str, sources: Sequence[QuotableSource], analyzer: TextAnalyzer, limit: int
) -> QuoteResult:
    """Find what answers a follow-up: by its own words, in what speaks of the subject that it carries."""
    result = _find_for_one(query, sources, analyzer, limit)
    question = PreparedQuestion(parse_question(own), analyzer)
    subject = frozenset(analyzer.words(query)) - question.all_words - analyzer.function_words
    word_sets = [{*analyzer.words(one.all_text)} for one in sources]
    related = [one for one, held in zip(sources, word_sets, strict=True) if subject <= held]
    if not question.terms or not related:
        return result
    # Words that nothing of it has tell nothing, unless what is asked for has a form.
    terms = {term.word for term in question.terms}
    told = any(terms & held for held in word_sets if subject <= held)
    if not question.parsed.exact_kind and not told:
        question = PreparedQuestion(parse_question(query), analyzer)
    quotes = select_quotes(score_passages(question, related), question, related, limit)
    return replace(result, quotes=quotes or result.quotes)


MAX_NOTES_PER_THEME = 3  # notes of a theme that are quoted, a sentence each

THEMES_OPENING = "The themes of the notes, by how they link to one another, with a sentence from each:"
"""The first line of an answer about all themes, so that nobody takes it for a model's."""

ASKED_THEMES_OPENING = "The themes in which the notes speak of this, with what they say:"
"""The same where themes of something were asked for."""


def _draft_themes(groups: Sequence[ThemeSources], material: Material, analyzer: TextAnalyzer) -> Draft:
    """Each theme, its size, and a sentence of each of its first notes, or what they say of what was asked;
    where none says anything of that, say so."""
    quoted = [(one, quotes) for one in groups if (quotes := _theme_quotes(one, analyzer))]
    if not quoted:
        return draft_no_answer(material)
    text = ASKED_THEMES_OPENING if quoted[0][0].about else THEMES_OPENING
    spans: list[QuotedSpan] = []
    cited: dict[str, None] = {}
    for group, quotes in quoted:
        theme_draft = draft_quotes(QuoteResult(quotes), opening=f"\n\n### {group.title}")
        spans += [one.shifted(len(text)) for one in theme_draft.quoted_spans]
        text += theme_draft.text
        cited |= dict.fromkeys(theme_draft.cited)
    return Draft(text, "extractive", tuple(cited), quoted_spans=tuple(spans))


def _theme_quotes(group: ThemeSources, analyzer: TextAnalyzer) -> list[Quote]:
    if group.about:
        sources = [QuotableSource(source) for source in group.sources]
        result = find_quotes(group.about, sources, analyzer, MAX_NOTES_PER_THEME)
        # The theme was found by what is asked already: half of an answer is worth a quote.
        return list(result.quotes) if result.likelihood >= MIN_ANSWER_LIKELIHOOD / 2 else []
    quotes: list[Quote] = []
    for source in group.sources[:MAX_NOTES_PER_THEME]:
        passages = split_into_passages(source.text, analyzer.sentences)
        first = next((one for one in passages if one.kind != "property"), None)
        if first is not None:
            quotes.append(Quote(source, *lay_out([QuotePart(0, first, shows_lead=True)])))
    return quotes


class ExtractiveSynthesizer(VaultSynthesizer):
    """Quotes the passages of the sources that answer best; asks no language model."""

    def __init__(self, vault: str, analyzer: TextAnalyzer, *, checker: Checker | None = None) -> None:
        """:param checker: finds the place of each quote."""
        super().__init__(vault, None, checker)
        self._analyzer = analyzer

    def draft(self, query: str, material: Material) -> Draft:
        """Quote what answers, or say that nothing does; notes that were listed are named."""
        if material.lists_tasks:
            return draft_task_list(material)
        if material.list_heading:
            return draft_note_list(material, self._analyzer.sentences)
        if groups := group_by_theme(material):
            return _draft_themes(groups, material, self._analyzer)
        result = self._find_quotes(query, material)
        if not result.is_answer:
            return draft_no_answer(material, result)
        markers = [quote.source.marker for quote in result.quotes]
        with_quoted = promote_connected(material, markers, self._vault)
        by_place = {(one.path, one.lines, one.text): one for one in with_quoted.sources}
        quotes = [replace(one, source=by_place[_source_key(one.source)]) for one in result.quotes]
        return replace(draft_quotes(replace(result, quotes=quotes)), material=with_quoted)

    def seems_answered(self, query: str, material: Material) -> bool:
        """Whether anything in the material answers."""
        known = bool(material.list_heading) or bool(group_by_theme(material))
        return known or self._find_quotes(query, material).is_answer

    def _find_quotes(self, query: str, material: Material) -> QuoteResult:
        given = (quotable_sources(material), self._analyzer, MAX_QUOTED_SOURCES)
        return find_quotes(query, *given, material.own_question, material.phrases)


def _source_key(source: Source) -> tuple[str, tuple[int, int], str]:
    return source.path, source.lines, source.text
