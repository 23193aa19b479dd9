"""The extra `multilingual` on the whole product: a vault of several languages, found by meaning."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.notes import write_notes
from tests.support.product import IndexMismatch, VaultHandle, load_settings, locate, update_index
from tests.support.tables import rows

NOTES = {
    "Küche/Kessel.md": (
        "Der Kessel pfeift, sobald das Wasser kocht. Einmal im Monat muss er mit Essig entkalkt "
        "werden, sonst schmeckt alles nach Stein.\n"
    ),
    "Haustür.md": ("Das Schloss klemmt bei Frost. Ein Tropfen Graphit hilft, Fett macht es nur schlimmer.\n"),
    "Щенок.md": ("Щенок боится грома и прячется под кровать. Ветеринар велел не гладить его в это время.\n"),
    "出差.md": "去上海的高铁早上八点从南站出发,记得带身份证。票已经买好,二等座靠窗。\n",
    "茶.md": "乌龙茶要用九十五度的水,绿茶八十度就够,太烫会发苦。\n",
    "家賃.md": "家賃は毎月末日までに大家さんの口座に振り込むこと。\n",
    "Huerto.md": "Las lombrices mejoran la tierra del huerto más que cualquier abono comprado.\n",
}

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("languages")
    vault = write_notes(root / "vault", NOTES)
    (vault / "notehop.toml").write_text('[embedding]\nmodel = "multilingual-e5-small"\n')
    report = update_index(locate(vault, index_dir=root / "index"))
    assert report.advice == ()
    return vault, root / "index"


@pytest.fixture(scope="module")
def opened(place: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(place[0], index_dir=place[1]) as handle:
        yield handle


@pytest.mark.parametrize(("query", "note"), rows(__file__, "notes_are_found_by_what_they_mean"))
def test_notes_are_found_by_what_they_mean(opened: VaultHandle, query: str, note: str) -> None:
    found = opened.search(query, top_k=3)
    assert found.hits[0].path == note
    assert found.warnings == []


def test_an_index_of_one_model_is_not_asked_by_another(place: tuple[Path, Path]) -> None:
    settings = load_settings().with_overrides({"embedding.model": "all-MiniLM-L6-v2"})
    with (
        pytest.raises(IndexMismatch, match="index built with multilingual-e5-small"),
        open_vault(place[0], index_dir=place[1], settings=settings) as handle,
    ):
        handle.search("Kessel")
