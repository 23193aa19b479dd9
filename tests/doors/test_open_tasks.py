"""Questions for open tasks are answered by the boxes that are not ticked, as they stand in the notes."""

from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import VaultHandle
from tests.support.real_index import vault_of_rows
from tests.support.scripted_llm import ScriptedLLM
from tests.support.tables import rows

pytestmark = pytest.mark.model

NOTES = {
    "Kiln.md": (
        "---\naliases: [the oven]\ncreated: 2026-01-01\n---\nThe kiln is of brick.\n\n## Plan\n"
        "- [ ] Mend the lid 📅 2026-03-10\n- [x] Buy bricks\n  1. [ ] Ask Jon for sand [1]\n"
    ),
    "2026-03-02.md": "- [ ] Call Ida about the Kiln\n"
    "- [ ] Water the plants [due:: March 2126]\n- [x] Sleep\n",
    "2026-03-05.md": "Nothing to do.\n\n> - [ ] Pay the rent ⏫\n",
    "Glaze.md": "A glaze of ash. [ ] is no box in a sentence.\n",
    "Chores.md": "---\naliases: [03-05]\n---\n## Tasks\n\n- Sweep the floor.\n",
    "Templates/Day.md": "- [ ] Plan the day 📅 2026-03-10\n",
    "Secret.md": "---\nprivate: true\n---\n- [ ] Hide the money\n",
}

OWN = ["Mend the lid 📅 2026-03-10", "Ask Jon for sand"]
PLANTS = "Water the plants [due:: March 2126]"
ALL = [*OWN, "Call Ida about the Kiln", PLANTS, "Pay the rent ⏫"]


def items(text: str) -> list[str]:
    return [line[2:].rpartition(" [")[0] for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("question", rows(__file__, "all_open_tasks"))
def test_all_open_tasks_what_is_due_soonest_first(vault: VaultHandle, question: str) -> None:
    answer = vault.ask(question)
    assert answer.answer.startswith("5 open tasks in 3 notes:\n")
    assert [one.partition(" ［")[0] for one in items(answer.answer)] == ALL
    assert {one.path for one in answer.citations} == {"Kiln.md", "2026-03-02.md", "2026-03-05.md"}
    assert all(claim.flag is None for claim in answer.claims)
    assert answer.warnings == []


@pytest.mark.parametrize("name", ["the kiln", "The oven", "Kiln"])
def test_those_of_a_note_and_those_that_name_it(vault: VaultHandle, name: str) -> None:
    answer = vault.ask(f"What is still to do for {name}?")
    found = [one.partition(" ［")[0] for one in items(answer.answer)]
    assert found == [*OWN, "Call Ida about the Kiln"], "its own first, however old"
    assert answer.citations[0].quote_lines == (8, 10), "from the first to the last that is quoted"
    assert all(f"\n{one.marker} {one.path}" in str(answer) for one in answer.citations)


def test_those_that_speak_of_what_no_note_is_called(vault: VaultHandle) -> None:
    assert items(vault.ask("any open tasks about the plants?").answer) == [PLANTS]
    assert "open task" not in vault.ask("any open tasks about the roof?").answer
    assert items(vault.ask("what do I still have to do for 03-05?").answer) == ["Pay the rent ⏫"]


@pytest.mark.parametrize(("question", "named"), rows(__file__, "those_of_a_time"))
def test_those_of_a_time(vault: VaultHandle, question: str, named: list[str]) -> None:
    answer = vault.ask(question).answer
    assert {*items(answer)} == {one for one in ALL if any(word in one for word in named)}
    assert named or answer.startswith(("No open task ", "No note has an open task"))


def test_filters_leave_some(vault: VaultHandle) -> None:
    assert items(vault.ask("open tasks path:2026-03-05").answer) == ["Pay the rent ⏫"]


choir = vault_of_rows(__file__, "choir")


@pytest.mark.parametrize(("question", "tasks"), rows(__file__, "those_of_a_folder_or_a_day"))
def test_those_of_a_folder_or_a_day(choir: VaultHandle, question: str, tasks: list[str]) -> None:
    assert [one[:5] for one in items(choir.ask(question).answer)] == tasks


@pytest.mark.parametrize(("question", "said"), rows(__file__, "none_is_said"))
def test_none_is_said(vault: VaultHandle, question: str, said: str) -> None:
    answer = vault.ask(question)
    assert "open task" not in answer.answer
    assert any(said in warning for warning in answer.warnings)


@pytest.mark.parametrize("question", rows(__file__, "other_questions_stay"))
def test_other_questions_stay(vault: VaultHandle, question: str) -> None:
    assert "open task" not in vault.ask(question).answer


def test_a_box_ticked_a_moment_ago_is_none(where: tuple[Path, Path], vault: VaultHandle) -> None:
    note = where[0] / "2026-03-02.md"
    before = note.read_text()
    try:
        note.write_text(before.replace("- [ ] Water", "- [x] Water"))
        assert "Water" not in vault.ask("Which tasks are open?").answer
    finally:
        note.write_text(before)


def test_a_language_model_is_shown_them(where: tuple[Path, Path]) -> None:
    llm = ScriptedLLM(says="The lid [3].")
    with open_vault(where[0], index_dir=where[1], llm=llm) as vault:
        vault.ask("Which tasks are open?")
    assert "Mend the lid" in llm.asked[0]
    assert "Hide the money" not in llm.asked[0]
