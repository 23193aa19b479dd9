"""What the API asks of a vault; :class:`notehop.app.container.VaultHandle` is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from notehop.app.models import (
    Answer,
    BrowseQuery,
    BrowseResult,
    Captured,
    CaptureQuery,
    Embedded,
    EmbedQuery,
    GraphView,
    IndexStatus,
    NoteView,
    Query,
    SearchQuery,
    SearchResult,
    StreamEvent,
    ThemesQuery,
    ThemesResult,
)


class Vault(Protocol):
    """A vault that is open for questions; its methods block, and threads may share it."""

    @property
    def name(self) -> str:
        """Name of the vault."""

    @property
    def generation(self) -> int:
        """Generation of the index that replies come from."""

    @property
    def ready(self) -> bool:
        """Whether the next query finds everything loaded."""

    def warm(self) -> None:
        """Load what queries need."""

    def ask(self, query: Query) -> Answer:
        """Answer a question."""

    def stream(
        self, query: Query, *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[StreamEvent]:
        """Answer a question piece by piece, until ``cancelled`` says that nobody listens."""

    def search(self, query: SearchQuery) -> SearchResult:
        """List what matches."""

    def themes(self, query: ThemesQuery) -> ThemesResult:
        """List what the vault is about."""

    def browse(self, query: BrowseQuery) -> BrowseResult:
        """List the notes around some."""

    def note(
        self, path_or_name: str, *, section: str | None = None, mentions: bool = True
    ) -> NoteView:
        """Read a note."""

    def picture(self, around: Sequence[str] = (), *, depth: int = 1, most: int = 60) -> GraphView:
        """Lay out a part of the graph."""

    def capture(self, query: CaptureQuery) -> Captured:
        """Write a new note."""

    def embed(self, query: EmbedQuery) -> Embedded:
        """Turn texts into vectors."""

    def status(self) -> IndexStatus:
        """Describe the index."""

    def close(self) -> None:
        """Let go of the index."""
