"""Questions whose answers are known, from files (docs/evaluation.md has their formats); golden sets bring
their vaults.
"""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, StrictBool, StringConstraints, TypeAdapter
from pydantic import ValidationError as Invalid
from pydantic.dataclasses import dataclass as read_from_json

from notehop.config.errors import UsageError

Id = Annotated[str, BeforeValidator(str)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Kind = Literal[
    "fact", "definition", "howto", "list", "comparison", "number", "yesno", "two_notes", "typo",
    "property", "table",
]  # fmt: skip
Why = Literal["near", "off", "gibberish"]
"""Why a question has no answer: its topic stands in the vault, or does not, or it means nothing."""


@read_from_json(frozen=True)
class KnownQuestion:
    """A question and the paths of all notes that its answer rests on."""

    id: Id
    question: Text
    gold: Annotated[tuple[str, ...], Field(min_length=1)]


def _either(note: Any) -> Any:
    return [note] if isinstance(note, str) else note


@read_from_json(frozen=True)
class AnswerQuestion:
    """A question of an answer set. ``contains`` are patterns that an answer must match, all of them; of
    each entry of ``notes`` one note is needed; ``why`` is None for a question with an answer."""

    id: Id
    kind: Kind
    question: Text
    answerable: StrictBool
    contains: tuple[re.Pattern[str], ...] = ()
    notes: tuple[Annotated[tuple[str, ...], BeforeValidator(_either)], ...] = ()
    why: Why | None = None

    def __post_init__(self) -> None:
        if self.answerable and not (self.contains and self.notes):
            raise ValueError("contains and notes are lists that are not empty")
        if not self.answerable and self.why is None:
            raise ValueError("why it has no answer is not told")

    def held_in(self, text: str) -> bool:
        """Whether all that an answer must hold is there, in whatever case."""
        text = " ".join(text.split())
        return all(re.search(one.pattern, text, re.IGNORECASE) for one in self.contains)


QuestionT = TypeVar("QuestionT", KnownQuestion, AnswerQuestion)


def read_questions(file: Path, kind: type[QuestionT]) -> tuple[QuestionT, ...]:
    """Read the questions of a kind, an object on each line that is not blank; other keys are left to
    whoever wrote them.

    :raises UsageError: naming the first line that is not so, with all that is wrong, or the file that
        cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UsageError(f"{file}: not UTF-8; save it as UTF-8") from exc
    except OSError as exc:
        raise UsageError(f"{file}: cannot be read: {exc.strerror}; check the path") from exc
    read = TypeAdapter(kind).validate_json
    found: dict[str, QuestionT] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            question = read(line)
        except Invalid as exc:
            wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}".lstrip(": ") for e in exc.errors()]
            told = f"no question, see docs/evaluation.md: {', '.join(wrong)}"
            raise UsageError(f"{file}:{number}: {told}") from exc
        if question.id in found:
            raise UsageError(f"{file}:{number}: a second question {question.id}; give each its id")
        found[question.id] = question
    if not found:
        raise UsageError(f"{file}: holds no questions; write one object a line")
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """A named vault with its questions, in the order of the file."""

    name: str
    vault: Path
    questions: tuple[KnownQuestion, ...]


def golden_sets(data: Path, work: Path) -> list[GoldenSet]:
    """Find the sets in ``data``: folders that hold ``queries.jsonl`` and ``vault.tar.gz``.

    :param data: the folder of the sets, or one of them.
    :param work: folder to unpack the vaults into; one that is unpacked already is used as it is.
    :returns: by name.
    :raises UsageError: if there are none, or a set cannot be read, naming the file and the line.
    """
    files = sorted([*data.glob("queries.jsonl"), *data.glob("*/queries.jsonl")])
    # All questions are read before the first vault is unpacked: a mistake should show at once.
    found = [(file.resolve().parent, read_questions(file, KnownQuestion)) for file in files]
    if not found:
        raise UsageError(f"{data}: holds no golden sets (folders with queries.jsonl, vault.tar.gz)")
    return [GoldenSet(one.name, _unpacked(one, work), asked) for one, asked in found]


def _unpacked(folder: Path, work: Path) -> Path:
    target, archive = work / folder.name, folder / "vault.tar.gz"
    if not target.is_dir():
        partial = work / f"{folder.name}.partial"
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(partial, filter="data")
            partial.rename(target)
        except (OSError, tarfile.TarError) as exc:
            raise UsageError(f"{archive}: cannot be unpacked to {target}: {exc}") from exc
    if not (target / "vault").is_dir():
        raise UsageError(f"{archive}: holds no folder vault; pack the notes as vault/*.md")
    return target / "vault"
