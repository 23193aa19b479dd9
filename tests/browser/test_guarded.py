"""The page of a server with a token, a slow language model, and notes that mean harm."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import TOKEN, SlowLLM
from tests.browser.looks import LOOKS, Opened, asked, assert_accessible
from tests.support.tables import rows

Visit = Callable[..., Opened]
ASKED = "#/ask?q=Where+is+the+trap+for+otters%3F"


def entered(opened: Opened) -> Page:
    """Give the token, as whoever opens the page has to."""
    opened.allow("401")
    page = opened.page
    expect(page.get_by_role("dialog", name="This server asks for a token")).to_be_visible()
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    return page


def test_the_token_is_asked_for(visit_guarded: Visit) -> None:
    opened = visit_guarded("#/status")
    opened.allow("401")
    page = opened.page
    dialog = page.get_by_role("dialog", name="This server asks for a token")
    expect(dialog).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")  # there is nothing behind it
    expect(dialog).to_be_visible()
    page.get_by_label("Token", exact=True).fill("not the one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="That token is not the one")).to_be_visible()
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Coverage")).to_be_visible()
    kept = page.evaluate("[{...localStorage}, {...sessionStorage}, document.cookie, location.href]")
    assert TOKEN not in str(kept[0])
    assert TOKEN in str(kept[1])
    assert kept[2] == ""
    assert TOKEN not in kept[3]
    page.reload()  # the tab remembers
    expect(page.get_by_role("region", name="Coverage")).to_be_visible()


def test_the_answer_comes_word_by_word(visit_guarded: Visit, slow: SlowLLM) -> None:
    page = asked(entered(visit_guarded(ASKED, LOOKS["phone"])))
    answer = page.locator(".answer")
    expect(page.locator(".card.source").first).to_be_visible()  # before the first word
    expect(page.get_by_text("Reading")).to_be_visible()
    slow.let(3)
    expect(answer).to_have_text("Otters know the ")
    expect(answer).to_have_attribute("aria-busy", "true")
    assert_accessible(page)
    slow.let(100)
    expect(answer).to_have_attribute("aria-busy", "false")
    expect(answer.locator("strong")).to_have_text("trap")
    expect(answer.locator("a.cite").first).to_have_attribute("aria-label", "Source 1: " + _title(page, 1))
    assert "[19]" not in answer.inner_text()
    expect(page.locator(".made")).to_contain_text("Written by scripted from the sources below")
    assert_accessible(page)


def test_a_follow_up_is_asked_in_the_conversation(visit_guarded: Visit, slow: SlowLLM) -> None:
    page = asked(entered(visit_guarded(ASKED)))
    slow.let(100)
    further = page.get_by_role("textbox", name="Follow-up")
    expect(further).to_be_visible()
    further.fill("And its bait?")
    assert_accessible(page)
    before = len(slow.asked)
    further.press("Enter")
    expect(page.get_by_text("Understood as:")).to_be_visible()
    assert "in=" in page.url
    assert any("<follow-up>\nAnd its bait?" in prompt for prompt in slow.asked[before:])
    assert_accessible(page)
    page.go_back()
    expect(page.get_by_label("Question", exact=True)).to_have_value("Where is the trap for otters?")
    expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")


def _title(page: Page, number: int) -> str:
    return page.locator(f"#cite-{number} .card-title").inner_text()


def test_stop(visit_guarded: Visit, slow: SlowLLM) -> None:
    while slow._leave.acquire(blocking=False):  # what the test before left
        pass
    page = asked(entered(visit_guarded(ASKED)))
    expect(page.locator(".card.source").first).to_be_visible()
    said = len(slow.said)
    slow.let(2)
    expect(page.locator(".answer")).to_have_text("Otters know ")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".progress")).to_contain_text("Stopped.")
    expect(page.get_by_role("button", name="Ask")).to_be_visible()
    for _ in range(10):  # the model would say them all, one after the other
        page.wait_for_timeout(150)
        slow.let(1)
    page.wait_for_timeout(150)
    assert len(slow.said) - said < len(slow.says.split(" "))
    expect(page.locator(".answer")).to_have_text("Otters know ")


@pytest.mark.parametrize("address", rows(__file__, "nothing_of_a_note_runs"))
def test_nothing_of_a_note_runs(visit_guarded: Visit, address: str) -> None:
    opened = visit_guarded(address)
    opened.allow("404")
    page = entered(opened)
    expect(page.locator(".card, .note, a.node, .empty, .failed, .hero").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.harmed === undefined")
    bad = page.evaluate(
        """() => [...document.querySelectorAll('#view *, #reader *')].filter((one) =>
          ['SCRIPT', 'STYLE', 'IFRAME', 'IMG', 'OBJECT', 'EMBED', 'LINK'].includes(one.tagName)
          || [...one.attributes].some((a) => /^on/i.test(a.name)
            || (/^(href|src|action)$/i.test(a.name)
              && /^\\s*(javascript|data|vbscript):|advanced-uri/i.test(a.value)))
        ).map((one) => one.outerHTML)"""
    )
    assert bad == []


def test_scripts_of_others_are_refused_by_the_browser(visit_guarded: Visit) -> None:
    """The policy of the page holds even for what would get past all else."""
    opened = visit_guarded("#/status")
    opened.allow("Content Security Policy", "violates", "Refused", "401")
    page = entered(opened)
    page.evaluate(
        """() => {
          const inline = document.createElement('script');
          inline.textContent = 'window.harmed = 1';
          document.body.append(inline);
          const img = new Image();
          img.src = 'http://192.0.2.1/pixel.png';
          document.body.innerHTML += '<p onclick="window.harmed = 1">x</p>';
          document.querySelector('p[onclick]').click();
        }"""
    )
    opened.allow("192.0.2.1")
    assert page.evaluate("window.harmed === undefined")
