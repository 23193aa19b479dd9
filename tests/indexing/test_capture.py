"""A captured note: its name and text, and that it is written whole, nowhere but in the vault."""

import errno
import re
import subprocess
import sys
import unicodedata
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.tables import rows

NOW = datetime(2026, 11, 22, 9, 31, 5)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        *rows(__file__, "names"),
        pytest.param("a\u202eb\x07c\ud800", "2026-11-22 0931 a b c.md", id="controls"),
    ],
)
def test_names(title: str, name: str) -> None:
    assert product.file_name(title, NOW) == name


@given(st.text(max_size=400), st.integers(1, 10_000))
def test_any_title_makes_a_portable_name(title: str, number: int) -> None:
    name = product.file_name(title, NOW, number)
    assert len(name.encode()) <= product.MAX_BYTES
    assert re.fullmatch(r'2026-11-22 0931[^\\/:*?"<>|\[\]#^\x00-\x1f\x7f]*\.md', name)
    assert not name.removesuffix(".md").endswith((" ", "."))
    assert unicodedata.is_normalized("NFC", name)
    assert product.safe(product.safe(title)) == product.safe(title)


@pytest.mark.parametrize(("text", "most", "cut"), rows(__file__, "cut_between_words"))
def test_cut_between_words(text: str, most: int, cut: str) -> None:
    assert product.cut_bytes(text, most) == cut


@pytest.mark.parametrize(("text", "title"), rows(__file__, "the_first_line_that_says_something"))
def test_the_first_line_that_says_something(text: str, title: str) -> None:
    assert product.title_of(product.parse_note("", text.encode())) == title


def made(text: str, title: str | None = None, tags: tuple[str, ...] = ()) -> str:
    return product.note_text(text, title=title, tags=product.tag_names(tags), now=NOW)


@given(
    st.text(max_size=200),
    st.one_of(st.none(), st.text(max_size=60)),
    st.lists(st.text(max_size=20).map(lambda tag: f"t{tag}"), max_size=4),
)
def test_what_was_said_can_be_read_again(text: str, title: str | None, tags: list[str]) -> None:
    whole = made(text, title, tuple(tags))
    note = product.parse_note("x.md", whole.encode())
    said = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").removeprefix("\ufeff")
    assert said.strip("\n").rstrip() in whole
    if not text.lstrip("\r\n\0\ufeff").startswith("---"):
        assert note.warnings == ()
        assert note.created == 1795339865.0
        assert list(note.front_matter.get("tags", [])) == product.tag_names(tags)
        if title and title.isprintable() and title.split():
            assert note.front_matter["title"] == " ".join(title.split())


def test_properties_of_the_text_are_kept() -> None:
    text = "---\n# mine\ntype: meeting\n---\nWe met."
    assert made(text, title="A/B", tags=("x", "y")) == f"{text}\n\n#x #y\n"


@pytest.mark.parametrize("text", rows(__file__, "a_private_text_stays_private"))
def test_a_private_text_stays_private(text: str) -> None:
    note = product.parse_note("x.md", made(text, tags=("t",)).encode())
    assert note.excluded is not None
    assert "t" in note.tags


@pytest.mark.parametrize(("given", "names"), rows(__file__, "tags"))
def test_tags(given: list[str], names: list[str]) -> None:
    assert product.tag_names(given) == names


@pytest.mark.parametrize("text", ["\0", "\0 \n\0", "\ufeff", " \n"])
def test_a_text_of_which_nothing_is_left_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(product.QueryError, match="nothing to keep"):
        product.keep(tmp_path, "In", text, now=NOW)
    assert list(tmp_path.iterdir()) == []


def name(number: int) -> str:
    return f"Tea {number}.md"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def everything(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("taken", ["Tea 1.md", "TEA 1.MD", "tea 1.md", "folder", "link"])
def test_what_is_there_stays(vault: Path, taken: str) -> None:
    if taken == "folder":
        (vault / "Tea 1.md").mkdir()
    elif taken == "link":
        (vault / "Tea 1.md").symlink_to(vault / "nowhere")
    else:
        (vault / taken).write_text("mine")
    assert product.write_new(vault, "", name, "tea") == "Tea 2.md"
    mine = {taken: "mine"} if (vault / taken).is_file() else {}
    assert everything(vault) == {**mine, "Tea 2.md": "tea"}
    assert not (vault / "nowhere").exists()


def test_processes_never_share_a_name(vault: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.support.product import write_new\n"
        "for n in range(20): write_new(Path(sys.argv[1]), 'In', lambda i: f'{i}.md', sys.argv[2])"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(vault), who]) for who in ("a", "b")]
    assert [process.wait(60) for process in running] == [0, 0]
    found = everything(vault)
    assert sorted(found) == sorted(f"In/{n}.md" for n in range(1, 41))
    assert sorted(found.values()) == ["a"] * 20 + ["b"] * 20


def test_a_full_disk_leaves_nothing(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(product.CaptureFailed, match="No space left"):
        product.write_new(vault, "In", name, "tea")
    assert everything(vault) == {}


@pytest.mark.parametrize("folder", ["In", "In/deeper", "Sub/In"])
def test_a_folder_that_leads_out_of_the_vault(vault: Path, tmp_path: Path, folder: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "In").symlink_to(outside, target_is_directory=True)
    (vault / "Sub").mkdir()
    (vault / "Sub" / "In").symlink_to("../../outside", target_is_directory=True)
    with pytest.raises(product.CaptureFailed, match="leads out of the vault"):
        product.write_new(vault, folder, name, "tea")
    assert everything(outside) == {}
    assert list(outside.iterdir()) == []
    with pytest.raises(product.CaptureFailed, match="whose name begins with a dot"):
        product.write_new(vault, ".hidden/In", name, "tea")
