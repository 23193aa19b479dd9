"""What every test has: how hypothesis draws, what is skipped in one line, the demo vault."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from tests.support.postgres import PostgresServer

# What the tests and their processes compile, they compile once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
gc.set_threshold(10_000, 10, 1_000)
# To copy an index to Chroma takes a process and seconds: the tests of that ask for it.
os.environ.setdefault("NOTEHOP_INDEX__MIRROR", "false")

settings.register_profile(
    "ci",
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# A fault is found or not: nobody reads the smallest example of it (tests/mutants.py).
settings.register_profile("mutants", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def _log() -> Iterator[None]:
    """What a command does to the log of its process is undone: here all of them share one, and what
    ``--debug`` writes of every token of every note costs more than the rest of a test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Write the replies on record anew, instead of comparing with them."""
    parser.addoption("--record", action="store_true", help="write tests/recorded anew")


STATM = Path("/proc/self/statm")
LINUX = STATM.exists()  # asked once: a test may stand in for what a file system answers

LONGEST = (
    *("test_points.py", "test_damage.py", "test_state_machine.py", "test_disk.py"),
    *("test_ranking.py", "test_several_vaults.py", "test_pdfs.py", "test_page.py", "test_pane.py"),
)
"""Files that begin first, and of those of the page, so that no process waits for another at the end."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; what is slow has longer to come to its end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(300))


_held: list[object] = []
"""The query model: what a process holds already the product does not load again."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Export the query model before the first test that needs it has its time measured.

    Of what is loaded by now nothing is ever garbage, and to look through it takes half a second: it is
    frozen for good. Servers of the tests freeze nothing.
    """
    chosen = session.items if not session.config.option.collectonly else []
    if any(item.get_closest_marker("model") for item in chosen):
        from tests.support.product import load_query, load_settings
        from tests.support.real_index import query_model

        _held.append(load_query(query_model(), load_settings().embedding))
    gc.collect()
    gc.freeze()
    pytest.MonkeyPatch().setattr(gc, "freeze", lambda: None)


MORE = 200 << 20
"""Bytes by which a process may grow before vaults that were closed, and their models, are let go."""

_enough = MORE


def pytest_runtest_teardown() -> None:
    """Look for what is not used any more: a vault and its engines hold each other."""
    global _enough
    if LINUX and _resident() > _enough:
        gc.collect()
        with suppress(AttributeError):  # not glibc
            ctypes.CDLL(None).malloc_trim(0)
        _enough = _resident() + MORE


def _resident() -> int:
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server of PostgreSQL; who stops it starts it again."""
    from tests.support.postgres import ABSENT, PostgresServer, programs

    if programs() is None:
        pytest.skip(ABSENT)
    server = PostgresServer()
    yield server
    server.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line each what was left out for want of a browser or a server."""
    skipped = terminalreporter.stats.get("skipped", [])
    for what, of in (("the page", "tests/browser/"), ("services", "PostgreSQL is not installed")):
        if found := [one for one in skipped if of in f"{one.nodeid} {one.longrepr}"]:
            reason = found[0].longrepr[2].removeprefix("Skipped: ")
            terminalreporter.write_line(f"{len(found)} tests of {what} were left out: {reason}")


WRITTEN = 1_795_000_000
"""When all files of the demo vault were written, after all days that they name: rankings go by that."""


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo vault and its index, which is made once for all processes of a run."""
    from tests.support.product import demo_vault
    from tests.support.real_index import real_index

    root = tmp_path_factory.getbasetemp()
    made = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "made"
    with FileLock(f"{made}.lock"):
        if not made.is_dir():
            draft = root / "draft"
            vault = shutil.copytree(demo_vault(), draft / "Demo", copy_function=shutil.copyfile)
            for file in vault.rglob("*"):
                os.utime(file, (WRITTEN, WRITTEN))
            real_index(vault, draft / "index")
            # Away from where the index knows it: a copy is then the vault, moved.
            vault.rename(draft / "vault")
            draft.rename(made)
    return made


@pytest.fixture(scope="session")
def demo(made_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A copy of the demo vault and the folder of its index; who changes it puts it back."""
    from tests.support.real_index import copied

    return copied(made_demo, tmp_path_factory.mktemp("demo"))
