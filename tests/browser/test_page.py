"""The page over the demo vault, as people use it: in light, in dark, on a phone."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote_plus

from playwright.sync_api import Locator, Page, expect

from tests.browser.looks import LOOKS, Look, Opened, asked, assert_accessible, assert_fits

Visit = Callable[..., Opened]

QUESTION = "What is the timeline of Hollin Reach?"
ASKED = "#/ask?q=What+is+the+timeline+of+Hollin+Reach%3F"


def answered(page: Page) -> None:
    expect(page.locator(".answer[aria-busy=false]")).to_be_visible()


def checked(page: Page) -> None:
    assert_accessible(page)
    assert_fits(page)


def test_ask(visit: Visit, look: Look) -> None:
    page = visit("", look).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask Demo")
    expect(page.locator(".examples a").first).to_be_visible()
    checked(page)

    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Question").press("Enter")
    answered(page)
    expect(page.locator(".answer")).to_contain_text("8 April 2027")
    assert "#/ask?q=What+is+the+timeline" in page.url
    assert page.title().startswith(QUESTION)

    source = page.locator("#cite-1")
    expect(source).to_have_class(re.compile("used"))
    expect(source.locator(".card-title")).to_have_text("Hollin Reach › Timeline")
    expect(source.locator(".where")).to_have_text(re.compile(r"Projects/Hollin Reach.*lines 17–24"))
    expect(source.locator("mark", has_text="timeline").first).to_be_visible()
    uri = source.get_by_role("link", name="Open Hollin Reach in Obsidian").get_attribute("href")
    assert uri.startswith("obsidian://open?vault=Demo&file=Projects%2FHollin%20Reach")

    connected = page.get_by_role("region", name="Connected notes")
    expect(connected).to_contain_text("Context, not evidence.")
    first = connected.locator(".card").first
    expect(first.locator(".via")).to_contain_text("Hollin Reach, line 18, says:")
    expect(first.locator("blockquote")).to_contain_text("The whole timeline slipped once")
    checked(page)

    page.get_by_role("link", name="Source 1: Hollin Reach").click()
    expect(source.locator(".card-title")).to_be_focused()


def test_the_page_shows_what_python_says(visit: Visit, demo: tuple[Path, Path]) -> None:
    from notehop import open_vault

    page = asked(visit(ASKED).page)
    answered(page)
    vault, index = demo
    with open_vault(vault, index_dir=index) as opened:
        answer = opened.ask(QUESTION)
    # A source that is quoted opens at the sentence, the others at their passage.
    quoted = {one.marker: one for one in answer.citations if one.quote}
    assert quoted
    expected = [
        _address(one.path, cited.quote_lines or cited.lines, (cited.quote or "")[:600])
        if (cited := quoted.get(one.marker))
        else _address(one.path, one.lines)
        for one in answer.sources
    ]
    assert _addresses(page.locator(".card.source")) == expected
    assert _addresses(page.locator(".card.connected")) == [
        _address(one.path, one.lines) for one in answer.connected_notes
    ]


def _address(path: str, lines: tuple[int, int], said: str = "") -> str:
    return f"#/note/{path}?lines={lines[0]}-{lines[1]}" + (f"&say={said}" if said else "")


def _addresses(cards: Locator) -> list[str]:
    titles = cards.locator(".card-title").all()
    return [unquote_plus(str(one.get_attribute("href"))) for one in titles]


def test_an_address_asks_nothing_by_itself(visit: Visit) -> None:
    page = visit("").page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto(f"{page.url.split('#')[0]}{ASKED}")
    expect(page.locator(".notice", has_text="This question came with the address")).to_be_visible()
    expect(page.get_by_label("Question", exact=True)).to_have_value(QUESTION)
    assert_accessible(page)
    page.wait_for_timeout(300)
    assert not [url for url in sent if "/query" in url]
    page.keyboard.press("Enter")
    answered(page)
    page.reload()  # what was asked here is asked here again
    answered(page)


def test_a_note_opens_beside_and_closes(visit: Visit, look: Look) -> None:
    page = asked(visit(ASKED, look).page)
    answered(page)
    title = page.locator("#cite-1 .card-title")
    title.press("Enter")
    note = page.get_by_role("complementary", name="Note")
    expect(note.get_by_role("heading", name="Hollin Reach", exact=True)).to_be_focused()
    expect(note.locator(".cited-words").first).to_contain_text("Hollin Reach")
    expect(note.locator(".cited")).to_have_count(0)  # the sentence is marked, not its passage
    expect(note.get_by_role("region", name="Backlinks").locator("li").first).to_be_visible()
    expect(note.locator(".task", has_text="☑")).to_have_count(3)
    covers = "[document.getElementById('view').inert, document.querySelector('.top').inert]"
    assert page.evaluate(covers) == [look.touch] * 2
    checked(page)

    note.get_by_role("link", name="Backwards from the spring tide").first.click()
    expect(note.locator("h2", has_text="Backwards from the spring tide")).to_be_focused()
    page.go_back()
    expect(note.locator("h2", has_text="Hollin Reach")).to_be_visible()
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    expect(title).to_be_focused()
    expect(page.locator(".answer")).to_contain_text("8 April 2027")


def test_a_link_names_a_section(visit: Visit) -> None:
    page = visit("#/note/Meetings/1-1%20Tomasz%202026-09-10.md?at=Width%20of%20the%20opening").page
    expect(page.locator("#reader .cited")).to_have_text("Width of the opening")
    opened = page.locator("#reader")
    opened.get_by_role("link", name="Decision log").first.click()
    expect(opened.locator("h2", has_text="Decision log")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask Demo")


def test_a_note_that_is_not_there(visit: Visit) -> None:
    opened = visit("#/note/No%20such%20note.md")
    opened.allow("404")
    error = opened.page.locator("#reader").get_by_role("group", name="Error")
    expect(error.get_by_role("heading", name="That did not work")).to_be_visible()
    opened.page.keyboard.press("Escape")
    expect(opened.page.locator("#reader")).to_be_hidden()


def test_search(visit: Visit, look: Look) -> None:
    page = visit("#/search", look).page
    page.get_by_label("Search", exact=True).fill("tide gates")
    results = page.get_by_role("list", name="Results")
    expect(results.locator(".card")).to_have_count(12)
    expect(results.locator("mark", has_text="gate").first).to_be_visible()  # in another form
    assert "q=tide+gates" in page.url
    expect(results.locator(".worth").first).to_contain_text(re.compile(r"[01]\.\d\d"))
    page.get_by_text("Notes", exact=True).click()
    expect(page.locator(".made")).to_contain_text("notes")
    paths = results.locator(".card").evaluate_all("all => all.map(one => one.dataset.path)")
    assert len(paths) == len(set(paths)) > 3

    page.get_by_label("Search", exact=True).fill('tide gates path:Projects -path:"Projects/Shell Line"')
    expect(page.locator(".chip", has_text="-path:")).to_be_visible()
    places = results.locator(".card").evaluate_all("all => all.map(one => one.dataset.path)")
    assert places
    assert all(path.startswith("Projects/") and "Shell Line" not in path for path in places)
    checked(page)

    page.reload()  # all of it stands in the address
    expect(page.get_by_label("Search", exact=True)).to_have_value(re.compile("path:Projects"))
    expect(results.locator(".card")).to_have_count(len(places))


def test_capture(visit: Visit, look: Look, demo: tuple[Path, Path]) -> None:
    page = visit("#/capture", look, permissions=["clipboard-read", "clipboard-write"]).page
    text = "Ask Bram whether the rock for the breach shoulders can come by barge in March."
    page.get_by_label("Text").fill(text)
    page.get_by_label("Title (optional)").fill(f"Rock by barge {look.theme} {look.width}")
    page.get_by_label("Tags (optional)").fill("idea, #project/realignment")
    page.get_by_role("button", name="Keep it").click()
    kept = page.locator(".kept")
    expect(kept).to_be_visible()
    file = demo[0] / kept.locator("code").inner_text()
    try:
        written = file.read_text(encoding="utf-8")
        assert text in written
        assert "project/realignment" in written
    finally:
        file.unlink()  # the vault is that of other tests, too
    expect(page.get_by_role("heading", name="Related in your vault:")).to_be_in_viewport()
    cards = page.locator(".card.related")
    assert 0 < cards.count() <= 5
    expect(cards.first.locator(".badge")).not_to_be_empty()
    expect(cards.first.locator(".snippet-line")).not_to_be_empty()
    checked(page)
    copy = cards.first.get_by_role("button", name="Copy [[")
    copy.click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert copy.get_attribute("aria-label") == f"Copy {link}"
    # The old way, where a page is not secure.
    page.evaluate("navigator.clipboard.writeText('').then(() => {navigator.clipboard.writeText = null})")
    copy.click()
    page.wait_for_timeout(200)
    assert page.evaluate("navigator.clipboard.readText()") == link
    expect(copy).to_be_focused()
    expect(page.get_by_label("Text")).to_have_value("")

    page.get_by_label("Text").fill("T")  # the next capture begins
    expect(cards).to_have_count(0)
    expect(kept).to_have_count(0)


def test_graph(visit: Visit, look: Look) -> None:
    page = visit("#/graph?around=Pipit", look).page
    nodes = page.locator("a.node")
    expect(page.locator("a.node.seed")).to_have_attribute("aria-label", re.compile(r"Pipit, \d+ links"))
    assert nodes.count() > 5
    expect(nodes.last).to_have_class("node seed")  # above the others, with its name
    checked(page)

    name = nodes.nth(3).get_attribute("data-path")
    nodes.nth(3).dispatch_event("click")
    expect(page.locator("#reader .note")).to_be_visible()
    assert page.url.endswith("/".join(part.replace(" ", "%20") for part in name.split("/")))


def test_status(visit: Visit, look: Look) -> None:
    page = visit("#/status", look).page
    expect(page.get_by_role("region", name="Freshness")).to_contain_text("Up to date")
    coverage = page.get_by_role("region", name="Coverage")
    expect(coverage).to_contain_text("59 indexed · 2 skipped")
    expect(coverage).to_contain_text(re.compile(r"\d+ resolved"))
    assert "Salary" not in page.content()  # a private note
    checked(page)


def test_an_error_says_why(visit: Visit) -> None:
    opened = visit("#/search")
    opened.allow("503")
    problem = {
        "type": "urn:notehop:problem:busy",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "Why it is so",
    }
    opened.page.route("**/search", lambda route: route.fulfill(status=503, json=problem))
    opened.page.get_by_label("Search", exact=True).fill("tide")
    error = opened.page.get_by_role("group", name="Error")
    expect(error.get_by_role("heading")).to_have_text("That did not work")
    expect(error).to_contain_text("Why it is so")


def test_a_connected_note_unfolds(visit: Visit) -> None:
    page = asked(visit(ASKED).page)
    answered(page)
    card = page.locator(".card.connected").filter(has=page.get_by_role("button")).first
    snippet = card.locator(".snippet")
    cut = "snippet => snippet.scrollHeight > snippet.clientHeight + 4"
    assert snippet.evaluate(cut)
    card.get_by_role("button", name="Show all").press("Enter")
    assert not snippet.evaluate(cut)
    card.get_by_role("button", name="Show less").click()
    assert snippet.evaluate(cut)
    expect(page.locator(".card.source").get_by_role("button")).to_have_count(0)  # whole already


def test_keys(visit: Visit) -> None:
    page = visit("#/status").page
    expect(page.get_by_role("region", name="Coverage")).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_role("heading", level=1)).to_have_text("Search")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
    page.keyboard.type("1? /")  # letters are letters in a field
    expect(page.get_by_label("Search", exact=True)).to_have_value("1? /")
    page.keyboard.press("Escape")  # empties the field
    page.keyboard.press("Escape")  # leaves it
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate("document.querySelector('.skip').getAttribute('href')") == "#view"


def test_the_theme_is_the_systems(visit: Visit) -> None:
    page = visit("#/status", LOOKS["dark"]).page
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.emulate_media(color_scheme="light")
    assert page.evaluate(paper) != dark
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.querySelector('.toast')).transitionDuration") in (
        "0s",
        "0s, 0s",
    )


def test_a_server_that_is_gone(visit: Visit) -> None:
    opened = visit("")
    opened.allow("ERR_FAILED", "net::ERR_")
    page = opened.page
    expect(page.locator(".examples")).to_be_visible()
    page.route("**/query/stream", lambda route: route.abort())
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Question").press("Enter")
    error = page.get_by_role("group", name="Error")
    expect(error).to_contain_text("Is notehop serve still running?")
    assert_accessible(page)
    page.unroute("**/query/stream")
    error.get_by_role("button", name="Try again").click()
    answered(page)
    expect(page.locator(".answer")).to_contain_text("8 April 2027")
