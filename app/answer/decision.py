"""Whether what was found answers the question at all: a calibrated decision over named features.

The weights stand in ``weights.json`` and are made by ``python -m tools.fit_answers``; what they were
fitted on and what they are worth is in docs/evaluation.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from notehop.app.answer.expected import fits
from notehop.app.answer.relevance import Asked, Candidate, Named, spells

LOOKED_AT = 3
"""Passages, best first, that are looked at."""

HELD_AGAINST = 5
"""Passages that those which have what an answer must have are compared with."""

SPELLS = ("spelt_out", "term_is", "in_its_note")
"""Features of a passage that may say what an abbreviation stands for."""


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
    if asked.question.abbreviated and not _is_spelt_out(asked, ranked, sources):
        # Whoever uses an abbreviation does not say what it stands for.
        return {"nothing": 1.0}
    best = ranked[:LOOKED_AT]
    covered = max(map(_covered, best))
    if covered <= 0.0 and asked.reading.vectors is None:
        return {"nothing": 1.0}
    top = ranked[0]
    lacking = [
        term.weight for term in asked.terms if not any(term.word in one.held for one in best)
    ]
    found = {
        "constant": 1.0,
        "likeness": top.likeness,
        "covered": covered,
        "chunk_share": max(one.features["chunk_share"] for one in best),
        "title_share": max(one.features["title_share"] for one in best),
        "beside_title": max(one.features["beside_title_share"] for one in best),
        "uncovered_rarity": max(lacking, default=0.0) / 10,
        "names_lack": 1.0 - max(one.features["name_share"] for one in best),
        "number_lacks": float(any(_lacks(number, best, sources) for number in asked.numbers)),
        "unknown_name": float(bool(asked.unknown) and not asked.question.sides),
        "weak": float(weak),
        "defined": max(
            max(one.features.get(name, 0.0) for name in ("of_its_note", "term_is", "spelt_out"))
            for one in best
        ),
        "definition": float(asked.question.form == "definition"),
        "howto": float(asked.question.form == "howto"),
        "words": min(1.0, len(asked.terms) / 8),
        "few_words": float(len(asked.terms) <= 2 and covered >= 0.3),
        "foreign": float(any(term.absent and not term.missing for term in asked.terms)),
        **_exact(asked, ranked, sources),
    }
    if top.features.get("news"):
        found["news"] = 1.0
    return found


def _exact(asked: Asked, ranked: Sequence[Candidate], sources: Sequence[Named]) -> dict[str, float]:
    """Of a question for something exact, as a sum: how near what has one is, and how much nearer what
    has none."""
    wanted = asked.question.expected
    if not wanted.kind:
        return {}
    fit = [
        one
        for one in ranked
        if fits(
            wanted,
            one.passage,
            one.passage.heading or sources[one.source].source.heading,
            asked.reading.words,
            asked.numbers,
        )
    ]
    near = max((one.likeness for one in fit), default=0.0)
    share = max(map(_covered, fit), default=0.0)
    return {
        "asks_exactly": 1.0,
        "exact_likeness": near,
        "exact_farther": max(0.0, max(one.likeness for one in ranked[:HELD_AGAINST]) - near),
        "exact_covered": share,
        "exact_covers_less": max(0.0, max(map(_covered, ranked[:HELD_AGAINST])) - share),
    }


def _lacks(number: str, best: Sequence[Candidate], sources: Sequence[Named]) -> bool:
    """Whether a number of the question stands in none of the passages, nor above them."""
    whole = re.compile(rf"(?<!\d){re.escape(number)}(?!\d)")
    return not any(
        whole.search(
            " ".join(
                (
                    one.passage.lead,
                    one.passage.text,
                    one.passage.heading,
                    sources[one.source].source.title,
                    sources[one.source].source.heading,
                )
            )
        )
        for one in best
    )


def likelihood(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The likelihood that what was found answers, 0 to 1."""
    if "nothing" in found:
        return 0.0
    total = sum(weights.get(name, 0.0) * value for name, value in found.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def unmentioned(asked: Asked, sources: Sequence[Named]) -> list[str]:
    """The sides of a comparison of which no source has a word of its own, or no note their name, as
    they are written."""
    words, sides = asked.reading.words, asked.question.sides
    texts = (
        " ".join((one.source.title, one.source.heading, one.source.text, *one.names))
        for one in sources
    )
    held = frozenset().union(*(frozenset(words(text)) for text in texts))
    nowhere = frozenset(term.word for term in asked.terms if term.missing) & asked.names
    found = []
    for side in sides:
        others = frozenset(words(" ".join(one for one in sides if one != side)))
        own = frozenset(words(side)) - others - asked.reading.small
        if own and (own & nowhere or not own & held):
            found.append(side)
    return found


def _is_spelt_out(asked: Asked, ranked: Sequence[Candidate], sources: Sequence[Named]) -> bool:
    return any(one.features.get(name) for one in ranked for name in SPELLS) or any(
        spells(asked.question.about, sources[one.source].source.title) for one in ranked
    )


def _covered(one: Candidate) -> float:
    names = ("text_share", "lead_share", "heading_share", "with_title_share", "beside_share")
    return sum(one.features[name] for name in names)
