"""Questions made out of a vault: what is asked, what is not, and that they stay the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.product import LinkRow, NoteRow, NoteStatus, QuestionSet, Target, own_questions

SENTENCE = "Every spring the old weir upstream is measured against"


def note(path: str, *headings: str, aliases: tuple[str, ...] = ()) -> NoteRow:
    outline = tuple((2, text, 10 * at) for at, text in enumerate(headings, start=1))
    name = path.rpartition("/")[2].removesuffix(".md")
    return NoteRow(path, name, NoteStatus.INDEXED, aliases=aliases, outline=outline, line_count=100)


def link(path: str, target: str | None, sentence: str, **changed: object) -> LinkRow:
    row = LinkRow(
        path=path,
        ordinal=0,
        chunk_id="c",
        line=7,
        kind="link",
        syntax="wikilink",
        raw="[[x]]",
        raw_target=(target or "Nowhere").removesuffix(".md"),
        fragment=None,
        display=None,
        sentence=sentence,
        sentence_id="s",
        property=None,
        status="resolved" if target else "unresolved",
        via=None,
        target_path=target,
        target_chunk_id="t" if target else None,
        fragment_found=None,
    )
    return replace(row, **changed)  # type: ignore[arg-type]


def made(
    notes: list[NoteRow], links: list[LinkRow] | None = None, most: int = 100, seed: int = 0
) -> dict[str, QuestionSet]:
    sets = own_questions(notes, links or [], str.split, most=most, seed=seed)
    return {one.name: one for one in sets}


def test_a_heading_asks_for_its_section() -> None:
    found = made([note("a.md", "Tide tables", "Gate repair costs")])["headings"]
    (question,) = found.questions
    (target,) = question.gold
    spans = {"Tide tables": (10, 19), "Gate repair costs": (20, 100)}
    assert question.text in spans
    assert target == Target("a.md", question.text, spans[question.text])
    assert found.measure == "chunks.ndcg@10"


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param([note("a.md", "Open points"), note("b.md", "Open Points")], id="said twice"),
        pytest.param([note("a.md", "Notes")], id="one word"),
        pytest.param([note("a.md", "Tide gate"), note("Tide gate.md")], id="name of a note"),
        pytest.param([note("a.md", "tide gate", aliases=("Tide Gate",))], id="alias"),
        pytest.param([note("a.md", "See [[b]] and more")], id="holds a link"),
    ],
)
def test_headings_that_name_no_section_are_not_asked(notes: list[NoteRow]) -> None:
    assert "headings" not in made(notes)


def test_an_alias_asks_for_its_note_if_no_other_goes_by_it() -> None:
    notes = [note("a.md", aliases=("Ann", "A")), note("b.md", aliases=("Bob",)), note("Bob.md")]
    (question,) = made(notes)["aliases"].questions
    assert (question.text, question.gold) == ("Ann", (Target("a.md"),))


def test_an_anchor_is_the_sentence_without_the_link() -> None:
    links = [link("a.md", "Old mill.md", f"{SENTENCE} Old mill and old Mill again.")]
    found = made([note("a.md"), note("Old mill.md")], links)["anchors"]
    (question,) = found.questions
    assert question.text == f"{SENTENCE} and again."
    assert question.gold == (Target("Old mill.md"),)
    assert question.without == "a.md"


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(link("a.md", None, f"{SENTENCE} Nowhere"), id="unresolved"),
        pytest.param(link("a.md", "a.md", f"{SENTENCE} a"), id="own note"),
        pytest.param(link("a.md", "b.md", "See b"), id="says too little"),
        pytest.param(link("a.md", "bridge.md", SENTENCE), id="text not in the sentence"),
        pytest.param(link("a.md", "b.md", f"{SENTENCE} b", kind="embed"), id="embed"),
        pytest.param(link("a.md", "b.md", f"{SENTENCE} b", status="ambiguous"), id="ambiguous"),
        pytest.param(link("a.md", "b.md", f"{SENTENCE} b", target_chunk_id=None), id="no text"),
    ],
)
def test_links_that_make_no_question(one: LinkRow) -> None:
    assert made([note("a.md")], [one]) == {}


def many(count: int) -> tuple[list[NoteRow], list[LinkRow]]:
    notes = [note(f"n{at}.md", f"Heading of {at}", f"Other {at}") for at in range(count)]
    links = [
        link(f"n{at}.md", f"n{other}.md", f"{SENTENCE} n{other} in {at}", line=other)
        for at in range(count)
        for other in (at + 1, at + 2)
    ]
    return notes, links


def test_links_held_out_are_few_and_none_that_an_anchor_asks_for() -> None:
    found = made(*many(30), most=8)
    held_out, anchors = found["held-out links"], found["anchors"]
    assert len(anchors.questions) == 8
    assert len(held_out.questions) == 6
    assert held_out.measure == "context.all"
    assert all(question.without is None for question in held_out.questions)
    pairs = {
        (question.id.split()[1].split(":")[0], question.gold[0].path)
        for question in held_out.questions
    }
    assert held_out.held_out == pairs
    assert pairs.isdisjoint((one.without, one.gold[0].path) for one in anchors.questions)


def test_the_same_vault_gives_the_same_questions_and_another_seed_others() -> None:
    notes, links = many(30)
    first, again = made(notes, links, 5), made(notes[::-1], links[::-1], 5)
    assert first == again
    assert made(notes, links, 5, seed=1) != first
