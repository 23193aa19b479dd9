"""Chooses what of the sources is quoted, and with it what it makes no sense without. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from notehop.app.answer.layout import Part, Quote, laid_out
from notehop.app.answer.passages import Passage, passages
from notehop.app.answer.relevance import Asked, Candidate, Named, Reading
from notehop.indexing.tokens.fold import fold

OVERLAP = 0.7
"""Two passages that share this part of the shorter one's words say the same."""

ALSO = 0.15
"""A further passage needs this share of the likelihood of the best one; less is padding."""

DEFINED = 0.5
"""The same where a definition is asked for: one is enough."""

BESIDE = 0.03
"""The same for a sentence of the paragraph that is quoted already: it costs the reader little."""

BEFORE = 0.5
"""The same for one that stands before it: who reads an answer begins at the beginning."""

STANDS_OUT = 0.12
"""Least likelihood of a passage that is quoted by itself; below it, its paragraph is quoted."""

PARAGRAPH = 100
"""Words of a paragraph that is quoted whole rather than in pieces."""

ENOUGH = 100
"""Words after which no further passage is quoted."""

LONGEST_LIST = 14
"""Items or rows that are quoted of one list or table."""

LONGEST_BEFORE = 240
"""Characters of a sentence that is quoted only because the next one points back to it."""

_FIRST_WORD = re.compile(r"\w+")

POINTING: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "er sie es dies diese dieser dieses diesen diesem sein seine seinen ihr ihre ihren "
        "dort damals dadurch deshalb daher danach dabei damit aber doch jedoch auch dann trotzdem "
        "ebenso außerdem zudem ferner allerdings",
        "en": "he she it they this that these those his her hers its their theirs such both "
        "however but so therefore thus hence then also instead otherwise yet nevertheless "
        "similarly likewise additionally furthermore moreover meanwhile consequently accordingly "
        "conversely still and or",
        "es": "él ella ellos ellas este esta estos estas esto ese esa esos esas eso su sus "
        "pero sin embargo así entonces también además",
        "fr": "il elle ils elles ce cet cette ces cela ceci son sa ses leur leurs "
        "mais pourtant cependant donc alors ainsi aussi",
        "it": "lui lei esso essa essi esse loro questo questa questi queste ciò suo sua suoi sue "
        "ma però quindi allora così anche inoltre",
        "nl": "hij zij ze het dit dat deze die zijn haar hun daarom daardoor daarna maar echter "
        "ook toen dus",
        "pt": "ele ela eles elas este esta estes estas isto esse essa esses essas isso seu sua "
        "seus suas mas porém então assim também",
    }.items()
}
"""Words at the beginning of a sentence that stand for something said before it, or go on from it,
by ISO 639-1 code."""

_PROMISES = re.compile(
    r"\b(?:depends? on|varies|vary|as follows|the following|hangt (?:\w+ )?(?:von|davon)|abhangig von"
    r"|wie folgt|depend(?:ent)? d|comme suit|depende|dipende|come segue|hangt af)\b|[:：]$"
)
"""A sentence that says that something will be said."""


def points_back(sentence: str, language: str) -> bool:
    """Whether a sentence begins with a word that points to what was said before."""
    found = _FIRST_WORD.search(sentence)
    return found is not None and found[0].casefold() in POINTING.get(language, ())


@dataclass(slots=True)
class _Chosen:
    """What is quoted of one source: the places of its passages."""

    source: int
    orders: set[int]


def select(
    ranked: Sequence[Candidate], asked: Asked, sources: Sequence[Named], limit: int
) -> list[Quote]:
    """Return what answers, the source of the best passage first.

    :param ranked: best first.
    :param limit: quotes at most.
    :returns: empty where nothing can be quoted.
    """
    ranked = [one for one in ranked if _quotable(one, asked)]
    if not ranked:
        return []
    likely = _likelihoods(ranked)
    read = [passages(named.source.text, asked.reading.sentences) for named in sources]
    chosen: list[_Chosen] = []
    taken: list[Candidate] = []
    for one in _in_order(ranked, asked):
        share = likely[one.source, one.order] / likely[ranked[0].source, ranked[0].order]
        there = next((each for each in chosen if each.source == one.source), None)
        if there is not None and one.order in there.orders:
            continue
        if taken and not _adds(one, taken, share, asked):
            continue
        if taken and (_length(chosen, read) >= ENOUGH or len(taken) >= limit):
            continue
        orders = _with_context(one, read[one.source], likely, asked)
        if there is None:
            chosen.append(_Chosen(one.source, orders))
        else:
            there.orders |= orders
        taken.append(one)
    return [_quote(sources[each.source], each, read[each.source], asked) for each in chosen]


def _quotable(one: Candidate, asked: Asked) -> bool:
    """Whether a passage says anything that the question does not."""
    if one.fresh == 0 and one.passage.kind in ("prose", "item") and asked.question.form != "list":
        return False
    return not one.features["bare"] or asked.question.form == "list"


def _likelihoods(ranked: Sequence[Candidate]) -> dict[tuple[int, int], float]:
    top = ranked[0].score
    weights = [math.exp(one.score - top) for one in ranked]
    total = sum(weights)
    return {
        (one.source, one.order): weight / total for one, weight in zip(ranked, weights, strict=True)
    }


def _in_order(ranked: Sequence[Candidate], asked: Asked) -> list[Candidate]:
    """The candidates; of a comparison the best for each side first."""
    first: list[Candidate] = []
    for side in asked.question.sides:
        words = frozenset(asked.reading.words(side)) - asked.reading.small
        other = frozenset().union(
            *(frozenset(asked.reading.words(each)) for each in asked.question.sides if each != side)
        )
        own = words - other
        best = next((one for one in ranked if own & one.words), None)
        if own and best is not None and best not in first:
            first.append(best)
    return [*first, *(one for one in ranked if one not in first)]


def _adds(one: Candidate, taken: Sequence[Candidate], share: float, asked: Asked) -> bool:
    if any(_same(one.words, other.words) for other in taken):
        return False
    if asked.question.form == "comparison" and len(taken) == 1 and share > BESIDE:
        return True
    if asked.question.form == "definition":
        return share >= DEFINED
    held = frozenset().union(*(other.words for other in taken))
    more = asked.share(held | one.words) - asked.share(held)
    return share >= (ALSO if more < 0.1 else ALSO / 2)


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= OVERLAP * shorter


def _with_context(
    one: Candidate,
    read: Sequence[Passage],
    likely: Mapping[tuple[int, int], float],
    asked: Asked,
) -> set[int]:
    """The places of a passage and of what it makes no sense without."""
    orders = {one.order}
    forms, passage = asked.question.forms, one.passage
    group = [at for at, other in enumerate(read) if other.group == passage.group]
    own = likely[one.source, one.order]
    whole = passage.kind in ("item", "row") and (
        "list" in forms
        or ("howto" in forms and passage.mark[:1].isdigit())
        or ("comparison" in forms and passage.kind == "row")
    )
    if whole:
        orders |= _around(one.order, group)
    elif passage.kind == "prose":
        words = sum(_words(read[at]) for at in group)
        for at in group:
            near = likely.get((one.source, at), 0.0)
            least = BESIDE if at > one.order else BEFORE
            if words <= PARAGRAPH and (own < STANDS_OUT or near >= least * own):
                orders.add(at)
        orders = set(range(min(orders), max(orders) + 1)) if words <= PARAGRAPH else orders
    for at in sorted(orders):
        orders |= _before(at, read, asked.reading) | _after(at, read, forms)
    return orders


def _around(order: int, group: Sequence[int]) -> set[int]:
    """A list or table, whole if it is not long."""
    if len(group) <= LONGEST_LIST:
        return set(group)
    at = max(0, min(group.index(order) - LONGEST_LIST // 2, len(group) - LONGEST_LIST))
    return set(group[at : at + LONGEST_LIST])


def _before(at: int, read: Sequence[Passage], reading: Reading) -> set[int]:
    """The sentence that one points back to, and the one that that points back to."""
    found: set[int] = set()
    while at and read[at].kind == "prose" and read[at - 1].block == read[at].block:
        before = read[at - 1]
        if not points_back(read[at].text, reading.language) or len(before.text) > LONGEST_BEFORE:
            break
        at -= 1
        found.add(at)
        if len(found) == 2:
            break
    return found


def _after(at: int, read: Sequence[Passage], forms: Sequence[str]) -> set[int]:
    """What a sentence promises: the next sentence, or the list that it leads to."""
    passage = read[at]
    if at + 1 >= len(read):
        return set()
    after = read[at + 1]
    if passage.kind == "prose" and _PROMISES.search(fold(passage.text).casefold()):
        if after.kind in ("item", "row"):
            return _around(
                at + 1, [place for place, one in enumerate(read) if one.group == after.group]
            )
        return {at + 1}
    if "howto" in forms and after.kind == "code" and passage.kind != "code" and after.lead:
        return {at + 1}
    return set()


def _length(chosen: Sequence[_Chosen], read: Sequence[Sequence[Passage]]) -> int:
    return sum(_words(read[each.source][at]) for each in chosen for at in each.orders)


def _words(passage: Passage) -> int:
    return len(passage.text.split())


def _quote(named: Named, chosen: _Chosen, read: Sequence[Passage], asked: Asked) -> Quote:
    parts = [Part(at, read[at], bool(read[at].lead)) for at in sorted(chosen.orders)]
    text, ranges = laid_out(parts)
    heading = parts[0].passage.heading
    known = named.source.heading.split(" > ")
    name = _expansion(named, asked) if 0 in chosen.orders and named.opens else ""
    return Quote(named.source, text, ranges, "" if heading in known else heading, name)


def _expansion(named: Named, asked: Asked) -> str:
    """The title of a note that the question knows by another name, as by its abbreviation."""
    words = asked.reading.words
    title = frozenset(words(named.source.title))
    if not asked.about or asked.about <= title:
        return ""
    return named.source.title if any(asked.about == set(words(one)) for one in named.names) else ""
