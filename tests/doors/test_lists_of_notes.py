"""Questions for a list of notes, answered by types, properties, tags and folders."""

from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import VaultHandle
from tests.support.scripted_llm import ScriptedLLM
from tests.support.tables import rows

pytestmark = pytest.mark.model

NOTES = {
    "Kiln.md": "---\ntype: project\nstatus: active\nlead: '[[Ida Moss]]'\n---\nA kiln of our own.\n",
    "Glaze.md": "---\ntype: project\nstatus: on-hold\n---\nThe blue that does not run.\n",
    "Ida Moss.md": "---\ntags: [people/team]\n---\nIda throws the big pots.\n",
    "Jon Reed.md": "---\ntags: [people/team]\n---\nJon packs and posts.\n",
    "Risks.md": "---\ntags: [risks]\n---\nThe roof of the shed leaks above the kiln.\n",
    "More risks.md": "---\ntags: [risks]\n---\nThe lease of the shed ends in May.\n",
    "Recipes/Slip.md": "Ball clay and water, as thick as cream.\n",
    "Recipes/Wax/Wax.md": "---\nto-read: false\nvegan: true\n---\nBeeswax, warmed.\n",
    "Sieve.md": "---\ntype: tool\nkey: Sieve\n---\nMesh of 80.\n",
    "Templates/Tool.md": "---\ntype: tool\n---\nWhat it is for:\n",
    "Kettle.md": "---\ntype: pot\nstatus: drying\nrating: 5\n"
    "owner: Ida Moss\nfired: 2026-05-02\n---\nWith a lid.\n",
    "Bowl.md": "---\ntype: pot\nstatus: dried\nfired: 14.05.2027\n---\nWith a foot.\n",
    "Pots.md": "- Kettle\n- Bowl\n- Vase\n",
    "Stall.md": "---\ntype: shop\nteam: markets\nopened: June 3, 2027\n---\nPots on Saturdays.\n",
    "Shelf.md": "---\ntype: book\nstatus: to-read\n---\nA book on salt firing.\n",
    "2026-03-02.md": "Unpacked the kiln.\n\n- The blue ran.\n- Two lids stuck.\n",
    "2026-03-05.md": "---\ntags: [log]\n---\nIda glazed.\n",
    "2026-04-01.md": "Snow, so no firing.\n",
} | {f"Firing {day:02}.md": f"---\ntype: firing\n---\nCone {day}.\n" for day in range(1, 22)}
NOTES |= {f"Rack {n // 2}/Old/Test/Tile/Tile {n}.md": "It has ash on it.\n" for n in range(240)}
NOTES |= {"Kiln log 2.md": "#log\n### Cones\n- \n", "Firing 7.md": "We asked Jon.\n"}
NOTES |= {
    f"Glazes/{name}.md": f"---\nyear: 1988\nrating: 4\ntried: 0{n}.1999\n---\nOf ash.\n"
    for n, name in enumerate(("Celadon", "Tenmoku"), 4)
}
NOTES |= {
    "Ann Oak.md": "---\nrole: head potter\ntel: 0131 496 0123\nwheels:\n- kick\n- pedal\n---\nBy the door.\n",
    "Di Fir.md": "---\nrole: packer\n---\nOn Mondays.\n",
    "Ed Yew.md": "---\nrole: packer in training\n---\nOn Tuesdays.\n",
    "Io Ash.md": "---\nrôle: émailleuse\n---\nOn Sundays.\n",
    "Bo Ash.md": "---\nrole: potter's apprentice\n---\nFrom Leith.\n",
    "Cy Elm.md": "---\nrole: clerk to the potter\n---\nOn Fridays.\n",
    "Fair.md": "In the hall.\n\n- Jury: Ann, Bo\n",
    "Talks/2025-11-03 Talk.md": "---\nguest: Bo Ash\n---\nOf wax.\n",
    "Talks/2025-12-03 Talk.md": "---\nguest: Bo Ash\n---\nOf slip.\n\n- [ ] Buy some.\n"
    "- [x] Thank Bo ✅ 2025-12-05\n- [x] Sweep\n",
    "Talks/2025-12-04 Talk.md": "---\nguest: Ann Oak\n---\nOf ash.\n",
    "Talks/2131-12-03 Talk.md": "---\nguest: Bo Ash\n---\nOf oak.\n",
}
NOTES |= {f"2019-05-1{n}.md": f"mood:: {n}\n\n- Fired {n} bowls.\n- Swept.\n" for n in range(1, 5)}
NOTES |= {
    f"Hinge {n}.md": f"---\nstage: {stage}\ntags: [{tag}]\n---\nOf brass.\n"
    for n, (stage, tag) in enumerate(
        (("bend", "to-oil"), ("to-bend", "oil"), ("bend", "oil"), ("", "to-oil")), 1
    )
}
NOTES["2031-01-02.md"] = "Frost.\n"
NOTES |= {"Jars/Jars.md": "Jars.\n", "Jars/Big.md": "---\ntype: jar\n---\nA jar.\n"}
NOTES |= {"Jars/April 2026.md": "Much rain.\n", "2024-02-29.md": "A day too many.\n"}
NOTES |= {"Jug.md": "---\ntype: jug\ncolor: grey\nDate glazed: [[2027-02-03]]\n---\nA jug.\n"}
NOTES |= {"Barn.md": "Of oak.\n\n*Created: [[2027-01-05]]*\n- **Built**: 9 June 1999\n"}
NOTES |= {"Loft.md": "---\ncreated: '[[2027-01-05]]'\n---\nOf fir.\n"}
NOTES |= {
    f"Bills/{name}.md": f"---\nstate: {state}\nSumme: {sum_}\nDatum: {day}\ntags: [{tags}]\n---\nOf {name}.\n"
    for name, state, sum_, day, tags in (
        ("Clay", "paid", "1.200,50 €", "14.07.2025", "bill"),
        ("Gas", "open", "90 €", "02.08.2025", "bill, urgent"),
        ("Wool", "überfällig", "95 €", "30.08.2025", "bill, urgent"),
    )
}
NOTES |= {
    f"Kilns/{name}.md": f"---\ntype: kiln\nheat: {heat}\nvalue: {value}\nwait: {wait}\n---\nOf brick.\n"
    for name, heat, value, wait in (
        ("Small", "-12", "65k", "3 months"),
        ("Old", "-4 °C", "41000", "6 weeks"),
        ("Tall", "7.5", "52,000", ""),
    )
}
NOTES |= {
    f"Lessons/{name}.md": f"---\ntype: lesson\nguest: '[[{name}]]'\ndue: {day}\n---\nOn clay.\n"
    for name, day in (("Ben", ""), ("Cy", "2027-03-01"))
}
NOTES |= {
    f"Crates/{n}.md": f"---\ntype: crate\nprice: {price}\n---\nOf oak.\n"
    for n, price in enumerate(("300 €", "12.000 €", "1.5k €"))
}
NOTES |= {
    f"Diary/2019-05-{day:02}.md": text
    for day, text in enumerate(
        (
            "weight:: 1.5 kg\nslept:: 5h30\nsmoke:: 3\n\nFired twice.\n",
            "---\nsmoke: 4\n---\nRaked.\n\n- weight:: 2.5 kg\n- smoke:: 3\n",
            "Rain. [weight:: 0.5 kg] (slept:: 6h) [smoke:: 3]\n\n- [ ] Call [smoke:: 9]\n",
        ),
        1,
    )
}
NOTES["Pail.md"] = "Of tin.\n\n- handle:: bent wire\n"
NOTES["Pulley.md"] = "---\ntype: film\npotter: Iris Fell\ncap: 300\n---\nA film of clay.\n"
NOTES |= {f"Plate {n}.md": "---\ntags: [blister]\n---\nIt shows.\n" for n in (1, 2)}
NOTES["Blister.md"] = "| month | blisters |\n|---|---|\n| mar | 4 |\n| apr | 7 |\n"
NOTES["Hut.md"] = "Of wood.\n\nUses: [[Stall]], tin\n"
NOTES["Hut.md"] += "\nWhen a file is locked, the exit code is 105:\n\n```yaml\n- code: 105\n```\n"
NOTES["Hut.md"] += (
    "\n## Commands\n\nIt knows these.\n\n| Command | What it does |\n|---|---|\n"
    "| **/drop** | Lets the pots go |\n"
    "| **/drop-all** | Shuts down |\n| **/lift** | Raises the door |\n\n"
    "### Keys\n\n- `Ctrl-R`: prices up\n- `Ctrl-L`: prices down\n\n### `--dry` or `-n`\n\nNothing is sold.\n"
)
NOTES["Bills/Oil.md"] = "---\nstate: paid\n---\nA gift.\n"
NOTES["Bills/Oil.md"] = "---\nstate: paid\nversion: draft-2.4\n---\nA gift.\n"
NOTES |= {f"Crew/{n}.md": "---\nguild: rakers\nknown: 3\n---\nRakes the ash.\n" for n in ("Al", "Bea")}
NOTES |= {
    "Crew/Rakers.md": "Those who rake the ash of the big kiln, by turns.\n",
    "Crew/Guild of Nine.md": "| Seat | Holder |\n|---|---|\n| Clay | Ida |\n",
    "Crew/Leith.md": "---\nruler: the guild of nine\n---\nA town by the sea.\n",
    "Crew/Tall urn.md": "---\ntype: urn\nstate: unknown\n---\nIn two pieces.\n",
    "Crew/Round urn.md": "---\ntype: urn\nplace: unknown\n---\nWith a lid.\n",
    "Crew/Oval urn.md": "---\ntype: urn\nplace: unknown\n---\nWith no lid.\n",
}
NOTES["Firing 22.md"] = "---\ntype: firing\ncreated: 2031-01-01\n---\n- Cone 22.\n- Too hot.\n"


@pytest.mark.parametrize(
    ("question", "filters", "titles"), rows(__file__, "all_notes_of_a_kind_are_named_and_cited")
)
def test_all_notes_of_a_kind_are_named_and_cited(
    vault: VaultHandle, question: str, filters: list[str], titles: list[str]
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    assert sorted(answer.filters) == sorted(filters)
    assert {citation.title for citation in answer.citations} == {*titles}
    noun = "note matches" if len(titles) == 1 else "notes match"
    assert answer.answer.startswith(f"{len(titles)} {noun} ")
    for citation in answer.citations:
        assert citation.title in answer.answer
        assert citation.quote
        assert citation.quote in answer.answer
    assert not answer.connected_notes


@pytest.mark.parametrize(
    "question",
    [
        *rows(__file__, "other_questions_are_answered_by_what_notes_say"),
        pytest.param("which projects " + "are active " * 700, id="many words"),
        pytest.param("what did I do in March 2026 " + "and wrote " * 900, id="many words of a time"),
    ],
)
def test_other_questions_are_answered_by_what_notes_say(vault: VaultHandle, question: str) -> None:
    answer = vault.ask(question)
    assert answer.filters == []
    assert not any(word in answer.answer for word in ("note matches", "notes match", "From the"))


@pytest.mark.parametrize(("question", "titles"), rows(__file__, "a_time_names_the_notes_of_it"))
def test_a_time_names_the_notes_of_it(vault: VaultHandle, question: str, titles: list[str]) -> None:
    answer = vault.ask(question)
    assert {citation.title for citation in answer.citations} == {*titles}
    assert any(one.startswith("after:2026-0") for one in answer.filters)
    if "2026-03-02" in titles:
        assert "Two lids stuck." in answer.answer


@pytest.mark.parametrize(
    "question", rows(__file__, "a_time_with_more_words_or_without_notes_narrows_nothing")
)
def test_a_time_with_more_words_or_without_notes_narrows_nothing(vault: VaultHandle, question: str) -> None:
    answer = vault.ask(question)
    assert answer.filters == []
    assert not any("no note is dated" in one for one in (answer.answer, *answer.warnings))


@pytest.mark.parametrize(("question", "said"), rows(__file__, "what_lines_or_one_note_say"))
def test_what_lines_or_one_note_say(vault: VaultHandle, question: str, said: str) -> None:
    answer = vault.ask(question)
    assert " ".join(" ".join([*answer.warnings, answer.answer]).split()).startswith(said)


def test_the_notes_that_link_to_one_are_listed(vault: VaultHandle) -> None:
    answer = vault.ask("Which notes link to Ida Moss?")
    assert answer.answer.startswith("1 note links to Ida Moss:")
    assert [one.title for one in answer.citations] == ["Kiln"]
    assert vault.ask("Which notes link to Sieve?").answer == "No note links to Sieve."


def test_an_engine_answers_so_too(vault: VaultHandle) -> None:
    said = str(vault.query_engine().query("which projects are active?"))
    assert said.startswith("1 note matches type:project, status:active:")


def test_a_long_list_says_how_many_there_are(vault: VaultHandle) -> None:
    answer, more = (vault.ask(one, conversation_id="f") for one in ("list all firings", "more"))
    assert len({one.id for one in (*answer.citations, *more.citations)}) == 22
    assert answer.answer.startswith("22 notes match type:firing; the newest 20:")
    assert len(answer.sources) == len(answer.citations) == 20
    assert "\n- Firing 22 [1]\n" in answer.answer
    assert all(claim.flag is None and not claim.lacks for claim in answer.claims)
    assert {citation.support for citation in answer.citations} == {None}


def test_a_word_for_word_question_and_a_search_are_not_read_as_filters(vault: VaultHandle) -> None:
    assert vault.ask("which projects are active?", literal=True).filters == []
    assert "match" not in str(vault.query_engine(literal=True).query("what are the projects?"))
    assert vault.search("which projects are active?").filters == []


def test_a_note_made_private_is_not_listed(where: tuple[Path, Path], vault: VaultHandle) -> None:
    note = where[0] / "Jon Reed.md"
    before = note.read_text()
    try:
        note.write_text(before.replace("---\n", "---\nprivate: true\n", 1))
        answer = vault.ask("Who is on the team?")
        assert [citation.title for citation in answer.citations] == ["Ida Moss"]
        assert "Jon" not in answer.answer
        assert answer.answer.startswith("1 note matches")
    finally:
        note.write_text(before)


@pytest.mark.parametrize(("question", "said"), rows(__file__, "a_value_of_a_deleted_note"))
def test_a_value_of_a_deleted_note_is_none(
    where: tuple[Path, Path], vault: VaultHandle, question: str, said: str
) -> None:
    note = where[0] / "Diary" / "2019-05-03.md"
    away = note.rename(where[0] / "away.txt")
    try:
        assert " ".join(vault.ask(question).answer.split()).startswith(said)
    finally:
        away.rename(note)


def test_a_language_model_is_shown_the_whole_list(where: tuple[Path, Path]) -> None:
    llm = ScriptedLLM(says="Kiln [1] and Glaze [2].")
    with open_vault(where[0], index_dir=where[1], llm=llm) as vault:
        answer = vault.ask("what are the projects?")
    assert answer.mode == "llm"
    assert {source.title for source in answer.sources} == {"Kiln", "Glaze"}
    assert {citation.title for citation in answer.citations} == {"Kiln", "Glaze"}
