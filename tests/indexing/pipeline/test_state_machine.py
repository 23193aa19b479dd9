"""After any edits, an index that followed its vault says what one built from nothing says.

Catalog, graph, PageRank, lexical ranks, vectors: see ``machine/contents.py`` for what is compared,
``machine/rules.py`` for the edits, and ``tests/soak/soak_long.py`` for hours of it.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.indexing.pipeline.machine.following import Following, Step, play
from tests.indexing.pipeline.machine.running import Kind, run_machine
from tests.support.postgres import PostgresServer


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("kind", "vaults", "steps"),
    [
        pytest.param(Kind(), 3, 30, id="in-one-batch"),
        pytest.param(Kind(small=True), 2, 40, id="in-many-batches"),
        pytest.param(Kind(chroma=True), 3, 15, id="with-chroma", marks=pytest.mark.slow),
    ],
)
def test_following_equals_starting_anew(tmp_path: Path, kind: Kind, vaults: int, steps: int) -> None:
    done = run_machine(tmp_path, kind, vaults=vaults, steps=steps)
    assert done.edits >= 20
    assert done.runs >= 5


@pytest.mark.services
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("small", [False, True], ids=["in-one-batch", "in-many-batches"])
def test_following_equals_starting_anew_on_a_server(
    tmp_path: Path, postgres: PostgresServer, small: bool
) -> None:
    kind = Kind(small=small, server=postgres.new_database())
    done = run_machine(tmp_path, kind, vaults=3, steps=40)
    assert done.edits >= 20
    assert done.runs >= 5


SCRIPTS: dict[str, Sequence[Step]] = {
    "an empty vault": [],
    "a note that was touched counts as modified then": [
        ("write", "Tide.md", "---\ntags: [sea]\n---\nText."),
        ("run",),
        ("touch", "Tide.md"),
        ("update", "Tide.md"),
    ],
    "unless it says when it was": [
        ("write", "Tide.md", "---\nmodified: 2024-05-06\n---\nText."),
        ("run",),
        ("touch", "Tide.md"),
    ],
    "a link to a folder is none to the note of its name": [
        ("write", "a/b/N.md", "See [[../.]], [[../..]] and [[./.]]."),
        ("run",),
        ("write", "a.md", "Text."),
        ("write", "a/b.md", "Text."),
    ],
    "an alias of two notes that one of them drops": [
        ("write", "Here.md", "See [[HW]]."),
        ("write", "Tide.md", "---\naliases: [HW]\n---\nText."),
        ("write", "Wall.md", "---\naliases: [HW]\n---\nText."),
        ("run",),
        ("write", "Tide.md", "Text."),
        ("update", "Tide.md"),
    ],
    "a folder named as the beginning of a note": [
        ("write", "a/Tide.md", "See [[a]]."),
        ("write", "a.md", "Text."),
        ("write", "a b/Tide.md", "Text."),
        ("run",),
        ("write", "a/Tide.md", "See [[a b/Tide]]."),
        ("update", "a"),
    ],
    "a link that is read again when it is looked at": [
        ("write", "a/Real.md", "Text."),
        ("link", "Shown.md", "a/Real.md"),
        ("run",),
        ("write", "a/Real.md", "Other text."),
        ("update", "a/Real.md", "Shown.md"),
    ],
    "an index made anew under its readers": [
        ("write", "Tide.md", "Text."),
        ("run",),
        ("hold",),
        ("write", "Tide.md", "Other text."),
        ("rebuild",),
    ],
}
"""What the machine found once, and what its few steps of a usual run seldom meet."""


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script(tmp_path: Path, script: Sequence[Step]) -> None:
    _play(Following(tmp_path / "script"), script)


@pytest.mark.services
def test_a_script_on_a_server(tmp_path: Path, postgres: PostgresServer) -> None:
    script = SCRIPTS["an index made anew under its readers"]
    _play(Following(tmp_path / "script", server=postgres.new_database()), script)


def _play(following: Following, script: Sequence[Step]) -> None:
    try:
        play(following, script)
    finally:
        following.close()
