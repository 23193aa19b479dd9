"""How an answer looks: one sentence is a screen, a refusal is one, a source shows its sentence."""

from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.looks import LOOKS, Look, Opened, assert_accessible, assert_fits

Visit = Callable[..., Opened]


def asked(visit: Visit, question: str, look: Look = LOOKS["light"]) -> Page:
    page: Page = visit(f"#/ask?q={quote(question)}", look).page
    page.locator("#ask-field").press("Enter")
    expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".made")).to_be_visible()
    return page


def test_a_refusal_names_the_nearest_notes_and_a_next_step(visit: Visit, look: Look) -> None:
    page = asked(visit, "Who is the mayor of Hollin?", look)
    refusal = page.get_by_role("region", name="No answer")
    expect(refusal.get_by_role("heading", level=2)).to_contain_text("found nothing in your notes")
    expect(refusal.locator("li a").first).to_contain_text("Hollin Reach")
    expect(page.locator(".connected-notes")).to_be_hidden()
    expect(page.locator(".card").first).to_be_hidden()
    assert_accessible(page)
    assert_fits(page)
    refusal.locator("li a").first.click()
    expect(page.get_by_role("complementary", name="Note")).to_be_visible()
    page.keyboard.press("Escape")
    refusal.get_by_role("link", name="Search for these words").click()
    expect(page.locator("#search-field")).to_have_value("Who is the mayor of Hollin?")
    far = asked(visit, "Who is the CEO of Notion?", look).get_by_role("region", name="No answer")
    expect(far).to_contain_text("No note has")
    expect(far.get_by_role("link")).to_have_text(["Search for these words"])


def test_a_connected_note_that_answers_is_shown_as_the_source_it_became(visit: Visit) -> None:
    page = asked(visit, "How does the new sluice gate close by itself?")
    marker = page.locator(".prose a.cite").first.inner_text()
    card = page.locator(f"#cite-{marker}")
    expect(card).to_contain_text("Self-regulating tide gate")
    expect(card.locator(".cited-mark")).to_be_visible()
    expect(page.locator("#cite-C1")).to_have_count(0)


def test_what_is_not_cited_is_folded_away(visit: Visit) -> None:
    page = asked(visit, "What is the timeline of Hollin Reach?")
    used = page.locator(".card.source.used")
    expect(used.first).to_be_visible()
    rest = page.locator(".rest")
    expect(rest.locator(".card").first).to_be_hidden()
    rest.locator("summary").click()
    expect(rest.locator(".card").first).to_be_visible()
    assert_accessible(page)


def test_the_note_marks_the_sentence_that_is_quoted(visit: Visit) -> None:
    page = asked(visit, "What is the timeline of Hollin Reach?")
    quoted = page.locator("#cite-1 .quoted")
    expect(quoted.first).to_be_visible()
    page.locator("#cite-1 .card-title").click()
    marked = page.locator("#reader .cited-words")
    expect(marked.first).to_be_visible()
    letters = lambda texts: "".join(filter(str.isalnum, "".join(texts)))  # noqa: E731
    assert letters(marked.all_inner_texts()) == letters(quoted.all_inner_texts())
    expect(page.locator("#reader .cited")).to_have_count(0)


def test_an_answer_that_is_not_sure_says_so_first(visit: Visit) -> None:
    page = asked(visit, "how deep are the pilot channels in metres?")
    first = page.locator(".answer.unsure .prose > p").first
    expect(first).to_have_text("I am not sure that your notes answer this; the nearest passages:")
    assert_accessible(page)
    asked_again = asked(visit, "What is cultch?")
    expect(asked_again.locator(".answer.unsure")).to_have_count(0)


def test_a_card_opens_at_the_words_that_are_quoted(visit: Visit) -> None:
    page = asked(visit, "which workshop got the job of building the bird hide in the end")
    snippet = page.locator(".snippet:has(.quoted)").first
    expect(snippet).to_be_visible()
    seen = """snippet => {
      const box = snippet.getBoundingClientRect();
      const quoted = snippet.querySelector(".quoted").getBoundingClientRect();
      return quoted.top >= box.top && quoted.bottom <= box.bottom;
    }"""
    page.wait_for_function(seen, arg=snippet.element_handle())
    page.set_viewport_size({"width": 480, "height": 800})
    page.wait_for_function(seen, arg=snippet.element_handle())


def test_the_start_asks_by_the_names_of_the_vault(visit: Visit) -> None:
    page = visit("").page
    example = page.locator(".examples a").first
    expect(example).to_be_visible()
    expect(page.locator(".examples")).to_contain_text("Sensor Mesh: Batteries")
    assert page.request.head(page.url.partition("#")[0]).ok
    question = example.inner_text()
    example.click()
    expect(page.locator("#ask-field")).to_have_value(question)
    expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")
