"""A vault and golden sets are evaluated by the product's own search, with the real model."""

import json
import tarfile
from pathlib import Path

import pytest

from tests.support import product
from tests.support.real_index import CACHE

pytestmark = pytest.mark.model

LAUNCH = {"id": "launch", "question": "When is the launch of Atlas?", "gold": ["Atlas.md"]}
WEEKS = {
    "id": "weeks",
    "question": "How many weeks does Priya need?",
    "gold": ["people/Priya 1-1.md", "Atlas.md"],
}


def questions(folder: Path, *rows: object) -> Path:
    file = folder / "mine.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def state(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for file in folder.rglob("*"):
        now = file.stat()
        journal = file.suffix == ".sqlite-shm" or (file.suffix == ".sqlite-wal" and not now.st_size)
        if file.is_file() and not journal:
            found[str(file)] = (now.st_size, now.st_mtime_ns)
    return found


@pytest.fixture(autouse=True)
def _model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE))  # where the query model is


def test_a_golden_set_brings_its_vault(indexed: tuple[Path, Path], tmp_path: Path) -> None:
    data = tmp_path / "data" / "one"
    data.mkdir(parents=True)
    questions(data, LAUNCH).rename(data / "queries.jsonl")
    with tarfile.open(data / "vault.tar.gz", "w:gz") as archive:
        archive.add(indexed[0], "vault")
    (found,) = product.evaluate_sets(tmp_path / "data", tmp_path / "work", product.Plan(), product.Silent())
    assert (found.name, found.notes) == ("one", 4)
    assert found.rows[-1].measures["notes.hit@1"].value == 1


@pytest.mark.parametrize(
    ("plan", "error", "said"),
    [
        (product.Plan(compare=("stock", "nonsense")), product.UsageError, "no setting 'nonsense'"),
        (product.Plan(compare=("stock", "connected.most=1")), product.SettingsError, "unknown setting"),
        (product.Plan(compare=("stock", "none.toml")), product.SettingsError, r"none\.toml"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_first(
    place: product.Place, plan: product.Plan, error: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        product.evaluate_vault(place, questions(tmp_path, LAUNCH), plan, product.Silent())
