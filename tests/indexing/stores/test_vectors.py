"""The vector store: what is upserted is found, and failures are said in our words."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from notehop.config.errors import (
    IndexDamaged,
    IndexFailure,
    IndexMismatch,
    IndexUnwritable,
    UsageError,
)
from notehop.indexing.stores.vectors import Vectors
from tests.indexing.stores.index_samples import DIMENSIONS, matrix_of, vector_of

IDS = [f"id{n}" for n in range(20)]


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Vectors]:
    with Vectors.open(tmp_path / "chroma", DIMENSIONS) as opened:
        yield opened


def test_an_empty_store(vectors: Vectors) -> None:
    assert vectors.ids("chunks") == set()
    assert vectors.count("links") == 0
    assert vectors.nearest("chunks", vector_of("q"), 5) == []
    ids, matrix = vectors.get("chunks", ["a"])
    assert (ids, matrix.shape, matrix.dtype) == ([], (0, DIMENSIONS), np.float32)
    vectors.delete("chunks", ["a"])


def test_nothing_to_do_does_nothing(vectors: Vectors) -> None:
    vectors.upsert("chunks", [], np.zeros((0, DIMENSIONS)))
    vectors.delete("chunks", [])
    assert vectors.get("chunks", [])[0] == []
    assert vectors.count("chunks") == 0


def test_vectors_come_back_in_the_order_asked_for(vectors: Vectors) -> None:
    vectors.upsert("chunks", IDS, matrix_of(IDS))
    ids, matrix = vectors.get("chunks", ["id3", "none", "id0", "id3"])
    assert ids == ["id3", "id0"]
    assert matrix.dtype == np.float32
    assert np.allclose(matrix, matrix_of(ids), atol=1e-6)
    assert vectors.ids("chunks") == set(IDS)
    assert vectors.count("chunks") == 20


def test_collections_are_apart(vectors: Vectors) -> None:
    vectors.upsert("chunks", ["a"], matrix_of(["a"]))
    vectors.upsert("links", ["b"], matrix_of(["b"]))
    assert (vectors.ids("chunks"), vectors.ids("links")) == ({"a"}, {"b"})


def test_an_id_again_replaces_its_vector(vectors: Vectors) -> None:
    vectors.upsert("chunks", ["a", "b"], matrix_of(["a", "b"]))
    vectors.upsert("chunks", ["a"], matrix_of(["other"]))
    assert vectors.count("chunks") == 2
    assert np.allclose(vectors.get("chunks", ["a"])[1], matrix_of(["other"]), atol=1e-6)


def test_deleted_vectors_are_gone(vectors: Vectors) -> None:
    vectors.upsert("chunks", IDS, matrix_of(IDS))
    vectors.delete("chunks", [*IDS[:15], "never there"])
    assert vectors.ids("chunks") == set(IDS[15:])
    assert {one for one, _ in vectors.nearest("chunks", vector_of("id0"), 99)} == set(IDS[15:])


def test_nearest_are_by_cosine(vectors: Vectors) -> None:
    vectors.upsert("chunks", IDS, matrix_of(IDS))
    query = vector_of("query")
    hits = vectors.nearest("chunks", query, 5)
    exact = sorted(((float(vector_of(one) @ query), one) for one in IDS), reverse=True)[:5]
    assert [one for one, _ in hits] == [one for _, one in exact]
    assert np.allclose([score for _, score in hits], [score for score, _ in exact], atol=1e-5)
    assert len(vectors.nearest("chunks", query, 99)) == 20
    assert vectors.nearest("chunks", query, 0) == []


def test_equal_vectors_tie_by_id(vectors: Vectors) -> None:
    vectors.upsert("chunks", ["b", "a", "c"], matrix_of(["same"] * 3))
    assert [one for one, _ in vectors.nearest("chunks", vector_of("x"), 3)] == ["a", "b", "c"]


def test_more_than_one_batch(vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notehop.indexing.stores.vectors._GET", 300)
    ids = [f"{n:05}" for n in range(5_600)]
    matrix = np.tile(matrix_of(IDS), (280, 1))
    vectors.upsert("chunks", ids, matrix)
    assert vectors.count("chunks") == 5_600
    found, rows = vectors.get("chunks", ids[::-2])
    assert found == ids[::-2]
    assert np.allclose(rows, matrix[::-2], atol=1e-6)
    vectors.delete("chunks", ids[100:])
    assert vectors.ids("chunks") == set(ids[:100])


def test_it_is_the_same_after_opening_again(tmp_path: Path) -> None:
    with Vectors.open(tmp_path, DIMENSIONS) as first:
        first.upsert("chunks", IDS, matrix_of(IDS))
        hits = first.nearest("chunks", vector_of("q"), 5)
    with Vectors.open(tmp_path, DIMENSIONS) as again:
        assert again.nearest("chunks", vector_of("q"), 5) == hits
        assert again.ids("chunks") == set(IDS)


def test_two_users_in_a_process_see_each_other(tmp_path: Path) -> None:
    with Vectors.open(tmp_path, DIMENSIONS) as one, Vectors.open(tmp_path, DIMENSIONS) as two:
        one.upsert("chunks", IDS, matrix_of(IDS))
        assert two.nearest("chunks", vector_of("id4"), 1)[0][0] == "id4"
        two.delete("chunks", ["id4"])
        assert one.nearest("chunks", vector_of("id4"), 1)[0][0] != "id4"
        one.close()
        assert two.count("chunks") == 19


def test_a_folder_deleted_and_made_anew_opens_in_the_same_process(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    left_open = Vectors.open(folder, DIMENSIONS)
    left_open.upsert("chunks", IDS, matrix_of(IDS))
    for dimensions in (4, DIMENSIONS):
        shutil.rmtree(folder)
        with Vectors.open(folder, dimensions) as new:
            assert new.ids("chunks") == set()
            new.upsert("chunks", ["a"], np.eye(1, dimensions))
            assert new.ids("chunks") == {"a"}
    left_open.close()


def test_a_closed_store_says_so(vectors: Vectors) -> None:
    vectors.close()
    vectors.close()
    with pytest.raises(ValueError, match="closed"):
        vectors.count("chunks")


@pytest.mark.parametrize(
    ("ids", "matrix", "says"),
    [
        pytest.param(["a", "b"], matrix_of(["a"]), r"2 ids and vectors of shape \(1, 8\)", id="n"),
        pytest.param(["a"], matrix_of(["a"])[:, :3], r"expected \(1, 8\)", id="length"),
        pytest.param(["a", "a"], matrix_of(["a", "b"]), "twice", id="twice"),
        pytest.param([""], matrix_of(["a"]), "empty", id="empty id"),
        pytest.param(["a"], np.full((1, 8), np.inf), "not finite", id="infinite"),
    ],
)
def test_wrong_vectors_are_refused(
    vectors: Vectors, ids: list[str], matrix: np.ndarray, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        vectors.upsert("chunks", ids, matrix)
    assert vectors.count("chunks") == 0


def test_vectors_of_another_length_do_not_mix(tmp_path: Path) -> None:
    with Vectors.open(tmp_path, DIMENSIONS) as vectors:
        vectors.upsert("chunks", ["a"], matrix_of(["a"]))
    with Vectors.open(tmp_path, 4) as other:
        with pytest.raises(IndexMismatch, match="--rebuild"):
            other.upsert("chunks", ["b"], np.eye(1, 4))
        with pytest.raises(IndexMismatch, match="--rebuild"):
            other.nearest("chunks", np.ones(4), 1)


def test_a_damaged_store_is_said_to_be_damaged(tmp_path: Path) -> None:
    with Vectors.open(tmp_path, DIMENSIONS) as vectors:
        vectors.upsert("chunks", IDS, matrix_of(IDS))
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database at all\n" * 500)
    with (
        pytest.raises(IndexDamaged, match=r"run: notehop index$"),
        Vectors.open(tmp_path, DIMENSIONS) as broken,
    ):
        broken.ids("chunks")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexUnwritable, match="file/chroma"):
        Vectors.open(tmp_path / "file" / "chroma", DIMENSIONS)


@pytest.mark.parametrize("url", ["ftp://host/x", "host:8000", "http://"])
def test_urls_that_are_no_servers(url: str) -> None:
    with pytest.raises(UsageError, match="http://host:8000"):
        Vectors.open(url, DIMENSIONS)


def test_a_server_that_does_not_answer() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(IndexFailure, match=r"127\.0\.0\.1"):
            Vectors.open(url, DIMENSIONS)


def test_opening_asks_nothing_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file .env in the current folder is the user's, not ours."""
    (tmp_path / ".env").write_text("ANONYMIZED_TELEMETRY=True\nALLOW_RESET=nonsense\n")
    monkeypatch.chdir(tmp_path)
    with Vectors.open(tmp_path / "chroma", DIMENSIONS) as vectors:
        assert vectors._client.get_settings().anonymized_telemetry is False


def test_a_writer_killed_in_the_middle_loses_nothing_acknowledged(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from notehop.indexing.stores.vectors import Vectors\n"
        "from tests.indexing.stores.index_samples import DIMENSIONS, matrix_of\n"
        "vectors = Vectors.open(Path(sys.argv[1]), DIMENSIONS)\n"
        "for n in range(1000):\n"
        "    ids = [f'{n}-{at}' for at in range(50)]\n"
        "    vectors.upsert('chunks', ids, matrix_of(ids))\n"
        "    print(n, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(6)]
        os.kill(child.pid, signal.SIGKILL)
    acknowledged = [f"{n}-{at}" for n in range(len(lines)) for at in range(50)]
    with Vectors.open(tmp_path, DIMENSIONS) as vectors:
        ids, matrix = vectors.get("chunks", acknowledged)
        assert ids == acknowledged
        assert np.allclose(matrix, matrix_of(acknowledged), atol=1e-6)
        assert vectors.nearest("chunks", vector_of("3-7"), 1)[0][0] == "3-7"


def test_a_store_that_did_not_open_can_be_opened_when_it_is_mended(tmp_path: Path) -> None:
    """Chroma would hand out its half-started engine again for as long as the process lives."""
    in_the_way = tmp_path / "chroma.sqlite3"
    in_the_way.mkdir()
    for _ in range(2):
        with pytest.raises(IndexUnwritable, match="unable to open database"):
            Vectors.open(tmp_path, DIMENSIONS)
    in_the_way.rmdir()
    with Vectors.open(tmp_path, DIMENSIONS) as vectors:
        vectors.upsert("chunks", ["a"], matrix_of(["a"]))
        assert vectors.count("chunks") == 1
