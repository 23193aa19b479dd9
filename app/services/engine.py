"""What outlives a query: the reader of the index, the models, and how a query runs through them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, NamedTuple, NoReturn

import numpy as np
from llama_index.core import Settings as LlamaSettings
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore

from notehop.app.answer.claims import Checker
from notehop.app.answer.facts import facts_of
from notehop.app.answer.follow_up import Turn
from notehop.app.answer.llm_synthesizer import LlmSynthesizer
from notehop.app.answer.material import CONNECTED_ROLE, open_uri
from notehop.app.answer.quotes.extractive_synthesizer import ExtractiveSynthesizer
from notehop.app.answer.quotes.passages import split_into_passages
from notehop.app.answer.quotes.text_analyzer import NormalizedVectors, Term, TextAnalyzer, synonyms_by_token
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.lists.list_question import ListQuestion, parse_list_question
from notehop.app.lists.rewording import reword_question
from notehop.app.lists.vault_question import VaultQuestion
from notehop.app.retrieval.chain import QueryChain, RetrievalRequest
from notehop.app.retrieval.components import Nodes, TracedQuery, TracedRetriever, hit_with_metadata, word_set
from notehop.app.retrieval.filters import apply_filters, validate_query
from notehop.app.retrieval.relevance import make_template_test, question_words
from notehop.app.retrieval.rerank import CrossEncoderScorer, shared_scorer
from notehop.app.retrieval.spelling import correct_spelling, replace_words
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.open_vault import Place, remedy
from notehop.config.errors import ModelError, UsageError
from notehop.indexing.embed.models import languages_read
from notehop.indexing.embed.onnx_embedding import QueryEmbedder, load_query
from notehop.indexing.llm.provider_llm import ProviderLLM
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.lexical import idf
from notehop.indexing.stores.reader import Reader, Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import FUNCTION_WORDS, clear_language
from notehop.indexing.vault.plain import sentence_spans

NO_TEXT = (
    "the index holds no text; write some notes, or look at what notehop status says was skipped, "
    "then run: notehop index"
)

NO_WORDS = "the query has no words to look for; it is compared by meaning alone"

SPELLING = "spelling"  # the stage of a query that reads its misspelled words
FILTERS = "filters"  # the stage of a query that finds what its filters leave


Run = Callable[[TracedQuery, RetrievalRequest], list[NodeWithScore]]

# Questions come back to the same notes, and each is compared often.
PASSAGES = 4_096  # passages whose vectors are remembered: some 10 MB
QUERIES = 64  # questions and sentences of answers whose vectors are remembered


class VaultRetriever(TracedRetriever):
    """Finds sources, best first, then (unless switched off) the notes they are linked with.

    Connected notes have ``metadata["role"] == "connected"``: they are context, not to be cited.
    """

    def __init__(self, run: Run, request: RetrievalRequest, vault: str) -> None:
        """:param vault: its name, for the links that open a note."""
        super().__init__(callback_manager=LlamaSettings.callback_manager)
        self._run = run
        self._request = request
        self._vault = vault

    def find(self, query: TracedQuery) -> Nodes:
        found: Nodes = []
        for hit in self._run(query, self._request):
            about = hit.node.metadata
            uri = open_uri(self._vault, about["path"], about["heading_path"])
            found.append(hit_with_metadata(hit, uri=uri))
        return found

    def then(self, keep: Callable[[Nodes], Nodes], **changes: Any) -> VaultRetriever:
        """One that keeps some of what this one finds; ``changes`` are fields of its request."""
        return VaultRetriever(
            lambda query, request: keep(self._run(query, request)),
            replace(self._request, **changes),
            self._vault,
        )

    def __deepcopy__(self, _: object) -> VaultRetriever:
        # The vault is open once: a copy asks the same.
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a retriever of an open vault cannot be pickled; open the vault there, and ask it for one"
        )


class _Language(NamedTuple):
    """What follows from the language of an index, with what was read last."""

    catalog: Catalog
    tokenizer: Tokenizer
    analyzer: TextAnalyzer
    synthesizer: VaultSynthesizer


class Engine:
    """Runs queries over one index. Threads may share it; the model is loaded when first needed.

    :ivar llm: the language model: what was handed in, else what the settings name; None for neither.
    :ivar ready: whether all that a query needs is loaded.
    """

    def __init__(self, place: Place, llm: LLM | None, reader: Reader) -> None:
        self.place = place
        self._reader = reader
        self._generation = reader.generation  # of the texts that are remembered
        if llm is None and place.settings.llm.provider != "none":
            llm = ProviderLLM(place.settings, place.log_dir)
        self.llm = llm
        self.ready = False
        self._loading = threading.RLock()
        self._closed = False
        self._embedder: QueryEmbedder | None = None
        self._scorer: CrossEncoderScorer | None = None
        self._language: _Language | None = None
        # Those of all readings, also of one that somebody holds on to.
        self._known: dict[bytes, NormalizedVectors] = {}  # by the hash of the text
        self._words = lru_cache(maxsize=4_096)(Tokenizer.__call__)
        self._asked = lru_cache(maxsize=QUERIES)(lambda query: self.embedder.embed_query(query))

    def close(self) -> None:
        """Let go of the index, and of the connections of the model that the settings name."""
        if not self._closed:
            self._closed = True
            with self._loading:
                self._forget()
                self._embedder = self._scorer = self._language = None
                self._known = {}
            self._reader.close()
            if isinstance(self.llm, ProviderLLM):
                self.llm.close()

    def _forget(self) -> None:
        """Forget texts that were read: notes may have been withdrawn."""
        for cached in (word_set, split_into_passages, self._words, self._asked):
            cached.cache_clear()

    def check_open(self) -> None:
        """Refuse what is asked of a closed vault."""
        if self._closed:
            raise UsageError("the vault was closed; ask while it is open, or open it again with open_vault")

    @property
    def generation(self) -> int:
        """The generation that was read last."""
        return self._reader.generation

    @property
    def reader(self) -> Reader:
        """The reader of the index; UsageError once the vault is closed."""
        self.check_open()
        return self._reader

    @contextmanager
    def current(self) -> Iterator[CurrentNotes]:
        """The newest generation, held against the files of the vault."""
        with self.reader.snapshot() as view:
            yield CurrentNotes(view, self.place)

    @property
    def embedder(self) -> QueryEmbedder:
        """The model that embedded the index."""
        with self._loading:
            if self._embedder is None:
                folder = self.place.layout.model
                self._embedder = load_query(folder, self.place.settings.embedding)
            return self._embedder

    @property
    def scorer(self) -> CrossEncoderScorer | None:
        """The model that reranks; None where the settings name none."""
        settings = self.place.settings.rerank
        with self._loading:
            if self._scorer is None and settings.model:
                self._scorer = shared_scorer(settings)
            return self._scorer

    def warm(self) -> None:
        """As :meth:`VaultHandle.warm`. A broken rerank is no reason to fail: each reply says so."""
        self.embedder.embed_query("warm")
        if (scorer := self.scorer) is not None:
            with suppress(ModelError):
                scorer.load()
        self._as_indexed()
        self.ready = True

    @property
    def tokenizer(self) -> Tokenizer:
        """What reads words as the index does."""
        return self._as_indexed().tokenizer

    @property
    def synthesizer(self) -> VaultSynthesizer:
        """What makes the answer: the language model if there is one, else quotes."""
        return self._as_indexed().synthesizer

    def own_synthesizer(self, llm: LLM | None = None) -> VaultSynthesizer:
        """One whose prompts are its own, by another language model if one is given."""
        if llm is None:
            return copy(self.synthesizer)
        return self._synthesizer(self._as_indexed().analyzer, llm)

    def _as_indexed(self) -> _Language:
        """What depends on the language of the index as it is now: a rebuild may have found another."""
        catalog = self.reader.catalog
        with self._loading:
            if self._language is not None and self._language.catalog is catalog:
                return self._language
            language = catalog.meta().get("fingerprint", {}).get("language")
            tokenizer = Tokenizer(str(language or "en"))
            analyzer = self._make_analyzer(tokenizer)
            synthesizer = self._synthesizer(analyzer, self.llm)
            found = _Language(catalog, tokenizer, analyzer, synthesizer)
            # An empty index has no language yet: look again with the next query.
            self._language = found if language else None
            return found

    def _make_analyzer(self, tokenizer: Tokenizer) -> TextAnalyzer:
        """Return the analyzer for the language of the index; it remembers the vectors of texts read last."""
        language = tokenizer.language
        synonyms = synonyms_by_token(tokenizer)

        def terms(query: str) -> list[Term]:
            foreign = clear_language(query) not in (None, language)
            index = self.reader.lexical
            found: dict[str, Term] = {}
            for word in question_words(query, tokenizer, index):
                tokens = [token for token in tokenizer.query(word.text) if token in word.tokens]
                tokens = tokens or list(word.tokens[:1])
                frequencies = [index.frequency(token) for token in tokens]
                # Of a name that capitals split ("LaTeX") some part stands somewhere by chance.
                is_split = (
                    word.text.isalnum() and frequencies[0] == 0 and min(frequencies[1:], default=1) == 0
                )
                absent = word.is_missing or is_split
                common = absent and self.embedder.tokens.is_common(word.text)
                # "Roof-beam" is asked for by its parts where no note joins them so.
                is_joined = "-" in word.text and any(frequencies) and word.text.replace("-", "").isalpha()
                variants = frozenset(
                    one
                    for one in word.tokens
                    if one not in tokens and not (len(tokens[0]) < 6 and one.endswith(tokens[0]))
                )
                for token, count in zip(tokens, frequencies, strict=True):
                    if is_joined and not count:
                        continue
                    other = synonyms.get(token, frozenset()) | tokenizer.forms_of(token)
                    # What no note has is as rare as what they have for it.
                    count = count or max(map(index.frequency, variants | other), default=0)
                    is_absent = absent and not count
                    weight, missing = idf(count, len(index)), is_absent and not foreign
                    term = Term(token, weight, missing, word.text, is_absent, common, variants - other, other)
                    found.setdefault(token, term)
            return list(found.values())

        def vectors(query: str, texts: Sequence[str]) -> tuple[NormalizedVectors, NormalizedVectors]:
            known = self._known
            keys = {text: blake2b(text.encode("utf-8", "surrogatepass")).digest() for text in texts}
            rows = {text: row for text, key in keys.items() if (row := known.get(key)) is not None}
            if new := [text for text in keys if text not in rows]:
                made = dict(zip(new, self.embedder.embed_together(new), strict=True))
                if len(known) > PASSAGES:
                    known.clear()
                known.update({keys[text]: row for text, row in made.items()})
                rows |= made
            return self._asked(query), np.stack([rows[text] for text in texts])

        def known_names(names: Sequence[str]) -> Collection[str]:
            with self.reader.snapshot() as view:
                return view.named_any(names)

        def has_chunks_with(words: Collection[str], many: int) -> bool:
            index = self.reader.lexical
            few = any(index.frequency(word) < many for word in words)
            return not few and len(index.holding(words, "content")) >= many

        return TextAnalyzer(
            words=partial(self._words, tokenizer),
            terms=terms,
            sentences=lambda text: sentence_spans(text, language),
            vectors=vectors,
            known_names=known_names,
            has_chunks_with=has_chunks_with,
            language=language,
            function_words=frozenset(tokenizer(" ".join(FUNCTION_WORDS.get(language, ())))),
        )

    def _synthesizer(self, analyzer: TextAnalyzer, llm: LLM | None) -> VaultSynthesizer:
        name = self.place.name
        checker = Checker(analyzer, name)
        quoting = ExtractiveSynthesizer(name, analyzer, checker=checker)
        return quoting if llm is None else LlmSynthesizer(name, llm, quoting, checker=checker)

    def retrieve(self, query: TracedQuery, request: RetrievalRequest) -> list[NodeWithScore]:
        """The sources and connected notes of the newest generation.

        What was searched for, without filters, stands in the query's trace.
        """
        place, trace = self.place, query.trace
        settings = place.settings
        text = validate_query(query.query_str, request.query.filters)
        tokenizer = self.tokenizer
        with self.reader.snapshot() as view:
            with self._loading:
                if view.generation != self._generation:
                    self._generation = view.generation
                    self._forget()
            trace.count("index", generation=view.generation, chunks=view.chunk_count)
            if view.chunk_count == 0:
                # Not worth the seconds that it takes to load a model.
                trace.warn(NO_TEXT)
                return []

            # One a query: it counts what it reads.
            stands = CurrentNotes(view, place).any_of
            asked: ListQuestion | None = None
            with trace.timed(FILTERS):
                filters, literal = request.query.filters, request.query.literal
                filtered = apply_filters(text, filters, view, tokenizer, stands, literal=literal)
                if request.listing:
                    asked = parse_list_question(filtered, view, tokenizer, stands, trace, place.vault)
            if asked is not None and not asked.is_list:
                filtered, asked = asked.filtered, None
            text = filtered.text
            if asked is not None:
                filtered, request = asked.filtered, asked.to_request(request)
            # The caller's query keeps its filters: who asks with it again asks the same.
            query = replace(query, query_str=text)
            trace.text, trace.filters = text, list(filtered.filter_texts)
            for warning in filtered.warnings:
                trace.warn(warning)
            if filtered.is_empty:
                return []
            # What is listed is not looked for.
            by_words = asked is None and not filtered.has_no_terms
            if by_words:
                self._read_words(query, view, tokenizer, reword=request.listing)
            chain = QueryChain(
                view,
                request,
                filtered,
                vault=place.vault,
                settings=settings,
                embed_model=lambda: self.embedder,
                tokenizer=tokenizer,
                remedy=partial(remedy, place.layout),
                scorer=self.scorer,
            )
            found = chain.run(query)
        self.ready = self.ready or by_words
        return found if asked is None else asked.label_hits(found, request)

    def _read_words(self, query: TracedQuery, view: Snapshot, tokenizer: Tokenizer, *, reword: bool) -> None:
        """Say what of a query cannot be searched for, and read its misspelled words as words of the
        notes, as they are now; of a question also what it says by other words."""
        settings, trace, tokens = self.place.settings, query.trace, self.embedder.tokens
        asked, current = query.query_str, CurrentNotes(view, self.place)
        if self.embedder.is_cut(query.query_str):
            trace.warn(
                f"the query is longer than the {self.embedder.max_tokens} tokens that the model "
                "reads; its end counts by its words alone"
            )
        read = languages_read(settings.embedding.model)
        with trace.timed(SPELLING):
            is_template = make_template_test(self.place.vault, asked)
            question = VaultQuestion(asked, current, tokenizer, is_template)
            other = reword_question(question) if reword else {}
            query.query_str = replace_words(asked, other)
            words = question_words(query.query_str, tokenizer, view.lexical)
            if not words and not tokenizer.query(query.query_str):
                trace.warn(NO_WORDS)
            text, trace.searched_for = correct_spelling(
                query.query_str,
                words,
                current,
                tokenizer,
                # What its model has as one piece is a word.
                lambda word: tokens.size(word) == 1,
                [
                    (one.written_as, one.year, one.month, one.day)
                    for one in facts_of(query.query_str, tokenizer.language).days
                    if one.month and one.day
                ],
                knows_language=read is None or tokenizer.language in read,
            )
            query.words = words if text == query.query_str else ()
            trace.searched_for |= other
            query.query_str = trace.text = text


def not_shown(last: Turn, found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """What was found and has not been shown: the rest of the notes that were quoted, then what is half as
    relevant as the best."""
    about = {hit.node.node_id: hit.node.metadata for hit in found}
    quoted = {about[one]["path"] for one in last.shown_ids if one in about}

    # What is listed was not searched for, and has no relevance.
    best = max((its.get("relevance", 0.0) for its in about.values()), default=0.0)

    def fits(hit: NodeWithScore) -> bool:
        its = hit.node.metadata
        near = its.get("relevance", 1.0) >= best / 2 and not its.get("weak")
        near = near or its["path"] in quoted
        return near and hit.node.node_id not in last.shown_ids and its.get("role") != CONNECTED_ROLE

    return sorted(filter(fits, found), key=lambda hit: hit.node.metadata["path"] not in quoted)
