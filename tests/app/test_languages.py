"""Vaults that are not English: words are found in forms and compounds that blanks do not part."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.product import Indexer, IndexLayout, Reader, Tokenizer, load_settings
from tests.support.readable_model import ReadableModel

VAULTS = Path(__file__).parent.parent / "vaults"


class Found:
    """A language vault, indexed, and asked by its words alone."""

    def __init__(self, folder: Path, vault: str) -> None:
        self.vault = folder / vault
        shutil.copytree(VAULTS / vault, self.vault)
        layout = IndexLayout(folder / "index")
        Indexer(self.vault, load_settings(), layout, load=ReadableModel().load).run()
        self._reader = Reader.open(layout)
        fingerprint = self._reader.catalog.meta()["fingerprint"]
        self.language: str = fingerprint["language"]
        self._tokenizer = Tokenizer(self.language)

    def notes(self, query: str) -> list[str]:
        """Paths of the notes that hold a word of the query, best first."""
        lexical = self._reader.lexical
        weights = self._tokenizer.weights(self._tokenizer.query(query), lexical)
        ranked = lexical.top(weights, 20)
        chunks = self._reader.catalog.chunks([id_ for id_, _ in ranked])
        return list(dict.fromkeys(chunks[id_].path for id_, _ in ranked))

    def words(self) -> set[str]:
        """The words of all notes and their names, cut at blanks."""
        files = self.vault.rglob("*.md")
        return {word for file in files for word in (*file.stem.split(), *file.read_text().split())}

    def close(self) -> None:
        self._reader.close()


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    found = Found(tmp_path_factory.mktemp("german"), "german")
    yield found
    found.close()


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    found = Found(tmp_path_factory.mktemp("chinese"), "chinese")
    yield found
    found.close()


def test_the_language_is_detected(german: Found, chinese: Found) -> None:
    assert (german.language, chinese.language) == ("de", "zh")


@pytest.mark.parametrize(
    ("word", "note"),
    [
        pytest.param("Haushalt", "Übersicht.md", id="plural in the note"),
        pytest.param("Riss", "Leute/Jördis.md", id="plural with a doubled letter"),
        pytest.param("Rauchmeldern", "Holzofen.md", id="dative plural asked"),
        pytest.param("Jordis", "Leute/Jördis.md", id="umlaut left out"),
        pytest.param("Ubersicht", "Übersicht.md", id="capital umlaut left out"),
        pytest.param("Weissbrot", "Rezepte/Weißbrot für Anfänger.md", id="ss for ß"),
        pytest.param("anfanger", "Rezepte/Weißbrot für Anfänger.md", id="umlaut within"),
        pytest.param("Sorgen", "Leute/Jördis.md", id="plural asked"),
    ],
)
def test_a_german_word_is_found_in_its_other_forms(german: Found, word: str, note: str) -> None:
    assert word not in german.words()
    assert german.notes(word)[0] == note


def test_one_form_finds_the_notes_of_all(german: Found) -> None:
    """One has `Zug`, the other `Züge`."""
    assert "Zügen" not in german.words()
    assert set(german.notes("Zügen")) == {"Holzofen.md", "Leute/Jördis.md"}


@pytest.mark.parametrize(
    ("word", "note"),
    [
        pytest.param("Melder", "Holzofen.md", id="last part"),
        pytest.param("Rauch", "Holzofen.md", id="first part"),
        pytest.param("Schornstein", "Holzofen.md", id="a part that is a compound"),
        pytest.param("Markt", "Dienstplan.md", id="after a link"),
        pytest.param("Roggen", "Rezepte/Roggenbrot.md", id="of several compounds"),
        pytest.param("Brotmehl", "Rezepte/Weißbrot für Anfänger.md", id="of two parts asked"),
    ],
)
def test_a_german_word_is_found_in_its_compounds(german: Found, word: str, note: str) -> None:
    assert word not in german.words()
    assert german.notes(word)[0] == note


@pytest.mark.parametrize(
    ("word", "note"),
    [
        pytest.param("晚霜", "云顶茶园.md", id="end of a sentence"),
        pytest.param("山泉水", "泡茶的水温.md", id="amid a sentence"),
        pytest.param("合作社", "秋季账目.md", id="before a verb"),
        pytest.param("水温", "泡茶的水温.md", id="part of a name"),
        pytest.param("开窑", "陶器作坊.md", id="verb and object"),
        pytest.param("进货", "目录.md", id="in a list of things"),
    ],
)
def test_a_chinese_word_is_found_within_its_sentence(chinese: Found, word: str, note: str) -> None:
    assert word not in chinese.words()
    assert chinese.notes(word)[0] == note


def test_words_of_no_note_find_nothing(german: Found, chinese: Found) -> None:
    assert german.notes("Zahnarzttermin") == []
    assert chinese.notes("火箭") == []


@pytest.mark.parametrize(
    ("query", "note", "text"),
    [
        ("Wie lange hält der Stein im Ofen die Hitze?", "Holzofen.md", "sechs Stunden"),
        (
            "Wieviel Roggenmehl brauche ich für vierzig Brote?",
            "Rezepte/Roggenbrot.md",
            "28 kg",
        ),
        ("Wer übernimmt das Heizen, wenn Jördis fehlt?", "Leute/Jördis.md", "Anton"),
    ],
    ids=["stone", "flour", "stand-in"],
)
def test_german_questions(german: Found, query: str, note: str, text: str) -> None:
    assert note in german.notes(query)[:2]
    assert text in (german.vault / note).read_text("utf-8")


@pytest.mark.parametrize(
    ("query", "note", "text"),
    [
        ("乌龙茶用多少度的水?", "泡茶的水温.md", "九十五度"),
        ("头春每斤多少钱?", "云顶茶园.md", "六百八十元"),
        ("陶器作坊星期几开窑?", "陶器作坊.md", "星期三"),
    ],
    ids=["oolong", "price", "kiln"],
)
def test_chinese_questions(chinese: Found, query: str, note: str, text: str) -> None:
    assert note in chinese.notes(query)[:2]
    assert text in (chinese.vault / note).read_text("utf-8")
