"""Answers without a language model over the demo vault: what is quoted first and how much, and what
is refused."""

import re
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import VaultHandle
from tests.support.real_index import opened_with
from tests.support.scripted_llm import ScriptedLLM
from tests.support.tables import rows

pytestmark = pytest.mark.model


def quotes(vault: VaultHandle, question: str) -> list[str]:
    """The quotes of an answer in their order, each on one line."""
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    parts = answer.answer.split("\n— ")[:-1]
    first, rest = parts[0].split("\n", 1)[1], [part.partition("\n")[2] for part in parts[1:]]
    return [" ".join(part.replace("> ", "").split()) for part in (first, *rest)]


@pytest.mark.parametrize(("question", "begins"), rows(__file__, "the_answer_comes_first"))
def test_the_answer_comes_first(vault: VaultHandle, question: str, begins: str) -> None:
    assert quotes(vault, question)[0].startswith(begins)


@pytest.mark.parametrize(
    "question",
    [
        "What is cultch?",
        "deadline of the Resilience Fund Bid",
        "who is Odile",
        "who wrote The Patience of Mud?",
    ],
)
def test_one_quote_where_one_answers(vault: VaultHandle, question: str) -> None:
    assert len(quotes(vault, question)) == 1


@pytest.mark.parametrize(
    ("question", "both"), rows(__file__, "the_second_note_of_a_question_of_two_is_quoted")
)
def test_the_second_note_of_a_question_of_two_is_quoted(
    vault: VaultHandle, question: str, both: list[str]
) -> None:
    told = quotes(vault, question)
    for part in both:
        assert any(part in one for one in told)
    assert len({one[-4:] for one in told}) > 1


def test_a_value_of_a_table_is_its_row(vault: VaultHandle) -> None:
    first = quotes(vault, "What's the next date for the loggers in the programme overview?")[0]
    assert "20 October 2026" in first
    assert first.count("2026") + first.count("2027") == 1


def test_a_list_under_its_heading_is_whole(vault: VaultHandle) -> None:
    told = quotes(vault, "which work is still permitted on the shore during the winter closure")[0]
    assert re.findall(r"- (\w+)", told) == ["Walking", "Hand", "Unloading"]


def test_nothing_is_quoted_twice(vault: VaultHandle) -> None:
    for question in ("where does Tomasz live", "the three things Odile always asks"):
        told = " ".join(quotes(vault, question))
        sentences = [one for one in re.split(r"(?<=[.!?]) |[“”]", told) if len(one) > 30]
        assert len(sentences) == len(set(sentences))


def test_a_source_that_is_quoted_in_two_parts_is_cited_once(vault: VaultHandle) -> None:
    answer = vault.ask("when is the next meeting with Bram?")
    assert answer.answer.count("[1]") > 1
    cited = [one.marker for one in answer.citations]
    assert cited.count("[1]") == 1
    assert len(cited) == len(set(cited))


@pytest.mark.parametrize(
    ("question", "news", "filed"), rows(__file__, "news_come_before_what_a_property_calls_status")
)
def test_news_come_before_what_a_property_calls_status(
    vault: VaultHandle, question: str, news: str, filed: str
) -> None:
    first, second, *_ = quotes(vault, question)
    assert (first.startswith(news), second.startswith(filed)) == (True, True), (first, second)


@pytest.mark.parametrize(
    ("question", "filed"), rows(__file__, "properties_are_quoted_where_one_is_asked_for")
)
def test_properties_are_quoted_where_one_is_asked_for(vault: VaultHandle, question: str, filed: str) -> None:
    told = [one for one in quotes(vault, question) if re.match(r"“[a-z]+: ", one)]
    assert filed in " ".join(told) if filed else not told


@pytest.mark.parametrize("question", rows(__file__, "what_a_note_says_goes_before_what_is_filed"))
def test_what_a_note_says_goes_before_what_is_filed(vault: VaultHandle, question: str) -> None:
    assert not re.match(r"“[a-z]+: ", quotes(vault, question)[0])


HINT = "found nothing in them that clearly answers"


@pytest.mark.parametrize("question", rows(__file__, "gibberish_and_other_subjects_are_refused"))
def test_gibberish_and_other_subjects_are_refused(vault: VaultHandle, question: str) -> None:
    answer = vault.ask(question)
    assert answer.mode == "none"
    assert not answer.citations
    assert answer.answer.startswith("I found nothing in your notes that answers this.")


@pytest.mark.parametrize("question", rows(__file__, "what_the_notes_speak_of_is_answered"))
def test_what_the_notes_speak_of_is_answered(vault: VaultHandle, question: str) -> None:
    assert vault.ask(question).mode == "extractive"


def test_a_question_for_a_person_that_meets_no_name_is_not_sure(vault: VaultHandle) -> None:
    question = "who drew the map of the saltmarsh?"
    assert vault.ask(question).answer.startswith("I am not sure")


def test_words_that_no_note_has_are_told(vault: VaultHandle) -> None:
    answer = vault.ask("What is the capital of Peru?")
    assert "No note has the word “Peru”." in answer.answer
    # Letters that look like Italian make no question in another language.
    noise = vault.ask("asdkj qwpoe zzmnv?")
    assert noise.mode == "none"
    assert "No note has the words “asdkj”, “qwpoe” or “zzmnv”." in noise.answer
    beside_an_answer = vault.ask("What is the tidal prism in LaTeX notation?")
    assert beside_an_answer.mode == "extractive"
    assert beside_an_answer.answer.endswith("\n\nNo note has the words “LaTeX” or “notation”.")
    assert [claim.flag for claim in beside_an_answer.claims if claim.flag] == []
    no_name = vault.ask("how do I laminate the tidal prism?")
    assert no_name.mode == "extractive"
    assert no_name.answer.endswith("\n\nNo note has the word “laminate”.")
    of_the_form = vault.ask("Define cultch exactly")
    assert of_the_form.mode == "extractive"
    assert "No note has" not in of_the_form.answer
    assert "No note has" not in vault.ask("how big is the salt marsh project").answer
    # In what order, and how, something is asked for.
    for by in (
        "which part of the sea wall is the longest",
        "what mustn't I do at the hide",
        "which gate is the slowest",
    ):
        told = vault.ask(by)
        assert (told.mode, "No note has" in told.answer) == ("extractive", False)


def test_a_comparison_says_which_side_is_missing(vault: VaultHandle) -> None:
    """Whether the other side is quoted or not, and its sentence about that is no claim."""
    answer = vault.ask("What is the difference between a tidal prism and a heliostat?")
    assert answer.mode == "extractive"
    assert "tidal prism" in answer.answer.lower()
    assert answer.answer.rstrip().endswith("I found nothing about “heliostat”.")
    assert [claim.flag for claim in answer.claims if claim.flag] == []

    answer = vault.ask("compare Pell Sluice and the Thames Barrier")
    assert answer.answer.rstrip().endswith("I found nothing about “Thames Barrier”.")

    answer = vault.ask("Compare the Eiffel tower and a heliostat")
    assert answer.mode == "none"
    assert "I found nothing about “Eiffel tower” or “heliostat”." in answer.answer


@pytest.mark.parametrize(
    ("question", "held"), rows(__file__, "a_note_that_lacks_what_is_asked_for_is_near_and_no_answer")
)
def test_a_note_that_lacks_what_is_asked_for_is_near_and_no_answer(
    vault: VaultHandle, question: str, held: str
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "none"
    assert held in answer.answer.split("Nearest:")[1]


@pytest.mark.parametrize(
    ("question", "says"), rows(__file__, "what_is_asked_for_to_the_letter_is_answered_where_it_stands")
)
def test_what_is_asked_for_to_the_letter_is_answered_where_it_stands(
    vault: VaultHandle, question: str, says: str
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    assert says.lower() in answer.answer.lower()


def test_of_a_comparison_of_two_known_things_nothing_is_missing(vault: VaultHandle) -> None:
    answer = vault.ask("cast gate vs welded gate?")
    assert answer.mode == "extractive"
    assert "found nothing" not in answer.answer


@pytest.mark.parametrize(
    ("says", "mode"),
    [("The vault does not say.", "llm"), ("Siemens is led by nobody that I know of [1].", "llm")],
)
def test_a_language_model_is_told_and_decides(demo: tuple[Path, Path], says: str, mode: str) -> None:
    """What was found is shown to it all the same: it may answer, or say that the vault does not."""
    model = ScriptedLLM(says=says)
    with open_vault(demo[0], index_dir=demo[1], llm=model) as opened:
        answer = opened.ask("Who is the CEO of Siemens?")
        assert HINT in model.asked[-1]
        assert answer.answer.startswith(says.split(" [")[0])
        assert answer.mode == mode
        opened.ask("what is a tidal prism")
        assert HINT not in model.asked[-1]


@pytest.mark.parametrize(
    ("question", "begins", "least", "below"), rows(__file__, "an_answer_says_how_sure_it_is")
)
def test_an_answer_says_how_sure_it_is(
    vault: VaultHandle, question: str, begins: str, least: float, below: float
) -> None:
    answer = vault.ask(question)
    assert answer.answer.startswith(begins)
    assert answer.likelihood is not None
    assert least <= answer.likelihood <= below


def test_a_program_is_no_instruction(tmp_path: Path) -> None:
    program = "```ts\nPublishPod {\n    publish(notes) {\n        note = getNote(notes)\n    }\n}\n```\n"
    notes = {
        "Md publish.md": f"# Lifecycle\n{program}",
        "Publishing.md": "You publish your notes with `make publish`.\n",
        "Assets.md": "To sync the assets (used by the page)\n\n```sh\nmake assets\n```\n",
    }
    with opened_with(tmp_path, notes) as opened:
        answer = opened.ask("how do I publish my notes?").answer
        sync = opened.ask("how do I sync the assets?").answer
    assert answer.index("make publish") < (answer.find("getNote") % len(answer))
    assert sync.count("To sync the assets") == sync.count("make assets") == 1


def test_a_note_answers_by_its_steps_its_text_and_only_then_by_what_frames_them(tmp_path: Path) -> None:
    steps = "1. Rub the butter into the flour.\n2. Roll out the dough.\n3. Bake it for half an hour."
    notes = {
        "Plum tart.md": "---\ntype: recipe\nrating: 7\n---\n"
        "Every summer I smell ripe plums somewhere and know that it is time to make this plum tart. "
        "My mother taught me to make a plum tart when I was nine.\n\n"
        f"## Ingredients\n\n- flour\n- butter\n- plums\n\n## Directions\n\n{steps}\n",
        "Futurama.md": "---\ngenre: Sci-fi\nrating: 8\n---\n",
        "Sci-fi.md": "![[Shows.base#Genre]]\n",
        "Shows.base": "views:\n  - type: table\n    name: Genre\n    order: [file.name, genre]\n"
        "    filters:\n      and:\n        - list(genre).contains(this)\n",
    }
    with opened_with(tmp_path, notes) as opened:
        assert opened.ask("how do I make the plum tart?").answer.splitlines()[2:3] == [
            "> 1. Rub the butter into the flour."
        ]
        assert "rating: 8" in opened.ask("what do I think about futurama?").answer
        assert "contains(this)" not in opened.ask("what is sci-fi?").answer
        assert "contains(this)" in opened.ask("what does Shows.base show by genre?").answer


def test_a_definition_is_the_sentence_that_says_what_it_is(tmp_path: Path) -> None:
    notes = {
        "Seed.md": "# Seed\n\n## Adding a seed\n\n```ts\nseed = registry.get(seed)\n"
        "seeds.add(seed)\n```\n\n## Grown seeds\n\nGrown seeds are kept in a folder of their own.\n",
        "Concepts.md": "# Concepts\n\n## Seed bank\n\n### Seed\n\n"
        "A seed is a vault that somebody shares with others.\n",
        "Proxy.md": "Proxy is a small server that keeps packages on this machine.\n\n"
        "## Start it\n\n```sh\nproxy --start\n```\n",
        "Rota.md": "Anna is paying for the boat, and Tom looks after it.\n",
    }
    with opened_with(tmp_path, notes) as opened:
        seed, proxy, boat = (
            opened.ask(question).answer.split("\n\n")[1]
            for question in ("what are seeds", "what is the proxy used for", "who is paying for the boat")
        )
    assert seed.startswith("“A seed is a vault that somebody shares with others.”")
    assert proxy.startswith("“Proxy is a small server")
    assert boat.startswith("“Anna is paying")
    # The heading of a whole note says its name again.
    assert "\n— Concepts > Seed bank > Seed" in seed


def test_where_it_is_not_sure_an_answer_is_short(vault: VaultHandle) -> None:
    for question in ("how much is the new jetty", "who is paying for the sluice"):
        answer = vault.ask(question)
        assert answer.answer.startswith("I am not sure")
        assert sum(len(quote.split()) for quote in quotes(vault, question)) <= 220
