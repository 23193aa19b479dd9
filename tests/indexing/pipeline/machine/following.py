"""A vault under edits, the index that follows it with its readers, and one built from nothing."""

import hashlib
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.indexing.pipeline.machine import contents
from tests.support import product
from tests.support.notes import mirror_here
from tests.support.readable_model import ReadableModel

MAX_NOTE_BYTES = 1_500
EXCLUDED = "Archive"
SETTINGS = {
    "vault.exclude": [EXCLUDED],
    "vault.max_note_bytes": MAX_NOTE_BYTES,
    "chunking.min_tokens": 4,
    # Learnt from the first notes, it would be another for an index that starts with later ones.
    "lexical.language": "en",
}

USES = frozenset({"run", "update", "run_elsewhere", "rebuild", "tidy", "look", "hold"})
"""Steps that are done with the index; all others are edits of the vault."""

Step = tuple[object, ...]
"""Name of an edit or of what is done with the index, and its arguments."""


_TICK_NS = 1_500_000_007
"""Between two edits: no whole number of seconds, so that no rounding hides a difference."""


class EditedVault:
    """Files below one folder. Edits are dated by a clock of their own: equal scripts, equal files.

    ``touched`` gathers the paths that a file watcher would name: of a folder that moved or went,
    the folder alone; of the app's settings, everything; of other hidden files nothing.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.touched: set[str] = set()
        self._now = 1_700_000_000_123_456_789

    def files(self) -> list[str]:
        """All files, dot-files too, sorted; links that lead to no file are none."""
        return [path for path in self._below(file=True) if (self.root / path).is_file()]

    def folders(self) -> list[str]:
        return [path for path in self._below(file=False) if not path.startswith(".")]

    def notes(self) -> list[str]:
        return [path for path in self.files() if path.lower().endswith(".md")]

    def has_links(self) -> bool:
        return any((self.root / path).is_symlink() for path in self._below(file=True))

    def data(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def is_free(self, path: str) -> bool:
        """Whether a file or folder could be put at a path: nothing there, no file on the way."""
        place = self.root / path
        over = [parent for parent in place.parents if self.root in parent.parents]
        return not os.path.lexists(place) and not any(parent.is_file() for parent in over)

    def write(self, path: str, content: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        self._date(file)
        self._tell_of_content(path)

    def link(self, path: str, target: str) -> None:
        """Put a symbolic link to a file of the vault where nothing is."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(self.root / target, place.parent))
        self._tell(path)

    def touch(self, path: str) -> None:
        self._date(self.root / path)
        self._tell_of_content(path)

    def rename(self, old: str, new: str) -> None:
        """Move or rename a file, over another if one is there, or a folder; its date stays."""
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)
        self._tell(old)
        self._tell(new)

    def remove(self, path: str) -> None:
        place = self.root / path
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        self._tell(path)

    def _tell(self, path: str) -> None:
        if path == product.APP_SETTINGS:
            self.touched.add(product.EVERYTHING)
        elif not path.startswith("."):
            self.touched.add(path)

    def _tell_of_content(self, path: str) -> None:
        """What is written through a symbolic link changes the file that it leads to."""
        self._tell((self.root / path).resolve().relative_to(self.root.resolve()).as_posix())

    def _date(self, file: Path) -> None:
        self._now += _TICK_NS
        os.utime(file, ns=(self._now, self._now))

    def _below(self, *, file: bool) -> list[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self.root):
            here = Path(folder).relative_to(self.root).as_posix()
            prefix = "" if here == "." else f"{here}/"
            found += [prefix + name for name in (files if file else folders)]
        return sorted(found)


@dataclass(frozen=True, slots=True)
class Anew:
    """What an index built from nothing says: of its run, in its rows, to readers."""

    report: product.Report | None = None
    rows: contents.Told = field(default_factory=dict)
    told: contents.Told = field(default_factory=dict)


class Following:
    """Does steps, one after the other, and checks the index after each run.

    ``script`` holds the steps done, to be done again by :func:`play`.
    """

    def __init__(
        self, folder: Path, *, limits: product.Limits = product.LIMITS, chroma: bool = False, server: str = ""
    ) -> None:
        """Start with an empty vault and no index.

        :param limits: what work is done in. With smaller ones than the product's, runs in several
            batches may have to embed again what is known; else nothing may be.
        :param chroma: keep the mirror, in this process.
        :param server: address of a database for the catalog; the index from nothing needs none.
        """
        self.vault = EditedVault(folder / "vault")
        held = product.ServerCatalog(server, f"machine_{uuid.uuid4().hex[:12]}") if server else None
        self.layout = product.IndexLayout(folder / "index", held)
        self.script: list[Step] = []
        self.runs = 0
        self._limits = limits
        self._economical = limits == product.LIMITS
        self._folder = folder
        self._settings = product.load_settings().with_overrides({**SETTINGS, "index.mirror": chroma})
        self._model = ReadableModel()
        self._held: list[tuple[product.Snapshot, contents.Told]] = []
        self._readers: dict[str, product.Reader] = {}
        self._anew = Anew()
        self._indexer = self._made()
        self._tokens: set[str] = set()

    def do(self, name: str, *arguments: object) -> None:
        """Do one step: an edit of the vault, or something with the index (:data:`USES`)."""
        self.script.append((name, *arguments))
        getattr(self if name in USES else self.vault, name)(*arguments)

    def close(self) -> None:
        for snapshot, _ in self._held:
            snapshot.close()
        for reader in self._readers.values():
            reader.close()

    def run(self) -> None:
        """Look at the whole vault, index what changed, and compare."""
        self._follow(lambda: self._indexer.run(allow_mass_delete=True))

    def update(self, *paths: str) -> None:
        """Look at these paths alone, which hold all that was touched."""
        self._follow(lambda: self._indexer.update(paths, allow_mass_delete=True))

    def run_elsewhere(self) -> None:
        """Another process runs over the whole vault; the one that follows has to notice."""
        touched = set(self.vault.touched)
        self._follow(lambda: self._made().run(allow_mass_delete=True))
        self.vault.touched |= touched

    def rebuild(self) -> None:
        """Build the index anew in place of the one there is, which readers hold open."""
        self._follow(lambda: self._indexer.run(rebuild=True, allow_mass_delete=True), anew=True)

    def tidy(self) -> None:
        if self.runs:
            self._indexer.tidy()
            self._check()

    def look(self) -> None:
        """Let the reader that looks seldom go on, over all generations that it missed."""
        if self.runs:
            with self._snapshot("seldom") as snapshot:
                _same("the reader that looks seldom", self._told(snapshot), self._anew.told)

    def hold(self) -> None:
        """Keep what queries see now, to ask it when the index has moved on."""
        if self.runs:
            with product.Reader(self.layout, limits=self._limits) as reader, reader.snapshot() as snapshot:
                told = contents.places(snapshot) | contents.graph_of(snapshot)
            self._held.append((self._reader("often").snapshot(), told))

    def _follow(self, work: Callable[[], product.Report | product.Update], *, anew: bool = False) -> None:
        """Bring the index up to the vault, and check all that it should be."""
        if self.runs:
            state = product.read_catalog_state(self.layout)
            assert state is not None
            assert state.fits(self.layout)
        known = self._embedded()
        self._model.asked.clear()
        told = work()
        self.runs += 1
        if self._economical and not anew:
            self._check_economy(known)
        self._anew = self._built_from_nothing()
        self._check()
        self._check_told(told)
        self._check_rest(told)
        self.vault.touched.clear()

    def _check_told(self, told: product.Report | product.Update) -> None:
        expected = self._anew.report
        names = ("notes",)
        if isinstance(told, product.Report):
            assert told.added + told.changed + told.moved + told.unchanged == told.notes
            names = ("notes", "chunks", "links", "skipped", "failed")
        for name in names:
            assert getattr(told, name) == getattr(expected, name), name

    def _check(self) -> None:
        """Compare all that the index says with one built from nothing."""
        anew = self._anew
        _same("the catalog", contents.catalog_rows(self.layout.catalog), anew.rows)
        with self._snapshot("often") as snapshot:
            _same("the reader that followed", self._told(snapshot), anew.told)
        with product.Reader(self.layout, limits=self._limits) as reader, reader.snapshot() as snapshot:
            _same("a reader opened now", self._told(snapshot), anew.told)
        if self._settings.index.mirror and self.layout.chroma.exists():
            # After a change of some notes it is behind, and a tidy moment brings it up.
            if product.mirror_due(self.layout):
                self._indexer.tidy()
            _same("the mirror", contents.mirrored(self.layout), contents.to_be_mirrored(self._catalog()))
        for snapshot, before in self._held:
            _same("a snapshot held", contents.places(snapshot) | contents.graph_of(snapshot), before)
            snapshot.close()
        self._held.clear()

    def _check_rest(self, told: product.Report | product.Update) -> None:
        """Over an unchanged vault nothing is written, and nothing asked of the model."""
        assert not self.layout.purge_mark.exists()
        if self.layout.journal_mark.exists():
            # A reader that is gone by now kept the words of a withdrawn note.
            self._indexer.update(())
        assert not self.layout.journal_mark.exists()
        files, loaded = self._index_files(), self._model.loaded
        found = product.scan(self.vault.root, self._settings.vault)
        known = self._catalog().stamps(), self._catalog().attachments()
        assert not product.compare(found, *known, MAX_NOTE_BYTES)
        again = [self._indexer.update([*self.vault.touched, *self.vault.notes()])]
        if isinstance(told, product.Report):
            # One that looks at everything also does what a follower leaves for a quiet moment.
            again.append(self._made().update())
        for update in again:
            assert (update.wrote, update.generation) == (False, told.generation)
            assert (update.notes, update.embedded) == (told.notes, 0)
        assert self._model.loaded == loaded, "a run over an unchanged vault loaded the model"
        wrong = list(contents.differences(self._index_files(), files))
        assert not wrong, "a run over an unchanged vault wrote:\n" + "\n".join(wrong)

    def _built_from_nothing(self) -> Anew:
        layout = product.IndexLayout(self._folder / "anew")
        try:
            report = product.Indexer(
                self.vault.root,
                self._settings.with_overrides({"index.mirror": False}),
                layout,
                load=ReadableModel().load,
            ).run()
            with product.Reader(layout) as reader, reader.snapshot() as snapshot:
                self._tokens = contents.tokens_of(snapshot) | {"nowhere"}
                told = self._told(snapshot)
            return Anew(report, contents.catalog_rows(layout.catalog), told)
        finally:
            shutil.rmtree(layout.root)

    def _told(self, snapshot: product.Snapshot) -> contents.Told:
        return {
            **contents.graph_of(snapshot),
            **contents.ranks_of(snapshot),
            **contents.lexical_hits(snapshot, self._tokens),
            **contents.table_vectors(snapshot),
            **contents.places(snapshot),
        }

    def _embedded(self) -> tuple[set[str], set[str]]:
        """The hashes of the texts of chunks, and of sentences, whose vectors the index holds."""
        if not self.runs:
            return set(), set()
        catalog = self._catalog()
        links = catalog.links_from(catalog.indexed_paths())
        sentences = {link.sentence_id for link in links if link.sentence_id is not None}
        chunks = catalog.chunks(key.id for key in catalog.chunk_keys())
        return {chunk.embedded_hash for chunk in chunks.values()}, sentences

    def _check_economy(self, before: tuple[set[str], set[str]]) -> None:
        """Only texts that the index did not hold went through the model, each once."""
        now = self._embedded()
        new = Counter([*(now[0] - before[0]), *(now[1] - before[1])])
        asked = Counter(hashlib.sha256(text.encode()).hexdigest()[:32] for text in self._model.asked)
        assert asked <= new, f"embedded again: {self._model.asked}"

    def _index_files(self) -> Mapping[str, tuple[int, int]]:
        told = {}
        for file in self.layout.root.rglob("*"):
            if file.is_file() and file.name != "writer.lock":
                stat = file.stat()
                told[file.relative_to(self.layout.root).as_posix()] = stat.st_size, stat.st_mtime_ns
        return {name: said for name, said in told.items() if not name.endswith(("-wal", "-shm"))}

    def _made(self) -> product.Indexer:
        return product.Indexer(
            self.vault.root,
            self._settings,
            self.layout,
            load=self._model.load,
            write_mirror=mirror_here,
            limits=self._limits,
        )

    def _catalog(self) -> product.Catalog:
        with self._snapshot("often"):
            return self._reader("often").catalog

    def _reader(self, name: str) -> product.Reader:
        if name not in self._readers:
            self._readers[name] = product.Reader(self.layout, limits=self._limits)
        return self._readers[name]

    @contextmanager
    def _snapshot(self, name: str) -> Iterator[product.Snapshot]:
        with self._reader(name).snapshot() as snapshot:
            yield snapshot


def play(following: Following, script: Sequence[Step]) -> None:
    """Do the steps of a script, and run once more if the last was no run."""
    for name, *arguments in script:
        following.do(str(name), *arguments)
    if not script or script[-1][0] != "run":
        following.do("run")


def _same(what: str, found: contents.Told, expected: contents.Told) -> None:
    wrong = list(contents.differences(found, expected))
    assert not wrong, f"{what} is not what an index from nothing is:\n" + "\n".join(wrong[:8])
