"""The product's insides that tests stand on, by name: a module that moves changes one line here.

``from tests.support.product import Indexer`` loads the module of ``Indexer`` and no other; a file that
stands on many of them writes ``from tests.support import product`` and ``product.Indexer``. Names
that mean several things carry an alias (``home: "name=alias"``). Other test files import from here,
from ``notehop``, ``notehop.app`` and ``notehop.indexing`` (``open_vault``, ``index_vault``,
``NotehopError``, ``extract_wiki_links``), and nothing else of the product.
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {
    "notehop": "indexing",
    "notehop.app": "open_vault",
    "notehop.app.answer": "extractive",
    "notehop.app.answer.citations": "check_citations MarkerFilter sentences_of",
    "notehop.app.answer.claims": "sentences",
    "notehop.app.answer.conversation": "history KEPT LONGEST standalone Turn",
    "notehop.app.answer.draft": "Draft Mode quoted Quote",
    "notehop.app.answer.extractive": (
        "evidence_of ExtractiveSynthesizer features=decision_features weights"
    ),
    "notehop.app.answer.facts": "contradicted facts_of lacking",
    "notehop.app.answer.context": "fit Fitted USEFUL",
    "notehop.app.answer.material": "Material material_of units",
    "notehop.app.answer.passages": "Passage passages",
    "notehop.app.answer.query_engine": "NotehopQueryEngine",
    "notehop.app.answer.relevance": (
        "Asked=AskedQuestion candidates Named Reading score=score_passages Term Vectors"
    ),
    "notehop.app.answer.question": "fits read=read_question",
    "notehop.app.answer.support": "held_against judged Known Stated Verdict",
    "notehop.app.answer.synthesizer": "VaultSynthesizer",
    "notehop.app.answer.themes": "ThemeQuotes THEMES ThemeSynthesizer",
    "notehop.app.answer.writing": "LlmSynthesizer",
    "notehop.app.api.app": "create_app",
    "notehop.app.api.workers": "Workers",
    "notehop.app.api.logs": "KeyValue",
    "notehop.app.api.middleware": "MAX_BODY HEADERS BodyLimit",
    "notehop.app.api.guard": "is_loopback GUESSES",
    "notehop.app.api.routes": "seen",
    "notehop.app.cli.program": "app run",
    "notehop.app.cli.show_status": "show_status",
    "notehop.app.services.ask": "PendingCount",
    "notehop.app.services.capture": "capture",
    "notehop.app.services.listing": "period_of",
    "notehop.app.services.doctor.vault": "examine DoctorReport",
    "notehop.app.services.doctor.index": "check_index IndexCheck",
    "notehop.app.services.status": "egress_report language_model_now index_status",
    "notehop.app.evaluation.run": "evaluate_sets evaluate_vault",
    "notehop.app.evaluation.variants": "EvaluationPlan=Plan",
    "notehop.app.services.vault": "VaultHandle",
    "notehop.app.services.doctor": "Kind",
    "notehop.app.services.open_vault": "open_place locate Place",
    "notehop.app.services.vaults": "locate_all Vaults",
    "notehop.app.services.notes.related": "link_to",
    "notehop.app.services.running_server": (
        "ask_server Announcement identity read_running Running"
    ),
    "notehop.app.demo": "demo_questions demo_vault",
    "notehop.app.evaluation.answer_sets": ("AnswerQuestion Answered measured read_answer_set rows"),
    "notehop.app.evaluation.metrics": "context_values RANKED ranking_values",
    "notehop.app.evaluation.questions": "golden_sets KnownQuestion=Question read_questions",
    "notehop.app.evaluation.suggestions": "evaluate_suggestions",
    "notehop.app.mcp": "http",
    "notehop.app.mcp.tools": "TOOLS",
    "notehop.app.mcp.http": "HttpTransport",
    "notehop.app.mcp.server": "make_server",
    "notehop.app.mcp.text": "answer_text search_text",
    "notehop.app.models": "StreamEvent",
    "notehop.app.models.notes": (
        "BrowseQuery BrowseResult Captured CaptureQuery Connection GraphView NoteLink NoteView "
        "Suggestion Suggestions SuggestQuery ThemesQuery ThemesResult"
    ),
    "notehop.app.models.query": "Embedded EmbedQuery Filters Query SearchQuery",
    "notehop.app.models.reply": (
        "Answer ConnectedNote LinkedFrom SearchResult Source ConnectedEvent DoneEvent "
        "ErrorEvent SourcesEvent TokenEvent"
    ),
    "notehop.app.models.status": "IndexStatus Kept PendingChanges Holder",
    "notehop.app.problems": "error_of exit_code problem",
    "notehop.app.retrieval.relevance": "question_words",
    "notehop.app.retrieval.templates": "asks_for_templates held_back is_skeleton SKELETON",
    "notehop.app.retrieval.connected_notes": "ConnectedNotesPostprocessor",
    "notehop.app.retrieval.second_look": "SecondLookRetriever",
    "notehop.app.retrieval.filter_syntax": "Condition Kind=ConditionKind plan read ParsedQuery=Written",
    "notehop.app.retrieval.filters": "chunks_left notes_left unmet why_nothing",
    "notehop.app.retrieval.freshness": "FreshnessPostprocessor",
    "notehop.app.retrieval.fusion": "WeightedFusionRetriever fuse",
    "notehop.app.retrieval.graph_retriever": "Expansion GraphEnhancedRetriever PRESETS",
    "notehop.app.retrieval.intents": (
        "asks_for_themes Rule RULES THEME_RULES about names_of read=intents_read"
    ),
    "notehop.app.retrieval.nodes": "light_node",
    "notehop.app.retrieval.subject": "Subject",
    "notehop.app.retrieval.rerank": "AT_ONCE RerankPostprocessor",
    "notehop.app.retrieval.candidate_signals": "DAY",
    "notehop.app.retrieval.retrievers": "LexicalRetriever SemanticRetriever with_aliases",
    "notehop.app.retrieval.trace": "TracedQuery",
    "notehop.app.server": "AlreadyServed listen PortTaken server_of VaultServer",
    "notehop.app.web.render": "answer_html MOST note_html snippets_html",
    "notehop.app.web.routes": "routes STATIC",
    "notehop.app.web.sanitise": "sanitise",
    "notehop.config": "SWITCHES errors",
    "notehop.config.errors": (
        "BeingIndexed CaptureFailed CaptureFolder IndexDamaged IndexFailure IndexLocked "
        "IndexMismatch IndexMissing IndexUnwritable MassDeletion ModelError NotehopError NoteMissing "
        "ProviderError QueryError SettingsError UsageError VaultError VectorServerError"
    ),
    "notehop.config.layers": "is_declared load_settings warn_once",
    "notehop.config.secrets": "provider_key server_token",
    "notehop.config.settings": (
        "ChromaSettings ChunkingSettings EmbeddingSettings LlmSettings PrivacySettings "
        "ServerSettings Settings"
    ),
    "notehop.indexing": "changes faults",
    "notehop.indexing.capture": (
        "keep cut_bytes file_name MAX_BYTES safe title_of note_text tag_names write_new"
    ),
    "notehop.indexing.changes": "changes_since scan",
    "notehop.indexing.embed": "onnx_model",
    "notehop.indexing.embed.embedder": (
        "Embedder OnBatch read_tokenizer TokenOffsets Vectors=EmbedderVectors"
    ),
    "notehop.indexing.embed.identity": ("model_identity describe_model MIN_COSINE PROBES"),
    "notehop.indexing.embed.models": (
        "ask_hub=ask BUNDLED_NAME cached_folder fetch_model=fetch INSTALLED "
        "installed_file MULTILINGUAL_NAME"
    ),
    "notehop.indexing.embed.onnx_embedding": "load_query QueryEmbedder",
    "notehop.indexing.embed.onnx_model": (
        "export_query_model ModelManifest MANIFEST_FILE read_manifest shared_export"
    ),
    "notehop.indexing.embed.packed": "PackedModel UnigramTokenizer",
    "notehop.indexing.embed.ray_embedding": ("Address=RayAddress EmbeddingWorker RayCluster"),
    "notehop.indexing.embed.torch_embedding": "load_bulk TorchEmbedding",
    "notehop.indexing.enrich.prompts": "cleaned",
    "notehop.indexing.enrich.enricher": "agreement enrich",
    "notehop.indexing.enrich.store": "EnrichmentStore read_summaries Summary",
    "notehop.indexing.graph": "pagerank",
    "notehop.indexing.graph.communities": "louvain EdgeWeights edge_weights",
    "notehop.indexing.graph.files": "VaultFiles is_note",
    "notehop.indexing.graph.pagerank": "pagerank=graph_pagerank",
    "notehop.indexing.graph.resolve": (
        "find_fragment MAX_CANDIDATES Outline outline_of_note resolve_link resolve_path ResolvedLink "
        "Status"
    ),
    "notehop.indexing.llm": "egress",
    "notehop.indexing.llm.egress": (
        "EgressLog FORMER Hosts is_loopback=consent_is_loopback NAME Resolve sending UNWANTED"
    ),
    "notehop.indexing.llm.provider_llm": "ProviderLLM",
    "notehop.indexing.llm.providers": "ProviderConfig DEFAULT_CONTEXT_WINDOW",
    "notehop.indexing.llm.text": "count_tokens",
    "notehop.indexing.llm.transport": "ProviderTransport",
    "notehop.indexing.nodes.chunker": "chunk_id ChunkDraft embedded_text split_note",
    "notehop.indexing.nodes.parser": "SectionNodeParser",
    "notehop.indexing.vault.properties": "property_texts",
    "notehop.indexing.pipeline.models": "load_embedder SmallOrBulk TooMuchToEmbed",
    "notehop.indexing.pipeline.indexer": "Indexer",
    "notehop.indexing.pipeline.language": "advice",
    "notehop.indexing.report": "EnrichReport Progress=Silent Report TextProgress Update",
    "notehop.indexing.stores.caches": "Layered bring_up_to_date",
    "notehop.indexing.stores.catalog_rows": "pack_tokens unpack_tokens",
    "notehop.indexing.stores.catalog": (
        "Catalog CatalogState read_catalog_state stamp_of write_catalog_state"
    ),
    "notehop.indexing.stores.chroma": (
        "COLLECTION mirror_due read_mirror update_mirror write_in_child write_mirror"
    ),
    "notehop.indexing.stores.served.chroma_server": "ChromaServer",
    "notehop.indexing.stores.served.chroma_mirror": "update_served_mirror",
    "notehop.indexing.stores.served.chroma_vectors": "collection_name ServedState",
    "notehop.indexing.stores.check": "INDEX REBUILD check_mirror",
    "notehop.indexing.stores.labels": "property_label",
    "notehop.indexing.stores.layout": "index_dir_for CatalogAddress IndexLayout ServerCatalog",
    "notehop.indexing.stores.lexical": "LexicalIndex Ranking",
    "notehop.indexing.stores.lexical_segments": "MAX_COUNT",
    "notehop.indexing.stores.link_graph": "build_graph",
    "notehop.indexing.stores.served": "postgres=stores_postgres",
    "notehop.indexing.stores.lock": "read_holder WriterLock",
    "notehop.indexing.stores.model": (
        "Batch ChunkRow FieldTokens LIMITS Limits LinkRow NoteRecord NoteRow NoteStatus"
    ),
    "notehop.indexing.stores.reader": "Reader Snapshot",
    "notehop.indexing.stores.database": "among",
    "notehop.indexing.stores.schema": "METADATA",
    "notehop.indexing.stores.vector_index": "VectorIndex",
    "notehop.indexing.templates": "line_keys read_templates Templates",
    "notehop.indexing.themes": "make_themes Theme Themes",
    "notehop.indexing.tokens.vocabulary": "MOST=COMPOUNDS_MOST PART Vocabulary WITHIN",
    "notehop.indexing.tokens.words": "fold joined_words words_in_order MAX_LENGTH",
    "notehop.indexing.tokens.languages": "detect_language LANGUAGES",
    "notehop.indexing.tokens.tokenizer": "field_tokens FIELDS Tokenizer",
    "notehop.indexing.vault": "parse=note_parser",
    "notehop.indexing.vault.body": "MAX_CHARACTERS",
    "notehop.indexing.vault.dates": "day_in_name",
    "notehop.indexing.vault.model": "CommentLinks Note",
    "notehop.indexing.vault.opening": "open_below",
    "notehop.indexing.vault.pdf": "read_pdf",
    "notehop.indexing.vault.parse": "parse_note extract_wiki_links",
    "notehop.indexing.vault.plain": "plain_map plain_text without_emphasis words_of",
    "notehop.indexing.vault.sentences": "sentence_spans",
    "notehop.indexing.vault.walk": "exclusion glob_pattern Walk walk",
    "notehop.indexing.watch.events": "APP_SETTINGS EVERYTHING VaultEvents",
    "notehop.indexing.watch.process": "PROGRAM run_program",
    "notehop.indexing.watch.service": "follow=follow_follow Following "
    "stopped_by_signals when_input_ends",
    "notehop.indexing.watch.follower": "Follower",
    "notehop.indexing.watch.state": "Phase read_watch_state Timing WatcherLock",
}

_PLACES = {
    alias or name: (home, name)
    for home, names in _HOMES.items()
    for name, _, alias in (one.partition("=") for one in names.split())
}


def update_index(place: Any, **options: Any) -> Any:
    """Index the vault at a place, as ``notehop index`` does."""
    from notehop.indexing.pipeline import index

    return index(place.vault, place.settings, place.layout, **options)


def names() -> set[str]:
    return set(_PLACES)


def __getattr__(exported: str) -> Any:
    if exported not in _PLACES:
        raise AttributeError(f"tests.support.product has no {exported}: add it to the table")
    home, name = _PLACES[exported]
    module = import_module(home)
    return getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
