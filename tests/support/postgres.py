"""A PostgreSQL server of the system's packages, in a folder of its own, on a Unix socket."""

import os
import pwd
import random
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

ABSENT = "PostgreSQL is not installed here (Debian: apt-get install postgresql)"

PASSWORD = "quagga-zanzibar"

_QUICK = (
    "fsync=off",  # a process is killed, not the machine
    "listen_addresses=",
    "max_connections=60",
    "shared_buffers=32MB",
    "autovacuum=off",
    "log_min_messages=fatal",
)


def programs() -> Path | None:
    """The folder of ``initdb`` and ``postgres``; None where they are not."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    return folders[-1].parent if folders else None


def _version(program: Path) -> float:
    return float(program.parts[-3]) if program.parts[-3].replace(".", "").isdigit() else 0.0


class PostgresServer:
    """Runs until :meth:`close`. Of another user where this one is root, who may not run it."""

    def __init__(self, *settings: str, port: int = 5432) -> None:
        """Make it and start it.

        :param settings: in place of those for tests, ``name=value``.
        """
        self._port = port
        settings = (*settings, f"port={port}")
        self._settings = [part for one in (*_QUICK, *settings) for part in ("-c", one)]
        bin_folder = programs()
        assert bin_folder is not None, ABSENT
        self._bin = bin_folder
        # A socket's path has 107 bytes at most.
        self.folder = Path(tempfile.mkdtemp(prefix="nhpg", dir="/tmp"))
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            who = pwd.getpwnam("nobody")
            os.chown(self.folder, who.pw_uid, who.pw_gid)
            self._as = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None
        self._names = 0
        try:
            secret = self.folder / "secret"
            secret.write_text(PASSWORD)
            secret.chmod(0o644)
            passfile = self.folder / "passfile"
            passfile.write_text(f"*:*:*:notehop:{PASSWORD}\n")
            passfile.chmod(0o600)
            who = ("-U", "notehop", "-A", "scram-sha-256", "--pwfile", str(secret))
            self._run("initdb", "-D", self._data, *who, "-E", "UTF8", "--locale", "C.UTF-8", "-N")
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def url(self, database: str = "postgres", where: str = "") -> str:
        """Its address, which names the file that holds the password.

        :param where: in place of its socket, ``host=…``.
        """
        where = f"{where or f'host={self.folder}'}&port={self._port}"
        return f"postgresql+psycopg://notehop@/{database}?{where}&passfile={self.folder / 'passfile'}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._data, "-k", self.folder, *self._settings],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self._as,
            )
        until = time.monotonic() + 60
        while True:
            try:
                self.sql("SELECT 1")
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()[-2_000:]
                assert time.monotonic() < until, "PostgreSQL does not start"
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT hangs up on everybody; SIGKILL kills all of its processes."""
        process, self._process = self._process, None
        if process is None:
            return
        if how is signal.SIGKILL:
            # Each of its processes is of a session of its own.
            for one in (psutil.Process(process.pid), *psutil.Process(process.pid).children()):
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        else:
            process.send_signal(how)
        process.wait(30)

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def kill_backend(self) -> None:
        """Kill a process that serves a connection, if there is one: all the others hang up with it."""
        if (process := self._process) is None:
            return
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children()
            backends = [one for one in children if "notehop" in " ".join(one.cmdline())]
            if backends:
                random.choice(backends).kill()

    def new_database(self, where: str = "") -> str:
        """The address of an empty database; ``where`` as :meth:`url` has it."""
        self._names += 1
        name = f"test_{os.getpid()}_{self._names}"
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name, where)

    def copy_database(self, source: str, target: str) -> None:
        """Let a database, by name, hold what another one does, in place of what it held."""
        self.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname IN ('{source}', '{target}')"
        )
        self.sql(f"DROP DATABASE IF EXISTS {target} WITH (FORCE)")
        until = time.monotonic() + 10
        while True:
            try:
                self.sql(f"CREATE DATABASE {target} TEMPLATE {source}")
                return
            except psycopg.errors.ObjectInUse:
                assert time.monotonic() < until
                time.sleep(0.02)

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        address = self.url(database).replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []

    def close(self) -> None:
        with suppress(psutil.NoSuchProcess):
            self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._bin / program, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, cwd=self.folder, **self._as)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
