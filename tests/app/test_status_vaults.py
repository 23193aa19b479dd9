"""Status questions on vaults unlike the demo: other folders, names, languages, years.

In each, older entries say more about the project than the last one does, so that similarity alone
prefers them.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

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

JOURNAL = {
    "pages/Rye Club.md": "We bake rye on the first Sunday. Members bring their own starters.\n",
    "pages/Index.md": "- [[Rye Club]]\n- [[Allotment]]\n",
    "pages/Allotment.md": "Plot 14, beans on the left.\n",
    **{
        f"journals/{month} {day}th, 2024.md": (
            f"- [[Rye Club]] news: the rye club met again and baked {day} loaves of rye. What the "
            "club is doing now: more rye, the latest starter is lively.\n"
        )
        for month, day in (
            ("January", 7), ("February", 4), ("February", 18), ("March", 4), ("March", 10),
        )
    },
    "journals/March 17th, 2024.md": "- Oven broke, [[Rye Club|we]] meet at Dina's from now on.\n",
    "journals/March 19th, 2024.md": "- Sowed beans in the [[Allotment]].\n",
}  # fmt: skip

CASES = [
    pytest.param("german", question, "Tagebuch/2019/03.05.2019.md", "Vorhaben/Dachausbau.md")
    for question in (
        "Wie ist der Stand beim Dachausbau?",
        "Was gibt es Neues zum Dachgeschoss?",
        "Wo stehen wir mit dem Dachausbau?",
    )
]
CASES += [
    pytest.param("journal", question, "journals/March 17th, 2024.md", "pages/Rye Club.md")
    for question in (
        "What's the latest on the Rye Club?",
        "rye club status",
        "How is the rye club doing?",
    )
]


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, VaultHandle]]:
    opened: dict[str, VaultHandle] = {}
    for name, notes in (("german", GERMAN), ("journal", JOURNAL)):
        root = tmp_path_factory.mktemp(name)
        vault = write_notes(root / name, notes)
        _copied(vault)
        real_index(vault, root / "index")
        opened[name] = open_vault(vault, index_dir=root / "index")
    yield opened
    for handle in opened.values():
        handle.close()


def _copied(vault: Path) -> None:
    """Give all files one time, that of a copy made long after the last entry."""
    copied = datetime(2026, 11, 1, tzinfo=UTC).timestamp()
    for file in vault.rglob("*.md"):
        os.utime(file, (copied, copied))


@pytest.mark.parametrize(("name", "question", "latest", "hub"), CASES)
def test_the_last_news_and_the_hub_are_found(
    vaults: dict[str, VaultHandle], name: str, question: str, latest: str, hub: str
) -> None:
    found = vaults[name].search(question, top_k=5, explain=True)
    paths = [hit.path for hit in found.hits]
    assert found.intent == "status"
    assert found.explanation.subject == [hub]
    assert latest in paths[:3]
    assert hub in paths[:5]
