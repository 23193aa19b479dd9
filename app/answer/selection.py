"""Chooses what of the sources is quoted, and with it what it makes no sense without. Pure."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from notehop.app.answer.draft import Part, Quote, laid_out
from notehop.app.answer.passages import BETWEEN, Passage, passages, properties
from notehop.app.answer.relevance import Asked, Candidate, Named, Reading, spells
from notehop.indexing.tokens.words import fold

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

LISTED_AMONG = 8
"""Best candidates among which half of a list is that is quoted whole."""

_VALUES = ("number", "date", "person", "place", "yesno")

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


ANNOUNCING = (
    "describe describes description overview summary following below detail details goes document "
    "documentation page section note list how what where when"
)
"""Words of a sentence that says what a text is about, and nothing that the text says."""

_ENUMERATES = re.compile(r": [^,;]+[,;] [^,;]+(?:[,;] | and | or )")
"""An item that is a list of its own."""

_REFERS = re.compile(
    r"(?:^|[,;:] |please )(?:see|refer to|read more|for more|more (?:in|on|about)|cf)\b",
    re.IGNORECASE,
)
LONGEST_REFERENCE = 12
"""Words of a sentence that says where to read on, and no more than that."""

BESIDE_A_KEY = 1
"""Words that a question may have beside the note's name and the key of one of its properties, to ask
for no more than that."""

_FILED = re.compile(r"(?:date )?(?:created|modified|updated)\b", re.IGNORECASE)
"""Properties with the times of the file, which answer only who asks for them."""

_NAMING = re.compile(r"(?:alias|aliases|tag|tags|title|cssclass|cssclasses)\b", re.IGNORECASE)
"""Properties that name a note and say nothing of it."""

TYPED = ("number_there", "date_there", "name_there", "place_there")
"""Features of a passage that has a value of the kind that is asked for."""

NEAR = 1.5
"""How much less likely than the best passage a sentence may be that says "X is …"."""

_TO_THE_END = r"[^.]{0,60}[.)!\]]*$"

FAR = 3.0
"""The same of what a quoted sentence leads to."""

POINTERS = 3
"""Candidates, best first, that are followed where they lead."""


def points_back(sentence: str, language: str) -> bool:
    """Whether a sentence begins with a word that points to what was said before."""
    found = _FIRST_WORD.search(sentence)
    return found is not None and found[0].casefold() in POINTING.get(language, ())


@dataclass(slots=True)
class _Chosen:
    """What is quoted of one source at a time: the places of its passages."""

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
    ranked = [one for one in ranked if _quotable(one, ranked[0], asked, sources)]
    ranked = _first_of(
        lambda one: _named_property(one, asked, sources), _followed(ranked, sources, asked)
    )
    if any(one.subject for one in sources):
        # Who asks for news gets them before what a property calls status.
        ranked = _first_of(lambda one: one.passage.kind != "property", ranked)
    if asked.question.form == "definition":
        ranked = _first_of(_defines, ranked, NEAR)
    if asked.question.abbreviated:
        ranked = _first_of(lambda one: bool(one.features.get("spelt_out")), ranked)
    if not ranked:
        return []
    likely = _likelihoods(ranked)
    read = [passages(named.source.text, asked.reading.sentences) for named in sources]
    chosen: list[_Chosen] = []
    taken: list[Candidate] = []
    led: Candidate | None = None
    waiting = deque(_in_order(ranked, asked))
    while waiting:
        one = waiting.popleft()
        share = likely[one.source, one.order] / likely[ranked[0].source, ranked[0].order]
        there = [each for each in chosen if each.source == one.source]
        if any(one.order in each.orders for each in there):
            continue
        if taken and one is not led and not _adds(one, taken, share, asked):
            continue
        if taken and (_length(chosen, read) >= ENOUGH or len(taken) >= limit):
            continue
        orders = _with_context(one, ranked, read[one.source], likely, asked)
        beside = _beside(one, there, read[one.source])
        if beside is None:
            chosen.append(_Chosen(one.source, orders))
        elif share >= BEFORE or one.order > min(beside.orders):
            beside.orders |= orders
        else:
            continue
        taken.append(one)
        if len(taken) == 1 and (led := _led_to(one, orders, ranked, sources, asked)) is not None:
            waiting.appendleft(led)
    return [_quote(sources[each.source], each, read[each.source], asked) for each in chosen]


def _is_about(one: Candidate, pointer: Candidate, asked: Asked) -> bool:
    """Whether a passage that a sentence leads to has a word of the question, or what it asks for, or
    is like it."""
    typed = any(one.features.get(name) for name in TYPED)
    return typed or asked.share(one.words) > 0 or one.likeness >= pointer.likeness / 2


def _led_to(
    one: Candidate,
    orders: set[int],
    ranked: Sequence[Candidate],
    sources: Sequence[Named],
    asked: Asked,
) -> Candidate | None:
    """What the sentences that are quoted lead to: the second note of a question of two."""
    quoted = [each for each in ranked if each.source == one.source and each.order in orders]
    for each in ranked:
        title = sources[each.source].source.title
        if each.source != one.source and any(_leads_to(other, title) for other in quoted):
            return each if each.score >= one.score - FAR and _is_about(each, one, asked) else None
    return None


def _beside(one: Candidate, there: Sequence[_Chosen], read: Sequence[Passage]) -> _Chosen | None:
    """What is quoted of the source of a passage and can take it in: its paragraph, or what stands
    above it. What stands above the answer is quoted below it: who reads wants the answer first."""
    for each in there:
        if one.order > min(each.orders) or any(
            read[at].group == one.passage.group for at in each.orders
        ):
            return each
    return None


def _first_of(
    right: Callable[[Candidate], bool], ranked: list[Candidate], near: float = math.inf
) -> list[Candidate]:
    """The candidates, the best that is of a kind before all others.

    :param near: how much less likely it may be than the best of all, as a difference of scores.
    """
    best = next((one for one in ranked if right(one)), None)
    if best is None or best is ranked[0] or best.score < ranked[0].score - near:
        return ranked
    rest = [one for one in ranked if one is not best]
    return [replace(best, score=rest[0].score), *rest]


def _defines(one: Candidate) -> bool:
    return any(one.features.get(name) for name in ("term_is", "spelt_out", "of_its_note"))


def _followed(
    ranked: Sequence[Candidate], sources: Sequence[Named], asked: Asked
) -> list[Candidate]:
    """The candidates, with what a sentence leads to ("is described in X") in the place of it."""
    found = list(ranked)
    for pointer in found[:POINTERS]:
        if _has_value(pointer, asked):
            continue
        there = {
            at
            for at, named in enumerate(sources)
            if at != pointer.source and _leads_to(pointer, named.source.title)
        }
        meant = next((one for one in found if one.source in there), None)
        if meant is None or not _is_about(meant, pointer, asked):
            continue
        found.remove(pointer)
        if meant.score < found[0].score:
            found.remove(meant)
            found.insert(0, replace(meant, score=max(found[0].score, pointer.score)))
    return found


def _has_value(one: Candidate, asked: Asked) -> bool:
    """Whether a sentence that leads elsewhere may be an answer itself."""
    if one.features["says_where"]:
        return False
    return bool({"place", "person"} & set(asked.question.forms)) or any(
        one.features.get(name) for name in TYPED
    )


def _leads_to(one: Candidate, title: str) -> bool:
    """Whether a sentence says that more stands in another note, by its title."""
    text = one.passage.text
    if len(title) < 4 or title not in text:
        return False
    if one.features["says_where"]:
        return True
    name = re.escape(title)
    leads = rf"[,;:–—] see {name}|(?:[,;:–—]|\b(?:in|at|under|see)) {name} > "
    return re.search(rf"(?:{leads}){_TO_THE_END}", text) is not None


def _quotable(one: Candidate, first: Candidate, asked: Asked, sources: Sequence[Named]) -> bool:
    """Whether a passage says anything that the question does not."""
    named, passage, form = sources[one.source], one.passage, asked.question.form
    known = frozenset(asked.reading.words(" ".join((named.source.title, *named.names))))
    typed = any(one.features.get(name) for name in TYPED)
    if passage.kind == "heading":
        return True
    if passage.kind == "property":
        return _may_answer(one, first, asked, named) or asked.share(one.words - known) > 0
    if passage.kind == "code":
        return form not in ("definition", "person", "reason", "yesno")
    if passage.kind == "prose" and form != "list":
        said = one.words - asked.reading.small - asked.all_words - known
        length = len(_FIRST_WORD.findall(passage.text))
        if said <= frozenset(asked.reading.words(ANNOUNCING)):
            return False
        if length <= LONGEST_REFERENCE and not typed and _REFERS.search(passage.text):
            return False
    if one.fresh == 0 and passage.kind in ("prose", "item") and form != "list":
        return False
    return not one.features["bare"] or form == "list"


def _may_answer(one: Candidate, first: Candidate, asked: Asked, named: Named) -> bool:
    """Whether the properties of a note may answer a question in other words than theirs: how a note
    is filed is near all that is asked about it, and answers little of that."""
    form = asked.question.form
    if form in ("number", "date"):
        there = (each.text for each in properties(named.source.text) or (one.passage,))
        if not any(re.search(r"\d", each) and not _FILED.match(each) for each in there):
            return False
    elif form == "open":
        return one is first and _names(asked, named)
    elif form not in ("definition", "person", "place"):
        return False
    return one is first or _names(asked, named)


def _is_asked(one: Passage, asked: Asked) -> bool:
    """Whether a question asks for a property by its key."""
    key = frozenset(asked.reading.words(one.text.partition(":")[0]))
    return bool(key) and key <= asked.all_words


def _names(asked: Asked, named: Named) -> bool:
    """Whether a question names a note."""
    names = (frozenset(asked.reading.words(one)) for one in (named.source.title, *named.names))
    return any(bool(name) and name <= asked.all_words for name in names)


def _named_property(one: Candidate, asked: Asked, sources: Sequence[Named]) -> bool:
    """Whether a question asks for a property of a note, by its key and the note's name."""
    named = sources[one.source]
    return (
        one.passage.kind == "property"
        and _names(asked, named)
        and any(_is_asked(each, asked) for each in properties(named.source.text))
    )


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
    if asked.question.form == "definition" or taken[0].passage.kind == "property":
        return share >= DEFINED
    if one.passage.kind == "row" and not {"list", "comparison"} & set(asked.question.forms):
        # A value stands in one row of a table.
        same = [each for each in taken if each.source == one.source]
        if any(each.passage.group == one.passage.group for each in same):
            return False
    held = frozenset().union(*(other.words for other in taken))
    more = asked.share(held | one.words) - asked.share(held)
    return share >= (ALSO if more < 0.1 else ALSO / 2)


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= OVERLAP * shorter


def _with_context(
    one: Candidate,
    ranked: Sequence[Candidate],
    read: Sequence[Passage],
    likely: Mapping[tuple[int, int], float],
    asked: Asked,
) -> set[int]:
    """The places of a passage and of what it makes no sense without."""
    orders = {one.order}
    forms, passage = asked.question.forms, one.passage
    group = [at for at, other in enumerate(read) if other.group == passage.group]
    own = likely[one.source, one.order]
    of_list = "list" in forms or _is_listed(one, ranked, group, asked)
    whole = (
        (passage.kind == "item" and of_list and not _ENUMERATES.search(passage.text))
        or (passage.kind == "item" and "howto" in forms and passage.mark[:1].isdigit())
        or (passage.kind == "row" and bool({"list", "comparison"} & set(forms)))
    )
    if whole:
        orders |= _around(one.order, group)
    elif passage.kind == "heading":
        # What stands below says what it is.
        below = read[one.order + 1 : one.order + 2]
        if not asked.question.abbreviated and below and below[0].heading == passage.heading:
            orders.add(one.order + 1)
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


def _is_listed(
    one: Candidate, ranked: Sequence[Candidate], group: Sequence[int], asked: Asked
) -> bool:
    """Whether a list answers, and not one of its items."""
    if len(group) > LONGEST_LIST or any(form in asked.question.forms for form in _VALUES):
        return False
    if asked.question.form == "definition" and _defines(one):
        return False
    near = {(each.source, each.order) for each in ranked[:LISTED_AMONG]}
    beside = sum((one.source, at) in near for at in group)
    return beside > 1 and 2 * beside >= len(group)


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
    if "howto" not in forms or after.heading != passage.heading:
        return set()
    if passage.kind == "prose" and after.mark[:1].isdigit():
        steps = [place for place, one in enumerate(read) if one.group == after.group]
        return _around(at + 1, steps)
    if after.kind == "code" and passage.kind != "code" and after.lead:
        return {at + 1}
    return set()


def _length(chosen: Sequence[_Chosen], read: Sequence[Sequence[Passage]]) -> int:
    return sum(_words(read[each.source][at]) for each in chosen for at in each.orders)


def _words(passage: Passage) -> int:
    return len(passage.text.split())


def _quote(named: Named, chosen: _Chosen, read: Sequence[Passage], asked: Asked) -> Quote:
    if read[min(chosen.orders)].kind == "property":
        return _quote_properties(named, asked)
    parts = [Part(at, read[at], bool(read[at].lead)) for at in sorted(chosen.orders)]
    name = _expansion(named, asked) if 0 in chosen.orders and named.opens else ""
    if parts[0].passage.kind == "heading" and len(parts) > 1:
        name = parts.pop(0).passage.text
    text, ranges = laid_out(parts)
    heading = parts[0].passage.heading
    known = named.source.heading.split(" > ")
    return Quote(named.source, text, ranges, "" if heading in known else heading, name)


def _quote_properties(named: Named, asked: Asked) -> Quote:
    """The properties that are asked for by their keys, and the others that say something of the note
    where more is asked: "who wrote it" does not ask for its author by the key."""
    words = asked.reading.words
    listed = properties(named.source.text)
    shown = [one for one in listed if _is_asked(one, asked)]
    keys = " ".join(one.text.partition(":")[0] for one in shown)
    known = frozenset(words(" ".join((named.source.title, *named.names, keys))))
    if not shown or len(asked.words - known) > BESIDE_A_KEY:
        shown += [one for one in listed if one not in shown and not _NAMING.match(one.text)]
    shown = shown or list(listed)
    text = f"{BETWEEN} ".join(one.text for one in shown)
    return Quote(named.source, text, tuple(place for one in shown for place in one.ranges))


def _expansion(named: Named, asked: Asked) -> str:
    """The title of a note that the question knows by another name, as by its abbreviation."""
    words = asked.reading.words
    title = frozenset(words(named.source.title))
    if spells(asked.question.about, named.source.title):
        return named.source.title
    if not asked.about or asked.about <= title:
        return ""
    return named.source.title if any(asked.about == set(words(one)) for one in named.names) else ""
