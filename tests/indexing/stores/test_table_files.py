"""Tables on disk: replaced whole, appended to, and told apart from what is not theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from notehop.config.errors import IndexDamaged, IndexMissing, IndexUnwritable
from notehop.indexing.stores.table import VectorTable
from tests.indexing.stores.index_samples import DIMENSIONS, matrix_of, vector_of

QUERY = vector_of("query")


def build(folder: Path, *ids: str, generation: int = 1, stamp: str = "s") -> VectorTable:
    return VectorTable.build(folder, "chunks", ids, matrix_of(ids), generation, stamp=stamp)


def test_a_table_is_the_same_after_opening(tmp_path: Path) -> None:
    built = build(tmp_path, "b", "a", "c", generation=7)
    opened = VectorTable.open(tmp_path, "chunks")
    assert opened.top(QUERY, 9) == built.top(QUERY, 9)
    assert (opened.generation, opened.stamp, opened.dimensions) == (7, "s", DIMENSIONS)
    assert np.array_equal(opened.rows(["a", "b"])[1], matrix_of(["a", "b"]))


def test_a_file_that_is_cut_short_does_no_harm_to_who_has_read_it(tmp_path: Path) -> None:
    build(tmp_path, "a", "b")
    table = VectorTable.open(tmp_path, "chunks")
    hits = table.top(QUERY, 9)
    (file,) = tmp_path.glob("*.npy")
    file.write_bytes(b"")
    assert table.top(QUERY, 9) == hits


def test_a_flipped_bit_is_damage(tmp_path: Path) -> None:
    build(tmp_path, "a", "b")
    (file,) = tmp_path.glob("*.npy")
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    with pytest.raises(IndexDamaged, match="does not hold the vectors that were written"):
        VectorTable.open(tmp_path, "chunks")


def test_an_empty_table(tmp_path: Path) -> None:
    table = VectorTable.build(tmp_path, "links", [], np.zeros((0, DIMENSIONS)), 4)
    assert len(table) == 0
    assert table.dimensions == DIMENSIONS
    assert table.top(QUERY, 5) == []
    assert VectorTable.open(tmp_path, "links").generation == 4


def test_who_read_the_old_table_keeps_it(tmp_path: Path) -> None:
    old = build(tmp_path, "a", "b")
    hits = old.top(QUERY, 9)
    new = build(tmp_path, "c", generation=2)
    assert old.top(QUERY, 9) == hits
    assert new.ids == ["c"]
    assert len(list(tmp_path.iterdir())) == 3


def test_appending_keeps_what_was_there(tmp_path: Path) -> None:
    build(tmp_path, "a", "b", generation=4)
    VectorTable.append(tmp_path, "chunks", ["c", "a"], matrix_of(["c", "new"]), stamp="s")
    table = VectorTable.open(tmp_path, "chunks")
    assert sorted(table.ids) == ["a", "b", "c"]
    assert np.array_equal(table.rows(["a"])[1], matrix_of(["new"]))
    assert table.generation == 4
    VectorTable.append(tmp_path, "chunks", [], np.zeros((0, DIMENSIONS)), stamp="s", generation=5)
    assert VectorTable.open(tmp_path, "chunks").generation == 5


def test_appending_makes_a_table_that_is_complete_for_no_generation(tmp_path: Path) -> None:
    VectorTable.append(tmp_path / "new", "chunks", ["a"], matrix_of(["a"]), stamp="s")
    table = VectorTable.open(tmp_path / "new", "chunks")
    assert (table.ids, table.generation, table.stamp) == (["a"], 0, "s")


def test_vectors_of_another_index_are_never_mixed_in(tmp_path: Path) -> None:
    build(tmp_path, "a", "b", stamp="old", generation=9)
    VectorTable.append(tmp_path, "chunks", ["c"], matrix_of(["c"]), stamp="new")
    table = VectorTable.open(tmp_path, "chunks")
    assert (table.ids, table.generation, table.stamp) == (["c"], 0, "new")


def test_two_tables_share_a_folder(tmp_path: Path) -> None:
    build(tmp_path, "a")
    VectorTable.build(tmp_path, "links", ["b"], matrix_of(["b"]), 1)
    build(tmp_path, "c")
    assert VectorTable.open(tmp_path, "links").ids == ["b"]


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match=r"chunks\.json"):
        VectorTable.open(tmp_path, "chunks")


def manifest(folder: Path) -> Path:
    return folder / "chunks.json"


def shorten_matrix(folder: Path) -> None:
    [path] = folder.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-8])


def another_matrix(folder: Path) -> None:
    [path] = folder.glob("*.npy")
    np.save(path, np.zeros((2, 3), dtype=np.float64))


def other_ids(folder: Path) -> None:
    [path] = folder.glob("*.ids")
    path.write_text("a\nz")


def no_part(folder: Path) -> None:
    [path] = folder.glob("*.npy")
    path.unlink()


def half_manifest(folder: Path) -> None:
    manifest(folder).write_text(manifest(folder).read_text()[:50])


def other_format(folder: Path) -> None:
    said = json.loads(manifest(folder).read_text())
    manifest(folder).write_text(json.dumps({**said, "format": 99}))


def odd_manifest(folder: Path) -> None:
    manifest(folder).write_text("[1, 2]")


@pytest.mark.parametrize(
    "harm",
    [shorten_matrix, another_matrix, other_ids, no_part, half_manifest, other_format, odd_manifest],
)
def test_damage_is_found(tmp_path: Path, harm: object) -> None:
    build(tmp_path, "a", "b")
    assert callable(harm)
    harm(tmp_path)
    with pytest.raises(IndexDamaged, match="run: notehop index"):
        VectorTable.open(tmp_path, "chunks")
    assert build(tmp_path, "c").ids == ["c"]


@pytest.mark.parametrize("bad", ["", "a\nb", "a\u2028b"])
def test_ids_that_a_list_of_lines_cannot_hold(tmp_path: Path, bad: str) -> None:
    build(tmp_path, "a")
    with pytest.raises(ValueError, match="line break"):
        VectorTable.build(tmp_path, "chunks", [bad], matrix_of(["a"]), 2)
    assert VectorTable.open(tmp_path, "chunks").ids == ["a"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexUnwritable, match="file"):
        build(tmp_path / "file" / "vectors", "a")


def test_a_full_disk_leaves_the_old_table(tmp_path: Path) -> None:
    build(tmp_path, "a", "b", generation=3)
    script = (
        "import resource, signal, sys\n"
        "import numpy as np\n"
        "from pathlib import Path\n"
        "from notehop.config.errors import IndexUnwritable\n"
        "from notehop.indexing.stores.table import VectorTable\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "ids = [str(n) for n in range(10_000)]\n"
        "try:\n"
        "    VectorTable.build(Path(sys.argv[1]), 'chunks', ids, np.zeros((10_000, 8)), 4)\n"
        "except IndexUnwritable as exc:\n"
        "    print(exc)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "cannot be written" in done.stdout
    assert len(list(tmp_path.glob("*.npy"))) == 1
    table = VectorTable.open(tmp_path, "chunks")
    assert (table.ids, table.generation) == (["a", "b"], 3)


def test_a_writer_that_dies_before_the_manifest_leaves_the_old_table(tmp_path: Path) -> None:
    build(tmp_path, "a")
    script = (
        "import os, sys\n"
        "import numpy as np\n"
        "from pathlib import Path\n"
        "from notehop.indexing.stores import table_files\n"
        "table_files._replace = lambda *_: os._exit(9)\n"
        "from notehop.indexing.stores.table import VectorTable\n"
        "VectorTable.build(Path(sys.argv[1]), 'chunks', ['b'], np.zeros((1, 8)), 2)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == 9
    assert len(list(tmp_path.glob("*.npy"))) == 2
    assert VectorTable.open(tmp_path, "chunks").ids == ["a"]
    build(tmp_path, "c", generation=2)
    assert len(list(tmp_path.glob("*.npy"))) == 1
