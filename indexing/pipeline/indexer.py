"""The indexer: brings the index of one vault up to its vault.

Touches: vault-read, index, model.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from config import Settings
from indexing.changes import scan
from indexing.identity import wanted
from indexing.pipeline.doors import LoadEmbedder, load_embedder
from indexing.pipeline.run import IndexRun
from indexing.report import Progress, Report, Silent
from indexing.stores.catalog import Catalog
from indexing.stores.layout import IndexLayout
from indexing.stores.lock import WriterLock
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

        :raises VaultError: if the vault is not there or cannot be listed.
        :raises IndexMismatch: if the index was built with other settings; ``rebuild`` ends that.
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
            if rebuild:
                self.layout.clear()
            meta = {"vault": str(self.vault.resolve())}
            catalog = held.enter_context(Catalog.open(self.layout.catalog, create=True, meta=meta))
            return IndexRun(
                vault=self.vault,
                settings=self.settings,
                layout=self.layout,
                progress=self.progress,
                load=self._load,
                catalog=catalog,
                walk=found,
                asked=asked,
            ).execute()

    def _walk(self) -> Walk:
        self.progress.stage("Scanning", 0, "files")
        return scan(self.vault, self.settings.vault)
