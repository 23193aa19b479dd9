"""Which rows of a table a question means. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.blocks import Passage

LONGEST_LIST = 14  # items or rows that are quoted of one list or table
MOST_ROWS = (
    20  # rows that are quoted of a table, however it is cut, where they are what is asked for
)


_SEVERAL = re.compile(r"[,:] |[;()/]| [–—-] ")


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


def rows_meant(top: Candidate, rows: Sequence[Candidate], asked: Asked) -> list[Candidate]:
    """Of a table of which several rows are asked for, those of whose cells the question has most, or all of
    its words that tell rows apart, and those of other tables with as much in columns of the same names;
    empty where these are all or none.

    :param top: a row of the table.
    :param rows: all that were found, in text order.
    """
    lead = frozenset(asked.reading.words(top.passage.lead))
    columns = {*_columns(top.passage)}
    read = []
    for one in rows:
        cells = _agreeing(one.passage, asked, lead)
        if one.passage.lead == top.passage.lead or (cells and cells.keys() <= columns):
            read.append((one, cells, _held(one, asked)))
    held = Counter(chain(*(its & asked.words for _, _, its in read)))
    left = {word for word in held if held[word] < len(read)} - lead
    # Beside a cell, a word that one row alone has is there by chance.
    more = {word for word in left if held[word] > 1}
    agrees = [
        (sum(its.values()), bool(left) and (more if its else left) <= has) for _, its, has in read
    ]
    meant = [one for (one, _, _), its in zip(read, agrees, strict=True) if its == max(agrees)]
    return meant if any(max(agrees)) and len(meant) < len(read) else []


def _held(row: Candidate, asked: Asked) -> frozenset[str]:
    text = f"{row.named.source.title} {row.heading} {row.passage.text}"
    return frozenset(asked.reading.words(text))


def _agreeing(row: Passage, asked: Asked, lead: frozenset[str]) -> dict[str, int]:
    """The columns of which a row has a cell, or one of several things in it, that is the question's, and not
    the head's, with how much of it; if it names some of them, those alone."""
    words = asked.reading.words
    found: dict[str, int] = {}
    for head, cell in zip(_columns(row), _cells(row.written), strict=False):
        for one in _SEVERAL.split(cell):
            whole, count = asked.agreement(one)
            if whole and not lead.issuperset(words(one)):
                found[head] = max(count, found.get(head, 0))
    named = {one: found[one] for one in found if not asked.words.isdisjoint(words(one))}
    return named or found


def _columns(row: Passage) -> list[str]:
    return _cells(row.frame.partition("\n")[0])


def _cells(line: str) -> list[str]:
    """The cells of a row as it is written; ``\\|`` parts none."""
    return [one.strip() for one in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
