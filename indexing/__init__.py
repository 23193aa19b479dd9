"""From the vault on disk to the index on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llama_index.core.schema import TransformComponent

    from notehop.config import Settings
    from notehop.indexing.enrich.enricher import Agree
    from notehop.indexing.report import Progress, Report
    from notehop.indexing.vault.parse import extract_wiki_links

__all__ = ["extract_wiki_links", "index_vault"]


def index_vault(
    path: Path | str,
    *,
    index_dir: Path | str | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    rebuild: bool = False,
    allow_mass_delete: bool = False,
    transformations: Sequence[TransformComponent] = (),
    ray: str | None = None,
    agree: Agree | None = None,
    command: str = "index_vault",
) -> Report:
    """Build the index of a vault, or bring it up to date.

    Then have written about the notes what the settings ask for (``[enrich]``).

    :param path: folder of the vault.
    :param index_dir: folder of its index; None for the setting, else the user's data directory.
    :param settings: taken as they are; None reads settings files and environment.
    :param rebuild: make everything from nothing.
    :param allow_mass_delete: forget notes even if most of them are gone.
    :param transformations: LlamaIndex components of your own, run on the passages after they are cut:
        what they change of a node's text, or add to its metadata, is embedded with it, and nothing
        else of the index. They give back every node, in order. With others, or none, the next run
        makes all notes anew.
    :param ray: address of a Ray cluster whose workers embed, with the extra ``ray``; None for this
        machine.
    :param agree: told what a language model is to write and what that costs; says why not to go on.
        Without it, it goes on if the budget of a run covers all of it.
    :param command: what people know this writer by.
    :returns: what was indexed, skipped and failed, and why.
    :raises NotehopError: as :meth:`notehop.indexing.pipeline.Indexer.run`.
    """
    from notehop.config import load_settings
    from notehop.indexing.enrich.enricher import enrich, within_budget
    from notehop.indexing.pipeline import Indexer
    from notehop.indexing.pipeline.models import embedding_by
    from notehop.indexing.report import Progress
    from notehop.indexing.stores.layout import layout_for
    from notehop.indexing.vault.walk import vault_folder

    vault = vault_folder(Path(path))
    settings = settings or load_settings(vault=vault)
    layout = layout_for(vault, settings, Path(index_dir) if index_dir else None)
    progress = progress or Progress()
    with embedding_by(ray, settings, layout.root, progress.message) as load:
        where = vault, settings, layout, progress, load
        indexer = Indexer(*where, command=command, transformations=transformations)
        report = indexer.run(rebuild=rebuild, allow_mass_delete=allow_mass_delete)
        done = enrich(indexer, agree or within_budget)
    return report if done is None else report.with_enrichment(done)


def __getattr__(name: str) -> object:
    """Load what is public here when it is first asked for: the Markdown parser takes its time."""
    if name == "extract_wiki_links":
        from notehop.indexing.vault.parse import extract_wiki_links

        return extract_wiki_links
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
