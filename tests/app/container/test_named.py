"""A note is meant by what people call it, and nothing is read to find that out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from notehop.app.container.named import notes_meant
from notehop.config.errors import NoteMissing
from notehop.indexing.stores.reader import Reader
from tests.app.retrieval.fake_index import FakeIndex


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    view = FakeIndex().add("Home.md", 0, aliases=("Start",)).add("work/Plan.md", 0)
    view.add("home/Plan.md", 0).add("work/1.5 goals.md", 0).add("Talk.md", 0, title="A talk")
    with view.on_disk(Path(tmp_path_factory.mktemp("named"))) as opened:
        yield opened


def meant(reader: Reader, said: str) -> tuple[str, ...]:
    with reader.snapshot() as view, reader.catalog.snapshot() as catalog:
        as_indexed: Any = view
        return notes_meant(view, catalog, as_indexed, said)


@pytest.mark.parametrize(
    ("said", "paths"),
    [
        ("Home.md", ["Home.md"]),
        ("Home", ["Home.md"]),
        (" home ", ["Home.md"]),
        ("START", ["Home.md"]),
        ("a  Talk", ["Talk.md"]),
        ("Talk", ["Talk.md"]),
        ("work/plan", ["work/Plan.md"]),
        ("Plan", ["home/Plan.md", "work/Plan.md"]),
        ("Plan.md", ["home/Plan.md", "work/Plan.md"]),
        ("1.5 goals", ["work/1.5 goals.md"]),
        ("[[work/Plan#x|y]]", ["work/Plan.md"]),
        ("/work/Plan", ["work/Plan.md"]),
    ],
)
def test_names(reader: Reader, said: str, paths: list[str]) -> None:
    assert sorted(meant(reader, said)) == paths


@pytest.mark.parametrize(
    "said",
    [
        "",
        " ",
        "[[]]",
        "wrong/Plan",
        "../Home",
        "work/../Home",
        "..",
        "/",
        "a\0",
        "\ud800",
        "x" * 9_999,
        "C:\\Home.md",
        "\\\\host\\Home.md",
        "%2e%2e/Home",
        "Home.md/",
        "~/Home",
    ],
)
def test_what_is_none(reader: Reader, said: str) -> None:
    with pytest.raises(NoteMissing) as raised:
        meant(reader, said)
    assert len(str(raised.value)) < 400
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("said", "hint"), [("Hoem", "Home.md"), ("Strat", "Home.md"), ("1.5 goal", "work/1.5 goals.md")]
)
def test_a_slip_is_answered_with_what_was_meant(reader: Reader, said: str, hint: str) -> None:
    with pytest.raises(NoteMissing, match=f"did you mean {hint}"):
        meant(reader, said)
