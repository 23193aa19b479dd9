"""What is answered: sources, connected notes, claims, and the events of an answer as it is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from notehop.app.models.query import StrictModel
from notehop.app.models.status import Problem

Support: TypeAlias = Literal["high", "partial", "none"]
"""How far words of a source say what a sentence says (docs/answers.md has what was measured)."""

Flag: TypeAlias = Literal["uncited", "unsupported", "context"]
"""Why a sentence is not to be taken on trust: it names no source; the sources that it names do not
say it; or it names connected notes alone, which are context and no evidence."""


class Evidence(StrictModel):
    """The words of one source that support a sentence best, as they stand there. ``heading`` is the one
    above them; ``lines`` count from 1 and include both ends; ``uri`` opens the heading or block.
    ``support`` is None for a quote, where nothing is compared."""

    marker: str
    support: Support | None
    quote: str
    heading: str
    lines: tuple[int, int]
    uri: str


class Claim(StrictModel):
    """A sentence, list item or table row of an answer, and what supports it.

    ``span`` is its half-open range of characters (code points) in the answer; claims stand in its order
    and leave out nothing but blanks. It names the sources of ``markers`` and ``mentioned`` connected
    notes. ``support`` is that of its sources together; None for quotes, and where nothing is stated
    (headings, code, that nothing was found). ``lacks`` are the numbers, dates, names and negations that
    its sources do not have. ``evidence`` has one entry a marker, in their order.
    """

    text: str
    span: tuple[int, int]
    markers: list[str] = Field(default_factory=list)
    mentioned: list[str] = Field(default_factory=list)
    support: Support | None = None
    flag: Flag | None = None
    lacks: list[str] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)

    @property
    def doubt(self) -> str:
        """Why the sentence is not to be taken on trust; empty if it can be."""
        if self.flag == "uncited":
            return "it names no source"
        if self.flag == "context":
            return "it names connected notes alone, which are no evidence"
        if self.lacks:
            return f"its sources do not have: {', '.join(self.lacks)}"
        return "its sources do not say it" if self.flag == "unsupported" else ""


def list_doubts(claims: Iterable[Claim]) -> list[str]:
    """The sentences that are not to be taken on trust, a line each, with the reason."""
    return [f"{_shorten(claim.text)} ({claim.doubt})" for claim in claims if claim.doubt]


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 160 else f"{words[:159].rstrip()}…"


class LeftOut(StrictModel):
    """A source (``[3]``) or connected note (``C1``) that the language model was not shown for want of
    room, with about how many tokens it has."""

    marker: str
    path: str
    title: str
    heading: str
    lines: tuple[int, int]
    tokens: int


Page: TypeAlias = Annotated[int | None, Field(ge=1, exclude_if=lambda page: page is None)]
"""The page of a PDF, counted from 1; not there for other files."""


class SecondLook(StrictModel):
    """The source that led to another one, and the words that the two share and the query lacks."""

    path: str
    title: str
    words: list[str]


class Source(StrictModel):
    """A chunk that may be cited. ``lines`` count from 1 and include both ends; ``page`` is that of a PDF.

    ``score`` is the fused score: comparable within one reply only. ``relevance``, 0 to 1, compares
    across queries: the share of the query's words that the passage holds, weighed by their rarity,
    or how far its likeness is above chance, whichever is more; None where filters alone were asked
    for. ``weak``: it is near by chance. ``second_look``: a second search found it, asked with another
    source. The last four are filled when the query asks to explain: ``signals`` maps signal name ->
    {rank, score, weight} (``title``: the query names the note exactly); ``rerank`` has the score of
    the rerank and the rank before it; ``expanded_from`` the link by which a hit of the expansion came;
    ``held_back`` says why a hit stands lower than its signals say.
    """

    marker: str
    id: str
    path: str
    title: str
    heading: str
    lines: tuple[int, int]
    text: str
    score: float
    uri: str
    page: Page = None
    relevance: float | None = None
    weak: bool = False
    second_look: Annotated[SecondLook | None, Field(exclude_if=lambda one: one is None)] = None
    signals: dict[str, dict[str, float | None]] | None = None
    rerank: dict[str, float | None] | None = None
    expanded_from: dict[str, float | int | str | None] | None = None
    held_back: str | None = None


class Citation(Source):
    """A source that the answer's text names by its marker.

    ``quote`` holds the words of it that support a sentence of the answer best, ``quote_lines``, ``heading``
    and ``quote_uri`` their own place, ``support`` how far they do (None for an answer made of quotes). All
    the sentences that name it stand in ``claims``. Where nothing was compared, there is no quote.
    """

    support: Support | None = None
    quote: str = ""
    quote_lines: tuple[int, int] | None = None
    quote_uri: str = ""


class LinkedFrom(StrictModel):
    """The place whose link brought a connected note."""

    path: str
    title: str
    line: int
    sentence: str


class ConnectedNote(StrictModel):
    """A note one link away from a source: context, never a citation."""

    label: str
    path: str
    title: str
    heading: str
    lines: tuple[int, int]
    text: str
    linked_from: LinkedFrom
    reason: str
    uri: str
    page: Page = None
    evidence: dict[str, float | int | str | None] | None = None


class Explanation(StrictModel):
    """How a query was weighed, when it asks to explain.

    ``about`` is what of the query its subject was looked for in, ``rule`` the rule of docs/filters.md
    that took it, ``subject`` the notes that it is about, where a signal asked for them. ``weights``
    maps signal name -> weight, ``reasons`` says what changed them beside the intent. A fused score is
    the sum of weight / (``rrf_k`` + rank), to which a search without an intent adds relevance; a
    passage that is held back keeps ``template_share`` of it. Both are None where nothing was fused.
    ``counts`` maps stage -> what was counted.
    """

    intent: str
    rule: str | None = None
    about: str
    subject: list[str] = Field(default_factory=list)
    weights: dict[str, float]
    reasons: list[str] = Field(default_factory=list)
    rrf_k: int | None = None
    template_share: float | None = None
    counts: dict[str, dict[str, int | str]] = Field(default_factory=dict)


class Reply(StrictModel):
    """What every reply carries beside its results.

    ``filters`` are those that were applied, as they are written in a query. ``searched_for`` maps
    words of the query that stand nowhere in the notes, misspelled perhaps, to those that were searched
    for in their place. ``intent`` is what the query was taken to be after. ``timings_ms`` maps stage ->
    milliseconds. ``pending`` counts the notes that changed since the index was made; None when that
    could not be told in time.
    """

    connected_notes: list[ConnectedNote]
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    searched_for: dict[str, str] = Field(default_factory=dict)
    intent: str = "none"
    explanation: Explanation | None = None
    timings_ms: dict[str, float] = Field(default_factory=dict)
    generation: int
    pending: int | None = None


class ConversationTurn(StrictModel):
    """Where an answer stands in its conversation.

    ``turn`` counts from 1, which says that nothing was said before, or that it was forgotten.
    ``question`` is what the question was taken to mean; None where it was taken as it stands.
    ``subject`` is what a follow-up was taken to be about where no language model read it.
    """

    conversation_id: str
    turn: int
    question: str | None = None
    subject: str | None = None


class Answer(Reply):
    """An answer with its evidence; ``mentioned`` are labels of connected notes that it names.

    ``model`` is the language model that wrote it. ``likelihood``, 0 to 1, is how likely it is that what
    was found answers, where that decided: below 0.5 nothing is quoted, below 0.85 the quotes are shown
    as the nearest passages. ``left_out`` is what the language model was not shown.
    """

    answer: str
    mode: Literal["llm", "extractive", "none"]
    model: str | None = None
    likelihood: float | None = Field(default=None, ge=0, le=1)
    citations: list[Citation]
    mentioned: list[str] = Field(default_factory=list)
    claims: list[Claim] = Field(default_factory=list)
    left_out: list[LeftOut] = Field(default_factory=list)
    sources: list[Source]
    conversation: ConversationTurn | None = None

    def __str__(self) -> str:
        """The answer with its places and doubts, for who reads text."""
        from notehop.app.models.reply_text import answer_text

        return answer_text(self, 800, "All of them: answer.sources.")


class Hit(Source):
    """A hit of a search; ``file`` is its ``path``, under the name that other tools have for it."""

    file: str


class SearchResult(Reply):
    """The hits of a search, best first."""

    hits: list[Hit]

    def __str__(self) -> str:
        """The hits with their places, for who reads text."""
        from notehop.app.models.reply_text import search_text

        return search_text(self, 2_000, "All of them: result.hits.")


class SourcesEvent(StrictModel):
    """First: what may be cited."""

    event: Literal["sources"] = "sources"
    sources: list[Source]


class ConnectedEvent(StrictModel):
    """Then: what is context, and never cited."""

    event: Literal["connected"] = "connected"
    connected_notes: list[ConnectedNote]


class TokenEvent(StrictModel):
    """Then, any number of times: more of the answer."""

    event: Literal["token"] = "token"
    text: str


class ResetEvent(StrictModel):
    """Before ``done``, where a model broke off or what it wrote could not be kept: this is in its place."""

    event: Literal["reset"] = "reset"
    text: str


class DoneEvent(StrictModel):
    """Last: the whole answer, its citations checked. Its text is what holds."""

    event: Literal["done"] = "done"
    answer: Answer


class ErrorEvent(StrictModel):
    """Last, in place of ``done``: why there is no answer."""

    event: Literal["error"] = "error"
    problem: Problem


StreamEvent: TypeAlias = SourcesEvent | ConnectedEvent | TokenEvent | ResetEvent | DoneEvent | ErrorEvent
