"""Further searches for one query: for each of the questions it asks, and with what was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import BaseNode, NodeWithScore

from notehop.app.retrieval.components import (
    Nodes,
    TracedQuery,
    TracedRetriever,
    ViewSource,
    fill_stubs,
    view_for,
    with_metadata,
    word_set,
)
from notehop.app.retrieval.retrievers import fuse, normalize_vector
from notehop.config.errors import UsageError
from notehop.indexing.tokens.words import FUNCTION_WORDS, detect_language, fold

COMPOUND = "compound"
"""The name in a query's timings of the searches for each of its questions."""

MAX_QUESTIONS = 3  # of a query that are searched for by themselves, at most

MAX_SPLIT_CHARS = 1_000  # characters of a query that is taken apart: what is longer is a text

_PREPOSITION = (
    "(?:at|by|for|from|in|of|on|since|to|until|with|an|auf|bei|bis|mit|seit|von|zu|a|de|en|par|pour|con) "
)
"""What may stand before the word that asks, and then refers to what was said before it."""

_LANGUAGES = {
    "en": (
        "and|but",
        "what|whats|which|who|whos|whom|whose|when|where|why|how",
        "it|its|they|them|their|he|him|his|she|her|this|that|these|those|one|others?|rest|same",
    ),
    "de": (
        "und|oder|aber",
        "was|wer|wem|wen|wessen|wann|wo|wohin|woher|warum|wieso|weshalb|wie|welche[nmrs]?",
        "es|sie|ihn|ihm|ihr|er|dies\\w*|andere[nrs]?",
    ),
    "fr": (
        "et|mais",
        "qui|quoi|quand|pourquoi|comment|combien|quel(?:le)?s?",
        "il|elle|ils|elles|lui|cela|ca|autres?",
    ),
    "es": (
        "y|e|pero",
        "quien(?:es)?|cuando|donde|cual(?:es)?|cuant[oa]s?|como",
        "el|ella|ellos|ellas|esto|otr[oa]s?",
    ),
}
"""Language -> expressions, folded: what joins two questions, what begins one, what may refer to the one
before."""

_NO_RELATIVE_PRONOUN = r"(?!(?:who|which|whom|qui)\b)"
"""Begins a clause as well, where nothing but a conjunction stands before."""

_COMPARISON = re.compile(
    r"\b(?:compar\w*|differ\w*|versus|vs|between|vergleich\w*|unterschied\w*|zwischen|entre)\b"
)
"""A comparison is one question."""

MIN_OWN_WORDS, MIN_OWN_WORDS_REFERRING = 1, 3
"""Words of its own that a question needs to be searched for by itself; more, where it may refer to what
stands before it."""


def split_questions(query: str) -> list[str]:
    """Split a query into questions that may each be asked by itself, in their order; one for most queries.

    "What shuts the gate, and who made it?" stays one: its end asks for nothing without its beginning.
    """
    parts = split_query(query)
    return [text for text, _ in parts] if all(alone for _, alone in parts) else [query]


def split_query(query: str) -> list[tuple[str, bool]]:
    """Split a query into its questions, in their order, each with whether it may be asked by itself."""
    written = " ".join(query.split())
    language = detect_language([written]) if len(written) <= MAX_SPLIT_CHARS else ""
    if language not in _LANGUAGES:
        return [(query, True)]
    join, ask, refer = _LANGUAGES[language]
    plain = fold(written).casefold()
    if len(plain) != len(written):
        written = plain
    begin = rf"(?=(?:{_PREPOSITION})?(?:{ask})\b)"
    apart = rf"[?] ?{begin}|[,;] (?:{join}) {begin}| (?:{join}) {_NO_RELATIVE_PRONOUN}{begin}"
    ends = [0, *(at for parts in re.finditer(apart, plain) for at in parts.span()), len(plain)]
    places = list(zip(ends[::2], ends[1::2], strict=True))
    if not 1 < len(places) <= MAX_QUESTIONS or _COMPARISON.search(plain):
        return [(query, True)]
    parts = []
    for first, end in places:
        text = plain[first:end]
        words = set(re.findall(r"[^\W_]+", text)) - FUNCTION_WORDS[language]
        own_words = [one for one in words if re.fullmatch(ask, one) is None]
        refers = first and re.search(rf"^{_PREPOSITION}|\b(?:{refer})\b", text)
        alone = len(own_words) >= (MIN_OWN_WORDS_REFERRING if refers else MIN_OWN_WORDS)
        parts.append((written[first:end].strip(" ?,;-"), alone))
    return parts


class CompoundRetriever(TracedRetriever):
    """Asks any LlamaIndex retriever for each question of a query, and for the whole of it.

    Of a query with several, the best hits of each take turns with those of the whole; scores are those
    of the whole at these places. Every other query is handed on as it is.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        super().__init__()
        self._retriever = retriever

    def find(self, query: TracedQuery) -> Nodes:
        """Return the hits, best first, as many as the whole query finds."""
        whole_hits = self._retriever.retrieve(query)
        questions = split_questions(query.query_str)
        if len(questions) == 1:
            return whole_hits
        rankings: list[Nodes] = []
        with query.trace.timed(COMPOUND):
            for question in questions:
                subquery = TracedQuery(question, view=query.view, current=query.current)
                rankings.append(self._retriever.retrieve(subquery))
                for warning in subquery.trace.warnings:
                    query.trace.warn(warning)
        turns: dict[str, NodeWithScore] = {}
        for hit in chain.from_iterable(zip_longest(*rankings, whole_hits)):
            if hit is not None:
                turns.setdefault(hit.node.node_id, hit)
        return [
            NodeWithScore(node=hit.node, score=place.score)
            for hit, place in zip(turns.values(), whole_hits, strict=False)
        ]


SECOND_LOOK = "second_look"
"""The name of this stage in a query's trace, and of what it says in a hit's metadata."""

MAX_SECOND_LOOK_SEEDS = 2  # hits that are asked with: a third brings no more (docs/evaluation.md)
RRF_K = 10  # rank offset of the fusion over the seeds: there are tens of candidates

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_])|\n+")
_MAX_BEGINNING_CHARS = 400  # characters of a seed whose names are asked for, at most
_MAX_SHARED_WORDS = 5  # words that a hit shares with its seed and that are told

WordTokenizer = Callable[[str], Sequence[tuple[str, Sequence[str]]]]
"""A text -> its words in order, as written, each with its tokens: forms that are taken for the same."""


class SecondLookRetriever(TracedRetriever):
    """Finds what a query names only by way of what is found first, with any two LlamaIndex retrievers.

    The first hits of ``retriever`` are seeds. ``again`` is asked for each, by words with those of the
    query that the seed lacks and the names in its title and first two sentences that the query lacks;
    by meaning with the sum of the vectors of query and seed, which no model has to make where the index
    has the seed's. What it finds is fused by reciprocal rank over the seeds. The best of that, of
    other notes than the first ``keep`` hits and each note once, stand behind those hits, whose order
    and scores are untouched, and before the others. Each has ``metadata["second_look"]``: ``path``
    and ``title`` of the seed that led to it and the ``words`` of it that were asked for and that it
    holds. Where the second search fails, the hits are those of the first, with a warning.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        again: BaseRetriever,
        *,
        view: ViewSource,
        words: WordTokenizer,
        keep: int,
        most: int,
        tentative: bool = False,
    ) -> None:
        """:param words: those of a text that say something.
        :param keep: hits of the first search that nothing is put before, at least 1.
        :param most: hits of the second search at most.
        :param tentative: whether what both searches find stays where the first has it, too, for a later
            stage to choose (:class:`ConnectedNotesPostprocessor` with ``tokens``).
        """
        super().__init__()
        self._retriever = retriever
        self._again = again
        self._view = view
        self._words = words
        self._keep, self._most = keep, most
        self._tentative = tentative

    def find(self, query: TracedQuery) -> Nodes:
        """Return the hits of the first search with those of the second among them."""
        first_hits = self._retriever.retrieve(query)
        if not first_hits:
            return first_hits
        trace = query.trace
        with trace.timed(SECOND_LOOK):
            try:
                new = self._search_again(query, first_hits)
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken retriever; said, never swallowed
                trace.warn(f"the second look failed ({type(exc).__name__}: {exc})")
                return first_hits
        trace.count(SECOND_LOOK, hits=len(new))
        moved_ids = set() if self._tentative else {hit.node.node_id for hit in new}
        rest = [hit for hit in first_hits[self._keep :] if hit.node.node_id not in moved_ids]
        return [*first_hits[: self._keep], *new, *rest]

    def _search_again(self, query: TracedQuery, first_hits: Nodes) -> Nodes:
        """Return what the second search adds, best first, each hit with the seed that led to it."""
        view, first = view_for(query, self._view), first_hits[: self._keep]
        by_id = {hit.node.node_id: hit.node for hit in fill_stubs(first[:MAX_SECOND_LOOK_SEEDS], view)}
        vectors = dict(zip(*view.chunk_vectors.rows(list(by_id)), strict=True))
        names: dict[str, list[str]] = {}
        rankings: dict[str, list[str]] = {}
        hits: dict[str, NodeWithScore] = {hit.node.node_id: hit for hit in first_hits}
        for id_, seed in by_id.items():
            second, names[id_] = self._make_second_query(query, seed)
            if query.vector is not None and id_ in vectors:
                second.vector = normalize_vector(query.vector + vectors[id_])
            ranked = self._again.retrieve(second)
            for warning in second.trace.warnings:
                query.trace.warn(warning)
            rankings[id_] = [hit.node.node_id for hit in ranked]
            for hit in ranked:
                hits.setdefault(hit.node.node_id, hit)
        # The note of each hit; one that is of none stands for itself.
        notes = {
            id_: path or _note_of(hit.node) or id_
            for (id_, hit), path in zip(hits.items(), view.paths_of(hits), strict=True)
        }
        seen_notes = {notes[hit.node.node_id] for hit in first}
        best: dict[str, Mapping[str, int]] = {}
        for one in fuse(rankings, k=RRF_K):
            if notes[one.id] not in seen_notes and len(best) < self._most:
                seen_notes.add(notes[one.id])
                best[one.id] = one.ranks
        added: Nodes = []
        for hit in fill_stubs([hits[one] for one in best], view):
            id_, ranks = hit.node.node_id, best[hit.node.node_id]
            seed = by_id[min(ranks, key=lambda one: (ranks[one], one))]
            hit_words = word_set(f"{_title_of(hit.node)} {hit.node.get_content()}")
            shared = [word for word in names[seed.node_id] if word_set(word) <= hit_words]
            led = {
                "path": _note_of(seed),
                "title": _title_of(seed),
                "words": sorted(shared, key=lambda word: (-len(word), word))[:_MAX_SHARED_WORDS],
            }
            # A score for its place: not above the hits before it, nor below the others.
            node = with_metadata(hits[id_].node, second_look=led)
            added.append(NodeWithScore(node=node, score=first[-1].score))
        return added

    def _make_second_query(self, query: TracedQuery, seed: BaseNode) -> tuple[TracedQuery, list[str]]:
        """Make the query that is asked with a seed, and return its names, in small letters."""
        title, text = _title_of(seed), seed.get_content()
        beginning = f"{title}. {' '.join(_SENTENCE_END.split(text.strip())[:2])[:_MAX_BEGINNING_CHARS]}"
        query_words = self._words(query.query_str)
        seed_tokens = {token for _, tokens in self._words(f"{title}. {text}") for token in tokens}
        lacking = [word for word, tokens in query_words if seed_tokens.isdisjoint(tokens)]
        query_tokens = {token for _, tokens in query_words for token in tokens}
        new = [word for word, tokens in self._words(beginning) if query_tokens.isdisjoint(tokens)]
        # Where letters have no case, or all are small, any word may be a name.
        names = [word for word in new if word != word.lower() or word.isdigit()] or new
        words = dict.fromkeys([*lacking, *names])
        # What embeds them takes the mean of both. What is counted and timed of it is not what the
        # first search was.
        texts = [query.query_str, beginning]
        second = TracedQuery(" ".join(words), custom_embedding_strs=texts, view=query.view)
        return second, list(dict.fromkeys(word.casefold() for word in names))


def _note_of(node: BaseNode) -> str:
    return str(node.metadata.get("path") or node.metadata.get("file_path") or "")


def _title_of(node: BaseNode) -> str:
    return str(node.metadata.get("title", ""))
