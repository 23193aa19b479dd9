"""What the rules of the state machine stand on: steps, what there is to edit, runs of the index."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.indexing.pipeline.machine.following import USES, Following, Step
from tests.indexing.pipeline.machine.texts import targets_of, with_property
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

    edits = 0
    """Steps that changed a vault, over all examples."""

    runs = 0
    """Steps that brought an index up to its vault."""

    script: Sequence[Step] = ()
    """The steps of the example that was last at work."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(dir=self.folder))
        self.following = Following(self.place, limits=self.limits, chroma=self.chroma)
        self.vault = self.following.vault
        self.whole = True
        self.slipped = False

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
