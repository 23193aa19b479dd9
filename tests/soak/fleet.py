"""A writer, two readers, PostgreSQL and Chroma over one vault that changes; any of them is killed.

Who is killed is started again, as systemd or compose would, and that is all: nobody mends anything.
"""

import json
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError

from tests.soak.changing import Notes, code
from tests.soak.load import Clients, get
from tests.support.chroma_run import ChromaRun
from tests.support.postgres import PostgresServer
from tests.support.processes import NOTEHOP, environment, free_port
from tests.support.product import Catalog, IndexLayout, ServerCatalog
from tests.support.real_index import real_index

READERS = ("reader 1", "reader 2")

VICTIMS = ("writer", *READERS, "PostgreSQL", "a backend of PostgreSQL", "Chroma")

SCHEMA = "fleet"

EVERY_NOTE = 20
"""Rounds after which all notes are asked for, and not only those that were changed."""


class Fleet:
    """Runs for the length of a ``with`` block; ``did`` counts what happened.

    ``slowest``: seconds from the last change or kill of a round until all of it was found.
    """

    def __init__(
        self, folder: Path, postgres: PostgresServer, seed: int, *, patience: float, notes: int = 40
    ) -> None:
        """Write a vault and its first index.

        :param patience: seconds within which what was changed must be found, whoever was killed.
        """
        self.did: Counter[str] = Counter()
        self.slowest = 0.0
        self.seed = seed
        self._folder = folder
        self._patience = patience
        self._chance = random.Random(seed)
        self._notes = Notes(folder / "vault", notes, seed)
        self._postgres = postgres
        self._chroma = ChromaRun(folder / "chroma")
        self._url = postgres.new_database()
        settings = {
            "catalog__url": self._url,
            "catalog__schema_name": SCHEMA,
            "vectors__engine": "chroma",
            "chroma__url": self._chroma.url,
            "watch__rescan_s": 20,
        }
        real_index(folder / "vault", folder / "index", **settings)
        self._variables = {f"NOTEHOP_{key.upper()}": str(one) for key, one in settings.items()}
        self._ports = {name: free_port() for name in READERS}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._clients: list[Clients] = []
        self._failed: list[str] = []
        self._ended = ExitStack()

    def __enter__(self) -> Self:
        for name in ("writer", *READERS):
            self._start(name)
        self._settle()
        self.slowest = 0.0
        for name in READERS:
            clients = Clients(self._address(name), self._notes, 1, patient=True, pause=0.2)
            self._clients.append(self._ended.enter_context(clients))
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.close()
        for process in self._processes.values():
            process.kill()
            process.wait()
        self._chroma.kill()

    def round(self) -> None:
        """Change some notes while one or two are killed and come back; then all that was changed is
        found by both readers, and no reply showed what was not there."""
        chance = self._chance
        victims = chance.sample(VICTIMS, chance.choice((1, 1, 2)))
        # Each is away for a moment, or for some seconds.
        timers = [
            threading.Timer(chance.uniform(0, 1.5), self._struck, [name, chance.choice((0, 0, 1, 3))])
            for name in victims
        ]
        for timer in timers:
            timer.start()
        for _ in range(chance.randrange(1, 5)):
            (self._notes.withdraw if chance.random() < 0.15 else self._notes.change)()
            self.did["changes"] += 1
            time.sleep(chance.uniform(0, 0.5))
        for timer in timers:
            timer.join()
        self.did["rounds"] += 1
        if self.did["rounds"] % EVERY_NOTE == 0:
            self._notes.changed.update(self._notes.paths)
        self._settle(", ".join(victims))

    def finish(self) -> None:
        """See that the servers have all that a first index of the vault has, and say so."""
        end = time.monotonic() + self._patience
        for name in READERS:
            while warnings := get(self._address(name), "/search", {"query": "harbour"})["warnings"]:
                assert time.monotonic() < end, warnings
                time.sleep(0.5)
        anew = real_index(self._folder / "vault", self._folder / "anew").layout
        there = IndexLayout(self._folder / "index", ServerCatalog(self._url, SCHEMA))
        assert _content(there) == _content(anew)

    def told(self) -> str:
        """What happened, in a line."""
        tallies = [clients.tally for clients in self._clients]
        did = Counter(self.did)
        for tally in tallies:
            did += Counter({"replies": tally.asked, "refused": tally.refused})
            did += Counter({"passages judged": tally.shown})
        told = ", ".join(f"{number} {name}" for name, number in sorted(did.items()))
        return f"seed {self.seed}: {told}; slowest {self.slowest:.0f} s"

    def _struck(self, name: str, away: float) -> None:
        try:
            self._kill(name, away)
        except BaseException as exc:  # noqa: BLE001 (of a thread: the round tells)
            self._failed.append(f"{name} did not come back: {exc}")

    def _kill(self, name: str, away: float) -> None:
        self.did[f"{name} killed"] += 1
        if name == "PostgreSQL":
            self._postgres.stop(signal.SIGKILL)
            time.sleep(away)
            self._postgres.start()
        elif name == "a backend of PostgreSQL":
            self._postgres.kill_backend()
        elif name == "Chroma":
            self._chroma.kill()
            time.sleep(away)
            self._chroma.start()
        else:
            self._alive(name)
            self._processes[name].kill()
            self._processes[name].wait()
            time.sleep(away)
            self._start(name)

    def _start(self, name: str) -> None:
        where = ["--vault", str(self._folder / "vault"), "--index-dir", str(self._folder / "index")]
        if name == "writer":
            words = ["index", "--watch", *where]
        else:
            words = ["serve", "--read-only", "--port", str(self._ports[name]), *where]
        with (self._folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [*NOTEHOP, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(**self._variables),
            )

    def _alive(self, name: str) -> None:
        ended = self._processes[name].poll()
        assert ended is None, f"{name} ended by itself ({ended}):\n{self._said(name)}"

    def _said(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(errors="replace")[-3_000:]

    def _address(self, name: str) -> str:
        return f"http://127.0.0.1:{self._ports[name]}"

    def _settle(self, killed: str = "nobody") -> None:
        started = time.monotonic()
        for name in READERS:
            while wrong := self._differing(name):
                for one in self._processes:
                    self._alive(one)
                assert time.monotonic() - started < self._patience, (
                    f"seed {self.seed}, {killed} killed: {name}: {wrong}\n{self._said('writer')}"
                )
                time.sleep(0.1)
        for wrong in (self._failed, *(clients.tally.wrong for clients in self._clients)):
            assert not wrong, f"seed {self.seed}, {killed} killed: {wrong[:3]}"
        self.slowest = max(self.slowest, time.monotonic() - started)
        self._notes.changed.clear()

    def _differing(self, reader: str) -> str:
        """What a reader says of a changed note that is not so; empty if all is right."""
        notes = self._notes
        for number in sorted(notes.changed | notes.deleted | notes.withdrawn):
            word = code(number, notes.versions[number])
            there = number in notes.paths and number not in notes.withdrawn
            expected = [notes.paths[number]] if there else []
            try:
                hits = get(self._address(reader), "/search", {"query": word})["hits"]
            except (URLError, OSError, ValueError) as exc:
                return f"{word}: {exc}"
            found = [hit["path"] for hit in hits if word in hit["text"]]
            if found != expected:
                return f"{word}: found in {found}, and is in {expected}"
        return ""


def _content(layout: IndexLayout) -> dict[str, Any]:
    with Catalog.open(layout.catalog, read_only=True) as catalog:
        notes = {note.path: (note.title, note.status, note.content_hash) for note in catalog.notes()}
        chunks = [(key.path, key.id) for key in catalog.chunk_keys()]
        found, matrix = catalog.vectors("chunks", [one for _, one in chunks])
        links = [(one.path, one.ordinal, one.target_path, one.status) for one in catalog.links()]
    return {
        "notes": notes,
        "chunks": chunks,
        "vectors": found,
        "directions": json.dumps((matrix @ matrix[0]).round(2).tolist()),
        "links": links,
    }
