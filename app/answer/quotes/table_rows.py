"""Which rows of a table a question means. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, groupby

from notehop.app.answer.facts import YEAR_PATTERN
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion
from notehop.indexing.tokens.words import joined_words

MAX_SCORE_GAP = 2.0
"""Score by which another source may be behind the best."""

MAX_LIST_ITEMS = 14  # items or rows that are quoted of one list or table
MAX_TABLE_ROWS = 20
"""Rows that are quoted of a table, however it is cut, where they are what is asked for."""


_DAY = re.compile(rf"\b{YEAR_PATTERN}-\d\d|\.{YEAR_PATTERN}\b")
_SEVERAL = re.compile(r"[,:] |[;()/]| [–—-] ")
_OTHERS = re.compile(rf"\b(?:{'|'.join(WORD_LISTS['others'])})\b")


def is_one_of_rows(one: Candidate, forms: Collection[str]) -> bool:
    """Whether a passage is a row of a table which is not asked for as a whole."""
    return one.passage.kind == "row" and not {"list", "comparison"} & {*forms}


def agreement_of(row: Passage, question: PreparedQuestion) -> tuple[bool, int, int, int]:
    """Whether the question has all of a cell, how much of it, which column it is, and how many cells have
    any of it: what a row is called is more than what it says."""
    cells = [question.agreement(cell) for cell in row.text.split(" | ")]
    whole, count, column = max((*has, -at) for at, has in enumerate(cells))
    return whole, count, column if count else 0, sum(has > 0 for _, has in cells)


def put_named_row_first(
    ranked: list[Candidate], places: Iterable[Candidate], question: PreparedQuestion
) -> list[Candidate]:
    """The candidates, of the table of the best the row before its others of which a cell agrees most with
    the question: what it is called.

    :param places: the candidate at every place of the note of the best.
    """
    top = ranked[0]
    if not is_one_of_rows(top, question.parsed.forms):
        return ranked
    words = question.analyzer.words
    rows = [one for one in places if one.passage.table_head == top.passage.table_head]
    row_counts = Counter(chain(*({*words(one.passage.text)} & question.words for one in rows)))
    alone = {word for word, count in row_counts.items() if count == 1}
    if sum(not alone.isdisjoint(words(one.passage.text)) for one in rows) > 1:
        return ranked  # It asks to choose between them.
    first = max(rows, key=lambda row: agreement_of(row.passage, question))
    if agreement_of(first.passage, question) == agreement_of(top.passage, question):
        return ranked
    place = first.source_index, first.order
    return [first, *(one for one in ranked if (one.source_index, one.order) != place)]


def find_asked_rows(
    ranked: Sequence[Candidate],
    places: Callable[[Candidate], Iterable[Candidate]],
    question: PreparedQuestion,
) -> list[tuple[list[Candidate], str]]:
    """Return the rows of a table that are asked for, where the best candidate is one or stands beside it,
    by source, with what is said of them; empty where none are.

    :param ranked: best first.
    :param places: the candidates, like one, at every place of what was found, in text order.
    """
    best, counts = ranked[0], question.parsed.exact_kind == "count"
    near_best = (one for one in ranked if one.score >= best.score - MAX_SCORE_GAP)
    beside = (one for one in near_best if one.source_index == best.source_index and one.passage.kind == "row")
    top, forms = next(beside, None), {*question.parsed.forms}
    if top is None or not (counts or {"list", "open"} & forms):
        return []
    rows = [one for one in places(top) if one.passage.kind == "row"]
    matching, is_countable = _matching_rows(top, rows, question)
    if len(matching) == 1 and not (counts or "list" in forms):
        return []
    limit_note = f"The first {MAX_TABLE_ROWS} of " if len(matching) > MAX_TABLE_ROWS else ""
    name = f"{limit_note}{len(matching)} rows of what was found" if len(matching) > 1 and is_countable else ""
    groups = [[*its] for _, its in groupby(matching[:MAX_TABLE_ROWS], lambda one: one.source_index)]
    return [(its, "" if at else name) for at, its in enumerate(groups)]


def _matching_rows(
    top: Candidate, rows: Sequence[Candidate], question: PreparedQuestion
) -> tuple[list[Candidate], bool]:
    """Return the rows of a table of whose cells the question has most, if several are asked for, or that are
    called by all that is asked, and those of other tables with as much in columns of the same names; empty
    where these are all or none, or where the question is for others than have it. With them, whether each
    word of the question stands in some row, so that they may be counted.

    :param top: a row of the table.
    :param rows: all that were found, in text order.
    """
    if _OTHERS.search(question.parsed.folded):
        return [], False
    words, top_columns = question.analyzer.words, _column_names(top.passage)
    agreeing = [_agreeing_columns(one.passage, question) for one in rows]
    columns = {one for its in agreeing for one in its}.intersection(top_columns)
    columns = {one for one in columns if not question.words.isdisjoint(words(one))} or {*top_columns}
    rows_of_table = [
        (one, {head: its[head] for head in its if head in columns}, _row_words(one, question))
        for one, its in zip(rows, agreeing, strict=True)
        if one.passage.lead == top.passage.lead or (its and its.keys() <= {*top_columns})
    ]
    count = Counter(chain(*(words_held & question.words for _, _, words_held in rows_of_table)))
    heads = words(" ".join({one.passage.lead for one, _, _ in rows_of_table}))
    words_left = question.words.difference(heads) - {
        word for word in count if count[word] == len(rows_of_table)
    }
    # A word that one row alone has is there by chance; of several values one is enough.
    values = words(" ".join(cell for _, its, _ in rows_of_table for _, cell in its.values()))
    more = {word for word in words_left if count[word] > 1}.difference(values)
    agrees = []
    for _, its, words_held in rows_of_table:
        # What a row is called may have any word of the question.
        by_value = any(
            head != top_columns[0] or any(map(str.isdigit, cell)) for head, (_, cell) in its.items()
        )
        sure = more <= words_held if by_value else bool(words_left) and words_left <= words_held
        agrees.append((sum(size for size, _ in its.values()), sure) if sure or by_value else (0, False))
    matching = [one for (one, _, _), its in zip(rows_of_table, agrees, strict=True) if its == max(agrees)]
    return (
        matching if any(max(agrees)) and len(matching) < len(rows_of_table) else []
    ), words_left <= count.keys()


def _row_words(row: Candidate, question: PreparedQuestion) -> frozenset[str]:
    text = f"{row.quotable.source.title} {row.heading} {row.passage.text}"
    return frozenset(question.analyzer.words(text))


def _agreeing_columns(row: Passage, question: PreparedQuestion) -> dict[str, tuple[int, str]]:
    """The columns of which a row has a cell, or one of several things in it, that is the question's, and no
    word of their head by chance, with how much of it and what it is."""
    query_words, words = joined_words(question.parsed.text), question.analyzer.words
    by_column: dict[str, tuple[int, str]] = {}
    # What was of a year is told by its day, and not by the year that it is from.
    dated = _DAY.search(row.text) is not None
    for head, cell in zip(_column_names(row), _split_cells(row.markdown), strict=False):
        known_words = question.analyzer.function_words.union(words(head))
        for value in _SEVERAL.split(cell):
            whole, count = question.agreement(value)
            # "The Book of Why" is called so.
            has_own_word = not known_words.issuperset(words(value))
            year = dated and re.fullmatch(YEAR_PATTERN, value)
            if whole and not year and (has_own_word or (" " in value and joined_words(value) in query_words)):
                before, cells = by_column.get(head, (0, ""))
                by_column[head] = before + count, f"{cells} {value}"
    return by_column


def _column_names(row: Passage) -> list[str]:
    return _split_cells(row.table_head.partition("\n")[0])


def _split_cells(line: str) -> list[str]:
    """The cells of a row as it is written; ``\\|`` parts none."""
    return [one.strip() for one in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
