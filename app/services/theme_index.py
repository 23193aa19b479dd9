"""The themes of the newest generation: those beside the index, brought on in memory if behind.

Touches: index (reads), vault-read (its templates).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from notehop.app.services.place import Place
from notehop.config.errors import SwitchedOff
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.templates import read_templates
from notehop.indexing.themes.build import Lexicon, make_themes
from notehop.indexing.themes.model import Themes, read_themes
from notehop.indexing.themes.update import options_of
from notehop.indexing.tokens import Tokenizer

OFF = (
    "themes are switched off; set themes.enabled to true (docs/themes.md), then run: notehop index"
)


class ThemeIndex:
    """Threads share it. Nothing is read before themes are asked for."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._turn = threading.Lock()
        self._file: tuple[int, int] | None = None
        self._last: Themes | None = None

    def of(
        self, view: CatalogSnapshot, tokenizer: Tokenizer, lexical: Callable[[], LexicalIndex]
    ) -> Themes:
        """The themes of a generation.

        :param lexical: gives the lexical index, which may be of a generation near this one.
        :raises SwitchedOff: if they are switched off.
        """
        settings = self._place.settings.themes
        if not settings.enabled:
            raise SwitchedOff(OFF)
        options = options_of(settings)

        def lexicon() -> Lexicon:
            index = lexical()
            return Lexicon(tokenizer, index.frequency, len(index))

        with self._turn:
            self._read()
            last = self._last
            fits = last is not None and last.are_of(view.stamp, view.generation, options.name)
            made = make_themes(
                view,
                read_templates(self._place.vault).holds,
                lexicon,
                options,
                before=last if fits else None,
                former=last,
            )
            # A view of an older generation is answered, and what is known of the newer one kept.
            if fits or last is None or not last.are_of(view.stamp, last.generation, options.name):
                self._last = made
            return made

    def _read(self) -> None:
        """Take the file if another one stands there than before: a run has written it."""
        path = self._place.layout.themes
        now = _file_of(path)
        if now is None or now == self._file:
            return
        self._file = now
        found = read_themes(path)
        if found is not None:
            self._last = found


def _file_of(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
