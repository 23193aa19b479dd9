"""What a query is about: names that stand in it, whole or in part."""

import pytest

from tests.support.fake_index import FakeIndex
from tests.support.product import SubjectFinder, Tokenizer
from tests.support.tables import rows


def vault() -> FakeIndex:
    return (
        FakeIndex()
        .add("Projects/Pell Sluice.md", 1, aliases=("The Gate",))
        .add("Projects/Gull Hide.md", 2)
        .add("Projects/Field Ecologist Search.md", 3)
        .add("Pell.md", 4)
        .add("What.md", 5)
        .add("a/Budget.md", 6)
        .add("b/Budget.md", 7)
        .add("灯塔项目.md", 8)
        .add("C++.md", 9)
        .add("Atlas (film).md", 10)
        .add("Acme Inc..md", 11)
    )


def found(text: str, *candidates: str) -> tuple[str, ...]:
    return SubjectFinder(vault(), text, Tokenizer("en").query).find_notes(candidates)


@pytest.mark.parametrize(("text", "paths"), rows(__file__, "names_in_the_text"))
def test_names_in_the_text(text: str, paths: list[str]) -> None:
    assert list(found(text)) == paths


@pytest.mark.parametrize(("text", "path"), rows(__file__, "names_in_part_are_looked_for_among_the_best"))
def test_names_in_part_are_looked_for_among_the_best(text: str, path: str) -> None:
    candidates = [f"{one}:0" for one in ("Pell.md", "Projects/Gull Hide.md")]
    candidates.append("Projects/Field Ecologist Search.md:0")
    assert found(text, *candidates) == (path,)
    assert found(text, "Pell.md:0") == ()


@pytest.mark.parametrize(("about", "found"), rows(__file__, "a_name_that_covers_too_little_is_no_subject"))
def test_a_name_that_covers_too_little_is_no_subject(about: str, found: list[str]) -> None:
    index = FakeIndex().add("Boat.md", 0)
    assert SubjectFinder(index, about, None, min_share=0.5).find_notes(()) == tuple(found)
