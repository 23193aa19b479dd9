"""Keeps the themes of an index up to it, where they are wanted.

Touches: vault-read, index (``themes.json``; under the writer lock), model.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.config.errors import IndexDamaged, NotehopError
from notehop.config.settings import Settings, ThemesSettings
from notehop.indexing.enrich.summaries import Summaries
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.templates import read_templates
from notehop.indexing.themes.build import Lexicon, Options, make_themes, source_digest
from notehop.indexing.themes.file import drop_themes, read_themes, write_themes
from notehop.indexing.themes.model import Written
from notehop.indexing.themes.summaries import Sources, indexed_content, sum_up
from notehop.indexing.tokens import Tokenizer

if TYPE_CHECKING:
    from llama_index.core.llms import LLM


_PATIENCE = 30.0
"""Seconds to wait for the lock to keep what was paid for: another may be writing meanwhile."""


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
) -> None:
    """Bring the themes up to the newest generation, or take them away if they are not wanted.

    :param former: the themes of the index that this one will take the place of.
    :raises IndexUnwritable: if the disk refuses; what was there stays.
    """
    if not settings.enabled:
        drop_themes(layout.themes)
        return
    options = options_of(settings)
    found = read_themes(layout.themes)
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return
        fits = found is not None and found.are_of(view.stamp, view.generation, options.name)
        themes = make_themes(
            view,
            read_templates(vault).holds,
            lambda: _lexicon(layout, view),
            options,
            before=found if fits else None,
            former=found or (None if former is None else read_themes(former)),
        )
        if settings.summaries == "extract":
            plain = tuple(replace(one, summary=None) for one in themes.themes)
            themes = replace(themes, themes=plain)
    if themes != found:
        write_themes(layout.themes, themes)


def sum_themes_up(
    layout: IndexLayout,
    catalog: Catalog,
    vault: Path,
    settings: Settings,
    load: Callable[[], LLM | None],
    writing: Callable[[], AbstractContextManager[object]],
) -> list[str]:
    """Have a language model sum up the themes that lack it, where that is wanted.

    The index is whole by then. What is written is kept at once: who ends this loses the one summary
    that was waited for.

    :param load: gives the language model; called only where something is to be written.
    :param writing: holds the writer lock, for the moment in which a summary is kept.
    :returns: what has to be said; usually nothing.
    """
    themes = read_themes(layout.themes)
    if not settings.themes.enabled or settings.themes.summaries != "llm" or themes is None:
        return []

    def keep(id_: str, summary: Written) -> None:
        with writing(), catalog.snapshot() as view:
            now = read_themes(layout.themes)
            content = indexed_content(view)
            if now is None or now.stamp != view.stamp:
                return
            kept = tuple(
                replace(one, summary=summary)
                if one.id == id_ and source_digest(one.notes, content) == summary.digest
                else one
                for one in now.themes
            )
            write_themes(layout.themes, replace(now, themes=kept))

    sources = Sources(vault, settings.vault, Summaries.open(layout))
    return sum_up(catalog, themes, load, settings.themes.max_calls, sources, keep)


def themes_summed_up(
    layout: IndexLayout, vault: Path, settings: Settings, command: str
) -> list[str]:
    """Have a language model sum the themes up, where that is wanted: after the run, whose lock
    nobody shall wait for as long as a model may take.

    :param command: what people know the writer by.
    :returns: what has to be said; usually nothing.
    """
    if not settings.themes.enabled or settings.themes.summaries != "llm":
        return []

    def load() -> LLM | None:
        from notehop.indexing.llm.load import load_llm

        return load_llm(settings, log_dir=layout.root)

    def writing() -> WriterLock:
        return WriterLock(layout, command, patience=_PATIENCE)

    try:
        with Catalog.open(layout.catalog, read_only=True) as catalog:
            return sum_themes_up(layout, catalog, vault, settings, load, writing)
    except NotehopError as exc:
        return [f"themes were not summed up: {exc}"]


def _lexicon(layout: IndexLayout, view: CatalogSnapshot) -> Lexicon:
    try:
        index, _, stamp = LexicalIndex.load(layout.lexical)
    except IndexDamaged:
        stamp = ""
    if stamp != view.stamp:
        index = LexicalIndex.build(view.chunk_tokens())
    language = str((view.fingerprint or {}).get("language") or "en")
    return Lexicon(Tokenizer(language), index.frequency, len(index))
