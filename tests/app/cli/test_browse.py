"""``notehop browse``: as a person sees it, and as one JSON document; no model is loaded."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import call, options
from tests.support.notes import built

NOTES = {
    "Wall.md": "The wall stands on [[Clay#Winter]], and it stands still.\n",
    "Clay.md": (
        "---\nsummary: What the wall stands on.\nabout: '[[Wall]]'\n---\nClay is dear.\n\n"
        "# Winter\nIt lies one winter.\n"
    ),
    "work/Log.md": "#log\n## Day\n- \n- Today we looked at the [[Clay]].\n- It rained.\n",
    "home/Log.md": "Nothing.\n",
    "home/Workbench.md": "Nothing.\n",
    "notehop.toml": "[chunking]\nmin_tokens = 1\n",
}


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    place = built(tmp_path_factory.mktemp("browse"), NOTES)
    return options(place.vault, place.layout.root)


@pytest.fixture(autouse=True)
def _here(where: list[str]) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(where[1])
    yield
    os.chdir(before)


def test_the_notes_around_one(where: list[str]) -> None:
    result = call("browse", "wall", *where)
    assert result.stdout == (
        "1 note around Wall.md\n"
        "\n"
        "Clay.md (depth 1, both)\n"
        "> The wall stands on Clay > Winter, and it stands still.\n"
        "> What the wall stands on.\n"
    )
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_list_that_is_cut_says_so(where: list[str]) -> None:
    shown = call("browse", "Clay", "--max", 1, *where).stdout
    assert shown.startswith("1 of 2 notes around Clay.md\n")
    every = call("browse", "Clay", *where).stdout
    assert "\n> Today we looked at the Clay. · It rained.\n" in every


def test_a_name_of_several_notes(where: list[str]) -> None:
    result = call("browse", "Log", *where)
    assert result.stdout.startswith("1 note around home/Log.md, work/Log.md\n")
    assert "Log: 2 notes: home/Log.md, work/Log.md; all are taken" in result.stderr


def test_a_path_from_the_current_folder(where: list[str]) -> None:
    os.chdir(Path(where[1]) / "work")
    shown = json.loads(call("browse", "Log.md", "--json", *where).stdout)
    assert [seed["path"] for seed in shown["seeds"]] == ["work/Log.md"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["Cley"], "Cley: no note of this vault; did you mean Clay.md?", id="slip"),
        pytest.param(["Wor"], "; did you mean home/Workbench.md, work/Log.md?", id="part"),
        pytest.param(["Xylem"], "; name one by its path, title or alias", id="none"),
        pytest.param(["Wall", "--after", "soon"], "soon", id="date"),
        pytest.param([" "], "seeds.0: it is empty", id="blank"),
    ],
)
def test_what_makes_no_sense(where: list[str], arguments: list[str], said: str) -> None:
    result = call("browse", *arguments, *where)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr
