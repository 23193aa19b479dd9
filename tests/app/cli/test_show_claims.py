"""What an answer's sources bear out is said in words: no colour is needed to read it."""

from __future__ import annotations

import pytest

from notehop.app.cli.show_answer import show_answer
from notehop.app.models import Answer, Citation, Claim, LeftOut
from tests.app.answer.samples import source

TEXT = "It opens in April [1]. It costs £3 [1]. So they say [C1]. Nobody minds."


def claim(text: str, **fields: object) -> Claim:
    start = TEXT.index(text)
    return Claim(text=text, span=(start, start + len(text)), **fields)  # type: ignore[arg-type]


CLAIMS = [
    claim("It opens in April [1].", markers=["[1]"], support="high"),
    claim("It costs £3 [1].", markers=["[1]"], support="none", flag="unsupported", lacks=["£3"]),
    claim("So they say [C1].", mentioned=["C1"], support="none", flag="context"),
    claim("Nobody minds.", support="none", flag="uncited"),
]


def shown(capsys: pytest.CaptureFixture[str], **fields: object) -> str:
    cited = Citation(
        **source(1, "It opens in April.", title="Plan", lines=(3, 9)).model_dump(),
        support="high",
        quote="It opens in\nApril.",
        quote_lines=(4, 5),
        quote_uri="obsidian://open",
    )
    values: dict[str, object] = {
        "answer": TEXT,
        "mode": "llm",
        "citations": [cited],
        "claims": CLAIMS,
        "sources": [source(1, "It opens in April.")],
        "connected_notes": [],
        "generation": 1,
    }
    written = bool(fields.pop("written", False))
    show_answer(Answer(**{**values, **fields}), lambda: "", written=written)  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_each_doubtful_sentence_has_a_mark_and_a_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = shown(capsys)
    assert told.startswith(
        "It opens in April [1]. It costs £3 [1]. [?] So they say [C1]. [?] Nobody minds. [?]\n"
    )
    assert "[?] It costs £3 [1].\n    [1] does not say £3\n" in told
    assert "[?] So they say [C1].\n    rests on [C1] alone: context, not evidence\n" in told
    assert "[?] Nobody minds.\n    names no source\n" in told


def test_a_text_that_stands_there_already_is_not_printed_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = shown(capsys, written=True)
    assert "It opens in April [1]. It costs" not in told
    assert "[?] Nobody minds." in told


def test_a_citation_says_how_far_it_supports_the_answer_and_by_which_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "    supported, lines 4-5: “It opens in April.”\n" in shown(capsys)
    assert "supported" not in shown(capsys, mode="extractive")


def test_an_answer_without_doubts_says_nothing_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, claims=CLAIMS[:1], answer=TEXT[:22])
    assert "[?]" not in told


def test_what_the_model_was_not_shown_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    common = {"path": "a.md", "title": "A\nforged", "heading": "", "tokens": 1200}
    left = [
        LeftOut(marker="[2]", lines=(4, 9), part="end", **common),  # type: ignore[arg-type]
        LeftOut(marker="C1", lines=(1, 2), part="whole", **common),  # type: ignore[arg-type]
    ]
    told = shown(capsys, left_out=left)
    assert "[2] A␊forged  a.md:4-9  its end, 1,200 tokens\n" in told
    assert "[C1] A␊forged  a.md:1-2  all of it, 1,200 tokens\n" in told
