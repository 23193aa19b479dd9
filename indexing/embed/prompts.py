"""Which words a model wants before a query and before a passage. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_QUERY_NAMES = ("query", "search_query", "retrieval.query", "Retrieval-query", "s2p_query")
_PASSAGE_NAMES = (
    "passage",
    "document",
    "search_document",
    "retrieval.passage",
    "Retrieval-document",
    "text",
)

_FAMILIES: tuple[tuple[str, str, str], ...] = (
    # (pattern of the name, before a query, before a passage), as the models' own pages say.
    (r"\be5-.*instruct", "Instruct: Retrieve relevant passages\nQuery: ", ""),
    (r"\be5\b", "query: ", "passage: "),
    (r"embedding-?gemma", "task: search result | query: ", "title: none | text: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"arctic-embed.*v2", "query: ", ""),
    (
        r"arctic-embed|\bmxbai-embed|\bbge-(?:small|base|large)-en",
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    (r"\bbge-(?:small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)


@dataclass(frozen=True, slots=True)
class Prompts:
    """Text put before a query and before a passage; empty for models that want none."""

    query: str = ""
    passage: str = ""


def choose_prompts(
    name: str,
    declared: Mapping[str, str],
    default: str | None,
    *,
    query: str | None,
    passage: str | None,
) -> Prompts:
    """Choose the prompts: the user's, else the model's own, else those known of its family.

    :param name: hub name, or name of the folder.
    :param declared: ``prompts`` of the model's ``config_sentence_transformers.json``; prompts that
        are all empty declare nothing (the library writes such by itself).
    :param default: the declared prompt that holds where no other is named.
    :param query: what the settings say; None means nothing, "" means no prompt.
    """
    known = Prompts()
    if any(declared.values()):
        fallback = declared.get(default or "", "")
        known = Prompts(
            query=_first(declared, _QUERY_NAMES, fallback),
            passage=_first(declared, _PASSAGE_NAMES, fallback),
        )
    else:
        for pattern, before_query, before_passage in _FAMILIES:
            if re.search(pattern, name.lower()):
                known = Prompts(before_query, before_passage)
                break
    return Prompts(
        query=known.query if query is None else query,
        passage=known.passage if passage is None else passage,
    )


def _first(declared: Mapping[str, str], names: tuple[str, ...], fallback: str) -> str:
    """The first that says something; "" only where a name is declared and none says anything."""
    said = [declared[name] for name in names if name in declared]
    return next((prompt for prompt in said if prompt), "" if said else fallback)
