"""What a citation is worth stands beside it: the words that bear it out, or that there are none."""

from typing import Any

import pytest

from tests.app.llm.doors import Door, Heard
from tests.support.llm_server import LlmServer, words

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"


def claims(heard: Heard) -> list[tuple[Any, Any]]:
    return [(claim["support"], claim["flag"]) for claim in heard.answer["claims"]]


@pytest.mark.everywhere
def test_words_that_bear_it_out_are_quoted(server: LlmServer, ask: Door) -> None:
    server.plays(words("The launch of Atlas is on 14 June 2027 [1]."))
    heard = ask(QUESTION)
    assert claims(heard) == [("high", None)]
    (citation,) = heard.answer["citations"]
    assert citation["support"] == "high"
    assert citation["quote"] == "The launch of Atlas is on 14 June 2027."
    assert citation["quote_lines"] == [7, 7]
    assert citation["heading"] == "Timeline"
    assert citation["uri"].startswith("obsidian://open?vault=My%20vault&file=Atlas.md")
    assert citation["quote_uri"] == "obsidian://open?vault=My%20vault&file=Atlas.md%23Timeline"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("The launch of Atlas is on 3 March 1999 [1].", id="another date"),
        pytest.param("The launch of Atlas is not on 14 June 2027 [1].", id="the contrary"),
        pytest.param("Ferdinand bakes rye bread in Oslo every winter [1].", id="another thing"),
    ],
)
def test_a_citation_that_bears_nothing_out_is_flagged_and_not_hidden(
    server: LlmServer, ask: Door, said: str
) -> None:
    server.plays(words(said))
    heard = ask(QUESTION)
    assert heard.text == heard.said == said
    ((support, flag),) = claims(heard)
    assert support in ("none", "partial")
    assert flag == "unsupported" or (support == "partial" and heard.answer["claims"][0]["lacks"])


def test_the_wrong_one_of_two_sources_is_told(server: LlmServer, ask: Door) -> None:
    server.plays(words("The launch of Atlas is on 14 June 2027 [1][5]."))
    (claim,) = ask(QUESTION).answer["claims"]
    found = {one["marker"]: one["support"] for one in claim["evidence"]}
    assert found["[1]"] == "high"
    assert found["[5]"] == "none"


def test_a_connected_note_bears_nothing_out(server: LlmServer, ask: Door) -> None:
    server.plays(words("Priya needs four more weeks for the map tiles [C1]."))
    heard = ask(QUESTION, retrieval__top_k=1, connected__context_chunks=1)
    assert heard.answer["mentioned"] == ["C1"]
    assert claims(heard) == [("none", "context")]
