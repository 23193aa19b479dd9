"""Questions whose answers are known, from files: golden sets bring their vaults."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from notehop.config.errors import UsageError


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question and the paths of all notes that its answer rests on, each once."""

    id: str
    question: str
    gold: tuple[str, ...]


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
    :raises UsageError: if a set cannot be read, naming the file and the line.
    """
    files = sorted([*data.glob("queries.jsonl"), *data.glob("*/queries.jsonl")])
    # All questions are read before the first vault is unpacked: a mistake should show at once.
    found = [(file.resolve().parent, read_questions(file)) for file in files]
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


def read_questions(file: Path) -> tuple[KnownQuestion, ...]:
    """Read questions: an object a line with ``id``, ``question`` and ``gold`` (docs/evaluation.md);
    other keys are left to whoever wrote them.

    :raises UsageError: naming the line that is not so, or the file that cannot be read.
    """
    return read_lines(file, _question, "not an object with id, question and gold")


QuestionT = TypeVar("QuestionT")


def read_lines(
    file: Path, make: Callable[[Any], QuestionT], otherwise: str
) -> tuple[QuestionT, ...]:
    """Read questions of some kind, one from each line that is not blank.

    :param otherwise: what a line is that no question can be made of.
    :raises UsageError: naming the line that is not so, or the file that cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UsageError(f"{file}: not UTF-8; save it as UTF-8") from exc
    except OSError as exc:
        raise UsageError(f"{file}: cannot be read: {exc.strerror}; check the path") from exc
    found: dict[str, QuestionT] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            name, question = str(row["id"]), make(row)
        except (ValueError, KeyError, TypeError, re.error) as exc:
            raise UsageError(f"{file}:{number}: {otherwise} ({exc!r})") from exc
        if name in found:
            raise UsageError(f"{file}:{number}: a second question {name}; give each its id")
        found[name] = question
    if not found:
        raise UsageError(f"{file}: holds no questions; write one object a line")
    return tuple(found.values())


def check_gold(questions: Iterable[KnownQuestion], paths: frozenset[str], origin: str) -> None:
    """Refuse questions about notes that an index lacks.

    :raises UsageError: naming the first few of those notes.
    """
    lacking = list(
        dict.fromkeys(path for one in questions for path in one.gold if path not in paths)
    )
    if lacking:
        raise UsageError(
            f"{origin}: gold that the index lacks: {', '.join(lacking[:3])}{', …' * (len(lacking) > 3)}; "
            "correct the paths (of notes, without #), or index the vault anew"
        )


def _question(row: Any) -> KnownQuestion:
    if not isinstance(row["question"], str) or not row["question"].strip():
        raise ValueError("the question is no text")
    gold = row["gold"]
    if not isinstance(gold, list) or not gold or not all(isinstance(one, str) for one in gold):
        raise ValueError("gold is no list of paths")
    return KnownQuestion(str(row["id"]), row["question"].strip(), tuple(dict.fromkeys(gold)))
