"""The state machine: edits of a vault in any order, runs of the indexer and queries between them.

Rules draw small numbers and turn them into steps with plain paths and texts, which
:class:`~tests.indexing.pipeline.machine.following.Following` does and writes down: a failure shows
the script that led to it, ready for the table of scripts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from unicodedata import normalize

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.indexing.pipeline.machine.following import MAX_NOTE_BYTES, USES, Following, Step
from tests.indexing.pipeline.machine.texts import (
    ATTACHMENTS,
    aliases,
    blocks,
    folders,
    names,
    property_of,
    targets_of,
    texts,
    with_block,
    with_property,
)
from tests.support.product import LIMITS

T = TypeVar("T")

RUN = "run"
after = st.sampled_from(((), (), (), (), (), (RUN,), ("update",), ("look",), ("hold",)))
"""What follows an edit: often nothing, so that several edits meet in one run."""

wides = st.one_of(st.just(0), st.integers(0, 255))
"""Which of the touched paths are named by their folder: a bit each."""


def edit(**drawn: Any) -> Callable[[Callable[..., None]], Any]:
    """A rule that edits, and draws what is done with the index afterwards."""

    def decorate(function: Callable[..., None]) -> Any:
        def edits(self: Steps, then: Sequence[str], wider: int, **values: Any) -> None:
            function(self, **values)
            for name in then:
                self.use_index(name, wider=wider)

        edits.__name__ = function.__name__
        return rule(then=after, wider=wides, **drawn)(edits)

    return decorate


class Steps(RuleBasedStateMachine):
    """Does steps in a vault of its own, and writes them down."""

    folder: Path
    """Where its vaults and indexes live; set by whoever runs it."""

    limits = LIMITS
    chroma = False
    server = ""

    edits = 0
    """Steps that changed a vault, over all examples."""

    runs = 0
    """Steps that brought an index up to its vault."""

    script: Sequence[Step] = ()
    """The steps of the example that was last at work."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(dir=self.folder))
        self.following = Following(self.place, limits=self.limits, chroma=self.chroma, server=self.server)
        self.vault = self.following.vault
        self.whole = True

    def use_index(self, name: str, *, wider: int) -> None:
        """Do something with the index; ``update`` gets what a watcher would tell of."""
        paths = sorted(self.vault.touched)
        # A watcher names the file that a symbolic link leads to, not the link, and a partial run
        # looks at what was named: what the link shows changes with the next look at everything.
        if name == "update" and self.vault.has_links():
            name = RUN
        if name != "update" or not paths:
            if paths or name not in ("run", "update", "run_elsewhere"):
                self.do(name)
            return
        # Some systems tell of a folder only.
        paths = [parent(path) if wider >> at & 1 else path for at, path in enumerate(paths)]
        self.do("update", *dict.fromkeys(paths))

    def do(self, name: str, *arguments: object) -> None:
        type(self).script = self.following.script
        if name not in USES:
            type(self).edits += 1
        elif name not in ("look", "hold"):
            type(self).runs += 1
        self.whole = False
        self.following.do(name, *arguments)
        self.whole = True

    def teardown(self) -> None:
        try:
            if self.whole:
                self.do(RUN)
        finally:
            self.following.close()
            shutil.rmtree(self.place)

    # -- what there is

    def note_at(self, pick: int) -> str | None:
        return picked([path for path in self.vault.notes() if not path.startswith(".")], pick)

    def file_at(self, pick: int) -> str | None:
        return picked([path for path in self.vault.files() if not path.startswith(".")], pick)

    def linked(self) -> list[str]:
        """What links of notes name, sorted; what no file has, if there is any of that."""
        notes = self.vault.notes()
        found = sorted({one for path in notes for one in targets_of(self.text(path))})
        there = {path.rpartition("/")[2].casefold() for path in notes}
        waiting = [one for one in found if f"{one.rpartition('/')[2]}.md".casefold() not in there]
        return waiting or found

    def text(self, path: str) -> str:
        return self.vault.data(path).decode(errors="replace")

    def move(self, old: str, new: str) -> None:
        """Move a file, over one that is there, or a folder to where nothing is."""
        if new == old or new.startswith(f"{old}/"):
            return
        both_files = all((self.vault.root / path).is_file() for path in (old, new))
        if self.vault.is_free(new) or both_files:
            self.do("rename", old, new)

    def put(self, path: str, content: str | bytes) -> None:
        if self.vault.is_free(path) or (self.vault.root / path).is_file():
            self.do("write", path, content)

    def remove(self, path: str | None) -> bool:
        """Delete what is there, unless too little would be left to meet; whether it was."""
        notes = self.vault.notes()
        left = [one for one in notes if one != path and not one.startswith(f"{path}/")]
        if path is None or (len(left) < 4 and left != notes):
            return False
        self.do("remove", path)
        return True

    def set_property(self, pick: int, key: str, value: str | None) -> None:
        if path := self.note_at(pick):
            self.do("write", path, with_property(self.text(path), key, value))


def picked(among: Sequence[T], pick: int) -> T | None:
    return among[pick % len(among)] if among else None


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def other_case(name: str) -> str:
    return name.lower() if name.lower() != name else name.upper()


picks = st.integers(0, 30)
"""Which of the files or folders there are; taken modulo their number."""

properties = st.one_of(
    st.tuples(st.just("aliases"), aliases.map("[{}]".format)),
    st.sampled_from([("private", "true"), ("notehop", "false"), ("x", "[")]),
    st.tuples(st.just("title"), st.sampled_from(["Tide", "Wall", "Of the sea", "Ebbe"])),
    st.tuples(st.just("modified"), st.sampled_from(["2024-05-06", "2023-11-14T22:13:20Z"])),
)


class VaultMachine(Steps):
    # -- notes

    @initialize(found=st.lists(st.tuples(folders, names, texts), min_size=5, max_size=10))
    def begin(self, found: list[tuple[str, str, str]]) -> None:
        for folder, name, text in found:
            self.put(joined(folder, f"{name}.md"), text)

    @edit(folder=folders, name=names, text=texts)
    def create(self, folder: str, name: str, text: str) -> None:
        self.put(joined(folder, f"{name}.md"), text)

    @edit(pick=picks, folder=folders, text=texts)
    def create_what_links_wait_for(self, pick: int, folder: str, text: str) -> None:
        if name := picked(self.linked(), pick):
            self.put(joined(folder, f"{name}.md"), text)

    @edit(pick=picks, other=picks)
    def rename_to_what_links_name(self, pick: int, other: int) -> None:
        path, name = self.note_at(pick), picked(self.linked(), other)
        if path and name:
            self.move(path, joined(parent(path), f"{name}.md"))

    @edit(pick=picks, other=picks)
    def alias_what_links_name(self, pick: int, other: int) -> None:
        if name := picked(self.linked(), other):
            self.set_property(pick, "aliases", f"[{name}]")

    @edit(folder=folders, name=names, text=texts, suffix=st.sampled_from([".MD", ".md.md", ".txt"]))
    def create_with_another_suffix(self, folder: str, name: str, text: str, suffix: str) -> None:
        self.put(joined(folder, f"{name}{suffix}"), text)

    @edit(pick=picks, text=texts)
    def rewrite(self, pick: int, text: str) -> None:
        if path := self.note_at(pick):
            self.do("write", path, text)

    @edit(pick=picks, at=st.integers(0, 8), block=st.none() | blocks)
    def edit_one_section(self, pick: int, at: int, block: str | None) -> None:
        if path := self.note_at(pick):
            self.do("write", path, with_block(self.text(path), at, block))

    @edit(pick=picks, at=st.integers(0, 8), block=blocks)
    def save_as_an_editor_does(self, pick: int, at: int, block: str) -> None:
        if path := self.note_at(pick):
            self.do("write", f"{path}.tmp", with_block(self.text(path), at, block))
            self.do("rename", f"{path}.tmp", path)

    @edit(pick=picks, other=picks)
    def take_the_content_of_another(self, pick: int, other: int) -> None:
        path, source = self.note_at(pick), self.note_at(other)
        if path and source and path != source:
            self.do("write", path, self.vault.data(source))

    @edit(pick=picks, folder=folders, name=names)
    def duplicate(self, pick: int, folder: str, name: str) -> None:
        if path := self.note_at(pick):
            self.put(joined(folder, f"{name}.md"), self.vault.data(path))

    @edit(pick=picks, folder=folders, name=names)
    def link_a_file(self, pick: int, folder: str, name: str) -> None:
        target, path = self.note_at(pick), joined(folder, f"{name}.md")
        if target and self.vault.is_free(path):
            self.do("link", path, target)

    @edit(pick=picks)
    def switch_line_ends(self, pick: int) -> None:
        if path := self.note_at(pick):
            data = self.vault.data(path)
            crlf = data.replace(b"\n", b"\r\n")
            self.do("write", path, data.replace(b"\r\n", b"\n") if b"\r\n" in data else crlf)

    @edit(pick=picks)
    def write_bytes_that_are_no_text(self, pick: int) -> None:
        if path := self.note_at(pick):
            self.do("write", path, self.vault.data(path) + b"\n\xff\xfe [[Tide]] \xe9\n")

    @edit(pick=picks)
    def grow_beyond_the_limit_or_back(self, pick: int) -> None:
        if path := self.note_at(pick):
            text = self.text(path)
            short = text.partition("\n\nPadding")[0]
            long = f"{text}\n\nPadding" + " of the sea wall" * (MAX_NOTE_BYTES // 16)
            self.do("write", path, short if short != text else long)

    # -- front matter

    @edit(pick=picks, said=properties)
    def say_of_it(self, pick: int, said: tuple[str, str]) -> None:
        """Set a property, or take it away where it is set: a note is kept out, or let in again."""
        if path := self.note_at(pick):
            there = property_of(self.text(path), said[0]) == said[1]
            self.set_property(pick, said[0], None if there else said[1])

    @edit(pick=picks, other=picks)
    def move_alias(self, pick: int, other: int) -> None:
        path, target = self.note_at(pick), self.note_at(other)
        alias = property_of(self.text(path), "aliases") if path else None
        if path and target and path != target and alias is not None:
            self.do("write", path, with_property(self.text(path), "aliases", None))
            self.do("write", target, with_property(self.text(target), "aliases", alias))

    # -- times

    @edit(pick=picks)
    def touch(self, pick: int) -> None:
        if path := self.file_at(pick):
            self.do("touch", path)

    # -- names and places

    @edit(pick=picks, name=names)
    def rename(self, pick: int, name: str) -> None:
        if path := self.note_at(pick):
            self.move(path, joined(parent(path), f"{name}.md"))

    @edit(pick=picks, folder=folders)
    def move_to_a_folder(self, pick: int, folder: str) -> None:
        if path := self.file_at(pick):
            self.move(path, joined(folder, path.rpartition("/")[2]))

    @edit(pick=picks)
    def change_case(self, pick: int) -> None:
        if path := self.file_at(pick):
            self.move(path, joined(parent(path), other_case(path.rpartition("/")[2])))

    @edit(pick=picks)
    def change_unicode_form(self, pick: int) -> None:
        if path := self.file_at(pick):
            other = normalize("NFD", path)
            self.move(path, other if other != path else normalize("NFC", path))

    @edit(pick=picks, suffix=st.sampled_from([".md", ".MD", ".txt", ".md.md"]))
    def change_suffix(self, pick: int, suffix: str) -> None:
        if path := self.file_at(pick):
            folder, _, name = path.rpartition("/")
            self.move(path, joined(folder, name.split(".")[0] + suffix))

    @edit(pick=picks, other=picks)
    def swap(self, pick: int, other: int) -> None:
        one, two = self.file_at(pick), self.file_at(other)
        if one and two and one != two:
            self.do("rename", one, ".swapped")
            self.do("rename", two, one)
            self.do("rename", ".swapped", two)

    @edit(pick=picks, folder=folders, name=st.none() | st.sampled_from(["a", "b", "Tide", "old"]))
    def move_folder(self, pick: int, folder: str, name: str | None) -> None:
        if path := picked(self.vault.folders(), pick):
            self.move(path, joined(folder, name or path.rpartition("/")[2]))

    @edit(pick=picks)
    def change_case_of_folder(self, pick: int) -> None:
        if path := picked(self.vault.folders(), pick):
            self.move(path, joined(parent(path), other_case(path.rpartition("/")[2])))

    @edit(pick=picks, text=texts)
    def put_a_folder_in_place_of_a_file_or_back(self, pick: int, text: str) -> None:
        files = [path for path in self.vault.files() if not path.startswith(".")]
        path = picked([*files, *self.vault.folders()], pick)
        is_file = path is not None and (self.vault.root / path).is_file()
        if self.remove(path):
            self.do("write", f"{path}/Tide.md" if is_file else path, text)

    @edit(pick=picks)
    def delete(self, pick: int) -> None:
        self.remove(self.file_at(pick))

    @edit(pick=picks)
    def delete_folder(self, pick: int) -> None:
        self.remove(picked(self.vault.folders(), pick))

    # -- what is no note

    @edit(folder=folders, name=st.sampled_from(ATTACHMENTS))
    def attach(self, folder: str, name: str) -> None:
        self.put(joined(folder, name), "data")

    @edit(pick=picks, name=st.sampled_from(ATTACHMENTS))
    def rename_an_attachment(self, pick: int, name: str) -> None:
        others = [path for path in self.vault.files() if not path.lower().endswith(".md")]
        path = picked([path for path in others if not path.startswith(".")], pick)
        if path is not None:
            self.move(path, joined(parent(path), name))

    @edit(filters=st.lists(st.sampled_from(["a/", "c d", "/wall/", "Tide.md"]), max_size=2))
    def set_the_filters_of_the_app(self, filters: list[str]) -> None:
        self.do("write", ".obsidian/app.json", json.dumps({"userIgnoreFilters": filters}))

    # -- the index

    @rule(wider=wides)
    def update(self, wider: int) -> None:
        self.use_index("update", wider=wider)

    @rule(name=st.sampled_from([RUN, RUN, "run_elsewhere", "look", "hold", "tidy", "rebuild"]))
    def use(self, name: str) -> None:
        self.use_index(name, wider=0)
