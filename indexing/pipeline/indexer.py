"""The indexer: brings the index of one vault up to its vault.

Touches: vault-read, index, model.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from config import Settings
from config.errors import IndexFailure
from indexing.changes import scan
from indexing.identity import wanted
from indexing.pipeline.doors import LoadEmbedder, load_embedder
from indexing.pipeline.run import IndexRun
from indexing.report import Progress, Report, Silent
from indexing.stores.catalog import Catalog
from indexing.stores.layout import IndexLayout
from indexing.stores.lock import WriterLock
from indexing.stores.reader_fingerprint import check_vault
from indexing.stores.replacement import finish_replacement, replace_index
from indexing.vault.walk import Walk


class Indexer:
    """Brings the index of one vault up to the vault, as often as it is run."""

    def __init__(
        self,
        vault: Path,
        settings: Settings,
        layout: IndexLayout,
        progress: Progress | None = None,
        load: LoadEmbedder = load_embedder,
    ) -> None:
        """Touch nothing yet.

        :param load: gives the embedding model; called at most once a run, when a note must be read.
        """
        self.vault = vault
        self.settings = settings
        self.layout = layout
        self.progress = progress or Silent()
        self._load = load

    def run(self, *, rebuild: bool = False) -> Report:
        """Index what changed since the last run; with ``rebuild``, everything from nothing.

        A rebuild that does not come to its end leaves the index as it was.

        :raises VaultError: if the vault is not there or cannot be listed.
        :raises IndexMismatch: if the index was built with other settings, which ``rebuild`` ends,
            or is that of another vault.
        :raises IndexLocked: if another process writes the index.
        :raises IndexUnwritable: if the disk is full or read-only; what was committed stays.
        :raises ModelError: if the embedding model is missing or fails.
        """
        with ExitStack() as held:
            held.callback(self.progress.close)
            # The vault and the model first: a wrong path must not cost a folder or an old index.
            found = self._walk()
            asked = wanted(self.settings)
            self.layout.create(self.vault)
            held.enter_context(WriterLock(self.layout, "notehop index"))
            finish_replacement(self.layout)
            if rebuild and self.layout.catalog.exists():
                return self._replaced(found, asked)
            return self._run(self.layout, found, asked)

    def _replaced(self, found: Walk, asked: dict[str, Any]) -> Report:
        """Build a new index beside the old one, which answers until the new one is whole."""
        self._check_owner()
        self.layout.next.create(self.vault)
        report = self._run(self.layout.next, found, asked)
        replace_index(self.layout)
        return replace(report, index_dir=str(self.layout.root))

    def _run(self, layout: IndexLayout, found: Walk, asked: dict[str, Any]) -> Report:
        meta = {"vault": str(self.vault.resolve())}
        with Catalog.open(layout.catalog, create=True, meta=meta) as catalog:
            check_vault(catalog.meta(), self.vault, layout.root)
            return IndexRun(
                vault=self.vault,
                settings=self.settings,
                layout=layout,
                progress=self.progress,
                load=self._load,
                catalog=catalog,
                walk=found,
                asked=asked,
            ).execute()

    def _check_owner(self) -> None:
        """A rebuild must not replace another vault's index; a damaged one may be anybody's."""
        try:
            with Catalog.open(self.layout.catalog, read_only=True) as catalog:
                meta = catalog.meta()
        except IndexFailure:
            return
        check_vault(meta, self.vault, self.layout.root)

    def _walk(self) -> Walk:
        self.progress.stage("Scanning", 0, "files")
        return scan(self.vault, self.settings.vault)
