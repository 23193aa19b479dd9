"""The queries whose results are recorded: what people ask, and what the notes themselves say."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.product import demo_questions
from tests.support.tables import read_yaml

ANSWERS = Path(__file__).parents[1] / "answers"


def queries(name: str, vault: Path) -> list[dict[str, Any]]:
    """The queries of a vault with their options; every fifth asks for notes, some for an intent."""
    asked = [*(_of_people() if name in ("demo", "signals") else ()), *_of_notes(vault)]
    found = list(dict.fromkeys(asked))
    intents = ("status", "discovery", "concept", "person", "timeline")
    return [
        {
            "query": query,
            **({"results": "notes"} if at % 5 == 4 else {}),
            **({"intent": intents[at // 7 % 5]} if at % 7 == 6 else {}),
            **({"connected": {"order": "rank", "direction": "both"}} if at % 11 == 10 else {}),
        }
        for at, query in enumerate(found)
    ]


def _of_people() -> Iterator[str]:
    for entry in read_yaml(demo_questions()):
        yield entry["question"]
    for line in (ANSWERS / "demo.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["question"]


def _of_notes(vault: Path) -> Iterator[str]:
    """The name, the last heading and a few words of the middle of each note."""
    for file in sorted(vault.rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        yield file.stem
        if headings := re.findall(r"^#+ (.+)$", text, re.MULTILINE):
            yield headings[-1]
        plain = [line for line in text.splitlines() if len(line) > 20 and line[0].isalpha()]
        if plain:
            words = plain[len(plain) // 2].split()
            yield " ".join(words[1:7]) or plain[0][:30]
