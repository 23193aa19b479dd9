"""What a text is rendered in: what its links name, and where in its note it stands. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from markdown_it.utils import EnvType

from notehop.indexing.vault.link_text import LinkText

_KEY = "notehop"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a text is rendered in.

    ``href`` gives the address of what a link names, None for nothing. ``markers`` tells whether
    ``[1]`` and ``[C1]`` name sources. ``first_line`` is the line of the note that the text begins
    with; None is for a piece of a note, in which headings are no headings of the page.
    """

    href: Callable[[LinkText], str | None] = lambda _: None
    markers: bool = False
    first_line: int | None = None

    def env(self) -> EnvType:
        """The environment of a parse."""
        return {_KEY: self}


def surroundings_of(env: EnvType) -> Surroundings:
    """What :meth:`Surroundings.env` was made of."""
    found = env[_KEY]
    assert isinstance(found, Surroundings)
    return found
