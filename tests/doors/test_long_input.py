"""What somebody pastes is read in a time that its length explains, whatever signs it is made of."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from notehop import open_vault
from tests.support.notes import Bench
from tests.support.product import VaultHandle, answer_html, app, snippets_html

LENGTH = 10_000
"""Characters, as many as a query may have."""

CALLS = 130
"""Calls of functions that a character may take in the page's renderer: a word takes some ten."""

SLOWER = 6
"""Times as long as a query of words of the same length that one of signs may take; a pattern that
tries all ways to share them out takes fifteen times as long."""

RUNS = [
    "[",
    "![",
    "[[",
    "^[",
    "[^a",
    "[1](",
    "[a](b)",
    "*a",
    "_a",
    "==",
    "$",
    "`",
    "> ",
    "- [x] ",
    "|",
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("before", ["", "[^a]: a note\n\n"], ids=["plain", "with-a-footnote"])
def test_the_page_renders_a_run_of_signs_in_few_steps(run: str, before: str) -> None:
    text = before + run * (LENGTH // len(run))
    profile = cProfile.Profile()
    profile.enable()
    answer_html(text)
    snippets_html([text], "word")
    profile.disable()
    assert pstats.Stats(profile).total_calls < CALLS * 2 * LENGTH  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[a [b] c](https://d.e)", ">a [b] c</a>"),
        ("[a [b [c [d]]]](https://d.e)", ">a [b [c [d]]]</a>"),
        ("[[[[ and [a](https://d.e)", ">a</a>"),
        ("![[[ and ^[ and [^x] and ![x](y)", '<span class="image">x</span>'),
        ("Said^[aside [b](https://d.e)] so.", ">b</a>"),
        ("Said[^1] so.\n\n[^1]: aside", "aside"),
    ],
)
def test_brackets_still_mean_what_they_meant(text: str, html: str) -> None:
    assert html in answer_html(text)


@pytest.fixture(scope="module")
def opened(demo: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(demo[0], index_dir=demo[1]) as opened:
        opened.warm()
        yield opened


@pytest.mark.model
@pytest.mark.parametrize("sign", ["-", "_", ":", "a-", "[", '"', "#"])
def test_a_query_that_is_a_run_of_signs_is_answered_soon(opened: VaultHandle, sign: str) -> None:
    words, signs = ("ab " * LENGTH)[:LENGTH], (sign * LENGTH)[:LENGTH]
    assert seconds(opened, signs) < SLOWER * seconds(opened, words)


def seconds(opened: VaultHandle, text: str) -> float:
    """The time that the processor takes for a search."""
    begun = time.process_time()
    opened.search(text)
    return time.process_time() - begun


@pytest.mark.model
@pytest.mark.parametrize(
    "question",
    ["What is the status of Hollin Reach?", "status - Hollin Reach", "status: Hollin Reach"],
)
def test_a_dash_in_a_question_is_no_run(opened: VaultHandle, question: str) -> None:
    assert opened.search(question).intent == "status"


NAMES = ["x" * 300, "x/" * 3_000 + "y", "é" * 200, "~nobody-of-that-name", "a\0b"]


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    bench = Bench(tmp_path_factory.mktemp("long"))
    bench.write("Atlas.md", "About [[Hollin]].")
    bench.index()
    return ["--vault", str(bench.vault), "--index-dir", str(bench.layout.root)]


@pytest.mark.parametrize("name", NAMES, ids=["ascii", "path", "bytes", "home", "nul"])
@pytest.mark.parametrize("command", ["status", "browse", "links"])
def test_a_name_that_no_disk_takes(where: list[str], command: str, name: str) -> None:
    result = CliRunner().invoke(app, [command, name, *where])
    assert result.exit_code == 2, result.output
    assert "unexpected" not in result.output
    assert result.stderr.startswith("error: ")


@pytest.mark.parametrize("name", NAMES, ids=["ascii", "path", "bytes", "home", "nul"])
def test_links_of_a_place_that_no_disk_takes(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["links", name, "--index-dir", str(tmp_path / "index")])
    assert result.exit_code == 2, result.output
    assert "unexpected" not in result.output
