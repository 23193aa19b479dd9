"""Numbers in words, times and dates as people write them; and refusals in nine languages."""

from __future__ import annotations

import pytest

from tests.support.product import Draft, contradicted, facts_of, lacking, sentence_spans, sentences


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
