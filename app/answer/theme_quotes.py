"""An answer about the themes of a vault without a language model: each theme, with quotes.

Touches: the embedding model, through the reading it is given.
"""

from __future__ import annotations

from dataclasses import replace

from llama_index.core.llms import MockLLM

from notehop.app.answer.checking import Checker
from notehop.app.answer.draft import QUOTED, Draft, Said, quoted, silent
from notehop.app.answer.extractive import EVEN, look
from notehop.app.answer.frame import one_line
from notehop.app.answer.layout import Quote
from notehop.app.answer.material import Material
from notehop.app.answer.relevance import Named, Reading
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.answer.theme_groups import Group, groups_of
from notehop.app.models import Source
from notehop.indexing.shown import counted

EACH = 3
"""Notes of a theme that are quoted, a sentence each."""

THEMES = "The themes of the notes, by how they link to one another, with a sentence from each:"
"""How an answer about all themes begins, so that nobody takes it for a model's."""

ABOUT = "The themes in which the notes speak of this, with what they say:"
"""The same where themes of something were asked for."""


class ThemeQuotes(VaultSynthesizer):
    """Names each theme, its size, and a sentence of each of its first notes."""

    def __init__(self, vault: str, reading: Reading, *, checker: Checker | None = None) -> None:
        # The base class would otherwise look for a language model of its own, across the network.
        super().__init__(vault, MockLLM(), checker)
        self._reading = reading

    def draft(self, query: str, material: Material) -> Draft:  # noqa: ARG002 (told with each theme)
        """Quote what each theme says; where none says anything of what was asked, say so."""
        told = [(group, found) for group in groups_of(material) if (found := self._quotes(group))]
        if not told:
            return silent(material)
        text = ABOUT if told[0][0].about else THEMES
        said: list[Said] = []
        cited: dict[str, None] = {}
        for group, found in told:
            text += f"\n\n### {_title(group)}"
            inner = quoted(found)
            moved = len(text) - len(QUOTED)
            text += inner.text.removeprefix(QUOTED)
            said += [
                replace(one, start=one.start + moved, end=one.end + moved) for one in inner.said
            ]
            cited |= dict.fromkeys(inner.cited)
        return Draft(text, "extractive", tuple(cited), said=tuple(said))

    def _quotes(self, group: Group) -> list[Quote]:
        if group.about:
            sources = [Named(source) for source in group.sources]
            found_about = look(group.about, sources, self._reading, EACH)
            # The theme was found by what is asked already: half of an answer is worth a quote.
            return list(found_about.quotes) if found_about.likelihood >= EVEN / 2 else []
        found = (self._telling(group, source) for source in group.sources[:EACH])
        return [quote for quote in found if quote is not None]

    def _telling(self, group: Group, source: Source) -> Quote | None:
        """A sentence with the words of the theme, else how the note begins.

        By words alone: a list of words has no meaning that a sentence could be near to.
        """
        reading = replace(self._reading, vectors=None)
        named = [Named(source)]
        for asked in (" ".join(group.words), source.title):
            if asked.strip() and (found := look(asked, named, reading, 1).quotes):
                return found[0]
        return None


def _title(group: Group) -> str:
    words = f": {one_line(', '.join(group.words))}" if group.words else ""
    return f"{one_line(group.name)} ({counted(group.count, 'note')}{words})"
