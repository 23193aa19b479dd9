"""Names that no disk takes name nothing: said in one line, on every command that takes a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.notes import Bench
from tests.support.product import app

NAMES = ["x" * 300, "x/" * 3_000 + "y", "é" * 200, "~nobody-of-that-name", "a\0b"]


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    bench = Bench(tmp_path_factory.mktemp("long"))
    bench.write("Atlas.md", "About [[Hollin]].")
    bench.index()
    return ["--vault", str(bench.vault), "--index-dir", str(bench.layout.root)]


@pytest.mark.parametrize("name", NAMES, ids=["ascii", "path", "bytes", "home", "nul"])
@pytest.mark.parametrize("command", ["status", "browse", "links"])
def test_a_name_that_no_disk_takes(where: list[str], command: str, name: str) -> None:
    result = CliRunner().invoke(app, [command, name, *where])
    assert result.exit_code == 2, result.output
    assert "unexpected" not in result.output
    assert result.stderr.startswith("error: ")


@pytest.mark.parametrize("name", NAMES, ids=["ascii", "path", "bytes", "home", "nul"])
def test_links_of_a_place_that_no_disk_takes(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["links", name, "--index-dir", str(tmp_path / "index")])
    assert result.exit_code == 2, result.output
    assert "unexpected" not in result.output
