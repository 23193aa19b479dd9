"""Status questions on a vault unlike the demo: other folders, names, language, years.

Older entries say more about the project than the last one does, so that similarity alone
prefers them.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from notehop import open_vault
from tests.support.notes import write_notes
from tests.support.product import VaultHandle
from tests.support.real_index import real_index

pytestmark = pytest.mark.model

GERMAN = {
    "Vorhaben/Dachausbau.md": (
        "---\naliases: [Dachgeschoss]\n---\n"
        "Aus dem Speicher werden zwei Zimmer. Der Dachausbau soll vor dem Winter fertig sein.\n\n"
        "## Plan\nErst Gauben, dann Dämmung, dann Trockenbau, zuletzt der Boden.\n"
    ),
    "Vorhaben/Garten.md": "Hochbeete, ein Apfelbaum und ein Weg aus alten Ziegeln.\n",
    "Übersicht.md": "Alles, was läuft: [[Dachausbau]] und [[Garten]].\n",
    **{
        f"Tagebuch/2019/{day:02}.0{month}.2019.md": (
            f"Der Stand beim [[Dachausbau]]: Dachausbau, Tag {day}. Am Dach wird gebaut, der "
            "Ausbau geht voran, der Stand der Dinge am Dachgeschoss ist gut.\n"
        )
        for month, day in ((3, 4), (3, 18), (4, 1), (4, 15), (4, 29))
    },
    "Tagebuch/2019/03.05.2019.md": (
        "Regen. Zwei Rahmen kamen mit Sprung, [[Dachausbau|oben]] ruht alles bis Montag.\n"
    ),
    "Tagebuch/2019/04.05.2019.md": "Im [[Garten]] blüht der Apfelbaum.\n",
}

QUESTIONS = (
    "Wie ist der Stand beim Dachausbau?",
    "Was gibt es Neues zum Dachgeschoss?",
    "Wo stehen wir mit dem Dachausbau?",
)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    root = tmp_path_factory.mktemp("german")
    folder = write_notes(root / "german", GERMAN)
    # All files have one time, that of a copy made long after the last entry.
    copied = datetime(2026, 11, 1, tzinfo=UTC).timestamp()
    for file in folder.rglob("*.md"):
        os.utime(file, (copied, copied))
    real_index(folder, root / "index")
    with open_vault(folder, index_dir=root / "index") as opened:
        yield opened


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_last_news_and_the_hub_are_found(vault: VaultHandle, question: str) -> None:
    found = vault.search(question, top_k=5, explain=True)
    paths = [hit.path for hit in found.hits]
    assert found.intent == "status"
    assert found.explanation.subject == ["Vorhaben/Dachausbau.md"]
    assert "Tagebuch/2019/03.05.2019.md" in paths[:3]
    assert "Vorhaben/Dachausbau.md" in paths[:5]
