"""Golden sets: a vault, and questions whose supporting notes are known.

Touches: vault-read (unpacks an archive into a folder of the caller's).
"""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from pathlib import Path

from config.errors import UsageError


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the paths of all notes that its answer rests on."""

    id: str
    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """A named vault with its questions, in the order of the file."""

    name: str
    vault: Path
    questions: tuple[Question, ...]


def golden_sets(data: Path, work: Path) -> list[GoldenSet]:
    """Find the sets in ``data``: folders that hold ``queries.jsonl`` and ``vault.tar.gz``.

    :param work: folder to unpack the vaults into; one that is unpacked already is used as it is.
    :returns: by name; empty if there are none.
    :raises UsageError: if a set cannot be read, naming the file and the line.
    """
    return [
        GoldenSet(file.parent.name, _unpacked(file.parent, work), read_questions(file))
        for file in sorted(data.glob("*/queries.jsonl"))
    ]


def read_questions(file: Path) -> tuple[Question, ...]:
    """Read ``queries.jsonl``: an object a line with ``id``, ``question`` and ``gold`` (paths).

    :raises UsageError: naming the line that is not so.
    """
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            found.append(Question(str(row["id"]), str(row["question"]), frozenset(row["gold"])))
        except (ValueError, KeyError, TypeError) as exc:
            raise UsageError(
                f"{file}:{number}: not an object with id, question and gold ({exc!r})"
            ) from exc
    if not found:
        raise UsageError(f"{file}: holds no questions; write one object a line")
    return tuple(found)


def _unpacked(folder: Path, work: Path) -> Path:
    target = work / folder.name
    archive = folder / "vault.tar.gz"
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
