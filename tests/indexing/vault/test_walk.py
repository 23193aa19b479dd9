"""Which files of a vault are found, which are kept out, and how one is opened."""

import errno
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.tables import rows


def make(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"text")
    return root


def paths(found: product.Walk) -> list[str]:
    return [file.path for file in found.files]


def test_notes_and_attachments_sorted_by_path(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/c.MD", "a/b/d.md", "a.png", "x.canvas", "Z.md", "no extension")
    make(tmp_path, ".obsidian/app.json", ".trash/old.md", ".git/x.md", "a/.hidden/x.md", "a/.x.md")
    found = product.walk(tmp_path)
    assert [(file.path, file.kind) for file in found.files] == [
        ("Z.md", "note"),
        ("a.png", "attachment"),
        ("a/b/d.md", "note"),
        ("a/c.MD", "note"),
        ("b.md", "note"),
        ("no extension", "attachment"),
        ("x.canvas", "attachment"),
    ]
    assert found.problems == ()
    first = found.files[0]
    stat = (tmp_path / "Z.md").stat()
    assert (first.size, first.mtime_ns, first.excluded) == (4, stat.st_mtime_ns, None)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    make(tmp_path, "good.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_bytes(b"x")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/folder\xfe")).mkdir()
    found = product.walk(tmp_path)
    assert paths(found) == ["good.md"]
    assert found.problems == (
        ("bad\\xff.md", "its name is not valid UTF-8; rename it"),
        ("folder\\xfe", "its name is not valid UTF-8; rename it"),
    )


def test_symbolic_links(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "secret.md")
    root = make(tmp_path / "vault", "a/note.md", "b/other.md", ".hidden/h.md")
    (root / "a/loop").symlink_to(root)
    (root / "a/up").symlink_to("..")
    (root / "a/self").symlink_to("self")
    (root / "b/a").symlink_to(root / "a")
    (root / "file.md").symlink_to(root / "b/other.md")
    (root / "gone.md").symlink_to(root / "nothing.md")
    (root / "out").symlink_to(outside)
    (root / "out.md").symlink_to(outside / "secret.md")
    found = product.walk(root)
    assert paths(found) == ["a/note.md", "b/other.md", "file.md"]
    assert {path: reason.split(":")[0] for path, reason in found.problems} == {
        "a/loop": "symbolic link to the folder . of this vault; not followed",
        "a/self": "symbolic link that leads nowhere",
        "a/up": "symbolic link to the folder . of this vault; not followed",
        "b/a": "symbolic link to the folder a of this vault; not followed",
        "gone.md": "symbolic link that leads nowhere",
        "out": "symbolic link that leaves the vault",
        "out.md": "symbolic link that leaves the vault",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    make(tmp_path, "a/n.md", "b.md")
    (tmp_path / "a").chmod(0)
    try:
        found = product.walk(tmp_path)
    finally:
        (tmp_path / "a").chmod(0o700)
    assert paths(found) == ["b.md"]
    assert found.problems == (("a", "Permission denied"),)


def test_exclusion_names_its_reason(tmp_path: Path) -> None:
    make(tmp_path, "Templates/t.md", "Archive/a.md", "n.md")
    found = product.walk(tmp_path, exclude=["Templates"], ignore_filters=["Archive/"])
    assert {file.path: file.excluded for file in found.files} == {
        "Archive/a.md": "excluded in the app's settings: Archive/",
        "Templates/t.md": "excluded by the setting vault.exclude: Templates",
        "n.md": None,
    }


def test_a_part_of_a_vault_is_walked_as_the_whole_is(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "deep/b.md", "deep/er/c.md", "deep b/d.md", ".obsidian/x.md")
    (tmp_path / "deep" / "link.md").symlink_to("b.md")
    (tmp_path / "deep" / "out.md").symlink_to("/etc/hosts")
    (tmp_path / "folder").symlink_to("deep")
    whole = product.walk(tmp_path, exclude=["er"])
    for named in (["deep"], ["deep/er"], ["deep/b.md", "a.md"], ["nowhere", "deep/link.md"], [""]):
        below = tuple(path + "/" for path in named if path)
        found = product.walk(tmp_path, named, exclude=["er"])

        def inside(path: str) -> bool:
            return "" in named or path in named or path.startswith(below)  # noqa: B023

        assert found.files == tuple(file for file in whole.files if inside(file.path))
        assert found.problems == tuple(told for told in whole.problems if inside(told[0]))


def test_what_is_no_part_of_a_vault_is_none_when_named(tmp_path: Path) -> None:
    make(tmp_path, "deep/b.md", ".obsidian/x.md", "deep/.hidden/y.md")
    (tmp_path / "folder").symlink_to("deep")
    paths = [".obsidian/x.md", "deep/.hidden/y.md", "deep/.hidden", "folder/b.md", "deep/b.md/z.md"]
    assert product.walk(tmp_path, paths) == product.Walk((), ())


@pytest.mark.parametrize("list_it", [product.walk, lambda root: product.walk(root, ["a.md"])])
def test_a_disk_that_is_gone_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, list_it: Callable[[Path], product.Walk]
) -> None:
    """A network disk that is gone answers with an error instead of "not there"."""

    def gone(path: Path, **_: object) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", str(path))

    monkeypatch.setattr(Path, "stat", gone)
    with pytest.raises(product.VaultError, match="cannot be entered: Transport endpoint"):
        list_it(tmp_path)


@pytest.mark.parametrize(
    ("globs", "filters", "kept_out", "kept"),
    [([one], [], *paths) for one, *paths in (row.values for row in rows(__file__, "globs"))]
    + [([], [one], *paths) for one, *paths in (row.values for row in rows(__file__, "ignore_filters"))],
)
def test_what_is_kept_out(globs: list[str], filters: list[str], kept_out: list[str], kept: list[str]) -> None:
    reason = product.exclusion(globs, filters)
    assert [path for path in kept_out if reason(path) is None] == []
    assert [path for path in kept if reason(path) is not None] == []


@pytest.mark.timeout(30)
def test_a_slow_filter_does_not_take_its_time_for_each_of_many_paths() -> None:
    reason = product.exclusion([], ["/^Old/", "/(a|aa)+$/"])
    assert all(reason(f"{number}.md") is None for number in range(10_000))
    with pytest.raises(product.VaultError, match=r"\(a\|aa\)\+\$/ takes too long"):
        any(reason("a" * 23 + f"{number}.md") for number in range(300))


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
    taken, meant = product.glob_pattern(glob), plainly(glob)
    for path in paths:
        assert bool(taken.search(path)) == bool(meant.search(path)), (glob, path)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "glob", ["**" * 8 + "zqz", "*" * 900, "*a" * 400 + "z", "**a" * 300 + "z", "**/a" * 200 + "z"]
)
def test_no_glob_takes_for_ever(glob: str) -> None:
    for path in ("a" * 250, "a/" * 120, "Projects/Hollin Reach/Hollin Reach.md"):
        product.glob_pattern(glob).search(path)


posix = pytest.mark.skipif(os.name != "posix", reason="Windows holds no folders")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/N.md").write_text("inside")
    (tmp_path / "N.md").write_text("outside")
    return root


def read(root: Path, path: str) -> str:
    with product.open_below(root, path) as stream:
        return stream.read().decode()


@posix
def test_links_inside_the_vault_are_followed(root: Path) -> None:
    (root / "L.md").symlink_to("a/b/N.md")
    (root / "folder").symlink_to("a")
    assert read(root, "a/b/N.md") == "inside"
    assert read(root, "L.md") == "inside"
    assert read(root, "folder/b/N.md") == "inside"


@posix
@pytest.mark.parametrize("path", ["L.md", "out/N.md", "../N.md", "a/../../N.md", "pipe", "a", ""])
def test_what_is_no_file_of_the_vault_is_not_opened(root: Path, path: str) -> None:
    (root / "L.md").symlink_to("../N.md")
    (root / "out").symlink_to(root.parent)
    os.mkfifo(root / "pipe")
    with pytest.raises(OSError):
        product.open_below(root, path)
