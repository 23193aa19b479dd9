"""Numbers and dates are compared by what they mean, however they are written."""

from __future__ import annotations

import pytest

from tests.support.product import contradicted, facts_of, lacking


def lacks(sentence: str, source: str) -> list[str]:
    return lacking(facts_of(sentence), facts_of(source))


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("On 14 June 2027.", "The launch: 2027-06-14."),
        ("On 14 June 2027.", "The launch is on June 14th, 2027."),
        ("Am 14. Juni 2027.", "Launch on 14 June 2027."),
        ("Le 14 juin 2027.", "Launch 14.6.2027."),
        ("El 14 de junio de 2027.", "Launch on 2027/06/14."),
        ("On 14 June.", "The launch is on 14 June 2027."),
        ("In June 2027.", "The launch is on 14 June 2027."),
        ("In June.", "The launch is on 2027-06-14."),
        ("In 2027.", "The launch is on 14 June 2027."),
        ("On 14 June 2027.", "Plan for 2027\nThe launch is on 14 June."),
        ("It costs £2,840,000.", "It costs £2.84 million."),
        ("It costs 250k.", "It costs 250,000 euros."),
        ("Es kostet 4.500 Euro.", "It costs 4500 euros."),
        ("It weighs 4,5 kg.", "It weighs 4.5 kg."),
        ("It has 10 000 rows.", "It has 10,000 rows."),
        ("It has three beds.", "There are 3 beds."),
        ("It has 26 years.", "Twenty-six years of it."),
        ("The 3rd year.", "The third year."),
        ("At 6:45.", "On site from 06:45."),
        ("It may rain, and one of them will march.", "Nothing of the kind."),
        ("About 40 people [see HR46].", "Some 40 came."),
    ],
)
def test_what_is_there(sentence: str, source: str) -> None:
    assert lacks(sentence, source) == []


@pytest.mark.parametrize(
    ("sentence", "source", "missing"),
    [
        ("On 14 June 2028.", "On 14 June 2027.", ["14 June 2028"]),
        ("On 15 June 2027.", "On 14 June 2027.", ["15 June 2027"]),
        ("In July 2027.", "On 14 June 2027.", ["July 2027"]),
        ("In April 2027.", "In May 2027, not before; April is too early.", ["April 2027"]),
        ("In 2028.", "On 14 June 2027.", ["2028"]),
        ("It costs £3 million.", "It costs £2 million.", ["£3 million"]),
        ("It costs £3 million.", "It costs £2.84 million over three years.", ["£3 million"]),
        ("It costs 25,000.", "It costs 250,000.", ["25,000"]),
        ("It has four beds.", "It has two beds.", ["four"]),
        ("It slipped twice.", "It slipped once.", ["twice"]),
        ("At 16:45.", "At 06:45.", ["16:45"]),
        ("7 per cent.", "8 per cent.", ["7"]),
    ],
)
def test_what_is_not(sentence: str, source: str, missing: list[str]) -> None:
    assert lacks(sentence, source) == missing


@pytest.mark.parametrize(
    ("sentence", "source", "against"),
    [
        ("In 2028.", "In 2027.", True),
        ("In 2028.", "On 14 June 2027.", True),
        ("On 15 June.", "On 14 June.", True),
        ("It costs £3.", "It costs £2.", True),
        ("7 per cent.", "8 per cent.", True),
        ("80 m wide.", "60 m wide.", True),
        ("80 m wide.", "It has 60 loggers.", False),
        ("It costs £3 and £5.", "It costs £3.", False),
        ("It was in 2027.", "Nobody counted.", False),
        ("It is 60 m wide.", "It is 60 m wide.", False),
    ],
)
def test_another_value_in_its_place_speaks_against_it(
    sentence: str, source: str, against: bool
) -> None:
    assert contradicted(facts_of(sentence), facts_of(source)) is against


def test_digits_without_end_are_a_number_like_any_other() -> None:
    key = "1" * 400
    assert lacks(f"The key is {key}.", "The key is 7.") == [key]
