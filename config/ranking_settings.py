"""The settings of how notes are cut, ranked and connected."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from notehop.config.fields import Section, constant, none_if, setting


class ChunkingSettings(Section):
    """How notes are cut."""

    max_tokens: int = constant(0, vault=True, ge=0)
    """Tokens a chunk may hold, title and headings included; 0: the window of the model; with less,
    the same text makes more chunks that each say less."""

    min_tokens: int = constant(32, vault=True, ge=0)
    """A section of fewer tokens joins its neighbour: alone it says too little to be found by
    meaning."""


FieldName = Literal["title", "aliases", "tags", "page_type", "h1", "h2", "h3", "content", "linked"]


class LexicalSettings(Section):
    """The BM25 ranking."""

    k1: float = constant(1.5, vault=True, ge=0)
    """How soon repeated words stop counting (Robertson and Zaragoza 2009 recommend 1.2 to 2)."""

    b: float = constant(0.75, vault=True, ge=0, le=1)
    """How much long texts are held back, 0 to 1."""

    language: Literal[
        "auto", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru", "sv", "zh", "und"
    ] = setting("auto", vault=True)
    """Language of the words: `auto` (detected per vault), or de, en, es, fr, it, ja, ko, nl, pt,
    ru, sv, zh; `und` stems nothing."""

    boosts: dict[FieldName, Annotated[float, Field(ge=0)]] = constant({}, vault=True)
    """Weights of the fields of a note, where they are to be others than those of the index."""


class SignalWeights(Section):
    """Weight of each signal in the fusion; 0 leaves it out."""

    semantic: float = constant(1.0, vault=True, ge=0)
    """Weight of the semantic ranking in the fusion."""

    lexical: float = constant(1.0, vault=True, ge=0)
    """Weight of the lexical ranking in the fusion."""

    subject: float = constant(0.5, vault=True, ge=0)
    """Weight of the notes whose title or alias the query holds (`retrieval.subject_names` says
    which). Intents weigh it anew, see below."""

    recent: float = setting(0.0, vault=True, ge=0)
    """Weight of the last notes that link to those; for questions of how things stand, see below."""

    graph: float = constant(0.0, vault=True, ge=0)
    """Weight of the links among what was found. 0.25 found more on one question set and less on
    two."""

    recency: float = setting(0.0, vault=True, ge=0)
    """Weight of when what was found was worked on: half every 30 days, nothing after 120. No
    question set asks for it."""


Signal = Literal["semantic", "lexical", "subject", "recent", "graph", "recency"]
IntentWeights = dict[Signal, Annotated[float, Field(ge=0)]]
"""What one intent changes of the weights."""


class IntentSettings(Section):
    """The weights of each intent."""

    status: IntentWeights = constant({"subject": 50.0, "recent": 50.0, "recency": 0.5}, vault=True)
    """How something stands (`What is the status of Atlas?`): the note that is asked about, for certain,
    then the last notes that link to it, newest first. Both weigh so much that their order stands: an
    old note that says more about the subject does not pass the last one. Then the newer of what else
    was found. A signal that is not named has its weight above; so for all intents."""

    timeline: IntentWeights = constant({"subject": 2.0}, vault=True)
    """How something came about (`The history of Atlas`): its own note first."""

    person: IntentWeights = constant({"subject": 2.0}, vault=True)
    """Who somebody is (`Who is Priya?`): their own note first."""

    concept: IntentWeights = constant({"subject": 2.0}, vault=True)
    """What something is (`What is a tidal prism?`): its own note first."""

    discovery: IntentWeights = constant({"subject": 2.0, "graph": 0.25}, vault=True)
    """What there is about something (`Everything about Atlas`): its own note first, then what the notes
    that were found link to: more of what belongs to it is among the first ten."""


class RetrievalSettings(Section):
    """The candidates and their fusion."""

    top_k: int = setting(5, vault=True, ge=1, le=100)
    """Hits of a search; sources that an answer has for sure (`connected.context_chunks` tells the
    rest)."""

    candidates: int = constant(100, vault=True, ge=1, le=1000)
    """Chunks that each signal ranks; fusion needs depth, and 100 cost little."""

    rrf_k: int = constant(20, vault=True, ge=1)
    """Offset of reciprocal rank fusion, in ranks. 60 is usual (Cormack et al. 2009); with two
    signals 20 found more on every question set we have (docs/evaluation.md)."""

    title_dispatch: bool = constant(True, vault=True)
    """Whether a query that is a note's title or alias has that note first."""

    expansion: Literal["off", "conservative", "balanced", "aggressive"] = setting("off", vault=True)
    """Notes a hop away that join the candidates: `off`, `conservative`, `balanced` or `aggressive`.
    Off: searches find more in their first ten with it (recall +2 points), answers do not, as their
    connected notes bring the same (docs/decisions/ranking.md)."""

    expansion_weight: float = constant(0.25, vault=True, ge=0)
    """Weight of their vote in the fusion, beside that of the signals; with 0 they stand where the
    signals put them. 0.25 is what moves no first hit (docs/decisions/ranking.md)."""

    alias_expansion: bool = setting(False, vault=True)
    """Whether aliases of the best semantic notes widen the lexical query."""

    subject_names: Literal["proper", "any"] = setting("proper", vault=True)
    """Which names in a query vote for their notes (weight `subject` below): `proper`, those that it
    writes as the note does and with a capital, beside words in small letters ("the father of Atlas
    Berg"; in German, two words with capitals); `any`: "plan" too, where a note is called Plan, and
    names in letters without case. A query with an intent is about something in particular, and
    looks for any."""

    unread_share: float = constant(0.05, vault=True, ge=0, le=1)
    """Share of the semantic weight that is left where the embedding model does not read the
    language of the query, or of the notes where the query leaves it open; 1: all of it. With
    all-MiniLM-L6-v2, an equal vote finds less than the words alone (docs/decisions/words.md)."""

    template_share: float = constant(0.5, vault=True, gt=0, le=1)
    """Share of its score that a template of the vault keeps, and a passage that says no more than
    one (a daily note that was never filled in); 1: all of it. Half takes the best hit to about the
    20th place. Not for a query that names templates."""

    relevance_weight: float = constant(1.0, vault=True, ge=0)
    """What the relevance of a passage (the share of the query's rare words that it holds, or how far
    it is above chance) adds to its score, in units of the best score; the first ten hits are
    ordered by the sum. 0: they stand as they were fused. For searches, not
    for answers, nor for a query with an intent, nor where a model reranks."""

    intent: Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"] = setting(
        "auto", vault=True
    )
    """What queries are taken to be after: `auto` reads it from the query (docs/filters.md), `none`
    weighs all alike; or `status`, `timeline`, `person`, `concept`, `discovery`. A query may say its
    own."""

    weights: SignalWeights = SignalWeights()
    intents: IntentSettings = IntentSettings()


class RerankSettings(Section):
    """The cross-encoder that orders the best passages anew; no model, no rerank."""

    model: str = setting("", vault=True)
    """A cross-encoder that reads the best passages together with the query and orders them anew:
    the hub name of a model on this machine, or a folder (not in a vault's file);
    empty: none."""

    candidates: int = constant(20, vault=True, ge=2, le=200)
    """Best passages that it reads. 20 of 200 tokens take 1.1 s of processor time with a model of
    the size of MiniLM-L6 (docs/decisions/ranking.md)."""

    budget_ms: float = setting(1500, gt=0)
    """Milliseconds that it may take, loading left out; over that the fused order stands, and the
    reply says so."""


class ConnectedSettings(Section):
    """The notes one link away."""

    max: int = setting(3, vault=True, ge=0, le=20)
    """Connected notes a reply may hold."""

    order: Literal["context", "rank"] = constant("context", vault=True)
    """`context`: by the linking sentence and the target's likeness to the query; `rank`: by hit
    order."""

    direction: Literal["forward", "backward", "both"] = setting("forward", vault=True)
    """Which links are followed: `forward`, `backward` or `both`."""

    gate: float = constant(1.0, vault=True, ge=0)
    """A connected note needs this share of the similarity of the source it displaces; 0: no gate.
    From 0.9 to 1.05 it makes no difference, above good links are lost
    (docs/decisions/ranking.md)."""

    context_chunks: Annotated[Annotated[int, Field(ge=1, le=100)] | None, none_if("auto")] = setting(
        "auto", vault=True
    )
    """Places in the context of an answer; those that no connected note takes go to further
    sources. `auto`: 8 where the answer is quoted, 12 where a language model writes it."""

    rrf_k: int = constant(10, vault=True, ge=1)
    """Offset of the fusion that orders connected notes, in ranks."""
