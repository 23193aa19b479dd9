"""An agent is told which sentences of an answer its sources do not bear out."""

from __future__ import annotations

from notehop.app.mcp.shaping import ask_reply
from notehop.app.mcp.text import ask_text
from notehop.app.models import Answer, Citation, Claim, LeftOut
from tests.app.answer.samples import source


def answer() -> Answer:
    told = source(1, "It opens in April.", lines=(3, 9))
    cited = Citation(
        **told.model_dump(),
        support="partial",
        quote="It opens in April.",
        quote_lines=(4, 4),
        quote_uri="obsidian://open#Plan",
    )
    text = "It opens in May [1]. Nobody minds."
    return Answer(
        answer=text,
        mode="llm",
        citations=[cited],
        claims=[
            Claim(text=text[:20], span=(0, 20), markers=["[1]"], support="partial", lacks=["May"]),
            Claim(text=text[21:], span=(21, 34), support="none", flag="uncited"),
        ],
        left_out=[
            LeftOut(
                marker="[2]", path="a.md", title="A", heading="", lines=(1, 2), part="end", tokens=9
            )
        ],
        sources=[told],
        connected_notes=[],
        generation=1,
    )


def test_doubts_and_support_are_fields_of_the_reply() -> None:
    reply = ask_reply(answer(), 3_000).model_dump(exclude_defaults=True)
    assert reply["doubts"] == [
        {"sentence": "It opens in May [1].", "lacks": ["May"]},
        {"sentence": "Nobody minds.", "flag": "uncited"},
    ]
    assert reply["not_read"] == ["[2]"]
    [cited] = reply["citations"]
    assert (cited["support"], cited["quote_lines"]) == ("partial", (4, 4))
    assert cited["uri"] == "obsidian://open#Plan"


def test_they_are_said_in_the_text() -> None:
    told = ask_text(ask_reply(answer(), 3_000))
    assert "Not borne out by the notes:\n> It opens in May [1].\nnot there: May\n" in told
    assert "> Nobody minds.\nuncited" in told
    assert "Not shown whole to the model that wrote it: [2]" in told
    assert "(support partial, by line 4)" in told


def test_an_answer_that_is_borne_out_costs_nothing_more() -> None:
    plain = answer().model_copy(update={"claims": [], "left_out": []})
    reply = ask_reply(plain, 3_000).model_dump(exclude_defaults=True)
    assert {"doubts", "not_read"} & reply.keys() == set()
