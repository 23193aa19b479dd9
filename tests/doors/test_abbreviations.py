"""What an abbreviation stands for, wherever a note says it: a name, a heading, a list, a table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from notehop import open_vault
from tests.support.notes import write_notes
from tests.support.product import VaultHandle
from tests.support.real_index import real_index

pytestmark = pytest.mark.model

NOTES = {
    "Reinforcement learning from human feedback (RLHF).md": (
        "A way of training language models with preferences. Annotators compare two outputs.\n"
    ),
    "Methods.md": (
        "## Chain of thought (CoT)\n\nModels write their reasoning before the answer.\n\n"
        "## KPI: key performance indicator\n\n- number of visits\n- time to the first answer\n"
    ),
    "Glossary.md": (
        "- **OKR** – Objectives and Key Results, a way of planning\n"
        "- TTL (time to live) is the seconds for which a record is cached.\n"
        "- Cache: what is kept near\n"
    ),
    "Privacy.md": "All data that is uploaded is handled as the GDPR asks.\n",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    folder = tmp_path_factory.mktemp("abbreviations")
    write_notes(folder / "vault", NOTES)
    real_index(folder / "vault", folder / "index")
    with open_vault(folder / "vault", index_dir=folder / "index") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What does RLHF stand for?", "Reinforcement learning from human feedback (RLHF): “A way"),
        ("what does cot stand for", "“Chain of thought (CoT)” ["),
        ("what is CoT", "Chain of thought (CoT): “Models write their reasoning"),
        ("KPI stands for?", "“KPI: key performance indicator” ["),
        ("what does OKR stand for", "“**OKR** – Objectives and Key Results, a way of planning” ["),
        ("What is TTL?", "“TTL (time to live) is the seconds for which a record is cached.” ["),
    ],
)
def test_it_is_spelt_out(vault: VaultHandle, question: str, begins: str) -> None:
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    assert " ".join(answer.answer.split("\n", 1)[1].split()).startswith(begins)


def test_a_note_that_only_uses_it_does_not_say_it(vault: VaultHandle) -> None:
    answer = vault.ask("What does GDPR stand for?")
    assert answer.mode == "none"
    assert "Privacy" in answer.answer
