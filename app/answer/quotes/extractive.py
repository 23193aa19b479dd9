"""The answer without a language model, as a LlamaIndex response synthesizer.

Touches: the embedding model, through the reading it is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from notehop.app.answer.claims import Checker
from notehop.app.answer.conversation import with_subject
from notehop.app.answer.draft import (
    EVEN,
    SURE,
    Draft,
    Looked,
    Part,
    Quote,
    Said,
    laid_out,
    of_a_kind,
    of_tasks,
    quoted,
    silent,
)
from notehop.app.answer.material import Material, promoted
from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.exact import has_bare_amount, has_number
from notehop.app.answer.quotes.passages import passages
from notehop.app.answer.quotes.properties import has_typed
from notehop.app.answer.quotes.question import is_asked_by, read, says_form
from notehop.app.answer.quotes.reading import Named, Reading, evidence_of, refers, somebody_in
from notehop.app.answer.quotes.scoring import score, weights
from notehop.app.answer.quotes.sections import notes_of_sides, says_compared
from notehop.app.answer.quotes.selection import SOURCES, select
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.answer.themes import Group, groups_of
from notehop.app.models import Source
from notehop.app.retrieval.abbreviations import spells
from notehop.app.retrieval.subqueries import parts_of, questions_in
from notehop.indexing.tokens.words import fold, joined_words

DOUBT = 0.8  # likelihood of what seems to be surer, and may be beside the point


LOOKED_AT = 3  # passages, best first, that are looked at
HELD_AGAINST = 5  # passages that those which have what an answer must have are compared with

SPELLS = ("spelt_out", "term_is", "in_its_note")
"""Features of a passage that may say what an abbreviation stands for."""

_DEFINED = ("of_its_note", "term_is", "spelt_out", "title_tells")


def features(
    asked: Asked, ranked: Sequence[Candidate], sources: Sequence[Named]
) -> dict[str, float]:
    """Return what tells an answer from a passage that merely shares words with the question.

    :param ranked: best first.
    """
    own = [one.source for one in sources if not one.linked]
    weak = bool(own) and all(source.weak for source in own)
    absent = all(term.missing or (term.absent and weak) for term in asked.terms)
    if not ranked or asked.total <= 0 or absent:
        # What has no word in common with any note is near some by chance alone. Only a question in
        # another language may be answered by meaning, unless nothing is near it.
        return {"nothing": 1.0}
    if asked.question.abbreviated and not any(
        any(one.features.get(name) for name in SPELLS)
        or spells(asked.question.about, one.named.source.title)
        for one in ranked
    ):
        # Whoever uses an abbreviation does not say what it stands for.
        return {"nothing": 1.0}
    # A label or a link that repeats the question is near it, and is not quoted.
    ranked = [one for one in ranked if asked.is_told_more(one)] or ranked
    best = ranked[:LOOKED_AT]
    covered = max(one.covered for one in best)
    top = ranked[0]
    lacking = [
        term.weight for term in asked.terms if not any(term.word in one.held for one in best)
    ]
    defined = max(max(one.features.get(name, 0.0) for name in _DEFINED) for one in best)
    shared = max(one.features["name_share"] for one in best)
    if asked.question.compared:
        # Each side has a note of its own.
        shared = asked.share_of_names(frozenset[str]().union(*(one.held for one in best)))
    # What the treatment of gout is may be told without a sentence that defines it, if notes have its words.
    known = not any(term.missing and not term.common for term in asked.terms)
    told = asked.question.is_part and known
    defines = asked.question.form == "definition" and (defined or not told)
    found = {
        "constant": 1.0,
        "likeness": top.likeness,
        "covered": covered,
        "title_share": max(one.features["title_share"] for one in best),
        "beside_title": max(one.features["beside_title_share"] for one in best),
        "uncovered_rarity": max(lacking, default=0.0) / 10,
        "names_lack": 1.0 - shared,
        "number_lacks": float(any(_lacks(number, best) for number in asked.numbers)),
        "unknown_name": float(asked.has_unknown_name and not asked.question.sides),
        "weak": float(weak),
        "defined": defined,
        "definition": float(defines),
        "howto": float(asked.question.form == "howto"),
        "words": min(1.0, len(asked.terms) / 8),
        "few_words": float(
            len(asked.terms) <= 2
            and covered >= 0.3
            and (asked.question.abbreviated or not _unknown(asked))
        ),
        "foreign": float(any(term.absent and not term.missing for term in asked.terms)),
        **_exact(asked, ranked),
    }
    if defines and not defined:
        named, told = (
            any(one.features.get(name) for one in best) for name in ("names_term", "tells_of_term")
        )
        found |= {"term_unnamed": float(not named), "term_only_named": float(named and not told)}
    if top.features.get("news"):
        found["news"] = 1.0
    return found


def _unknown(asked: Asked, *, telling: bool = False) -> list[str]:
    """The words of a question that no note has, as they are written, but those that say what kind of
    answer is wanted.

    :param telling: leave out everyday words, unless they are names: a note may say them otherwise.
    """
    missing = (one for one in asked.terms if one.missing)
    words = dict.fromkeys(
        one.written or one.word
        for one in missing
        if not (telling and one.common) or one.word in asked.names
    )
    return [word for word in words if not says_form(word)]


LONG_WORD = 6  # letters from which a word is said by a longer one that holds it, and not by chance


def _to_name(words: Sequence[str], sources: Sequence[Named]) -> list[str]:
    """Those of some words that no note has which are worth naming: no bare numbers, which are amounts or
    years more often than names, none by which it is only asked, and none that stands within a longer word
    of the sources."""
    there = fold("\n".join(f"{one.source.title}\n{one.source.text}" for one in sources)).casefold()
    return [
        word
        for word in words
        if not word.isdecimal()
        and not is_asked_by(word)
        and (len(word) < LONG_WORD or fold(word).casefold() not in there)
    ]


def _exact(asked: Asked, ranked: Sequence[Candidate]) -> dict[str, float]:
    """Of a question for something exact, as a sum: how near what has one is, and how much nearer what
    has none."""
    if not asked.question.exact:
        return {}
    fit = [
        one
        for one in ranked
        if asked.share(one.held) > 0.0
        and (
            asked.fits(one)
            # The head of a table, or nothing, says what a number of its rows counts.
            or (
                asked.question.exact == "count"
                and one.passage.kind == "row"
                and one.covered >= EVEN
                and has_number(one.passage.text, asked.numbers)
            )
            # "New glasses 149"
            or (
                asked.question.exact == "money"
                and one.features["text_share"] >= 1.0
                and has_bare_amount(one.passage.text)
            )
        )
    ]
    near = max((one.likeness for one in fit), default=0.0)
    share = max((one.covered for one in fit), default=0.0)
    return {
        "asks_exactly": 1.0,
        "exact_likeness": near,
        "exact_farther": max(0.0, max(one.likeness for one in ranked[:HELD_AGAINST]) - near),
        "exact_covered": share,
        "exact_uncovered": 1.0 - max(one.covered for one in ranked[:LOOKED_AT]),
        "exact_covers_less": max(0.0, max(one.covered for one in ranked[:HELD_AGAINST]) - share),
    }


# By weight, of a question:
UNKNOWN = 0.4  # share that words make up which no note has: too much to be sure
BESIDE = 0.2  # share, beside the name of its note, up to which a few words say none of it
FEW = 10  # of such words
NEARER = 0.06  # how much nearer to the question, as a cosine, they make their note than its name alone is


def _in_doubt(asked: Asked, ranked: Sequence[Candidate]) -> bool:
    """Whether what is likely to answer may be beside the point: no note has what much of the question
    turns on, or it is told of somebody else, or of the notes compared one lacks a value of what is compared,
    or it is a property or a few words, near only by the name of their note."""
    unknown = {*_unknown(asked, telling=True)}
    weight = sum(one.weight for one in asked.terms if one.missing and one.written in unknown)
    top = next((one for one in ranked if asked.is_told_more(one)), ranked[0])
    if weight > UNKNOWN * asked.total or top.features["of_another"]:
        return True
    left, whole = (asked.reading.words(one) for one in (top.passage.told, top.passage.text))
    if asked.share(left) < asked.share(whole):
        return True  # "~~Serve with cream.~~ Serve with yoghurt."
    if asked.question.exact == "date" and not asked.fits(top):
        return True
    if asked.question.compared:
        notes = notes_of_sides(ranked, asked)
        if any(notes):
            return not all(any(says_compared(one, asked) for one in each) for each in notes)
    short = top.passage.kind == "property" or len(top.passage.text.split()) <= FEW
    if not short or asked.about or has_typed(top):
        return False
    told = asked.told_beside_names(top)
    if told >= BESIDE:
        return False
    if top.passage.kind == "property" and not told:
        return True  # "Status: stalled" is near whatever its tags and title say.
    query, rows = asked.reading.vectors(asked.question.text, [top.named.source.title])
    return bool(top.likeness < float(rows[0] @ query) + NEARER)


def _lacks(number: str, best: Sequence[Candidate]) -> bool:
    """Whether a number of the question stands in none of the passages, nor above them."""
    whole = re.compile(rf"(?<!\d){re.escape(number)}(?!\d)")
    for one in best:
        its, source = one.passage, one.named.source
        if whole.search(" ".join((its.lead, its.text, its.heading, source.title, source.heading))):
            return False
    return True


def likelihood(found: Mapping[str, float]) -> float:
    """The likelihood that what was found answers, 0 to 1, by its :func:`features`."""
    if "nothing" in found:
        return 0.0
    total = sum(weights()["decision"].get(name, 0.0) * value for name, value in found.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def unmentioned(asked: Asked, sources: Sequence[Named]) -> list[str]:
    """The sides of a comparison of which no source has a word of its own, or no note their name, as
    they are written."""
    words, sides = asked.reading.words, asked.question.sides
    held = frozenset().union(*(words(one.all_text) for one in sources))
    nowhere = frozenset(term.word for term in asked.terms if term.missing) & asked.names
    found = []
    for side in sides:
        others = frozenset(words(" ".join(one for one in sides if one != side)))
        own = frozenset(words(side)) - others - asked.reading.small
        if own and (own & nowhere or not own & held):
            found.append(side)
    return found


def look(
    query: str,
    sources: Sequence[Named],
    reading: Reading,
    limit: int,
    own: str = "",
    phrases: Sequence[str] = (),
) -> Looked:
    """Find what of the sources answers best; of a query with several questions, what answers each.

    :param sources: best first, connected notes last.
    :param limit: sources at most.
    :param own: as in :class:`Material`, and so ``phrases``.
    """
    names = joined_words("\n".join("\n".join((one.source.heading, *one.called)) for one in sources))
    # What is called so need not say it.
    if phrases := [one for one in phrases if joined_words(one) not in names]:
        return _look(query, sources, reading, limit, phrases=phrases)
    if own:
        return _look_carried(query, own, sources, reading, limit)
    (first, alone), *then = parts_of(query)
    if alone and len(then) == 1 and "person" in read(first).forms and refers(then[0][0]):
        return _look_on(first, then[0][0], sources, reading)
    questions = questions_in(query)
    found = _look(query, sources, reading, limit)
    if len(questions) == 1:
        return found
    # What answers all of it may say nothing of one of them.
    each = [_look(one, sources, reading, 1, brief=True) for one in questions]
    more = [quote for one in each if one.answers for quote in one.quotes[:1]]
    quotes = _together(found.quotes if found.answers else (), more)
    if not quotes:
        return found
    # Where nothing answers one of them, it is not sure that all is answered.
    weakest = max(EVEN, min(one.likelihood for one in each))
    return replace(found, quotes=quotes, likelihood=max(found.likelihood, weakest))


def _look_on(first: str, then: str, sources: Sequence[Named], reading: Reading) -> Looked:
    """Find who is asked for, and then what is asked of him, in the note of whom the answer names."""
    found = _look(first, sources, reading, 1)
    if not found.answers:
        return found
    title, text = found.quotes[0].source.title, found.quotes[0].text
    asks = (title, text, read(first), reading.sentences)
    name = somebody_in(*asks, reading.named)
    # Else another may be meant, who has no note.
    sure = somebody_in(*asks, lambda _: ()) == name
    of_it = [one for one in sources if name and name in one.called]
    if of_it:
        told = _look_carried(with_subject(then, name), then, of_it, reading, 1)
        if told.answers:
            least = min(found.likelihood, told.likelihood, 1.0 if sure else DOUBT)
            return replace(found, quotes=_together(found.quotes, told.quotes), likelihood=least)
    left = with_subject(then, name).rstrip("?") if name and sure else then
    return replace(found, unmentioned=[*found.unmentioned, left])


def _together(quotes: Sequence[Quote], more: Sequence[Quote]) -> list[Quote]:
    """The quotes, with those of the others that quote nothing of them again."""
    found = [*quotes]
    for quote in more:
        same = (one.ranges for one in found if one.source is quote.source)
        if not any(a < d and c < b for its in same for a, b in its for c, d in quote.ranges):
            found.append(quote)
    return found


def _look(
    query: str,
    sources: Sequence[Named],
    reading: Reading,
    limit: int,
    *,
    brief: bool = False,
    phrases: Sequence[str] = (),
) -> Looked:
    asked = Asked(read(query), reading, phrases)
    ranked = score(asked, sources)
    meant = [one for one in ranked if asked.is_meant(one.passage)]
    ranked = meant or ranked
    answers = likelihood(features(asked, ranked, sources))
    if answers >= SURE and _in_doubt(asked, ranked):
        answers = DOUBT
    if meant:
        answers = max(answers, EVEN)
    return Looked(
        select(ranked, asked, sources, limit, brief=brief or answers < SURE),
        answers,
        _to_name(_unknown(asked, telling=True), sources),
        unmentioned(asked, sources),
    )


def _look_carried(
    query: str, own: str, sources: Sequence[Named], reading: Reading, limit: int
) -> Looked:
    """Find what answers a follow-up: by its own words, in what speaks of the subject that it carries."""
    found = _look(query, sources, reading, limit)
    asked = Asked(read(own), reading)
    subject = frozenset(reading.words(query)) - asked.all_words - reading.small
    words = [{*reading.words(one.all_text)} for one in sources]
    of_it = [one for one, held in zip(sources, words, strict=True) if subject <= held]
    if not asked.terms or not of_it:
        return found
    # Words that nothing of it has tell nothing, unless what is asked for has a form.
    terms = {term.word for term in asked.terms}
    if not asked.question.exact and not any(terms & held for held in words if subject <= held):
        asked = Asked(read(query), reading)
    brief = found.likelihood < SURE
    quotes = select(score(asked, of_it), asked, of_it, limit, brief=brief)
    return replace(found, quotes=quotes or found.quotes)


EACH = 3  # notes of a theme that are quoted, a sentence each

THEMES = "The themes of the notes, by how they link to one another, with a sentence from each:"
"""How an answer about all themes begins, so that nobody takes it for a model's."""

ABOUT = "The themes in which the notes speak of this, with what they say:"
"""The same where themes of something were asked for."""


def _of_themes(groups: Sequence[Group], material: Material, reading: Reading) -> Draft:
    """Each theme, its size, and a sentence of each of its first notes, or what they say of what was asked;
    where none says anything of that, say so."""
    told = [(group, found) for group in groups if (found := _quotes_of(group, reading))]
    if not told:
        return silent(material)
    text = ABOUT if told[0][0].about else THEMES
    said: list[Said] = []
    cited: dict[str, None] = {}
    for group, found in told:
        inner = quoted(Looked(found), opening=f"\n\n### {group.title}")
        said += [one.moved(len(text)) for one in inner.said]
        text += inner.text
        cited |= dict.fromkeys(inner.cited)
    return Draft(text, "extractive", tuple(cited), said=tuple(said))


def _quotes_of(group: Group, reading: Reading) -> list[Quote]:
    if group.about:
        found = look(group.about, [Named(source) for source in group.sources], reading, EACH)
        # The theme was found by what is asked already: half of an answer is worth a quote.
        return list(found.quotes) if found.likelihood >= EVEN / 2 else []
    quotes: list[Quote] = []
    for source in group.sources[:EACH]:
        read = passages(source.text, reading.sentences)
        first = next((one for one in read if one.kind != "property"), None)
        if first is not None:
            quotes.append(Quote(source, *laid_out([Part(0, first, lead=True)])))
    return quotes


class ExtractiveSynthesizer(VaultSynthesizer):
    """Quotes the passages of the sources that answer best; asks no language model."""

    def __init__(self, vault: str, reading: Reading, *, checker: Checker | None = None) -> None:
        """:param checker: finds the place of each quote."""
        super().__init__(vault, None, checker)
        self._reading = reading

    def draft(self, query: str, material: Material) -> Draft:
        """Quote what answers, or say that nothing does; notes that were listed are named."""
        if material.tasks:
            return of_tasks(material)
        if material.listed:
            return of_a_kind(material, self._reading.sentences)
        if groups := groups_of(material):
            return _of_themes(groups, material, self._reading)
        found = self._look(query, material)
        if not found.answers:
            return silent(material, found)
        used = [quote.source.marker for quote in found.quotes]
        shown = promoted(material, used, self._vault)
        by_place = {(one.path, one.lines, one.text): one for one in shown.sources}
        quotes = [replace(one, source=by_place[_place(one.source)]) for one in found.quotes]
        return replace(quoted(replace(found, quotes=quotes)), material=shown)

    def answers(self, query: str, material: Material) -> bool:
        """Whether anything in the material answers."""
        known = bool(material.listed) or bool(groups_of(material))
        return known or self._look(query, material).answers

    def _look(self, query: str, material: Material) -> Looked:
        return look(
            query, evidence_of(material), self._reading, SOURCES, material.own, material.phrases
        )


def _place(source: Source) -> tuple[str, tuple[int, int], str]:
    return source.path, source.lines, source.text
