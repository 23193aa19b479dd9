"""A large vault with its index, made once a session: vectors are drawn, everything else is real."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.product import IndexLayout, Settings, load_settings

NOTES = 10_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--notes", default="1000,10000", help="measure at these numbers of notes: 1000,100000")


@pytest.fixture
def sizes(request: pytest.FixtureRequest) -> list[int]:
    """How many notes the indexes have that show what grows with them."""
    return [int(count) for count in request.config.getoption("notes").split(",")]


@dataclass(frozen=True)
class Large:
    """The vault, its index, and queries made of its words."""

    vault: Path
    layout: IndexLayout
    settings: Settings
    queries: list[str]


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Large:
    # It loads torch, and this file is read whenever tests are collected.
    from tests.benchmarks.drawn import indexer, make_door, prose, write_vault

    folder = tmp_path_factory.mktemp("large")
    vault, layout = folder / "vault", IndexLayout(folder / "index")
    write_vault(vault, NOTES)
    make_door(layout, vault)
    indexer(vault, layout).run()
    said = prose(1)
    queries = [f"What {said(2)} about {said(4)}?" for _ in range(60)]
    return Large(vault, layout, load_settings(), queries)
