"""The themes of a vault: what may be asked, and what is told of each."""

from __future__ import annotations

from pydantic import Field

from notehop.app.models.base import Asked, Strict
from notehop.app.models.filters import Filters


class ThemesQuery(Asked):
    """Which themes to list.

    ``query`` says what about; without it all themes are listed, the largest first. It may hold
    filters itself, as that of a search, unless ``literal``. ``max``: the setting in force where not
    given.
    """

    query: str = ""
    filters: Filters = Field(default_factory=Filters)
    literal: bool = False
    max: int | None = Field(default=None, ge=1, le=50)


class ThemeNote(Strict):
    """A note at the centre of a theme, or one of those that say most about a query.

    ``text`` is its summary, ``written_by`` the language model that wrote that; None for the note's
    own words.
    """

    path: str
    title: str
    folder: str
    text: str
    written_by: str | None = None
    uri: str


class ThemeView(Strict):
    """Notes that are linked with one another more than with the rest of the vault.

    ``id`` stays when notes join and leave. ``words`` tell it from the rest of the vault.
    ``summary`` is what its first note says, unless ``written_by`` names the language model that
    wrote it. ``count`` is the number of its notes, of those that the filters leave; ``found`` how
    many of them have to do with the query, None without one. ``notes`` are the first few.
    """

    id: str
    name: str
    words: list[str]
    summary: str
    written_by: str | None = None
    count: int
    found: int | None = None
    notes: list[ThemeNote]


class ThemesResult(Strict):
    """The themes: largest first, or those that have most to do with the query.

    ``total`` counts the themes that there are beyond ``max``; ``small`` the notes in groups that
    are too small to be themes; ``unlinked`` those that no link connects with another note.
    """

    themes: list[ThemeView]
    total: int
    small: int
    unlinked: int
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    generation: int
    pending: int | None = None
