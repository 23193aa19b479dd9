"""Which rows of a table a question means. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, groupby

from notehop.app.answer.facts import YEAR
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.blocks import Passage
from notehop.indexing.tokens.words import joined_words

NEAR = 2.0  # how much less likely than the best source another may be, as a difference of scores
LONGEST_LIST = 14  # items or rows that are quoted of one list or table
MOST_ROWS = (
    20  # rows that are quoted of a table, however it is cut, where they are what is asked for
)


_DAY = re.compile(rf"\b{YEAR}-\d\d|\.{YEAR}\b")
_SEVERAL = re.compile(r"[,:] |[;()/]| [–—-] ")
_OTHERS = re.compile(rf"\b(?:{'|'.join(WORD_LISTS['others'])})\b")


def is_one_of_rows(one: Candidate, forms: Collection[str]) -> bool:
    """Whether a passage is a row of a table which is not asked for as a whole."""
    return one.passage.kind == "row" and not {"list", "comparison"} & {*forms}


def agreement_of(row: Passage, asked: Asked) -> tuple[bool, int, int, int]:
    """Whether the question has all of a cell, how much of it, which column it is, and how many cells have
    any of it: what a row is called is more than what it says."""
    cells = [asked.agreement(cell) for cell in row.text.split(" | ")]
    whole, count, column = max((*has, -at) for at, has in enumerate(cells))
    return whole, count, column if count else 0, sum(has > 0 for _, has in cells)


def row_first(found: list[Candidate], places: Iterable[Candidate], asked: Asked) -> list[Candidate]:
    """The candidates, of the table of the best the row before its others of which a cell agrees most with
    the question: what it is called.

    :param places: the candidate at every place of the note of the best.
    """
    top = found[0]
    if not is_one_of_rows(top, asked.question.forms):
        return found
    words = asked.reading.words
    rows = [one for one in places if one.passage.frame == top.passage.frame]
    held = Counter(chain(*({*words(one.passage.text)} & asked.words for one in rows)))
    alone = {word for word, count in held.items() if count == 1}
    if sum(not alone.isdisjoint(words(one.passage.text)) for one in rows) > 1:
        return found  # It asks to choose between them.
    first = max(rows, key=lambda row: agreement_of(row.passage, asked))
    if agreement_of(first.passage, asked) == agreement_of(top.passage, asked):
        return found
    place = first.source, first.order
    return [first, *(one for one in found if (one.source, one.order) != place)]


def rows_asked(
    found: Sequence[Candidate], places: Callable[[Candidate], Iterable[Candidate]], asked: Asked
) -> list[tuple[list[Candidate], str]]:
    """Where rows of a table may be asked for, and the best is one or stands beside it, those that are meant,
    by source, with what is said of them; empty where none are.

    :param found: best first.
    :param places: the candidates, like one, at every place of what was found, in text order.
    """
    best, counts = found[0], asked.question.exact == "count"
    near = (one for one in found if one.score >= best.score - NEAR)
    beside = (one for one in near if one.source == best.source and one.passage.kind == "row")
    top, forms = next(beside, None), {*asked.question.forms}
    if top is None or not (counts or {"list", "open"} & forms):
        return []
    rows = [one for one in places(top) if one.passage.kind == "row"]
    meant, counted = _meant(top, rows, asked)
    if len(meant) == 1 and not (counts or "list" in forms):
        return []
    some = f"The first {MOST_ROWS} of " if len(meant) > MOST_ROWS else ""
    name = f"{some}{len(meant)} rows of what was found" if len(meant) > 1 and counted else ""
    groups = [[*its] for _, its in groupby(meant[:MOST_ROWS], lambda one: one.source)]
    return [(its, "" if at else name) for at, its in enumerate(groups)]


def _meant(top: Candidate, rows: Sequence[Candidate], asked: Asked) -> tuple[list[Candidate], bool]:
    """Of a table of which several rows are asked for, those of whose cells the question has most, or that are
    called by all that is asked, and those of other tables with as much in columns of the same names; empty
    where these are all or none, or where the question is for others than have it. With them, whether each
    word of the question stands in some row, so that they may be counted.

    :param top: a row of the table.
    :param rows: all that were found, in text order.
    """
    if _OTHERS.search(asked.question.plain):
        return [], False
    words, own = asked.reading.words, _columns(top.passage)
    agreeing = [_agreeing(one.passage, asked) for one in rows]
    columns = {one for its in agreeing for one in its}.intersection(own)
    columns = {one for one in columns if not asked.words.isdisjoint(words(one))} or {*own}
    read = [
        (one, {head: its[head] for head in its if head in columns}, _held(one, asked))
        for one, its in zip(rows, agreeing, strict=True)
        if one.passage.lead == top.passage.lead or (its and its.keys() <= {*own})
    ]
    count = Counter(chain(*(held & asked.words for _, _, held in read)))
    heads = words(" ".join({one.passage.lead for one, _, _ in read}))
    left = asked.words.difference(heads) - {word for word in count if count[word] == len(read)}
    # A word that one row alone has is there by chance; of several values one is enough.
    values = words(" ".join(cell for _, its, _ in read for _, cell in its.values()))
    more = {word for word in left if count[word] > 1}.difference(values)
    agrees = []
    for _, its, held in read:
        # What a row is called may have any word of the question.
        by_value = any(
            head != own[0] or any(map(str.isdigit, cell)) for head, (_, cell) in its.items()
        )
        sure = more <= held if by_value else bool(left) and left <= held
        agrees.append(
            (sum(size for size, _ in its.values()), sure) if sure or by_value else (0, False)
        )
    meant = [one for (one, _, _), its in zip(read, agrees, strict=True) if its == max(agrees)]
    return (meant if any(max(agrees)) and len(meant) < len(read) else []), left <= count.keys()


def _held(row: Candidate, asked: Asked) -> frozenset[str]:
    text = f"{row.named.source.title} {row.heading} {row.passage.text}"
    return frozenset(asked.reading.words(text))


def _agreeing(row: Passage, asked: Asked) -> dict[str, tuple[int, str]]:
    """The columns of which a row has a cell, or one of several things in it, that is the question's, and no
    word of their head by chance, with how much of it and what it is."""
    said, words = joined_words(asked.question.text), asked.reading.words
    found: dict[str, tuple[int, str]] = {}
    # What was of a year is told by its day, and not by the year that it is from.
    dated = _DAY.search(row.text) is not None
    for head, cell in zip(_columns(row), _cells(row.written), strict=False):
        known = asked.reading.small.union(words(head))
        for one in _SEVERAL.split(cell):
            whole, count = asked.agreement(one)
            # "The Book of Why" is called so.
            own = not known.issuperset(words(one))
            year = dated and re.fullmatch(YEAR, one)
            if whole and not year and (own or (" " in one and joined_words(one) in said)):
                before, cells = found.get(head, (0, ""))
                found[head] = before + count, f"{cells} {one}"
    return found


def _columns(row: Passage) -> list[str]:
    return _cells(row.frame.partition("\n")[0])


def _cells(line: str) -> list[str]:
    """The cells of a row as it is written; ``\\|`` parts none."""
    return [one.strip() for one in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
