"""What is derived and was harmed is whole again after the next run; a harmed catalog says so.

Until then queries answer right, or give an error that names the command. Never a wrong text.
"""

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.indexing.crashes import harm
from tests.indexing.crashes.forks import Forks
from tests.indexing.crashes.harm import Harm
from tests.indexing.crashes.homes import FIRST, Home, differing, write
from tests.indexing.crashes.jobs import Told


@dataclass(frozen=True, slots=True)
class Whole:
    """A home with an index that is whole, what a reader sees of it, and all that it says."""

    home: Home
    seen: Told
    content: Told


@pytest.fixture(scope="module")
def indexed(forks: Forks, shared_folder: Path) -> Whole:
    home = Home(shared_folder)
    write(home.vault, FIRST)
    forks.index(home.path)
    # In a second generation, so that there is more than one part of each table.
    write(home.vault, {"New.md": "New words on the tide and [[Wall]].", "plan.png": None})
    forks.index(home.path)
    home.keep()
    whole = Whole(home, forks.read(home.path), forks.content(home.path))
    assert whole.seen["error"] is None
    return whole


@pytest.fixture
def whole(indexed: Whole) -> Iterator[Whole]:
    indexed.home.restore()
    before = _vault(indexed.home)
    yield indexed
    assert _vault(indexed.home) == before


def _vault(home: Home) -> dict[str, tuple[int, str]]:
    """Time and content of every file of the vault, which nothing may touch."""
    return {
        str(file.relative_to(home.vault)): (
            file.stat().st_mtime_ns,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in home.vault.rglob("*")
        if file.is_file()
    }


def check_queries(forks: Forks, whole: Whole, *commands: str) -> None:
    """A reader sees the right texts, or is told which of the commands to run."""
    seen = forks.read(whole.home.path)
    if seen["error"] is not None:
        assert any(seen["error"].endswith(f"run: {command}") for command in commands), seen
        return
    assert seen["unknown"] == []
    assert seen["chunks"] == whole.seen["chunks"]
    assert seen["links"] == whole.seen["links"]


def check_mended(forks: Forks, whole: Whole) -> None:
    """The next run makes it whole again, by itself, and one after that finds nothing to do."""
    check_queries(forks, whole, "notehop index", "notehop index --rebuild")
    done = forks.index(whole.home.path).told
    assert done["error"] is None
    assert not done["asked"]
    assert not done["warnings"]
    wrong = differing(forks.content(whole.home.path), whole.content)
    assert not wrong, "\n".join(wrong[:5])
    again = forks.index(whole.home.path).told
    assert (again["warnings"], again["loaded"]) == ([], 0)


DERIVED = {
    "no lexical index": harm.gone,
    "half a lexical index": harm.cut,
    "garbage for a lexical index": harm.garbage(),
    "zeros in a lexical index": harm.zeros(0.4, 0.5),
}


@pytest.mark.parametrize("how", DERIVED.values(), ids=DERIVED)
def test_what_is_derived_is_made_whole(forks: Forks, whole: Whole, how: Harm) -> None:
    how(whole.home.layout.postings)
    check_mended(forks, whole)


def test_an_index_that_was_copied_elsewhere_is_as_good(forks: Forks, whole: Whole) -> None:
    """A copy has other times: everything is looked at, and nothing is found."""
    for file in whole.home.layout.root.rglob("*"):
        file.touch()
    check_mended(forks, whole)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}'])
def test_files_that_only_inform(forks: Forks, whole: Whole, text: str) -> None:
    for name in ("writer.json", "catalog.json", "watcher.json"):
        (whole.home.layout.root / name).write_text(text)
    check_mended(forks, whole)


def test_somebody_elses_folder_is_left_alone(forks: Forks, whole: Whole) -> None:
    folder = whole.home.layout.root / "index-of-birds"
    folder.mkdir()
    (folder / "thesis.doc").write_text("years of work")
    check_mended(forks, whole)
    assert forks.index(whole.home.path, rebuild=True).told["error"] is None
    assert (folder / "thesis.doc").read_text() == "years of work"


CATALOG = [
    pytest.param(harm.empty, id="empty"),
    pytest.param(harm.gone, id="gone"),
    pytest.param(harm.cut, id="cut"),
    pytest.param(harm.garbage(), id="garbage"),
    pytest.param(harm.garbage(0, 0.0001), id="garbage at its head"),
    pytest.param(harm.zeros(0.1, 0.9), id="zeros in the middle"),
    *(pytest.param(harm.page(n), id=f"page {n}") for n in (0, 21)),
    *(
        pytest.param(harm.garbage(at / 13, at / 13 + 0.002, at), id=f"a few bytes at {at} of 13")
        for at in (4, 10)
    ),
]


@pytest.mark.parametrize("how", CATALOG)
def test_a_harmed_catalog_is_made_anew_on_command(forks: Forks, whole: Whole, how: Harm) -> None:
    how(whole.home.layout.catalog)
    check_queries(forks, whole, "notehop index", "notehop index --rebuild")
    done = forks.index(whole.home.path).told
    if done["error"] is not None:
        assert done["error"].endswith("run: notehop index --rebuild"), done
        done = forks.index(whole.home.path, rebuild=True).told
        assert done["error"] is None
    wrong = differing(forks.content(whole.home.path), whole.content)
    assert not wrong, "\n".join(wrong[:5])


def test_a_journal_that_is_garbage(forks: Forks, whole: Whole) -> None:
    write(whole.home.vault, {"New.md": "Newer words on the tide and [[Bram]]."})
    try:
        home = str(whole.home.path)
        assert forks.run("index", home=home, kill_at="catalog-committed").killed
        journal = whole.home.layout.root / "catalog.sqlite-wal"
        assert journal.stat().st_size
        harm.garbage()(journal)
        # What was committed is lost with it: the generation before stands.
        assert forks.read(whole.home.path)["chunks"] == whole.seen["chunks"]
        assert forks.index(whole.home.path).told["error"] is None
        found = forks.content(whole.home.path)
        forks.index(whole.home.path, at="anew")
        assert not differing(found, forks.content(whole.home.path, "anew"))
    finally:
        whole.home.restore()


@pytest.mark.parametrize("text", [None, "", "index-\0\n"])
def test_without_the_line_that_names_it_the_index_is_made_anew(
    forks: Forks, whole: Whole, text: str | None
) -> None:
    layout = whole.home.layout
    forks.index(whole.home.path, rebuild=True)
    harm.gone(layout.current) if text is None else layout.current.write_text(text)
    assert forks.read(whole.home.path)["error"].endswith("run: notehop index")
    assert forks.index(whole.home.path).told["error"] is None
    assert (layout.home, layout.left_over()) == (layout.root, [])
    assert forks.read(whole.home.path)["chunks"] == whole.seen["chunks"]


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_folder_in_force_that_is_gone_is_made_anew(forks: Forks, whole: Whole, *, rebuild: bool) -> None:
    layout = whole.home.layout
    forks.index(whole.home.path, rebuild=True)
    shutil.rmtree(layout.home)
    assert forks.read(whole.home.path)["error"].endswith("run: notehop index")
    assert forks.index(whole.home.path, rebuild=rebuild).told["error"] is None
    assert forks.read(whole.home.path)["chunks"] == whole.seen["chunks"]


def test_a_catalog_that_went_back_is_brought_up(forks: Forks, whole: Whole) -> None:
    """An older copy of the catalog alone: its generations come back with other content."""
    older = whole.home.layout.catalog.read_bytes()
    text = (whole.home.vault / "New.md").read_text()
    try:
        write(whole.home.vault, {"New.md": "Newer words."})
        forks.index(whole.home.path)
        newer = forks.read(whole.home.path)
        whole.home.layout.catalog.write_bytes(older)
        assert forks.read(whole.home.path) == whole.seen
        assert forks.index(whole.home.path).told["error"] is None
        assert forks.read(whole.home.path) == newer
    finally:
        write(whole.home.vault, {"New.md": text})
        whole.home.restore()
