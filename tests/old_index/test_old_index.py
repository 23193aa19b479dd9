"""An index that notehop 0.1.0 made: today's commands use it or name the one that makes it anew.

``index-0.1.0.tar.gz`` holds a vault of four notes and its index by the readable model.
"""

import json
import logging
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from notehop import NotehopError, open_vault
from tests.support.commands import call, options, printed
from tests.support.real_index import lend_query_model

KEPT = Path(__file__).with_name("index-0.1.0.tar.gz")


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The vault and its index, which says that it is of this folder."""
    # Commands run in this process before have left handlers that write where nothing is open.
    root = logging.getLogger()
    alive = [one for one in root.handlers if not getattr(getattr(one, "stream", None), "closed", 0)]
    monkeypatch.setattr(root, "handlers", alive)
    with tarfile.open(KEPT) as kept:
        kept.extractall(tmp_path, filter="data")
    vault = tmp_path / "My vault"
    with closing(sqlite3.connect(tmp_path / "index" / "catalog.sqlite")) as catalog, catalog:
        said = (json.dumps(str(vault)), "vault")
        assert catalog.execute("UPDATE meta SET value = ? WHERE key = ?", said).rowcount == 1
    return vault, tmp_path / "index"


@pytest.mark.parametrize(
    "command",
    [
        ["search", "tide"],
        ["ask", "When is the tide?"],
        ["browse", "Tide"],
        ["status"],
        ["doctor"],
        ["doctor", "index"],
        ["index"],
        ["links"],
        ["capture", "Ring Bram."],
    ],
    ids=" ".join,
)
def test_a_command_says_what_to_do(where: tuple[Path, Path], command: list[str]) -> None:
    done = call(*command, *options(*where))
    assert done.exit_code in (0, 1), done.output
    assert "Traceback" not in done.output
    assert "unexpected" not in done.output
    if done.exit_code == 1:
        assert "notehop index --rebuild" in done.output


def test_so_does_python(where: tuple[Path, Path]) -> None:
    with (
        pytest.raises(NotehopError, match="run: notehop index --rebuild"),
        open_vault(where[0], index_dir=where[1]) as vault,
    ):
        vault.search("tide")


@pytest.mark.model
@pytest.mark.slow
def test_the_command_makes_it_anew(where: tuple[Path, Path]) -> None:
    lend_query_model(*where)
    printed("index", "--rebuild", *options(*where))
    found = printed("search", "neap tide", "--json", *options(*where))
    assert json.loads(found)["hits"][0]["path"] == "Tide.md"
