"""``python -m notehop.indexing``: its options, which a follower hands to the process it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from notehop.indexing.__main__ import main
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.run_record import read_run_record


def test_a_device_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault, index = tmp_path / "vault", tmp_path / "index"
    vault.mkdir()
    assert main([str(vault), "--index-dir", str(index), "--device", "abacus"]) == 2
    assert "embedding.device = 'abacus': must be 'auto', 'cpu'" in capsys.readouterr().err
    assert not index.exists()


def test_a_part_of_another_command_goes_by_the_name_of_that(tmp_path: Path) -> None:
    vault, index = tmp_path / "vault", tmp_path / "index"
    vault.mkdir()
    main([str(vault), "--index-dir", str(index), "--part-of", "notehop serve"])
    record = read_run_record(IndexLayout(index))
    assert record is not None
    assert record.command == "notehop serve"


def test_a_run_that_finds_nothing_to_do_loads_no_llamaindex(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "A.md").write_text("One note.\n", encoding="utf-8")
    command = [str(vault), "--index-dir", str(tmp_path / "index")]
    assert main(command) == 0
    code = (
        "import sys; from notehop.indexing.__main__ import main; main(sys.argv[1:])\n"
        "heavy = {'llama_index.core', 'chromadb', 'onnxruntime', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
