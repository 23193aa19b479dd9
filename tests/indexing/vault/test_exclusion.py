"""Globs and ignore filters."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import VaultError, exclusion, glob_pattern


@pytest.mark.parametrize(
    ("glob", "kept_out", "kept"),
    [
        (
            "Templates",
            ["Templates/a.md", "x/Templates/a.md", "templates/a.md"],
            ["Templates2/a.md"],
        ),
        ("Templates/", ["Templates/a.md", "x/Templates/b/c.md"], ["Templates.md"]),
        ("*.excalidraw.md", ["a.excalidraw.md", "x/b.excalidraw.md"], ["a.md", "excalidraw.md"]),
        ("work/drafts", ["work/drafts/a.md"], ["x/work/drafts/a.md", "work/drafts.md"]),
        ("/inbox", ["inbox/a.md"], ["x/inbox/a.md"]),
        ("work/*/old", ["work/a/old/n.md"], ["work/old/n.md", "work/a/b/old/n.md"]),
        ("work/**/old", ["work/old/n.md", "work/a/b/old/n.md"], ["work/older/n.md"]),
        ("private/**", ["private/a.md", "private/b/c.md"], ["x/private/a.md"]),
        ("**/x.md", ["x.md", "a/b/x.md"], ["ax.md"]),
        ("?.md", ["a.md", "x/b.md"], ["ab.md"]),
        ("a+b (c).md", ["a+b (c).md"], ["aab (c).md"]),
        ("new\nline.md", ["new\nline.md"], ["new.md"]),
    ],
)
def test_globs(glob: str, kept_out: list[str], kept: list[str]) -> None:
    reason = exclusion([glob], [])
    assert [path for path in kept_out if reason(path) is None] == []
    assert [path for path in kept if reason(path) is not None] == []


SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def plainly(glob: str) -> re.Pattern[str]:
    """What a glob means, as an expression that may try all there is."""
    anchored = "/" in glob.strip("/") or glob.startswith("/")
    signs = re.split(r"((?:(?<=/)|^)\*\*/|\*\*|\*|\?)", glob.strip("/"))
    body = "".join(SIGNS.get(sign, re.escape(sign)) for sign in signs)
    return re.compile(rf"{'^' if anchored else '(?:^|/)'}{body}(?:/|\Z)", re.DOTALL)


@given(
    st.lists(st.sampled_from(["*", "**", "**/", "?", "/", "a", "b", "/**/"]), max_size=7),
    st.lists(st.text("ab/", max_size=9), min_size=10, max_size=10),
)
def test_a_glob_takes_what_it_says(signs: list[str], paths: list[str]) -> None:
    glob = "".join(signs)
    taken, meant = glob_pattern(glob), plainly(glob)
    for path in paths:
        assert bool(taken.search(path)) == bool(meant.search(path)), (glob, path)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "glob",
    ["**" * 8 + "zqz", "*" * 900, "*a" * 400 + "z", "**a" * 300 + "z", "**/a" * 200 + "z"],
)
def test_no_glob_takes_for_ever(glob: str) -> None:
    for path in ("a" * 250, "a/" * 120, "Projects/Hollin Reach/Hollin Reach.md"):
        glob_pattern(glob).search(path)


@pytest.mark.parametrize(
    ("text", "kept_out", "kept"),
    [
        ("Archive/", ["Archive/a.md", "archive/a.md"], ["x/Archive/a.md", "Archived/a.md"]),
        ("Arch", ["Archive/a.md"], ["x/Arch.md"]),
        ("a.b", ["a.b.md"], ["axb.md"]),
        ("/\\.draft\\.md$/", ["a.draft.md", "x/B.DRAFT.md"], ["adraft.md"]),
        ("/^(?<year>20\\d\\d)\\//", ["2024/a.md"], ["x/2024/a.md"]),
        ("/(?<!x)y/", ["ay"], ["xy"]),
        ("/", ["/"], ["a.md"]),
    ],
)
def test_ignore_filters(text: str, kept_out: list[str], kept: list[str]) -> None:
    reason = exclusion([], [text])
    assert [path for path in kept_out if reason(path) is None] == []
    assert [path for path in kept if reason(path) is not None] == []


def test_a_filter_that_is_no_expression() -> None:
    with pytest.raises(VaultError, match=r"app\.json: the excluded-files filter /\(/"):
        exclusion([], ["/(/"])


def test_nothing_is_excluded_by_nothing() -> None:
    assert exclusion([], [])("a.md") is None
