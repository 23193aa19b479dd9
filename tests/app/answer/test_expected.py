"""What a question asks for to the letter, and which passages have it."""

from __future__ import annotations

import pytest

from tests.support.product import Passage, fits, read_question


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What's Femi's phone number?", "contact"),
        ("how do I scan a passport with a phone?", ""),
        ("How much does the hull cost?", "money"),
        ("Wie viel kostet der Rumpf?", "money"),
        ("how many visitors a year do we expect?", "count"),
        ("wie viele Besucher kommen?", "count"),
        ("Which colour is the hull?", "colour"),
        ("what colours the code blocks on a site", ""),
        ("which version of jest are we on?", "version"),
        ("after npm link the dendron command still shows the wrong version", ""),
        ("What is our API key?", "secret"),
        ("how do I encrypt a vault with a password", ""),
        ("When is Kevin's birthday?", "birthday"),
        ("When is the gate delivered?", "date"),
        ("When a pod exports a note, what happens?", ""),
        ("how old is the boat, and who built her?", ""),
        ("Why is the gate late?", ""),
    ],
)
def test_the_kind_that_is_asked_for(question: str, kind: str) -> None:
    assert read_question(question).expected.kind == kind


@pytest.mark.parametrize(
    ("question", "text", "whether"),
    [
        ("What's Femi's phone number?", "Call 0151 2345 678 before noon.", True),
        ("What's Femi's phone number?", "He came on 2026-02-20 and left 2026-10-01.", False),
        ("How old is Bram?", "Bram is 52 years old.", True),
        ("How old is Bram?", "type: person · created: 2026-01-09", False),
        ("How old is the dinghy?", "A clinker dinghy, built in 1968.", True),
        ("When is Kevin's birthday?", "type: person · created: 2026-01-09", False),
        ("When is Kevin's birthday?", "Kevin is here from Monday to Wednesday.", False),
        ("When is Kevin's birthday?", "Kevin was born on 3 May.", True),
        ("When was the boat bought?", "type: boat · created: 2026-01-09", False),
        ("When is the gate delivered?", "Delivery stays at 9 November.", True),
        ("how many visitors do we expect?", "We expect 4,000 quiet visitors a year.", True),
        ("how many visitors do we expect?", "Visitors walk 640 m of path.", False),
        ("Which colour is the hull?", "The hull will be dark green.", True),
        ("Which colour is the hull?", "Paint the hull in March.", False),
        ("What is the password for the portal?", "The password is: tide.", True),
        ("What is the password for the portal?", "Ask Odile for the password.", False),
        ("How much did the pump cost?", "The pump was £1,200.", True),
        ("How much did the pump cost?", "The pump was out for four days.", False),
    ],
)
def test_a_passage_has_it_or_not(question: str, text: str, whether: bool) -> None:
    asked = read_question(question).expected
    passage = Passage(text, block=0)
    assert fits(asked, passage, "", lambda words: words.lower().split()) is whether
