"""The ONNX door gives torch's vectors without torch, or says why it cannot."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.indexing.embed.conftest import Tiny, embedding_settings, load_bulk
from tests.support import product
from tests.support.real_index import query_model
from tests.support.tables import rows

QUERIES = ["plan", "when is the launch date of the book?", "note " * 200]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("model", "settings"), rows(__file__, "the_door_gives_the_vectors_of_torch"))
def test_the_door_gives_the_vectors_of_torch(
    tiny: Tiny, tmp_path: Path, model: dict[str, Any], settings: dict[str, Any]
) -> None:
    chosen = tiny(**model, **settings)
    bulk = load_bulk(chosen)
    assert product.export_query_model(bulk, tmp_path / "door") is None
    door = product.load_query(tmp_path / "door", chosen)
    assert (door.source, door.reason) == ("onnx", None)
    assert (door.dimensions, door.max_tokens) == (bulk.dimensions, bulk.max_tokens)
    assert door.identity() == bulk.identity()
    found = np.stack([door.embed_query(query) for query in QUERIES])
    assert found.dtype == np.float32
    assert np.allclose(found, bulk.vectors(QUERIES, "query"), atol=1e-4)
    assert np.allclose(door.embed(QUERIES), bulk.embed(QUERIES), atol=1e-4)
    assert np.allclose(door.embed_together(QUERIES), bulk.embed(QUERIES), atol=1e-4)


def test_a_pooling_that_needs_the_prompt_is_left_to_torch(tiny: Tiny, tmp_path: Path) -> None:
    chosen = tiny(include_prompt=False, prompts={"query": "query: ", "passage": "text: "})
    bulk = load_bulk(chosen)
    reason = product.export_query_model(bulk, tmp_path / "door")
    assert reason is not None
    assert "disagrees with torch" in reason
    assert files(tmp_path / "door") == ["export.json"]
    assert product.export_query_model(bulk, tmp_path / "door") == reason
    door = product.load_query(tmp_path / "door", chosen)
    assert (door.source, door.reason) == ("torch", reason)
    assert np.allclose(door.embed_query("plan"), bulk.vectors(["plan"], "query")[0], atol=1e-5)
    assert door.is_cut("note " * 62)
    assert not door.is_cut("note " * 60)


@pytest.mark.parametrize("changes", [{"dimensions": 8}, {"query_prompt": "ask: "}])
def test_a_door_of_other_settings_is_none(tiny: Tiny, tmp_path: Path, changes: dict[str, Any]) -> None:
    chosen = tiny()
    product.export_query_model(load_bulk(chosen), tmp_path / "door")
    other = product.load_query(tmp_path / "door", chosen.model_copy(update=changes))
    assert (other.source, other.identity() == load_bulk(chosen).identity()) == ("torch", False)
    assert "no export of this model" in str(other.reason)


class Killed(BaseException):
    """What no handler catches."""


def test_an_export_that_is_killed_leaves_no_half_of_one(tiny: Tiny, tmp_path: Path) -> None:
    chosen = tiny()
    bulk, folder = load_bulk(chosen), tmp_path / "door"
    folder.mkdir()

    def killed_at(point: int) -> bool:
        left = point

        def hook(_: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        product.crash_points.hook = hook
        try:
            product.export_query_model(bulk, folder)
        except Killed:
            return True
        finally:
            product.crash_points.hook = None
        return False

    kills = 0
    while killed_at(kills + 1):
        kills += 1
        door = product.read_manifest(folder)
        assert door is None or door.is_sound(folder), f"half a door after point {kills}"
        assert product.export_query_model(bulk, folder) is None
        assert product.load_query(folder, chosen).source == "onnx"
        assert len(files(folder)) == 3, files(folder)
        for path in folder.iterdir():
            path.unlink()
    assert kills >= 3


@pytest.mark.model
def test_a_search_process_never_imports_torch() -> None:
    folder, chosen = query_model(), embedding_settings("all-MiniLM-L6-v2", precision="auto")
    program = (
        "import json, sys; from pathlib import Path;"
        "from tests.support.product import EmbeddingSettings, load_query;"
        "door = load_query(Path(sys.argv[1]), EmbeddingSettings(**json.loads(sys.argv[2])));"
        "rows = [door.embed_query(one) for one in ('when is the launch?', 'the date of the launch')];"
        "loaded = [m for m in ('torch', 'transformers', 'sentence_transformers', 'chromadb')"
        " if m in sys.modules];"
        "print(json.dumps([door.source, loaded, float(rows[0] @ rows[1])]))"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(folder), chosen.model_dump_json()],
        capture_output=True,
        text=True,
        check=True,
    )
    source, loaded, likeness = json.loads(ran.stdout)
    assert (source, loaded, ran.stderr) == ("onnx", [], "")
    assert likeness > 0.6


def flipped(content: bytes) -> bytes:
    half = len(content) // 2
    return content[:half] + bytes([content[half] ^ 0x04]) + content[half + 1 :]


HARMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a model cut short": ("query-*.onnx", lambda content: content[:-100]),
    "other bytes": ("query-*.onnx", lambda content: b"x" * len(content)),
    "a bit of the model": ("query-*.onnx", flipped),
    "a bit of the tokenizer": ("tokenizer-*.json", flipped),
}


@pytest.mark.parametrize(("kind", "harm"), HARMS.values(), ids=HARMS)
def test_a_file_that_was_harmed_changes_no_vector(
    tiny: Tiny, tmp_path: Path, kind: str, harm: Callable[[bytes], bytes]
) -> None:
    """Torch serves instead, and says so, until the next run of the index has mended it."""
    chosen = tiny()
    bulk = load_bulk(chosen)
    product.export_query_model(bulk, tmp_path / "model")
    (file,) = (tmp_path / "model").glob(kind)
    file.write_bytes(harm(file.read_bytes()))
    served = product.load_query(tmp_path / "model", chosen)
    assert served.source == "torch"
    assert "missing or damaged" in str(served.reason)
    assert np.allclose(served.embed_query("plan"), bulk.vectors(["plan"], "query")[0], atol=1e-5)
    product.load_embedder(chosen, tmp_path / "model")  # as the next index run does
    assert product.load_query(tmp_path / "model", chosen).source == "onnx"
