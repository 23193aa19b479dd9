"""Keeps the themes of an index up to it, where they are wanted.

Touches: vault-read (its templates), index (``themes.json``; under the writer lock), model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from config.errors import IndexDamaged
from config.settings import ThemesSettings
from indexing.enrich.summaries import Summaries
from indexing.stores.catalog import Catalog, CatalogSnapshot
from indexing.stores.layout import IndexLayout
from indexing.stores.lexical import LexicalIndex
from indexing.templates import read_templates
from indexing.themes.build import Lexicon, Options, make_themes
from indexing.themes.file import drop_themes, read_themes, write_themes
from indexing.themes.summaries import sum_up
from indexing.tokens import Tokenizer

if TYPE_CHECKING:
    from llama_index.core.llms import LLM


def options_of(settings: ThemesSettings) -> Options:
    """What the settings say of the communities."""
    return Options(settings.resolution, settings.min_notes)


def keep_themes(
    layout: IndexLayout,
    catalog: Catalog,
    vault: Path,
    settings: ThemesSettings,
    *,
    former: Path | None = None,
    load: Callable[[], LLM | None] | None = None,
) -> list[str]:
    """Bring the themes up to the newest generation, or take them away if they are not wanted.

    :param former: the themes of the index that this one will take the place of.
    :param load: gives the language model; None asks none.
    :returns: what has to be said; usually nothing.
    :raises IndexUnwritable: if the disk refuses; what was there stays.
    """
    if not settings.enabled:
        drop_themes(layout.themes)
        return []
    options = options_of(settings)
    found = read_themes(layout.themes)
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return []
        fits = found is not None and found.are_of(view.stamp, view.generation, options.name)
        themes = make_themes(
            view,
            read_templates(vault).holds,
            lambda: _lexicon(layout, view),
            options,
            before=found if fits else None,
            former=found or (None if former is None else read_themes(former)),
        )
        told: list[str] = []
        if settings.summaries == "extract":
            plain = tuple(replace(one, summary=None) for one in themes.themes)
            themes = replace(themes, themes=plain)
        if load is not None and settings.summaries == "llm":
            summaries = Summaries.open(layout)
            themes, told = sum_up(view, themes, load, settings.max_calls, summaries)
    if themes != found:
        write_themes(layout.themes, themes)
    return told


def _lexicon(layout: IndexLayout, view: CatalogSnapshot) -> Lexicon:
    try:
        index, _, stamp = LexicalIndex.load(layout.lexical)
    except IndexDamaged:
        stamp = ""
    if stamp != view.stamp:
        index = LexicalIndex.build(view.chunk_tokens())
    language = str((view.fingerprint or {}).get("language") or "en")
    return Lexicon(Tokenizer(language), index.frequency, len(index))
