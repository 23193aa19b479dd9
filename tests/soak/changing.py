"""A vault that changes at random, and remembers what each of its files held when."""

import random
import time
from dataclasses import dataclass
from pathlib import Path

WORDS = (
    *("harbour", "orchard", "bakery", "lantern", "meadow", "granite", "violin", "compass"),
    *("cellar", "thunder", "saffron", "glacier", "ferry", "pepper", "attic", "willow", "furnace"),
)


def plain(text: str) -> str:
    """What is shown of a note's text: links as their words."""
    return text.replace("[[", "").replace("]]", "")


@dataclass(slots=True)
class Version:
    """What a path held from ``born`` to ``died``, in seconds of the monotonic clock."""

    text: str
    born: float
    died: float = float("inf")


class Notes:
    """A vault that changes, and what each of its files held when."""

    def __init__(self, vault: Path, count: int, seed: int) -> None:
        self.vault = vault
        self.chance = random.Random(seed)
        self.history: dict[str, list[Version]] = {}
        self.paths: dict[int, str] = {}
        self.versions: dict[int, int] = {}
        self.changed: set[int] = set()
        self.deleted: set[int] = set()
        self.withdrawn: set[int] = set()
        (vault / ".obsidian").mkdir(parents=True)
        for _ in range(count):
            self.create()
        self.changed.clear()

    def change(self) -> None:
        """Create, edit, move or delete one note; now and then move a whole folder."""
        what = self.chance.choices(
            (self.edit, self.move, self.delete, self.create, self.move_folder), (55, 22, 12, 10, 1)
        )[0]
        what()

    def create(self) -> None:
        number = len(self.versions)
        self.paths[number] = f"area {self.chance.randrange(20)}/note {number}.md"
        self._write(number)

    def edit(self) -> None:
        """Write a note anew, in place or as editors do, beside it and renamed."""
        self._write(self._any())

    def move(self) -> None:
        number = self._any()
        old = self.paths[number]
        name = old.rsplit("/", 1)[1]
        if self.chance.random() < 0.3:
            name = f"renamed {self.chance.randrange(1_000_000)} {name}"
        self._rename({old: f"area {self.chance.randrange(20)}/{name}"}, [number])

    def move_folder(self) -> None:
        folder = self.paths[self._any()].split("/")[0]
        new = f"folder {self.chance.randrange(1_000_000)}"
        inside = [n for n, path in self.paths.items() if path.startswith(f"{folder}/")]
        moved = {self.paths[n]: new + self.paths[n].removeprefix(folder) for n in inside}
        self._rename(moved, inside, folder=(folder, new))

    def delete(self) -> None:
        if len(self.paths) < 8:
            self.create()
            return
        number = self._any()
        path = self.paths.pop(number)
        (self.vault / path).unlink()
        self.history[path][-1].died = time.monotonic()
        self.deleted.add(number)

    def withdraw(self) -> None:
        """Make a note private, until it is written anew."""
        number = self._any()
        path = self.paths[number]
        text = f"---\nprivate: true\n---\n{self.history[path][-1].text}"
        (self.vault / path).write_text(text, encoding="utf-8")
        self.history[path][-1].died = time.monotonic()
        self.withdrawn.add(number)

    def held(self, path: str, since: float, until: float) -> list[str]:
        """The texts that a path held at some moment between two times, the newest first."""
        known = list(self.history.get(path, ()))
        return [one.text for one in reversed(known) if one.born <= until and one.died >= since]

    def _any(self) -> int:
        return self.chance.choice(list(self.paths))

    def _write(self, number: int) -> None:
        version = self.versions[number] = self.versions.get(number, 0) + 1
        path = self.paths[number]
        file = self.vault / path
        file.parent.mkdir(exist_ok=True)
        text = self._text(number, version)
        known = self.history.setdefault(path, [])
        known.append(Version(text, time.monotonic()))
        if self.chance.random() < 0.5:
            beside = file.with_name(f".{file.name}.tmp")
            beside.write_text(text, encoding="utf-8")
            beside.replace(file)
        else:
            file.write_text(text, encoding="utf-8")
        for before in known[:-1]:
            before.died = min(before.died, time.monotonic())
        self.changed.add(number)
        self.withdrawn.discard(number)

    def _rename(
        self, moved: dict[str, str], numbers: list[int], folder: tuple[str, str] | None = None
    ) -> None:
        began = time.monotonic()
        for old, new in moved.items():
            last = self.history[old][-1]
            # A private one stays private.
            self.history.setdefault(new, []).append(Version(last.text, began, last.died))
        for old, new in [folder] if folder else moved.items():
            (self.vault / new).parent.mkdir(exist_ok=True)
            (self.vault / old).rename(self.vault / new)
        for old, new in moved.items():
            gone = [one for one in self.history[old] if one.born <= began and old != new]
            for one in gone:
                one.died = min(one.died, time.monotonic())
        for number in numbers:
            self.paths[number] = moved[self.paths[number]]
            self.changed.add(number)

    def _text(self, number: int, version: int) -> str:
        one, two, three = self.chance.sample(WORDS, 3)
        linked = self.chance.choice(list(self.paths))
        more = "".join(f"More about the {word}.\n" for word in self.chance.choices(WORDS, k=3))
        return (
            f"Note {number} in version {version} is about the {one} and the {two}. "
            f"Its code is {code(number, version)}.\n\n## Details\n"
            f"For the {three} of version {version} see [[note {linked}]] and what it says.\n{more}"
        )


def code(number: int, version: int) -> str:
    """A word that only this version of this note holds, and that has no parts."""
    return "y" + "".join("bcdfghjkmn"[int(digit)] for digit in str(number)) + "z" + "qw" * version + "z"
