"""Facts of a sentence: numbers, dates, names; which kinds a question expects; what contradicts."""

from __future__ import annotations

import pytest

from tests.support.product import (
    Draft,
    Passage,
    contradicted,
    facts_of,
    fits,
    lacking,
    read_question,
    sentence_spans,
    sentences,
)


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


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("Two hundred people came.", "Some 200 people came."),
        ("It took twenty-one days.", "It took 21 days."),
        ("It took 105 days.", "It took one hundred and five days."),
        ("About thirty million.", "About 30 million."),
        ("It took 21 days.", "Es hat einundzwanzig Tage gedauert."),
        ("It takes 90 days.", "Cela prend quatre-vingt-dix jours pour nous."),
        ("There were 200 people.", "Vinieron doscientas personas de la ciudad."),
        ("At 9 am.", "Doors open at 9:00."),
        ("At 14:00.", "They meet at 2 p.m. on the wall."),
        ("At 14:30.", "Wir treffen uns um 14.30 Uhr."),
        ("At 14.30.", "They meet at 14:30."),
        ("At 14:30.", "On se voit à 14h30."),
        ("On 5 March 2024.", "Sent 5/3/2024."),
        ("On 3 May 2024.", "Sent 5/3/2024."),
        ("On 25 March 2024.", "Sent 3/25/2024."),
        ("Firmware 1.2.3 goes out.", "v1.2.3 goes out."),
        ("Firmware v1.2.3 goes out.", "1.2.3 goes out."),
        ("It takes a second.", "It takes no time."),
    ],
)
def test_the_same_written_otherwise(sentence: str, source: str) -> None:
    assert lacking(facts_of(sentence), facts_of(source)) == []


@pytest.mark.parametrize(
    ("sentence", "source", "lacks"),
    [
        ("Three hundred people came.", "Some 200 people came.", "Three hundred"),
        ("At 9 pm.", "Doors open at 9:00.", "9 pm"),
        ("At 9 pm.", "Doors open at 9 am.", "9 pm"),
        ("On 6 March 2024.", "Sent 5/3/2024.", "6 March 2024"),
        ("Firmware v1.2.4.", "v1.2.3", "1.2.4"),
    ],
)
def test_what_is_another(sentence: str, source: str, lacks: str) -> None:
    assert lacking(facts_of(sentence), facts_of(source)) == [lacks]
    if lacks != "1.2.4":
        assert contradicted(facts_of(sentence), facts_of(source))


def test_how_long_is_no_time_of_day() -> None:
    assert [one.kind for one in facts_of("It runs for 24 h.").numbers] != ["time"]


@pytest.mark.parametrize(
    "text",
    [
        "The vault does not say when.",
        "There is no information about this in the vault.",
        "I could not find the answer in your notes.",
        "The notes say nothing about the price.",
        "Die Notizen sagen nicht, wann.",
        "In den Notizen steht nichts dazu.",
        "Les notes ne le disent pas.",
        "Las notas no lo dicen.",
        "No hay información sobre esto en las notas.",
        "Le note non lo dicono.",
        "As notas não dizem quando.",
        "De notities zeggen niet wanneer.",
        "Anteckningarna säger inte när.",
        "В заметках об этом ничего не сказано.",
    ],
)
def test_an_honest_refusal_needs_no_source(text: str) -> None:
    assert [one.states for one in read(text)] == [False]


@pytest.mark.parametrize(
    "text",
    [
        "Die Notizen sagen es nicht, aber es ist im Mai.",
        "Les notes ne le disent pas, mais c'est en mai.",
        "The gate does not open in May.",
        "Das Tor ist nicht offen.",
        "Bram made notes of the walk.",
    ],
)
def test_what_states_something_still_does(text: str) -> None:
    assert [one.states for one in read(text)] == [True]


def read(text: str):
    return sentences(Draft(text, "llm"), sentence_spans, ("[1]",), ())
