"""Links that lead nowhere or to several places, gathered."""

from __future__ import annotations

from notehop.indexing.graph.targets import OpenTarget, ambiguous_targets, unresolved_targets
from tests.indexing.graph.samples import LinkRow


def missing(path: str, line: int, raw_target: str) -> LinkRow:
    return LinkRow(path, None, line=line, raw_target=raw_target, status="unresolved")


def test_unresolved_by_count_then_name() -> None:
    links = [
        missing("b.md", 4, "Later"),
        missing("b.md", 2, "later.md"),
        missing("a.md", 9, "LATER"),
        missing("a.md", 1, "x/Later"),
        missing("a.md", 1, "Earlier"),
        LinkRow("a.md", "c.md", raw_target="Later"),
    ]
    assert unresolved_targets(links) == [
        OpenTarget("LATER", 3, (("a.md", 9), ("b.md", 2), ("b.md", 4))),
        OpenTarget("Earlier", 1, (("a.md", 1),)),
        OpenTarget("x/Later", 1, (("a.md", 1),)),
    ]


def test_ambiguous_with_all_candidates() -> None:
    links = [
        LinkRow(
            "a.md", "x/N.md", 0, 1, "ambiguous", raw_target="N", candidates=("x/N.md", "y/N.md")
        ),
        LinkRow(
            "b.md", "z/N.md", 0, 1, "ambiguous", raw_target="N", candidates=("z/N.md", "x/N.md")
        ),
        missing("b.md", 2, "N"),
    ]
    assert ambiguous_targets(links) == [
        OpenTarget("N", 2, (("a.md", 1), ("b.md", 1)), ("x/N.md", "y/N.md", "z/N.md"))
    ]


def test_no_links() -> None:
    assert unresolved_targets([]) == []
    assert ambiguous_targets([]) == []
