"""Resolution by itself; the conformance table covers the rules, this what a table cannot say."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import (
    MAX_CANDIDATES,
    Outline,
    Resolution,
    Status,
    VaultFiles,
    Via,
    find_fragment,
    resolve_path,
)


def test_spaces_around_a_path_count_only_if_a_file_has_them() -> None:
    files = VaultFiles(["N.md", "x/ O.md", "x/O.md"])
    assert resolve_path(files, "H.md", " N ").path == "N.md"
    assert resolve_path(files, "H.md", " O").path == "x/ O.md"
    assert resolve_path(files, "H.md", "O ").path == "x/O.md"
    assert resolve_path(files, "H.md", " ").status is Status.UNRESOLVED


@pytest.mark.parametrize(
    "target", ["", " ", "/", "./", "x/", ".", "..", "../", "./.", "../x/.", "./y/..", "//N", "x\\N"]
)
def test_no_name_no_file(target: str) -> None:
    files = VaultFiles(["N.md", ".md", "x/.md", "x/N.md", "x.md"])
    found = resolve_path(files, "x/H.md", target)
    assert found.path == (None if target else "x/H.md")


def test_an_alias_of_two_notes_leads_nowhere() -> None:
    files = VaultFiles(["a.md", "b.md"], aliases={"a.md": ["X", "Y"], "b.md": ["x"]})
    assert resolve_path(files, "H.md", "X").status is Status.UNRESOLVED
    assert resolve_path(files, "H.md", "Y") == Resolution(Status.RESOLVED, "a.md", Via.ALIAS)


def test_candidates_come_best_first() -> None:
    files = VaultFiles(["s/deep/er/N.md", "z/N.md", "a/N.md", "s/t/N.md", "b/long/N.md"])
    found = resolve_path(files, "s/Here.md", "N")
    assert found.candidates == (
        "s/t/N.md",
        "s/deep/er/N.md",
        "a/N.md",
        "z/N.md",
        "b/long/N.md",
    )
    assert found.more == 0


def test_many_candidates_are_counted() -> None:
    paths = [f"{number:03}/N.md" for number in range(200)]
    found = resolve_path(VaultFiles(paths), "150/Here.md", "N")
    assert found.path == "150/N.md"
    assert len(found.candidates) == MAX_CANDIDATES
    assert found.candidates[:3] == ("150/N.md", "000/N.md", "001/N.md")
    assert found.more == 200 - MAX_CANDIDATES


class TestSpelling:
    """On a disk that tells case apart, spelling is the only way to choose."""

    FILES = VaultFiles(["Note.md", "note.md", "d/Over.md", "d/over.md", "longer/OVER.md"])

    @pytest.mark.parametrize("target", ["note", "note.md", "/note", "./note", "../note"])
    def test_as_spelled(self, target: str) -> None:
        source = "d/Here.md" if target.startswith("..") else "Here.md"
        found = resolve_path(self.FILES, source, target)
        assert found == Resolution(
            Status.AMBIGUOUS, "note.md", Via.PATH, candidates=("note.md", "Note.md")
        )

    def test_in_no_spelling_by_path(self) -> None:
        found = resolve_path(self.FILES, "Here.md", "NOTE")
        assert found.candidates == ("Note.md", "note.md")

    def test_length_comes_before_spelling(self) -> None:
        found = resolve_path(self.FILES, "Here.md", "OVER")
        assert found.candidates == ("d/Over.md", "d/over.md", "longer/OVER.md")
        found = resolve_path(self.FILES, "Here.md", "over")
        assert found.candidates == ("d/over.md", "d/Over.md", "longer/OVER.md")

    def test_sharp_s(self) -> None:
        files = VaultFiles(["Straße.md", "Strasse.md"])
        assert resolve_path(files, "Here.md", "Straße").path == "Straße.md"
        assert resolve_path(files, "Here.md", "Strasse").path == "Strasse.md"


headings = st.lists(st.tuples(st.integers(1, 4), st.sampled_from("ABC")), max_size=8)


@given(headings, st.lists(st.sampled_from("ABC"), min_size=1, max_size=4))
def test_takes_the_first_chain_that_fits(drawn: list[tuple[int, str]], parts: list[str]) -> None:
    """Against every chain there is, tried in order."""
    outline = Outline(
        tuple((level, text, line) for line, (level, text) in enumerate(drawn, 1)), (), len(drawn)
    )
    chains = (
        chain
        for chain in combinations(outline.headings, len(parts))
        if [text for _, text, _ in chain] == parts
        and all(one[0] < two[0] for one, two in pairwise(chain))
    )
    first = next(chains, None)
    span = find_fragment(outline, "#".join(parts))
    if first is None:
        assert span is None
    else:
        assert span is not None
        assert span.first_line == first[-1][2]
        below = outline.headings[span.first_line : span.last_line]
        assert all(level > first[-1][0] for level, _, _ in below)
        after = outline.headings[span.last_line :]
        assert not after or after[0][0] <= first[-1][0]


def test_a_long_outline_and_a_long_fragment_end_quickly() -> None:
    outline = Outline(tuple((1, "A", line) for line in range(1, 20_001)), (), 20_000)
    assert find_fragment(outline, "#".join(["A"] * 5)) is None


@given(
    st.lists(st.sampled_from(["a.md", "A.md", "d/a.md", "d/e/a.md", "E/a.md.md", "d.md", "b .md"])),
    st.randoms(use_true_random=False),
)
def test_order_of_files_makes_no_difference(drawn: list[str], random: Random) -> None:
    shuffled = random.sample(drawn, len(drawn))
    one, other = VaultFiles(dict.fromkeys(drawn)), VaultFiles(dict.fromkeys(shuffled))
    for source in ("H.md", "d/H.md", "d/e/H.md"):
        for target in ("a", "A.md", "d/a", "./a", "../a", "/a", "d", "b "):
            assert resolve_path(one, source, target) == resolve_path(other, source, target)
