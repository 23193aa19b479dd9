"""Misspelled words are searched for as words of the notes, and what is near by chance says so."""

from pathlib import Path

import pytest

from tests.support.commands import call, options
from tests.support.product import VaultHandle
from tests.support.real_index import opened_with
from tests.support.tables import rows

pytestmark = pytest.mark.model

GIBBERISH = "flurble wexnot brizzle quandom"
OFF_TOPIC = "who won the last football world cup?"

GERMAN = {
    "Küche/Brot.md": "Für das Roggenbrot den Sauerteig am Abend ansetzen und morgens backen.\n",
    "Küche/Suppe.md": "Die Suppe kocht eine Stunde, danach kommt das Gemüse und etwas Salz hinein.\n",
    "Garten.md": "Im Garten wachsen Bohnen, und im Herbst werden die Beete umgegraben.\n",
    "Stadt.md": "Am Dienstag ist die Sitzung im Rathaus, danach gehen wir über den Markt.\n",
    "Hof.md": "Das Tor hat Jonas gemacht, die Wiese ist noch nass.\n",
    "Halle.md": "Mo Turnen, Mi Chor, Fr Schach, jeweils ab acht.\n",
    "Haus.md": "Hauptwasserhahn im Keller, Wasser zuletzt am 2027-05-03 abgelesen.\n",
}


@pytest.mark.parametrize(("query", "read", "path"), rows(__file__, "misspelled_words_are_read"))
def test_misspelled_words_are_read(
    vault: VaultHandle, query: str, read: dict[str, str], path: str | None
) -> None:
    found = vault.search(query)
    assert found.searched_for == read
    assert path is None or path in {hit.path for hit in found.hits[:3]}
    meant = query
    for typed, word in read.items():
        meant = meant.replace(typed, word)
    # Both halves of the search go by what was meant.
    assert [hit.id for hit in found.hits] == [hit.id for hit in vault.search(meant).hits]


@pytest.mark.parametrize("query", rows(__file__, "what_is_no_misspelled_word_is_left_alone"))
def test_what_is_no_misspelled_word_is_left_alone(vault: VaultHandle, query: str) -> None:
    assert vault.search(query).searched_for == {}


def test_in_another_language_only_long_words_are_read(tmp_path: Path) -> None:
    with opened_with(tmp_path, GERMAN) as opened:
        for row in rows(__file__, "in_another_language_only_long_words_are_read"):
            query, read = row.values
            assert opened.search(query).searched_for == read
        # Days of the week are found as they are written short.
        assert opened.search("Was ist mittwochs?").hits[0].path == "Halle.md"


@pytest.mark.parametrize("query", [GIBBERISH, OFF_TOPIC, "define quantum entanglement"])
def test_a_search_that_finds_nothing_says_so(vault: VaultHandle, query: str) -> None:
    found = vault.search(query, top_k=12)
    assert len(found.hits) == (3 if query == OFF_TOPIC else 0), "it has words of the notes"
    assert found.connected_notes == []
    said = "nothing in the notes matches well" if found.hits else "near by chance"
    assert any(said in warning for warning in found.warnings)
    every = vault.search(query, top_k=12, min_score=0)
    assert len(every.hits) == 12
    assert all(hit.weak for hit in every.hits)


@pytest.mark.parametrize(
    "query", ["timeline of Hollin Reach", "who is Femi", "how are oysters counted", "Pell Sluice"]
)
def test_what_matches_is_not_weak(vault: VaultHandle, query: str) -> None:
    found = vault.search(query)
    assert len(found.hits) == 5
    assert not found.hits[0].weak
    assert found.hits[0].relevance > 0.3
    assert not any("min_score" in warning for warning in found.warnings)


def test_a_least_relevance_leaves_out_the_rest(vault: VaultHandle) -> None:
    query = "timeline of Hollin Reach"
    every = {hit.id: hit.relevance or 0.0 for hit in vault.search(query, top_k=20).hits}
    kept = vault.search(query, top_k=20, min_score=0.6).hits
    assert [hit.id for hit in kept] == [one for one, value in every.items() if value >= 0.6]
    assert 0 < len(kept) < len(every)
    none = vault.search(OFF_TOPIC, min_score=0.9)
    assert none.hits == []
    assert "below 0.9" in none.warnings[-1]


def test_lists_by_filters_alone_are_not_judged(vault: VaultHandle) -> None:
    hits = vault.search("type:person", min_score=0.9).hits
    assert hits
    assert {(hit.relevance, hit.weak) for hit in hits} == {(None, False)}


def test_the_terminal_says_it(demo: tuple[Path, Path]) -> None:
    def ran(*arguments: str) -> str:
        return " ".join(call(*arguments, *options(*demo)).output.split())

    assert "searched for oyster (for oister)" in ran("search", "oister survival")
    assert "searched for oyster (for oister)" in ran("ask", "oister survival rate")
    weak = ran("search", GIBBERISH)
    assert "Nothing in the vault matches." in weak
    assert "near by chance" in weak
    assert "relevance 0." in ran("search", "oyster survival", "--scores")
    assert "[12]" in ran("search", GIBBERISH, "--min-score", "0", "-k", "12")
