"""Indexes made with the real embedding model, whose ONNX export is made once for the whole suite."""

import functools
import hashlib
import importlib.metadata
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.support import product
from tests.support.notes import write_notes
from tests.support.tables import rows

CACHE = Path(__file__).parents[2] / ".cache"
"""What is made once for the whole suite, and for those that follow."""


@functools.cache
def query_model() -> Path:
    """The folder of the exported query model of the default settings.

    It is kept in ``.cache``, by the code and the libraries that make it: no test may write to it.
    """
    from tests.support.product import onnx_model

    code = Path(onnx_model.__file__).parent
    parts = [file.read_bytes() for file in sorted(code.glob("*.py"))]
    parts += [
        f"{name} {importlib.metadata.version(name)}".encode()
        for name in ("torch", "transformers", "sentence-transformers", "onnx", "onnxruntime")
    ]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    CACHE.mkdir(exist_ok=True)
    folder = CACHE / f"query-model-{key}"
    with FileLock(CACHE / "query-model.lock"):
        if not folder.is_dir():
            # They load torch, and nearly always the model is there.
            from tests.support.product import export_query_model, load_bulk

            draft = CACHE / "query-model-draft"
            for old in CACHE.glob("query-model-*"):
                shutil.rmtree(old)
            assert export_query_model(load_bulk(product.load_settings().embedding), draft) is None
            draft.rename(folder)
    return folder


def lend_query_model(vault: Path, index: Path) -> None:
    """Begin an index in a folder that is empty or missing, so that its first run exports nothing."""
    layout = product.IndexLayout(index)
    layout.create(vault)
    if layout.model.exists():
        return
    layout.model.mkdir()
    for file in query_model().iterdir():
        if file.stat().st_size < 1_000_000:
            shutil.copyfile(file, layout.model / file.name)
            continue
        try:
            os.link(file, layout.model / file.name)
        except OSError:
            shutil.copyfile(file, layout.model / file.name)


def real_index(vault: Path, index: Path, **overrides: object) -> product.Place:
    """Index a vault as ``notehop index`` does; overrides of settings with ``__`` for the dot."""
    lend_query_model(vault, index)
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    place = product.locate(vault, index_dir=index, overrides=dotted)
    with pytest.MonkeyPatch.context() as patched:
        # Exports are shared by a user's indexes: these shall not be, with who runs the tests.
        patched.setenv("XDG_CACHE_HOME", str(CACHE))
        product.update_index(place)
    return place


@contextmanager
def opened_with(
    folder: Path, notes: dict[str, str], llm: Any = None, **overrides: object
) -> Iterator[product.VaultHandle]:
    """A vault of these notes in a folder, indexed with these settings and opened."""
    place = real_index(write_notes(folder / "Vault", notes), folder / "index", **overrides)
    with product.open_place(place, llm) as opened:
        yield opened


def vault_of_rows(test: str, table: str) -> Any:
    """A fixture of a test's module: a vault of the notes that a table beside it lists, opened.

    :param test: the file of the module, as :func:`tests.support.tables.rows` takes it.
    """

    @pytest.fixture(scope="module")
    def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[product.VaultHandle]:
        notes = dict(one.values for one in rows(test, table))
        with opened_with(tmp_path_factory.mktemp(table), notes) as vault:
            yield vault

    return opened


def copied(made: Path, to: Path) -> tuple[Path, Path]:
    """Copies of the demo vault and of the folder of its index, made as the fixture ``made_demo``."""
    vault = shutil.copytree(made / "vault", to / "Demo")
    index = shutil.copytree(made / "index", to / "index", ignore=shutil.ignore_patterns("model"))
    lend_query_model(vault, index)
    return vault, index
