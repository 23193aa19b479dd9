"""What `notehop doctor` prints, and how it ends."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support import commands
from tests.support.notes import built, place_of
from tests.support.product import Place

NOTES = {
    "Index.md": "[[Tide gaet]] [[Nowhere]] [[Plan]] [[Atlas#Timelnie]] [[Tide gate]]\n",
    "Tide gate.md": "It opens at noon. [[nowhere]]\n",
    "Atlas.md": "## Timeline\nIn June.\n",
    "x/Plan.md": "x\n",
    "y/Plan.md": "y\n",
    "Bad.md": "---\ntags: [a\n---\ntext\n",
    "Secret.md": "---\nprivate: true\n---\n",
    "Old.md": "old\n",
    **{f"Daily/{number}.md": "text\n" for number in range(10, 17)},
}

LINKS = """\

Links that lead nowhere, and what they may mean  2
  Tide gaet -> Tide gate.md  Index.md:1
  Nowhere  Index.md:1, 1 more

Links to headings or blocks that their note does not have  1
  Atlas.md#Timelnie -> Timeline  Index.md:1

Links to a name that several files have  1
  Plan -> x/Plan.md, y/Plan.md  Index.md:1
"""


def call(place: Place, *arguments: str) -> Result:
    where = commands.options(place.vault, place.layout.root)
    return commands.call("doctor", *arguments, *where)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_of(tmp_path, NOTES)


def test_without_an_index(place: Place) -> None:
    result = call(place)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "My vault: 14 notes, 6 links\n\nIndex  none yet; run: notehop index\n" + LINKS
    )
    assert not place.layout.root.exists()


def test_a_broken_index_is_a_failure_that_names_its_repair(tmp_path: Path) -> None:
    place = built(tmp_path, {"A.md": "[[B]]\n", "B.md": "text\n"})
    shutil.rmtree(place.layout.lexical)
    result = call(place, "index")
    assert result.exit_code == 1
    where = shlex.join(commands.options(place.vault, place.layout.root))
    file = place.layout.postings
    assert result.stdout == (
        "My vault\n\n"
        "Index  1 part broken, generation 1\n"
        f"  lexical: {file}: cannot be read: No such file or directory\n"
        f"\nTo repair the index, run: notehop index {where}\n"
    )
    again = call(place, "index", "--json")
    assert again.exit_code == 1
    assert json.loads(again.stdout)["broken"] is True
