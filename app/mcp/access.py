"""What the tools ask of whoever has the vault; over HTTP that is the server, else this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from notehop.app.models import Captured, CaptureQuery

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

T = TypeVar("T")


class Access(Protocol):
    """How the tools come to a vault, and to a thread for what blocks."""

    @property
    def opened(self) -> bool:
        """Whether :meth:`open` takes no time."""

    def open(self) -> VaultHandle:
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
