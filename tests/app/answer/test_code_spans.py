"""Code is found as CommonMark finds it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.answer.code_spans import code_spans, open_fence


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("no code", [], id="none"),
        pytest.param("a `b` c", ["`b`"], id="inline"),
        pytest.param("a ``b ` c`` d", ["``b ` c``"], id="longer-run"),
        pytest.param("a `b c", [], id="unclosed-inline"),
        pytest.param("a `b\n\nc` d", [], id="not-across-paragraphs"),
        pytest.param("```\nx\n```\ny", ["```\nx\n```\n"], id="fence"),
        pytest.param("~~~ py\nx\n~~~", ["~~~ py\nx\n~~~"], id="tildes"),
        pytest.param("```\nx", ["```\nx"], id="unclosed-fence"),
        pytest.param("````\n```\nx\n````\n", ["````\n```\nx\n````\n"], id="nested"),
        pytest.param("> ```\n> x\n> ```\n", ["> ```\n> x\n> ```\n"], id="in-a-quote"),
        pytest.param("- ```\n  x\n  ```\n", ["- ```\n  x\n  ```\n"], id="in-a-list"),
        pytest.param("```a`b```", ["```a`b```"], id="inline-of-three"),
        pytest.param("`a`\n```\nb\n```\n`c`", ["`a`", "```\nb\n```\n", "`c`"], id="mixed"),
    ],
)
def test_finds_code(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end in code_spans(text)] == code


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        pytest.param("```\nx\n```", None, id="closed"),
        pytest.param("```\nx", "```", id="open"),
        pytest.param("~~~~\nx\n~~~", "~~~~", id="closed-too-short"),
        pytest.param("text", None, id="none"),
    ],
)
def test_open_fence(text: str, marks: str | None) -> None:
    assert open_fence(text) == marks


@given(st.text(alphabet="`~ab \n>-"))
def test_spans_are_sorted_disjoint_and_inside(text: str) -> None:
    spans = code_spans(text)
    flat = [at for span in spans for at in span]
    assert flat == sorted(flat)
    assert all(0 <= start < end <= len(text) for start, end in spans)
