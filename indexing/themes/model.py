"""Themes as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a language model wrote; ``digest`` names what it was made from."""

    text: str
    model: str
    digest: str


@dataclass(frozen=True, slots=True)
class Theme:
    """A community of notes that is large enough to be told of.

    ``id`` stays when notes join and leave. ``named_after`` is the note whose title is its ``name``.
    ``words`` are those that tell it from the rest of the vault, the most telling first. ``notes``
    are its paths, the most central first. ``digest`` names the content of its notes.
    """

    id: str
    name: str
    named_after: str
    words: tuple[str, ...]
    notes: tuple[str, ...]
    digest: str
    summary: Written | None = None


@dataclass(frozen=True)
class Themes:
    """The themes of one generation of an index, the largest first, then by id.

    ``small`` are the communities with too few notes to be themes, ``unlinked`` the notes that no
    link connects with another one. ``quality`` is the modularity of the partition when all of it
    was looked at last, ``drift`` counts the notes that changed since. ``made_with`` names the
    settings.
    """

    generation: int
    stamp: str
    made_with: str
    themes: tuple[Theme, ...] = ()
    small: tuple[tuple[str, ...], ...] = ()
    unlinked: tuple[str, ...] = ()
    quality: float = 0.0
    drift: int = 0

    def are_of(self, stamp: str, generation: int, made_with: str) -> bool:
        """Whether they are of this or an earlier generation of a catalog, made with settings."""
        return (self.stamp, self.made_with) == (stamp, made_with) and self.generation <= generation

    @cached_property
    def of_note(self) -> Mapping[str, Theme]:
        """Note -> its theme, for the notes of themes."""
        return {path: theme for theme in self.themes for path in theme.notes}
