"""A sentence is supported by what its source says, and not by what merely sounds like it."""

from __future__ import annotations

import pytest

from tests.app.answer.samples import reading, source
from tests.support.product import Known, Source, Stated, Verdict, held_against, judged

TEXT = (
    "The sea wall of Hollin is opened on 8 April 2027. It slipped once, by six months. "
    "Bram does not trust drones.\n\n- The counter-wall was closed in August 2026.\n"
    "- Rock arrives by barge."
)


def verdict(sentence: str, *sources: Source) -> Verdict:
    read = reading()
    stated = Stated(sentence, read)
    given = sources or (source(1, TEXT, title="Hollin Reach", lines=(1, 5)),)
    found = [held_against(stated, Known(one, (), read), read) for one in given]
    return judged(stated, found, read)


@pytest.mark.parametrize(
    ("sentence", "support", "lacks"),
    [
        ("The sea wall of Hollin is opened on 8 April 2027 [1].", "high", ()),
        ("It slipped once, by six months. [1]", "high", ()),
        ("On 8 April 2027 the sea wall is opened [1].", "high", ()),
        ("**Hollin Reach:** the sea wall is opened on 8 April 2027.", "high", ()),
        ("The sea wall of Hollin is opened on 9 April 2027 [1].", "none", ("9 April 2027",)),
        ("The sea wall of Hollin is opened on 8 April 2028 [1].", "none", ("8 April 2028",)),
        ("It slipped twice, by six months.", "partial", ("twice",)),
        ("It slipped once, by nine months.", "none", ("nine",)),
        ("The sea wall of Pell is opened on 8 April 2027.", "partial", ("Pell",)),
        ("The sea wall of Hollin is not opened on 8 April 2027.", "partial", ("not",)),
        ("Bram trust drones.", "partial", ("not",)),
        ("Drones are trusted nowhere near the moon.", "none", ()),
        ("1. The sea wall of Hollin is opened on 8 April 2027 [1].", "high", ()),
        ("(3) The sea wall of Hollin is opened on 8 April 2027 [1].", "high", ()),
        ("**Step 4:** The sea wall of Hollin is opened on 8 April 2027 [1].", "high", ()),
        ("In Hollin it's the sea wall that's opened on 8 April 2027 [1].", "high", ()),
        ("It's opened on 8 April 2027, the sea wall of Hollin [1].", "high", ()),
        ("Geese eat barley in winter.", "none", ()),
        ("[1]", "none", ()),
    ],
)
def test_one_source(sentence: str, support: str, lacks: tuple[str, ...]) -> None:
    assert verdict(sentence) == Verdict(support, lacks)  # type: ignore[arg-type]


def test_words_quoted_from_behind_a_negation_are_not_what_is_said() -> None:
    told = source(1, "He does not trust drones or forecasts.")
    assert verdict("trust drones or forecasts", told).support == "partial"


def test_two_sources_support_together_what_neither_does_alone() -> None:
    one = source(1, "The wall was closed in August.")
    two = source(2, "The barge brings rock in March.")
    both = "The wall was closed in August; the barge brings rock in March."
    assert verdict(both, one, two).support == "high"
    assert verdict(both, one).support != "high"


def test_the_title_of_a_note_is_part_of_what_it_says() -> None:
    plain = source(1, "Opened on 8 April 2027.", title="Sea wall")
    assert verdict("The sea wall is opened on 8 April 2027.", plain).support == "high"


def test_likeness_counts_beside_the_words() -> None:
    text = "They begin to work on Saturday."
    read = reading({f"Note 1: {text}": 0.9})
    stated = Stated("Volunteers start work on Saturday.", read)
    found = held_against(stated, Known(source(1, text), (), read), read)
    assert found.likeness == pytest.approx(0.9)
    assert judged(stated, [found], read).support == "high"
    alone = held_against(stated, Known(source(1, text), (), read), read, liken=False)
    assert alone.likeness is None
    assert judged(stated, [alone], read).support == "partial"


def test_a_source_without_sentences_supports_nothing() -> None:
    assert verdict("The wall.", source(1, "")) == Verdict("none")


def test_a_capital_at_the_beginning_is_a_name_where_a_note_goes_by_it() -> None:
    from dataclasses import replace

    read = replace(reading(), named=lambda word: word == "Tomasz")
    known = Known(source(1, "Leads Hollin and Pell."), (), read)
    for word, lacks in (("Tomasz", ("Tomasz",)), ("Somebody", ())):
        stated = Stated(f"{word} leads Hollin and Pell.", read)
        assert judged(stated, [held_against(stated, known, read)], read).lacks == lacks
