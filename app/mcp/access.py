"""What the tools ask of whoever has the vault; over HTTP that is the server, else this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from notehop.app.models import (
    BrowseQuery,
    BrowseResult,
    Captured,
    CaptureQuery,
    GraphView,
    NoteView,
    Query,
    SearchQuery,
    SearchResult,
    StreamEvent,
)

T = TypeVar("T")


class Vault(Protocol):
    """A vault that is open for questions; its methods block, and threads may share it."""

    @property
    def ready(self) -> bool:
        """Whether the next query finds everything loaded."""

    def warm(self) -> None:
        """Load what queries need."""

    def stream(
        self, query: Query, *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[StreamEvent]:
        """Answer a question piece by piece, until ``cancelled`` says that nobody listens."""

    def search(self, query: SearchQuery) -> SearchResult:
        """List what matches."""

    def browse(self, query: BrowseQuery) -> BrowseResult:
        """List the notes around some."""

    def note(
        self, path_or_name: str, *, section: str | None = None, mentions: bool = True
    ) -> NoteView:
        """Read a note."""

    def picture(self, around: Sequence[str] = (), *, depth: int = 1, most: int = 60) -> GraphView:
        """The best linked notes, where none is named."""

    def capture(self, query: CaptureQuery) -> Captured:
        """Write a new note."""


class Access(Protocol):
    """How the tools come to a vault, and to a thread for what blocks."""

    @property
    def opened(self) -> bool:
        """Whether :meth:`open` takes no time."""

    def open(self) -> Vault:
        """The vault, opened; blocks.

        :raises NotehopError: why it cannot be opened, or not yet.
        """

    def capture(self, query: CaptureQuery) -> Captured:
        """Write a new note, also where there is no index to open; blocks."""

    async def run(self, work: Callable[[], T], *, slow: bool = False) -> T:
        """Have a thread do what blocks; a caller that is cancelled does not wait for it.

        :param slow: whether a language model may take its time with it.
        :raises NotehopError: what the work raises, or that there is no room for it.
        """


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, as its work in a thread sees it.

    :ivar say: tells the client what is being done, if it wants to know.
    :ivar gone: whether nobody waits for the result any more.
    """

    say: Callable[[str], None]
    gone: Callable[[], bool]
