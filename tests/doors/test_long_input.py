"""What is long takes a time that its length explains, and no character is lost that is no mark."""

import cProfile
import pstats
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.commands import call, options, printed
from tests.support.notes import Bench
from tests.support.tables import rows

LENGTH = 10_000
"""Characters, as many as a query may have."""

RUN = 2_000
"""Those of a run on the page: what takes a step for each pair of them takes eight times too many."""

CALLS = 130
"""Calls of functions that a character may take in the page's renderer: a word takes some ten."""

SLOWER = 6
"""Times as long as a query of words of the same length that one of signs may take; a pattern that
tries all ways to share them out takes fifteen times as long."""

RUNS = ["[", "![", "[[", "^[", "[^a", "[1](", "[a](b)", "*a", "_a", "==", "$", "`", "> ", "- [x] ", "|"]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("before", ["", "[^a]: a note\n\n"], ids=["plain", "with-a-footnote"])
def test_the_page_renders_a_run_of_signs_in_few_steps(run: str, before: str) -> None:
    text = before + run * (RUN // len(run))
    profile = cProfile.Profile()
    profile.enable()
    product.answer_html(text)
    product.snippets_html([text], "word")
    profile.disable()
    assert pstats.Stats(profile).total_calls < CALLS * 2 * RUN  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "html"), rows(__file__, "brackets_still_mean_what_they_meant"))
def test_brackets_still_mean_what_they_meant(text: str, html: str) -> None:
    assert html in product.answer_html(text)


@pytest.mark.model
@pytest.mark.parametrize("sign", ["-", ":", "a-", "[", '"'])
def test_a_query_that_is_a_run_of_signs_is_answered_soon(vault: product.VaultHandle, sign: str) -> None:
    vault.warm()
    words, signs = ("ab " * LENGTH)[:LENGTH], (sign * LENGTH)[:LENGTH]
    assert seconds(vault, signs) < SLOWER * seconds(vault, words)


def seconds(vault: product.VaultHandle, text: str) -> float:
    """The time that the processor takes for a search."""
    begun = time.process_time()
    vault.search(text)
    return time.process_time() - begun


@pytest.mark.model
@pytest.mark.parametrize(
    "question", ["What is the status of Hollin Reach?", "status - Hollin Reach", "status: Hollin Reach"]
)
def test_a_dash_in_a_question_is_no_run(vault: product.VaultHandle, question: str) -> None:
    assert vault.search(question).intent == "status"


NAMES = ["x" * 300, "x/" * 3_000 + "y", "é" * 200, "~nobody-of-that-name", "a\0b"]


@pytest.fixture(scope="module")
def given_vault(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    bench = Bench(tmp_path_factory.mktemp("long"))
    bench.write("Atlas.md", "About [[Hollin]].")
    bench.index()
    return options(bench.vault, bench.layout.root)


@pytest.mark.parametrize("name", NAMES, ids=["ascii", "path", "bytes", "home", "nul"])
@pytest.mark.parametrize("command", ["suggest", "browse", "links"])
def test_a_name_that_no_disk_takes(given_vault: list[str], command: str, name: str) -> None:
    result = call(command, name, *given_vault)
    assert result.exit_code == 2, result.output
    assert "unexpected" not in result.output
    assert result.stderr.startswith("error: ")


MANY = 200_000

BLANK = {
    "word": "a" + " " * MANY,
    "item": "x\n\n- " + " " * MANY + "a",
    "tabs": "a" + "\t" * MANY,
    "lines": "a" + "\n" * MANY + "b",
    "no-break": "a" + "\u00a0" * MANY + "b",
    "blank lines": "a\n" + "   \n" * (MANY // 4) + "b",
    "headings": "# a\n" + " " * (MANY // 2) + "\n" + " " * (MANY // 2) + "b",
    "ideographic": "a" + "\u3000" * MANY + "b",
    "links": "a [[word]]" + " " * MANY + "[[tabs]] b",
}


@pytest.mark.timeout(100)
def test_blanks_are_indexed_in_no_time(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for name, text in BLANK.items():
        bench.write(f"{name}.md", text)
    report = bench.index()
    assert report.added == len(BLANK)
    assert [link.raw_target for link in bench.links("links.md")] == ["word", "tabs"]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(("text", "title"), rows(__file__, "a_captured_note_is_named_by_its_words"))
def test_a_captured_note_is_named_by_its_words(empty: Path, text: str, title: str) -> None:
    printed("capture", "--vault", empty, "--", text)
    (file,) = empty.rglob("*.md")
    assert file.stem.split(" ", 2)[2] == title


@pytest.mark.parametrize(("said", "kept"), rows(__file__, "a_summary_keeps_its_words"))
def test_a_summary_keeps_its_words(said: str, kept: str) -> None:
    assert product.cleaned(said, 300) == kept


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_letters_and_digits_are_never_lost(text: str) -> None:
    def words(line: str) -> list[str]:
        return [char for char in line if char.isalnum()]

    assert words(product.without_emphasis(text)) == words(text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["[", "![", "[[", "`", "==a ", "**a", "*_", "http://(", "<!--"])
def test_a_reply_of_nothing_but_marks_takes_no_time(piece: str) -> None:
    product.cleaned(piece * 200_000, 300)
    product.without_emphasis((piece * 2_000)[:2_000])
