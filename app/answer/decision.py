"""Whether what was found answers the question at all: a calibrated decision over named features.

The weights stand in ``weights.json`` and are made by ``python -m tests.fit_answers``; what they were
fitted on and what they are worth is in docs/evaluation.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from notehop.app.answer.relevance import LONGEST, Asked, Candidate, Named

LOOKED_AT = 3
"""Passages, best first, that are looked at."""

_THERE = ("number_there", "date_there", "name_there")
_NOT_THERE = ("number_not_there", "date_not_there", "name_not_there")


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
    best = ranked[:LOOKED_AT]
    background = asked.reading.background
    chunk = max((one.likeness or 0.0 for one in sources), default=0.0)
    covered = max(map(_covered, best))
    if covered <= 0.0 and asked.reading.vectors is None:
        return {"nothing": 1.0}
    rest = [term for term in asked.terms if not _holds(term.word, best)]
    rarest = max((term.weight for term in asked.terms), default=1.0)
    top = ranked[0]
    found = {
        "constant": 1.0,
        "score": top.score / 10,
        "likeness": top.likeness,
        "likest": max(one.likeness for one in best),
        "chunk_likeness": chunk,
        "missing": sum(term.weight for term in asked.terms if term.missing) / asked.total,
        "mostly_missing": float(
            sum(term.weight for term in asked.terms if term.missing) > asked.total / 2
        ),
        "foreign": float(asked.question.language != asked.reading.language),
        "any_missing": float(any(term.missing for term in asked.terms)),
        "covered": covered,
        "covered_in_text": max(
            one.features["text_share"] + one.features["lead_share"] for one in best
        ),
        "uncovered": sum(term.weight for term in rest) / asked.total,
        "rarest_uncovered": max((term.weight for term in rest), default=0.0) / rarest,
        "uncovered_rarity": max((term.weight for term in rest), default=0.0) / 10,
        "chunk_share": max(one.features["chunk_share"] for one in best),
        "title_share": max(one.features["title_share"] for one in best),
        "words": min(1.0, len(asked.terms) / 8),
        "few_words": float(len(asked.terms) <= 2 and covered >= 0.3),
        "typed": float(any(name in top.features for name in (*_THERE, *_NOT_THERE))),
        "type_lacks": float(all(any(name in one.features for name in _NOT_THERE) for one in best)),
        "type_there": float(any(name in top.features for name in _THERE)),
        "measure_lacks": float(all("measure_not_there" in one.features for one in best)),
        "measure_there": float("measure_there" in top.features),
        "beside_title": max(one.features["beside_title_share"] for one in best),
        "top_beside_title": top.features["beside_title_share"],
        "names_lack": 1.0 - max(one.features["name_share"] for one in best),
        "names_lack_in_chunks": float(
            bool(asked.names - frozenset().union(*(one.held for one in best)))
        ),
        "defined": max(
            max(one.features.get(name, 0.0) for name in ("of_its_note", "term_is", "spelt_out"))
            for one in best
        ),
        "definition": float(asked.question.form == "definition"),
        "howto": float(asked.question.form == "howto"),
        "margin": min(1.0, top.score - ranked[-1].score) / 10,
    }
    if top.features.get("news"):
        found["news"] = 1.0
    apart = _apart(asked, best, sources)
    if apart:
        found["apart_likeness"] = max(apart)
        found["top_apart_likeness"] = apart[0]
    if background is not None:
        found["above_chance"] = background(chunk)
        found["passage_above_chance"] = background(max(one.likeness for one in best))
    return found


def likelihood(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The likelihood that what was found answers, 0 to 1."""
    if "nothing" in found:
        return 0.0
    total = sum(weights.get(name, 0.0) * value for name, value in found.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def unmentioned(asked: Asked, sources: Sequence[Named]) -> list[str]:
    """The sides of a comparison of which no source has a word of its own, as they are written."""
    words, sides = asked.reading.words, asked.question.sides
    texts = (
        " ".join((one.source.title, one.source.heading, one.source.text, *one.names))
        for one in sources
    )
    held = frozenset().union(*(frozenset(words(text)) for text in texts))
    found = []
    for side in sides:
        others = frozenset(words(" ".join(one for one in sides if one != side)))
        own = frozenset(words(side)) - others - asked.reading.small
        if own and not own & held:
            found.append(side)
    return found


def _apart(asked: Asked, best: Sequence[Candidate], sources: Sequence[Named]) -> list[float]:
    """How near passages are to what is asked of the note that the question names.

    "Femi's phone number" is near all that is said of Femi; "phone number" is near little of it.
    """
    if asked.reading.vectors is None:
        return []
    known = frozenset().union(
        *(frozenset(asked.reading.words(sources[one.source].source.title)) for one in best)
    )
    rest = " ".join(
        word for word in asked.question.text.split() if not set(asked.reading.words(word)) & known
    )
    if not rest:
        return []
    texts = [f"{one.passage.lead} {one.passage.text}"[:LONGEST] for one in best]
    query, rows = asked.reading.vectors(rest, texts)
    found: list[float] = (rows @ query).tolist()
    return found


def _covered(one: Candidate) -> float:
    names = ("text_share", "lead_share", "heading_share", "with_title_share", "beside_share")
    return sum(one.features[name] for name in names)


def _holds(word: str, best: Sequence[Candidate]) -> bool:
    return any(word in one.held for one in best)
