"""Resolving again only the links that a change touches gives what resolving all would."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import Resolution, VaultFiles, affected_names, link_name, resolve_path

FOLDERS = ["", "d/", "d/e/", "E/", "d b/"]
NAMES = [
    "d.md",
    "e.md",
    "a.md",
    "A.md",
    "b.md",
    "a.md.md",
    "b",
    "a.png",
    "b .md",
    "é.md",
    "e\u0301.MD",
    "ab.md",
]
ALIASES = ["a", "B", "É", "x", "d/a", "a.png", " x ", "a.md"]
TARGETS = [
    *(
        "a",
        "a.md",
        "A",
        "b",
        "B ",
        "a.png",
        "É",
        "e\u0301.md",
        "x",
        "X",
        "ab",
        "d/a",
        "e/a",
        "d b/b",
    ),
    *("/a", "/d/a", "./a", "../a", "../../b", "./d/e/b.md", "a.md.md", "d/", "", " ", "E/a", "/x"),
    *("./.", "../.", "../..", "./d/..", "./e/."),
]

paths = st.builds(
    lambda folder, name: folder + name, st.sampled_from(FOLDERS), st.sampled_from(NAMES)
)
aliases = st.lists(st.sampled_from(ALIASES), max_size=2).map(tuple)


@dataclass
class File:
    aliases: tuple[str, ...] = ()
    excluded: bool = False
    targets: tuple[str, ...] = ()


@dataclass
class Vault:
    """A vault, its files' index and the resolutions that are brought up to date step by step."""

    disk: dict[str, File] = field(default_factory=dict)
    files: VaultFiles = field(default_factory=lambda: VaultFiles([]))
    known: dict[tuple[str, str], Resolution] = field(default_factory=dict)

    def put(self, path: str, file: File) -> None:
        if not path.lower().endswith(".md"):
            file = File(excluded=file.excluded)
        touched = affected_names(path, (*self.files.aliases_of(path), *file.aliases))
        self.disk[path] = file
        self.files.add(path, excluded=file.excluded, aliases=file.aliases)
        self._forget(path)
        self._refresh(touched, [path])

    def delete(self, path: str) -> None:
        touched = affected_names(path, self.files.aliases_of(path))
        del self.disk[path]
        self.files.remove(path)
        self._forget(path)
        self._refresh(touched, [])

    def move(self, old: str, new: str) -> None:
        file = self.disk.pop(old)
        if not new.lower().endswith(".md"):
            file = File(excluded=file.excluded)
        touched = affected_names(old, (*self.files.aliases_of(old), *file.aliases))
        touched |= affected_names(new, self.files.aliases_of(new))
        self.disk[new] = file
        self.files.remove(old)
        self.files.add(new, excluded=file.excluded, aliases=file.aliases)
        self._forget(old)
        self._forget(new)
        self._refresh(touched, [new])

    def _forget(self, source: str) -> None:
        self.known = {link: found for link, found in self.known.items() if link[0] != source}

    def _refresh(self, touched: frozenset[str], sources: list[str]) -> None:
        for source, target in self.links():
            if source in sources or link_name(target) in touched:
                self.known[source, target] = resolve_path(self.files, source, target)

    def links(self) -> list[tuple[str, str]]:
        return [(path, target) for path, file in self.disk.items() for target in file.targets]

    def from_scratch(self) -> dict[tuple[str, str], Resolution]:
        files = VaultFiles(
            self.disk,
            excluded=[path for path, file in self.disk.items() if file.excluded],
            aliases={path: file.aliases for path, file in self.disk.items() if file.aliases},
        )
        return {link: resolve_path(files, *link) for link in self.links()}


@given(st.data())
def test_only_affected_links_need_resolving_again(data: st.DataObject) -> None:
    vault = Vault()
    for _ in range(data.draw(st.integers(1, 10), label="edits")):
        there = sorted(vault.disk)
        edit = data.draw(st.sampled_from(["put", "put", "delete", "move"] if there else ["put"]))
        if edit == "put":
            targets = st.lists(st.sampled_from(TARGETS), max_size=12, unique=True).map(tuple)
            path = data.draw(paths)
            vault.put(path, data.draw(st.builds(File, aliases, st.booleans(), targets)))
        elif edit == "delete":
            vault.delete(data.draw(st.sampled_from(there)))
        else:
            vault.move(data.draw(st.sampled_from(there)), data.draw(paths))
        assert vault.known == vault.from_scratch()


@given(st.lists(paths, unique=True, max_size=8), st.randoms(use_true_random=False))
def test_order_of_files_makes_no_difference(drawn: list[str], random: st.DataObject) -> None:
    shuffled = list(drawn)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = VaultFiles(drawn), VaultFiles(shuffled)
    for source in ("H.md", "d/H.md", "d/e/H.md"):
        for target in TARGETS:
            assert resolve_path(one, source, target) == resolve_path(other, source, target)
