"""The page shows what of an answer its sources bear out, to eyes and to screen readers."""

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.browser.looks import Look, Opened, asked, assert_accessible, assert_fits

Visit = Callable[..., Opened]

ASKED = "#/ask?q=What+is+the+timeline+of+Hollin+Reach%3F"
TEXT = (
    "The **sea wall** is opened on 8 April 2027 [1]. It costs £3 billion [1].\n\n"
    "- Nobody `minds` it.\n- Says [C1].\n\n1. It sinks, see [the plan](https://example.org/9)."
)


def claims() -> list[dict[str, Any]]:
    texts = [
        ("The **sea wall** is opened on 8 April 2027 [1].", "high", None, []),
        ("It costs £3 billion [1].", "none", "unsupported", ["£3 billion"]),
        ("- Nobody `minds` it.", "none", "uncited", []),
        ("- Says [C1].", "none", "context", []),
        ("1. It sinks, see [the plan](https://example.org/9).", "none", "uncited", []),
    ]
    return [
        {
            "text": text,
            "span": [TEXT.index(text), TEXT.index(text) + len(text)],
            "markers": re.findall(r"\[\d\]", text),
            "mentioned": re.findall(r"C\d", text),
            "support": support,
            "flag": flag,
            "lacks": lacks,
            "evidence": [],
        }
        for text, support, flag, lacks in texts
    ]


def as_if_written(route: Route) -> None:
    """The server's reply, with the answer of a language model in it."""
    reply = route.fetch()
    blocks = reply.text().strip().split("\n\n")
    done = next(at for at, block in enumerate(blocks) if "event: done" in block)
    data = json.loads(blocks[done].split("data: ", 1)[1])
    answer = data["answer"]
    answer |= {"answer": TEXT, "mode": "llm", "claims": claims()}
    answer["citations"] = [
        {
            **answer["sources"][0],
            "support": "high",
            "quote": "8 April 2027, when the sea wall is opened.",
            "quote_lines": [18, 18],
            "quote_uri": "obsidian://open?vault=Demo&file=x%23Timeline",
        }
    ]
    answer["left_out"] = [
        {
            **{key: answer["sources"][1][key] for key in ("marker", "path", "title", "heading")},
            "lines": [13, 15],
            "tokens": 90,
        }
    ]
    blocks[done] = f"event: done\ndata: {json.dumps(data)}"
    route.fulfill(response=reply, body="\n\n".join(blocks) + "\n\n")


def answered(visit: Visit, look: Look) -> Page:
    opened = visit("", look)
    page = opened.page
    page.route("**/query/stream", as_if_written)
    page.goto(page.url.split("#")[0] + ASKED)
    asked(page)
    expect(page.locator(".answer[aria-busy=false] .doubt").first).to_be_visible()
    return page


def test_doubtful_sentences_are_marked(visit: Visit, look: Look) -> None:
    page = answered(visit, look)
    text = page.locator(".answer").inner_text()
    assert "The sea wall is opened on 8 April 2027" in text
    marks = page.locator(".answer .doubt-mark")
    expect(marks).to_have_count(4)
    expect(page.locator(".answer a .doubt-mark")).to_have_count(0)
    names = [str(one.get_attribute("aria-label")) for one in marks.all()]
    assert names == [
        "Check this: source 1 does not say £3 billion",
        "Check this: no source is named",
        "Check this: it rests on C1 alone, which is context and no evidence",
        "Check this: no source is named",
    ]
    under = page.locator(".answer .doubt").all_inner_texts()
    assert "".join(under).replace("\n", "") == (
        "It costs £3 billion 1Nobody minds it.Says C1It sinks, see the plan"
    )
    expect(page.locator(".doubt-legend")).to_contain_text("4 sentences are not borne out")
    assert_accessible(page)
    assert_fits(page)


def test_a_cited_source_says_how_far_it_supports_the_answer(visit: Visit, look: Look) -> None:
    page = answered(visit, look)
    card = page.locator("#cite-1")
    expect(card.locator(".cited-mark")).to_have_text("supported")
    expect(card.locator(".cited-mark")).to_have_attribute("title", "By line 18")
    quoted = card.locator(".quoted")
    expect(quoted.first).to_be_visible()
    assert "".join(quoted.all_inner_texts()) == "8 April 2027, when the sea wall is opened."
    link = card.get_by_role("link", name="Open Hollin Reach in Obsidian")
    expect(link).to_have_attribute("href", re.compile("%23Timeline$"))
    page.get_by_text("1 passage not shown to the language model").click()
    expect(page.locator(".meta")).to_contain_text("lines 13–15")
