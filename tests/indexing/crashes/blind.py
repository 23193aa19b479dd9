"""Kills a writer at times that nobody chose, over a vault that goes on changing."""

import random
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.indexing.crashes.forks import Ended, Forks
from tests.indexing.crashes.homes import Home, check_reader, differing
from tests.soak.changing import Notes
from tests.support.postgres import PostgresServer
from tests.support.product import IndexLayout

_BATCHES = (1, 2, 3, 7, 1_000)


class Blind:
    """One vault, its index, and writers that are killed; ``did`` counts what happened."""

    def __init__(
        self, forks: Forks, folder: Path, seed: int, notes: int = 0, server: PostgresServer | None = None
    ) -> None:
        """Write a first vault.

        :param notes: how many to write beside the few that are edited: with many, the vector store
            writes its graph to files while it is killed.
        :param server: holds the catalog, and is killed as the writers are.
        """
        self.did: Counter[str] = Counter()
        self._server = server
        self._forks = forks
        self._home = Home(folder, server).path
        self._notes = Notes(self._home / "vault", 12 + notes, seed)
        self._chance = random.Random(seed)
        self._seconds = 0.5
        self._where = f"seed {seed}"

    def round(self) -> None:
        """Edit a little, kill a run over it, look as a reader does; now and then finish a run."""
        for _ in range(self._chance.randrange(4)):
            self._notes.change()
            self.did["edits"] += 1
        if self._chance.random() < 0.2:
            self._notes.withdraw()
            self.did["withdrawn"] += 1
        before = self._forks.read(self._home)
        ended = self._killed()
        where = f"{self._where}, round {self.did['rounds']}"
        self.did["rounds"] += 1
        # One that ran to its end is no kill, and is looked at all the same.
        self.did["killed" if ended.killed else "ended before it was killed"] += 1
        seen, compare = self._forks.read(self._home), self._chance.random() < 0.4
        as_before = seen["error"] == before["error"] and seen.get("chunks") == before.get("chunks")
        if as_before and not compare:
            # What an index from nothing would say is not needed, and takes long.
            check_reader(seen, before, before, where, whole=False)
            return
        self._forks.index(self._home, at="anew")
        check_reader(seen, before, self._forks.read(self._home, "anew"), where, whole=False)
        if compare:
            self.did["compared with an index from nothing"] += 1
            done = self._forks.index(self._home, batch=self._chance.choice(_BATCHES))
            assert done.told["error"] is None, f"{where}: {done.told}"
            self._seconds = done.seconds
            expected = self._forks.content(self._home, "anew")
            wrong = differing(self._forks.content(self._home), expected)
            assert not wrong, f"{where}: " + "\n".join(wrong[:20])
        shutil.rmtree(IndexLayout(self._home / "anew").root)

    def _killed(self) -> Ended:
        how: dict[str, Any] = {"batch": self._chance.choice(_BATCHES)}
        what_else = self._chance.random()
        if what_else < 0.15:
            how["rebuild"] = True
        elif what_else < 0.6:
            # As who follows the vault: the store is left behind, and now and then brought up.
            how |= {"paths": [""], "tidies": self._chance.random() < 0.3}
            self.did["followed"] += 1
        # Most of a run is over sooner than the slowest was.
        after = self._chance.uniform(0, self._seconds) * self._chance.choice((0.5, 1.0, 1.2))
        what = signal.SIGKILL if self._chance.random() < 0.9 else signal.SIGTERM
        with self._disturbed(self._seconds):
            return self._forks.run("index", home=str(self._home), kill_after=after, signal=int(what), **how)

    @contextmanager
    def _disturbed(self, most: float) -> Iterator[None]:
        """The server is killed while a run goes on, in half of all rounds, and comes back."""
        if self._server is None or self._chance.random() < 0.5:
            yield
            return
        self.did["server killed"] += 1
        how = self._chance.choice((signal.SIGKILL, signal.SIGINT))
        timer = threading.Timer(self._chance.uniform(0, most), self._server.restart, [how])
        timer.start()
        try:
            yield
        finally:
            timer.join()
