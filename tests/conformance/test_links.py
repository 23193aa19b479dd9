"""The conformance table of links.yaml, run against this implementation."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from tests.support import product
from tests.support.tables import read_yaml

TABLE = read_yaml(Path(__file__).with_name("links.yaml"))
CASES: list[dict[str, Any]] = TABLE["cases"]
RULES = [*map(str, range(1, 11))]
TOPICS = ["form", "place", "property", "fragment", "non-link", "excluded"]
CASE_KEYS = {"id", "rule", "text", "links"}
OPTIONAL_CASE_KEYS = {"files", "notes", "excluded", "source", "comment_links"}


@dataclass(frozen=True)
class Expected:
    """What the table says of one link; the keys that are always compared, with their defaults."""

    status: str = "resolved"
    target: str | None = None
    via: str | None = None
    kind: str = "link"
    fragment: str | None = None
    lines: tuple[int, int] | str | None = None
    candidates: tuple[str, ...] = ()


WHERE_GIVEN = {"line", "display", "syntax"}


def run(case: Mapping[str, Any]) -> list[product.ResolvedLink]:
    """Build the vault of a case and resolve the links of its source."""
    source = case.get("source", "Here.md")
    texts = dict.fromkeys(filter(product.is_note, case.get("files", ())), "")
    texts |= case.get("notes", {})
    texts[source] = case["text"]
    notes = {
        path: product.parse_note(path, text.encode(), comment_links=case.get("comment_links", "inline"))
        for path, text in texts.items()
    }
    files = product.VaultFiles(
        [*case.get("files", ()), *texts],
        excluded=case.get("excluded", ()),
        aliases={path: note.aliases for path, note in notes.items()},
    )

    def outline_of(path: str) -> product.Outline | None:
        return product.outline_of_note(notes[path]) if path in notes else None

    links = sorted(notes[source].links, key=attrgetter("start"))
    return [product.resolve_link(files, source, link, outline_of) for link in links]


def found(resolved: product.ResolvedLink, expected: Mapping[str, Any]) -> dict[str, Any]:
    link, resolution, span = resolved.link, resolved.resolution, resolved.span
    lines: Any = None if span is None else (span.first_line, span.last_line)
    if lines is not None and expected.get("lines") == "any":
        lines = "any"
    always = Expected(
        status=resolution.status.value,
        target=resolution.path,
        via=resolution.via,
        kind=link.kind,
        fragment=link.fragment,
        lines=lines,
        candidates=resolution.candidates,
    )
    given = {"line": link.line, "display": link.display, "syntax": link.syntax}
    return asdict(always) | {key: given[key] for key in WHERE_GIVEN & expected.keys()}


def wanted(expected: Mapping[str, Any]) -> dict[str, Any]:
    always = {key: value for key, value in expected.items() if key not in WHERE_GIVEN}
    for key in ("lines", "candidates"):
        if isinstance(always.get(key), list):
            always[key] = tuple(always[key])
    return asdict(Expected(**always)) | {key: expected[key] for key in WHERE_GIVEN & expected.keys()}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['rule']}-{case['id']}" for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    links = run(case)
    expected = case["links"]
    assert len(links) == len(expected), [resolved.link.raw for resolved in links]
    for resolved, one in zip(links, expected, strict=True):
        assert found(resolved, one) == wanted(one), resolved.link.raw


def test_the_table_is_well_formed() -> None:
    """What another implementation that reads the file relies on."""
    ids = [case["id"] for case in CASES]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]+", one) for one in ids)
    assert {case["rule"] for case in CASES} == {*RULES, *TOPICS}
    for case in CASES:
        assert CASE_KEYS <= case.keys() <= CASE_KEYS | OPTIONAL_CASE_KEYS
        source = case.get("source", "Here.md")
        vault = {*case.get("files", ()), *case.get("notes", {}), source}
        assert set(case.get("excluded", ())) <= vault
        for link in case["links"]:
            one = Expected(**{key: link[key] for key in link.keys() - WHERE_GIVEN})
            assert one.status in {"resolved", "ambiguous", "unresolved", "excluded"}
            assert (one.target is None) == (one.via is None) == (one.status == "unresolved")
            assert one.target is None or one.target in vault
            assert one.lines is None or one.fragment is not None
            assert not one.candidates or one.candidates[0] == one.target
            assert (one.status == "ambiguous") <= (len(one.candidates) > 1)
            assert set(one.candidates) <= vault
