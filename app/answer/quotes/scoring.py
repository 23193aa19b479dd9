"""How well a passage answers a question: named features, weighed by the fitted linear models of
``weights.json``, made by ``python -m tools.fit_answers``: docs/evaluation.md says what they are worth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from notehop.app.answer.names import names_of
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact import FILED_ON, WORD, fits, has_date, has_number, has_occasion
from notehop.app.answer.quotes.question import ARTICLE
from notehop.app.answer.quotes.reading import SHORT, Named, Reading, is_bare, says_asker
from notehop.app.retrieval.abbreviations import spells
from notehop.indexing.tokens.words import fold

COMPARED = 20
"""Passages whose vectors are compared, the best by words: vectors are most of the time that an
answer takes."""

LONGEST = 300
"""Characters of a passage that its vector is made of: what a longer sentence is about is said."""

OFTEN = 5  # chunks with all words of a sentence from which on it belongs to none of them
OFTEN_WORDS = 10  # different words of such a sentence: a shorter one may tell of many days

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
def weights() -> Mapping[str, Mapping[str, float]]:
    """The fitted weights, by the name of their set: ``words`` choose what is compared, ``meaning`` the best
    of that, ``decision`` whether it answers."""
    text = Path(__file__).with_name("weights.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, float]] = json.loads(text)
    return found


def score(asked: Asked, sources: Sequence[Named]) -> list[Candidate]:
    """Return the passages that may answer, of which vectors were compared, best first, ties by place.

    :param sources: best first, connected notes after them.
    """
    best = _weighed(candidates(asked, sources), weights()["words"])[:COMPARED]
    if not best:
        return []
    query, rows = asked.reading.vectors(asked.question.text, [as_read(one) for one in best])
    compared = []
    for one, like in zip(best, (rows @ query).tolist(), strict=True):
        meaning = {
            "likeness": like,
            "likeness_squared": like * like,
            "likeness_when_fresh": like * min(1.0, one.fresh / 5),
        }
        compared.append(replace(one, likeness=like, features={**one.features, **meaning}))
    found = _weighed(compared, weights()["meaning"])
    return [one for one in found if not _is_said_often(one, asked.reading)] or found


def _is_said_often(one: Candidate, reading: Reading) -> bool:
    """Whether a sentence belongs to none of the many chunks that have it, as what stands above the help of
    each command."""
    long = one.passage.kind == "prose" and len(one.words) >= OFTEN_WORDS
    return long and reading.holding(one.words, OFTEN)


def candidates(asked: Asked, sources: Sequence[Named]) -> list[Candidate]:
    """All passages in their order, with the features that need no model, unweighed."""
    together = _Sources(asked, sources)
    return [
        one for at, named in enumerate(sources) for one in _by_words(at, named, asked, together)
    ]


def as_read(candidate: Candidate) -> str:
    """A passage under the title of its note and its heading, which say who "she" is."""
    source, passage = candidate.named.source, candidate.passage
    heading = passage.heading or source.heading
    head = f"{source.title} > {heading}" if heading and heading != source.title else source.title
    return f"{head}: {passage.lead} {passage.text}"[:LONGEST]


def _weighed(found: Iterable[Candidate], weights: Mapping[str, float]) -> list[Candidate]:
    scored = [
        replace(one, score=sum(weights.get(name, 0.0) * has for name, has in one.features.items()))
        for one in found
    ]
    return sorted(scored, key=lambda one: (-one.score, one.source, one.order))


class _Sources:
    """What the sources say together: which sentences lead to which, and what news are of."""

    def __init__(self, asked: Asked, sources: Sequence[Named]) -> None:
        self._asked = asked
        self.subjects = [name for named in sources if named.subject for name in asked.called(named)]
        self._titles = {named.source.title: named.source.path for named in sources}
        self._asks_of_own = "person" not in asked.question.forms and says_asker(asked.question.text)
        self._named = [own for named in sources if named.person for own in self._called(named)]

    def _called(self, named: Named) -> list[frozenset[str]]:
        """The words of the names of a note that a question has."""
        small, said = self._asked.reading.small, self._asked.all_words
        # Somebody may go by "I."
        return [one for one in self._asked.called(named) if one - small and one <= said]

    def of_another(self, named: Named, held: frozenset[str]) -> bool:
        """Whether a passage is of a note about somebody, and asked for is another, or who asks."""
        if not named.person or self._called(named):
            return False
        return not any(one <= held for one in self._named) if self._named else self._asks_of_own

    def leads_on(self, text: str, own: str) -> bool:
        """Whether a sentence of a note says that the answer stands in another."""
        plain = fold(text).casefold()
        found = _SAYS_WHERE.search(plain)
        # Who "is at college now" by the name of a note before it leads nowhere.
        return found is not None and any(
            path != own
            and len(title) > 3
            and title in text
            and fold(title).casefold() in plain[found.start() :]
            for title, path in self._titles.items()
        )


def _by_words(at: int, named: Named, asked: Asked, together: _Sources) -> list[Candidate]:
    """The passages of a source with all features but those of meaning."""
    source, words, small = named.source, asked.reading.words, asked.reading.small
    names = asked.called(named)
    title = frozenset[str]().union(*names)
    # Who asks how many is told by a number, though the note has one in its name.
    exact = bool(asked.question.exact)
    told = frozenset(one for one in title if not (exact and one.isdigit()))
    heading = frozenset(words(source.heading))
    held = frozenset(words(source.text)) | title | heading
    read = named.passages(asked.reading.sentences)
    own = [frozenset(words(one.text)) for one in read]
    bare = [is_bare(one, asked.reading, alone=len(read) == 1) for one in read]
    untold = [one.kind == "heading" or one.is_fragment for one in read]
    texts = (at for at in range(len(read)) if not (untold[at] or bare[at]))
    begin = next(texts, 0)
    aliases = [name for name in names[1:] if name - small <= asked.words and not name <= names[0]]
    base = {
        "rank": 0.0 if named.linked else 1.0 / (at + 1),
        "top_three": float(at < 3 and not named.linked),
        "linked": float(bool(named.linked)),
        "link_likeness": named.link_likeness if named.linked else 0.0,
        "link_share": asked.share(words(named.linked)) if named.linked else 0.0,
        "title_share": asked.share(title),
        "chunk_share": asked.share(held),
        "alias_asked": max(map(asked.share, aliases), default=0.0),
        "of_another": float(together.of_another(named, held)),
    }
    by_name = bool(asked.about) and any(asked.about == name - small for name in names)
    found: list[Candidate] = []
    for order, passage in enumerate(read):
        if untold[order] and not (
            passage.kind == "heading" and spells(asked.question.about, passage.text)
        ):
            continue
        near = frozenset(words(passage.heading))
        above = heading | near
        opens = named.opens and order == begin
        with_lead = own[order] | frozenset(words(passage.lead))
        beside = frozenset[str]().union(
            *(
                own[other]
                for other in (order - 1, order + 1)
                if 0 <= other < len(read) and read[other].group == passage.group
            )
        )
        fresh = len(own[order] - small - asked.all_words - told)
        in_text, in_lead = asked.share(own[order]), asked.share(with_lead)
        apart = with_lead | above
        in_heading, in_title = asked.share(apart), asked.share(apart | title)
        in_beside = asked.share(apart | title | beside)
        who = (
            asked.question.relates and not fresh and bool(asked.words) and asked.words <= own[order]
        )
        features = {
            **base,
            "of_another": max(base["of_another"], asked.is_of_another(passage, named, read)),
            "title_tells": float(who and not names[0] <= asked.all_words),
            "rarest": max((one.share_in(apart | title) for one in asked.rarest), default=0.0),
            "opens_note": float(opens),
            "text_share": in_text,
            "heading_share": in_heading - in_lead,
            "with_title_share": in_title - in_heading,
            "beside_share": in_beside - in_title,
            "above_share": asked.share(above),
            "beside_title_share": asked.share_beside(title, apart),
            "name_share": asked.share_of_names(apart | title),
            **_shape(order, passage, read, fresh),
            "bare": float(bare[order]),
            **_forms(asked, passage, named, by_name, opens),
            "says_where": float(together.leads_on(passage.text, source.path)),
        }
        if asked.about and asked.about <= apart | title:
            features["names_term"] = 1.0
            few = TELLS - ("person" in asked.question.forms)
            features["tells_of_term"] = float(fresh >= few and not features["task"])
        titles = [frozenset(words(one.lead)) - small for one in read[max(0, order - 1) : order + 1]]
        titled = titles[-1] == asked.about or (by_name and titles[-1] in names)
        if asked.about and titled and passage.kind == "prose" and titles[-1] not in titles[:-1]:
            # A callout begins so, under the term or another name of its note.
            features |= dict.fromkeys(("term_is", "term_first", "says_what"), 1.0)
        if named.news and any(name and name <= with_lead for name in together.subjects):
            features["news"] = 1.0 / named.news
        found.append(
            Candidate(
                at,
                named,
                read,
                order,
                own[order],
                features,
                fresh=fresh,
                held=held,
                covered=in_beside,
            )
        )
    return found


def _shape(order: int, passage: Passage, read: Sequence[Passage], fresh: int) -> dict[str, float]:
    """What a passage is, whatever is asked."""
    length = len(WORD.findall(passage.text))
    ends = passage.text.rstrip("*_\"'”’)")[-1:] in ".!?。！？…"
    first = order == 0 or read[order - 1].heading != passage.heading
    return {
        "first": float(order == 0),
        "first_below_heading": float(first),
        "item": float(passage.kind == "item"),
        "row": float(passage.kind == "row"),
        "code": float(passage.is_command),
        "short": float(length < 4),
        "label": float(passage.kind == "prose" and not ends and length < 7),
        "long": min(1.0, length / 40),
        "fresh": min(1.0, fresh / 8),
        "asks": float(passage.text.rstrip().endswith("?")),
        "task": float(passage.text.startswith(_BOXES)),
    }


_BOXES = ("[ ]", "[x]")
TELLS = 3  # words with which a passage says something of a term, and does not only name it


_FILED = re.compile(r"\b(?:creat|modif|updat|written|wrote|added)", re.IGNORECASE)


def _forms(
    asked: Asked, passage: Passage, named: Named, by_name: bool, opens: bool
) -> dict[str, float]:
    """Whether a passage has what the form of the question asks for."""
    forms, text = asked.question.forms, passage.told
    found: dict[str, float] = {}
    # When a note was filed is no answer to a "when", unless that is asked for.
    told = text if _FILED.search(asked.question.text) else FILED_ON.sub("", text)
    if "number" in forms:
        found["number_there" if has_number(told, asked.numbers) else "number_not_there"] = 1.0
    if asked.question.measure:
        words, measure = asked.reading.words, asked.question.measure
        there = fits(asked.question, measure, passage, passage.heading, words, asked.numbers)
        found["measure_there" if there else "measure_not_there"] = 1.0
    if "date" in forms:
        dated = has_date(told) or asked.is_told_when(passage, named)
        if dated or not has_occasion(told, asked.numbers):
            found["date_there" if dated else "date_not_there"] = 1.0
    if "person" in forms:
        names = [one for one in names_of(text) if fold(one).casefold() not in asked.all_words]
        found["name_there" if names else "name_not_there"] = 1.0
    if "place" in forms:
        found["place_there"] = float(bool(names_of(text)) or "/" in text)
    if "howto" in forms:
        found["step"] = float(passage.kind == "item" and passage.mark[:1].isdigit())
        found["code_for_howto"] = float(
            passage.is_command or (passage.kind != "code" and "`" in text)
        )
    if "list" in forms:
        found["item_for_list"] = float(passage.kind == "item")
    if asked.about and passage.kind != "code" and not text.startswith(_BOXES):
        found |= _defines(asked, passage, named, by_name, opens)
    return found


_PART = re.compile(r"[.;] +(?=\W*\w)")  # behind what another part of a passage begins with
_WHILE = re.compile(rf"\W*(?:{'|'.join(WORD_LISTS['while'])})\b")
SUBJECT = 50  # characters in which the term stands that a sentence begins with


def _is_label(copula: re.Match[str] | None) -> bool:
    """Whether a term and what it is stand apart by a colon or dash."""
    return copula is not None and copula[0].strip('"*_`” ') in (*":=–—-",)


def _said_of(asked: Asked, text: str) -> tuple[int, re.Match[str] | None, bool, bool]:
    """Where the term ends with which a text begins, the copula behind it, whether nothing stands before it,
    and whether more than a few words follow."""
    begin = ARTICLE.sub("", text)
    ends = [word.end() for word in re.finditer(r"\w+", begin[:SUBJECT])]
    end = next((at for at in ends if asked.about <= {*asked.reading.words(begin[:at])}), 0)
    copula = _COPULA.match(begin[end:].lstrip(")")) if end else None
    alone = end > 0 and ends.index(end) < len(asked.question.about.split())
    if copula is not None and not alone and copula[0].strip('"*_`” ') in (":", "="):
        copula = None  # "Clay settles more than the limit: …" says nothing of the limit.
    says = copula is not None and len(WORD.findall(begin, end + copula.end())) > SHORT
    return end, copula, alone, says


def _defines(
    asked: Asked, passage: Passage, named: Named, by_name: bool, opens: bool
) -> dict[str, float]:
    """Whether a passage says what something is, or a part of it does: a glossary may have several in one."""
    plain = fold(passage.told).casefold()
    end, copula, alone, says = _said_of(asked, plain)
    begins = _WHILE.match(plain)
    other = begins is not None and begins[0].strip() not in asked.question.about.split()
    if copula is None or other:
        parts = (_said_of(asked, plain[one.end() :]) for one in _PART.finditer(plain))
        none = (end, None, alone, False)
        end, copula, alone, says = next(
            (one for one in parts if one[2] and _is_label(one[1])), none
        )
    about = asked.question.about
    spelt = spells(about, passage.text)
    if asked.question.abbreviated or asked.question.in_capitals:
        # Where the long form is asked for, a note that goes by the short one may only use it.
        named_so = (*named.called, passage.text)
        long = any(spells(about, f"{about.upper()}: {one}") for one in named_so)
        opens, by_name = opens and long, by_name and (long or end == 0)
    return {
        "of_its_note": float(by_name and opens),
        "in_its_note": float(by_name),
        "term_is": float(copula is not None),
        "term_first": float(end > 0),
        "says_what": float(alone and says),
        "spelt_out": float(spelt),
    }
