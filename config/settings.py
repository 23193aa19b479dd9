"""The settings as one typed tree: what each may be. :mod:`notehop.config.layers` reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

_PORTABLE = re.compile(r'[^\\:*?"<>|\x00-\x1f\x7f]+')
"""A name that every disk takes."""


def _none_if(sentinel: object) -> BeforeValidator:
    return BeforeValidator(lambda value: None if value == sentinel else value)


def _comment_links(value: object) -> object:
    """What 0.1.0 wrote as true or false, for all and none."""
    words = {"true": "all", "false": "none"}
    return words.get(str(value).lower(), value)


def _inside(folder: str) -> str:
    """A folder of the vault, with ``/`` between its names and none at its end."""
    parts = [part for part in folder.strip().split("/") if part]
    if folder.strip().startswith("/") or any(
        part.startswith(".") or part != part.strip(" .") or not _PORTABLE.fullmatch(part)
        for part in parts
    ):
        raise ValueError(
            "must be a folder of the vault, relative to it, like Inbox or Notes/Inbox; no name in "
            "it may begin with a dot or hold a sign that some disk refuses"
        )
    return "/".join(parts)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class VaultSettings(_Section):
    """Which files are notes."""

    path: Annotated[Path | None, _none_if("")]
    exclude: tuple[str, ...]
    comment_links: Annotated[Literal["inline", "none", "all"], BeforeValidator(_comment_links)]
    max_note_bytes: int = Field(ge=1)
    max_delete_share: float = Field(gt=0, le=1)


class IndexSettings(_Section):
    """Where the index lives."""

    dir: Annotated[Path | None, _none_if("")]


class WatchSettings(_Section):
    """How the index follows a vault."""

    settle_ms: int = Field(ge=10, le=60_000)
    rescan_s: int = Field(ge=1)
    polling: bool


class EmbeddingSettings(_Section):
    """Which model embeds, and how."""

    model: str = Field(min_length=1)
    dimensions: Annotated[Annotated[int, Field(ge=1)] | None, _none_if(0), _none_if("0")]
    query_prompt: Annotated[str | None, _none_if("auto")]
    passage_prompt: Annotated[str | None, _none_if("auto")]
    device: Literal["auto", "cpu", "cuda", "mps"]
    precision: Literal["auto", "float32", "bfloat16"]
    batch_size: int = Field(ge=1, le=4096)
    threads: int = Field(ge=0, le=1024)
    allow_download: bool


class ChunkingSettings(_Section):
    """How notes are cut."""

    max_tokens: int = Field(ge=0)
    min_tokens: int = Field(ge=0)


class FieldBoosts(_Section):
    """Weight of each field in the lexical ranking."""

    title: float = Field(ge=0)
    aliases: float = Field(ge=0)
    tags: float = Field(ge=0)
    page_type: float = Field(ge=0)
    h1: float = Field(ge=0)
    h2: float = Field(ge=0)
    h3: float = Field(ge=0)
    content: float = Field(ge=0)


class LexicalSettings(_Section):
    """The BM25 ranking."""

    k1: float = Field(ge=0)
    b: float = Field(ge=0, le=1)
    language: Literal[
        "auto", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru", "sv", "zh", "und"
    ]
    boosts: FieldBoosts


class SignalWeights(_Section):
    """Weight of each signal in the fusion; 0 leaves it out."""

    semantic: float = Field(ge=0)
    lexical: float = Field(ge=0)
    subject: float = Field(ge=0)
    recent: float = Field(ge=0)
    graph: float = Field(ge=0)
    recency: float = Field(ge=0)

    @model_validator(mode="after")
    def _one_votes(self) -> Self:
        if not (self.semantic or self.lexical):
            raise ValueError("semantic and lexical may not both be 0: nothing would be ranked")
        return self


class IntentWeights(_Section):
    """What one intent changes of the weights; None leaves a weight as it is."""

    semantic: float | None = Field(default=None, ge=0)
    lexical: float | None = Field(default=None, ge=0)
    subject: float | None = Field(default=None, ge=0)
    recent: float | None = Field(default=None, ge=0)
    graph: float | None = Field(default=None, ge=0)
    recency: float | None = Field(default=None, ge=0)


class IntentSettings(_Section):
    """The weights of each intent."""

    status: IntentWeights
    timeline: IntentWeights
    person: IntentWeights
    concept: IntentWeights
    discovery: IntentWeights


class RetrievalSettings(_Section):
    """The candidates and their fusion."""

    top_k: int = Field(ge=1, le=100)
    candidates: int = Field(ge=1, le=1000)
    rrf_k: int = Field(ge=1)
    title_dispatch: bool
    expansion: Literal["off", "conservative", "balanced", "aggressive"]
    expansion_weight: float = Field(ge=0)
    alias_expansion: bool
    subject_names: Literal["proper", "any"]
    unread_share: float = Field(ge=0, le=1)
    template_share: float = Field(gt=0, le=1)
    max_query_chars: int = Field(ge=1)
    intent: Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"]
    weights: SignalWeights
    intents: IntentSettings

    @model_validator(mode="after")
    def _one_votes_for_each_intent(self) -> Self:
        base = self.weights.model_dump()
        for name, changed in self.intents:
            weights = base | changed.model_dump(exclude_none=True)
            if not (weights["semantic"] or weights["lexical"]):
                raise ValueError(
                    f"intents.{name}: semantic and lexical may not both be 0: "
                    "nothing would be ranked"
                )
        return self


class RerankSettings(_Section):
    """The cross-encoder that orders the best passages anew; no model, no rerank."""

    model: str
    candidates: int = Field(ge=2, le=200)
    budget_ms: float = Field(gt=0)
    device: Literal["auto", "cpu", "cuda", "mps"]


class ConnectedSettings(_Section):
    """The notes one link away."""

    max: int = Field(ge=0, le=20)
    order: Literal["context", "rank"]
    direction: Literal["forward", "backward", "both"]
    scope: Literal["note", "chunk"]
    gate: float = Field(ge=0)
    context_chunks: int = Field(ge=1, le=100)
    rrf_k: int = Field(ge=1)


class AnswerSettings(_Section):
    """The answer without a language model, and the check of every answer."""

    max_sentences: int = Field(ge=1, le=50)
    check_ms: int = Field(ge=0)


class EnrichSettings(_Section):
    """What is written about notes when they are indexed, and what that may cost."""

    summaries: Literal["off", "extract", "llm"]
    headers: Literal["off", "llm"]
    max_calls: int = Field(ge=0)
    max_tokens: int = Field(ge=0)
    watch_calls: int = Field(ge=0)
    keep_days: float = Field(ge=0, le=36_500)


def _host(host: str) -> str:
    """A host as it stands in an address, without scheme, port and path."""
    plain = host.strip().strip("[]").rstrip(".").lower()
    try:
        ip_address(plain)
    except ValueError:
        if not re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", plain):
            raise ValueError(
                "must be a host name or an address, like api.openai.com, without https:// and port"
            ) from None
    return plain


def _base_url(url: str) -> str:
    """The address of a server: scheme, host, perhaps port and path; no name, key or query in it."""
    url = url.strip().rstrip("/")
    if not url:
        return url
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(
            "must be an address like http://127.0.0.1:8080/v1, without user, password or query"
        )
    return url


class LlmSettings(_Section):
    """The language model that writes answers, and how it is asked."""

    provider: Literal["none", "ollama", "openai", "openai-compatible", "anthropic", "llama-cpp"]
    model: str
    base_url: Annotated[str, AfterValidator(_base_url)]
    api_key: Annotated[SecretStr | None, _none_if("")]
    context_window: int = Field(ge=0)
    max_tokens: int = Field(ge=16)
    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, _none_if("auto")]
    connect_timeout_s: float = Field(gt=0, le=600)
    timeout_s: float = Field(gt=0, le=3_600)
    retries: int = Field(ge=0, le=10)
    gpu_layers: int = Field(ge=-1)
    threads: int = Field(ge=0, le=1024)


Origin = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9+.-]*://[^/\s?#@*]+$")]
"""A scheme and a host, perhaps with a port, as browsers write them."""

HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]
"""A name in lower case, without a port."""


class ThemesSettings(_Section):
    """The communities of the graph of links, and the answers made of them."""

    enabled: bool
    resolution: float = Field(gt=0, le=100)
    min_notes: int = Field(ge=2, le=1_000)
    max: int = Field(ge=1, le=50)
    sources: int = Field(ge=1, le=20)
    summaries: Literal["extract", "llm"]
    max_calls: int = Field(ge=0)


class ConversationSettings(_Section):
    """How much of what was said is remembered for follow-up questions, in memory alone."""

    max: int = Field(ge=1, le=10_000)
    turns: int = Field(ge=1, le=100)
    max_tokens: int = Field(ge=100)
    keep_minutes: float = Field(gt=0)


class PrivacySettings(_Section):
    """What may leave this machine."""

    allow_hosts: tuple[Annotated[str, AfterValidator(_host)], ...]


class CaptureSettings(_Section):
    """Where what is captured goes, and what is looked up for it."""

    folder: Annotated[str, AfterValidator(_inside)]
    connections: int = Field(ge=0, le=5)
    timeout_s: float = Field(gt=0, le=60)


class ServerSettings(_Section):
    """The HTTP server."""

    host: str = Field(min_length=1)
    port: int = Field(ge=0, le=65535)
    token: Annotated[SecretStr | None, _none_if("")]
    token_file: Annotated[Path | None, _none_if("")]
    allow_origins: tuple[Origin, ...]
    allow_hosts: tuple[HostName, ...]
    max_queries: int = Field(ge=0, le=256)
    max_waiting: int = Field(ge=0, le=10_000)
    timeout_s: float = Field(gt=0, le=3_600)
    rate_per_minute: int = Field(ge=0)
    metrics: bool


class Settings(BaseSettings):
    """All settings, frozen; made by :func:`config.load_settings`, which knows the layers."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="NOTEHOP_",
        env_nested_delimiter="__",
        case_sensitive=False,
    )

    vault: VaultSettings
    index: IndexSettings
    watch: WatchSettings
    embedding: EmbeddingSettings
    chunking: ChunkingSettings
    lexical: LexicalSettings
    retrieval: RetrievalSettings
    rerank: RerankSettings
    connected: ConnectedSettings
    answer: AnswerSettings
    llm: LlmSettings
    privacy: PrivacySettings
    conversation: ConversationSettings
    enrich: EnrichSettings
    themes: ThemesSettings
    capture: CaptureSettings
    server: ServerSettings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed in: :mod:`notehop.config.layers` merges the layers and keeps their origin."""
        return (init_settings,)

    def with_overrides(self, overrides: Mapping[str, Any]) -> Settings:
        """Return a copy with dotted keys replaced (``{"connected.max": 0}``), checked again.

        :raises SettingsError: naming the key, the value and what is allowed.
        """
        from notehop.config.layers import apply_overrides

        return apply_overrides(self, overrides)
