"""Edits of a vault by chance: every kind that people, editors and sync tools make."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.indexing.pipeline.machine.texts import (
    ALIASES,
    ATTACHMENTS,
    BLOCKS,
    FOLDERS,
    FRAGMENTS,
    LINKS,
    NAMES,
    TARGETS,
    WORDS,
    property_of,
    with_block,
    with_property,
)
from tests.indexing.pipeline.machine.vault import EditedVault


class Edits:
    """Edits one vault; equal seeds make equal edits."""

    def __init__(self, vault: EditedVault, chance: random.Random) -> None:
        self._vault = vault
        self._chance = chance
        self._kinds: dict[str, tuple[int, Callable[[], None]]] = {
            "write": (6, self._write),
            "block": (6, self._block),
            "alias": (2, self._alias),
            "private": (1, self._private),
            "touch": (1, self._touch),
            "rename": (3, self._rename),
            "case": (1, self._case),
            "folder": (1, self._folder),
            "remove": (2, self._remove),
            "attachment": (1, self._attachment),
            "broken": (1, self._broken),
        }

    def one(self) -> str:
        """Make one edit; its kind."""
        names = list(self._kinds)
        weights = [self._kinds[name][0] for name in names]
        kind = self._chance.choices(names, weights)[0]
        self._kinds[kind][1]()
        return kind

    def _write(self) -> None:
        if (path := self._free()) is not None:
            self._vault.write(path, self._text())

    def _block(self) -> None:
        if (path := self._note()) is not None:
            old = self._vault.data(path).decode("utf-8", "replace")
            new = self._block_text() if self._chance.random() < 0.8 else None
            self._vault.write(path, with_block(old, self._chance.randrange(8), new))

    def _alias(self) -> None:
        self._set("aliases", f"[{self._chance.choice(ALIASES)}]")

    def _private(self) -> None:
        self._set("private", "true")

    def _set(self, key: str, value: str) -> None:
        if (path := self._note()) is not None:
            old = self._vault.data(path).decode("utf-8", "replace")
            there = property_of(old, key) is not None
            self._vault.write(path, with_property(old, key, None if there else value))

    def _touch(self) -> None:
        if (path := self._note()) is not None:
            self._vault.touch(path)

    def _rename(self) -> None:
        path, new = self._note(), self._free()
        if path is not None and new is not None:
            self._vault.rename(path, new)

    def _case(self) -> None:
        if (path := self._note()) is not None:
            folder, slash, name = path.rpartition("/")
            new = f"{folder}{slash}{name.swapcase().removesuffix('.MD')}"
            new = new if new.endswith(".md") else f"{new}.md"
            if self._vault.is_free(new):
                self._vault.rename(path, new)

    def _folder(self) -> None:
        folders = self._vault.folders()
        new = f"{self._chance.choice(FOLDERS)}/Moved {self._chance.randrange(3)}".lstrip("/")
        old = self._chance.choice(folders) if folders else new
        if self._vault.is_free(new) and old != new and not f"{new}/".startswith(f"{old}/"):
            self._vault.rename(old, new)

    def _remove(self) -> None:
        files = [path for path in self._vault.files() if not path.startswith(".")]
        if files:
            self._vault.remove(self._chance.choice(files))

    def _attachment(self) -> None:
        path = self._path(self._chance.choice(ATTACHMENTS))
        if self._vault.is_free(path):
            self._vault.write(path, b"")

    def _broken(self) -> None:
        if (path := self._free()) is not None:
            made = [
                b"\xff\xfe\x00 no text \x80",
                b"---\na: [\n---\nBroken head.",
                b"",
                b"\x00" * 40,
            ]
            self._vault.write(path, self._chance.choice(made))

    def _note(self) -> str | None:
        notes = self._vault.notes()
        return self._chance.choice(notes) if notes else None

    def _free(self) -> str | None:
        path = self._path(f"{self._chance.choice(NAMES)}.md")
        return path if self._vault.is_free(path) else None

    def _path(self, name: str) -> str:
        folder = self._chance.choice(FOLDERS)
        return f"{folder}/{name}" if folder else name

    def _text(self) -> str:
        blocks = [self._block_text() for _ in range(self._chance.randrange(6))]
        text = "\n\n".join(blocks)
        if self._chance.random() < 0.3:
            text = with_property(text, "aliases", f"[{self._chance.choice(ALIASES)}]")
        return text

    def _block_text(self) -> str:
        kind = self._chance.randrange(3)
        if kind == 0:
            link = self._chance.choice(LINKS)
            return link.format(self._chance.choice(TARGETS), self._chance.choice(FRAGMENTS))
        if kind == 1:
            return self._chance.choice(BLOCKS)
        return " ".join(self._chance.choices(WORDS, k=self._chance.randrange(3, 30)))
