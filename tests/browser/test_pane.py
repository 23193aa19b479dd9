"""The plugin of the app and its side pane, over the demo vault: what a click in the one does in the other."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.conftest import TOKEN
from tests.browser.looks import assert_accessible
from tests.browser.stub_app import FILES, HERE, PLUGIN, command, inside, open_app, pane

NOTE = "Projects/Hollin Reach/Hollin Reach.md"
KEPT = """() => {
  const kept = [location.href];
  // Newer browsers deny storage to a frame of another origin.
  try { kept.push({ ...localStorage }, { ...sessionStorage }); } catch {}
  return JSON.stringify(kept);
}"""
MEANT = ("status of 40", 'directive: "frame-ancestors app://obsidian.md"')
"""Errors that a test provokes."""

Open = Callable[..., Page]


@pytest.fixture
def window(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A window as narrow as a side pane; what goes wrong in it fails the test."""
    wrong: list[str] = []
    dark = getattr(request, "param", "light") == "dark"
    context = browser.new_context(
        viewport={"width": 320, "height": 700}, color_scheme="dark" if dark else "light"
    )
    context.set_default_timeout(20_000)
    context.on("console", lambda told: wrong.append(f"{told.type}: {told.text}"))
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    yield context
    context.unroute_all(behavior="ignoreErrors")
    context.close()
    assert [one for one in wrong if not any(part in one for part in MEANT)] == []


@pytest.fixture
def app(window: BrowserContext, site: str, demo: tuple[Path, Path]) -> Open:
    """Open the app over the demo vault, with a note to write in."""

    def go(tab: str = "related", **given: Any) -> Page:
        page = open_app(window, demo[0], given.pop("address", site), **given)
        page.evaluate("(path) => app.workspace.show(path, 'One line.\\n')", NOTE)
        command(page, tab)
        return page

    return go


def text(page: Page) -> str:
    return str(page.evaluate("app.workspace.main.view.editor.text"))


def at_the_end(page: Page) -> None:
    page.evaluate("(({editor}) => editor.setCursor({line: 0, ch: 9}))(app.workspace.main.view)")


def done(page: Page, says: str) -> None:
    expect(pane(page).locator("#said")).to_have_text(says)


@pytest.mark.parametrize("window", ["light", pytest.param("dark", marks=pytest.mark.slow)], indirect=True)
def test_related_notes_of_the_open_note(app: Open, request: pytest.FixtureRequest) -> None:
    dark = "dark" in request.node.name
    page = app(dark=dark)
    shown = pane(page)
    expect(shown.get_by_role("heading", level=1)).to_have_text("Hollin Reach")
    cards = shown.get_by_role("list", name="Related notes").locator("> .card")
    expect(cards.first).to_contain_text("linked")
    assert shown.locator("html").get_attribute("data-theme") == ("dark" if dark else "light")
    assert_accessible(inside(page))
    assert shown.locator("html").evaluate("(e) => e.scrollWidth - e.clientWidth") == 0
    folded = cards.first.locator(".snippet")
    low = folded.bounding_box()["height"]
    cards.first.get_by_role("button", name="Show all").click()
    assert folded.bounding_box()["height"] > low

    # Another note is opened: the pane follows.
    page.evaluate("app.workspace.show('People/Bram Teague.md')")
    expect(shown.get_by_role("heading", level=1)).to_have_text("Bram Teague")
    mentions = shown.get_by_role("region", name="Mentions without a link")
    mentions.get_by_role("link").first.click()
    page.wait_for_function("app.opened.length === 1")
    path, line = page.evaluate("app.opened[0]")
    assert line > 0
    expect(shown.get_by_role("heading", level=1)).not_to_have_text("Bram Teague")
    assert page.evaluate("app.workspace.getActiveFile().path") == path


def test_each_related_note_is_shown_with_its_own_text(app: Open, window: BrowserContext) -> None:
    def one_is_weak(route: Route) -> None:
        reply = route.fetch()
        found = reply.json()
        for at, hit in enumerate(found["hits"]):
            hit |= {"text": f"Text of {hit['path']}.", "weak": at == 1}
        route.fulfill(response=reply, json=found)

    window.route("**/search", one_is_weak)
    cards = pane(app()).get_by_role("list", name="Related notes").locator("> .card")
    expect(cards.last.locator("div.prose")).to_be_visible()  # rendered
    for card in cards.all():
        expect(card).to_contain_text(f"Text of {card.get_attribute('data-path')}.")


def test_a_link_is_inserted_at_the_cursor(app: Open) -> None:
    page = app()
    at_the_end(page)
    button = pane(page).get_by_role("button", name="Insert a link to Home")
    button.click()
    done(page, "Inserted in Hollin Reach")
    assert text(page) == "One line.[[Home]]\n"
    expect(button).to_be_focused()
    pane(page).locator("body").press("Escape")  # back to where one writes
    page.wait_for_function("app.workspace.main.view.editor.focused === 1")
    page.evaluate("app.workspace.main.view.mode = 'preview'")
    button.click()
    done(page, "Open a note to write in first.")
    assert page.evaluate("app.notices") == ["Open a note to write in first."]
    assert text(page) == "One line.[[Home]]\n"


def test_an_answer_is_asked_for_and_cited(app: Open) -> None:
    page = app("ask")
    at_the_end(page)
    shown = pane(page)
    shown.get_by_label("Question").fill("What is the timeline of Hollin Reach?")
    shown.get_by_label("Question").press("Enter")
    expect(shown.locator(".answer[aria-busy=false]")).to_contain_text("8 April 2027")
    assert_accessible(inside(page))
    source = shown.locator("#cite-1")
    source.get_by_role("button", name="Cite Hollin Reach in the open note").click()
    done(page, "Inserted in Hollin Reach")
    written = text(page)
    assert written.startswith("One line.\n\n> The timeline of Hollin Reach hangs on one day")
    assert "\n>\n> — [[Hollin Reach#Timeline]]\n" in written
    source.locator(".card-title").click()
    page.wait_for_function("app.opened.length === 1")
    assert page.evaluate("app.opened[0]") == [NOTE, 17]  # where the quote stands


def test_links_that_could_be_made(app: Open) -> None:
    page = app("suggest")
    at_the_end(page)
    shown = pane(page)
    alike = shown.get_by_role("region", name="Alike, and not linked")
    card = alike.locator(".card", has_text="Pell Sluice")
    expect(card.locator(".evidence")).to_contain_text("Hollin Reach costs £2.84 million")
    assert_accessible(inside(page))
    card.get_by_role("button", name="Insert a link to Pell Sluice").click()
    done(page, "Inserted in Hollin Reach")
    assert text(page) == "One line.[[Pell Sluice]]\n"
    elsewhere = shown.get_by_role("region", name="Could link here").locator(".card").first
    expect(elsewhere.locator("mark")).to_have_text("Hollin Reach")
    elsewhere.get_by_role("link", name="Resilience Fund Bid", exact=True).click()
    page.wait_for_function("app.opened.length === 1")
    assert page.evaluate("app.opened[0]") == ["Projects/Resilience Fund Bid.md", 8]


def test_tabs_by_keys_and_by_commands(app: Open) -> None:
    page = app()
    shown = pane(page)
    tab = shown.get_by_role("tab", name="Related")
    expect(tab).to_have_attribute("aria-selected", "true")
    tab.press("ArrowLeft")
    expect(shown.get_by_role("tab", name="Ask")).to_be_focused()
    expect(shown.get_by_role("tabpanel", name="Ask")).to_be_visible()
    command(page, "related")
    expect(tab).to_be_focused()
    page.evaluate("(({editor}) => { editor.at = [0, 8]; })(app.workspace.main.view)")
    page.evaluate(
        "plugin.commands['ask-selection'].editorCheckCallback(false, app.workspace.main.view.editor)"
    )
    expect(shown.get_by_label("Question", exact=True)).to_have_value("One line")
    expect(shown.locator(".answer[aria-busy=false]")).to_be_visible()


def test_a_server_that_is_not_there(app: Open) -> None:
    page = app(address="http://127.0.0.1:9")
    told = page.get_by_role("status")
    expect(told).to_contain_text("notehop is not running")
    expect(told).to_contain_text('notehop serve --vault "/vaults/Demo"')
    expect(page.locator("iframe")).to_have_count(0)
    assert_accessible(page)


def test_a_note_that_is_not_indexed(app: Open) -> None:
    page = app()
    page.evaluate("app.vault.files.set('New.md', {path: 'New.md', basename: 'New', extension: 'md'})")
    for tab in ("related", "suggest"):
        page.evaluate("app.workspace.show('New.md')")
        command(page, tab)
        expect(pane(page).get_by_text("This note is not in the index")).to_be_visible()
    assert_accessible(inside(page))


def test_a_pane_that_does_not_load(app: Open, window: BrowserContext) -> None:
    window.add_init_script("const real = setTimeout; setTimeout = (call, ms) => real(call, ms / 10)")
    page = app()
    expect(pane(page).get_by_role("heading", level=1)).to_have_text("Hollin Reach")
    window.unroute("**/pane")
    window.route("**/pane", lambda route: route.fulfill(status=404, body="An older server."))
    page.evaluate("app.workspace.side[0].view.actions.Reload()")
    expect(page.get_by_role("status")).to_contain_text("The pane does not load")


def test_a_server_of_another_vault(app: Open) -> None:
    page = app(name="Elsewhere")
    expect(pane(page).get_by_role("alert")).to_contain_text(
        "answers for the vault “Demo”, and this one is “Elsewhere”"
    )
    assert_accessible(inside(page))


def test_the_token_goes_by_message_and_into_no_address(
    window: BrowserContext, guarded: str, hostile: tuple[Path, Path]
) -> None:
    asked: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    given = {"address": guarded, "secret": "mine"}
    page = open_app(window, hostile[0], guarded, data=given, secrets={"mine": "not the one"})
    page.evaluate("app.workspace.show('Bait.md')")
    command(page, "related")
    expect(pane(page).get_by_role("heading", name="The token is not the one")).to_be_visible()
    page.evaluate("(token) => { app.secretStorage.getSecret = () => token; }", TOKEN)
    page.evaluate("app.tab.display()")
    page.evaluate("app.tab.hide()")
    expect(pane(page).get_by_role("list", name="Related notes")).to_be_visible()
    assert not [url for url in asked if TOKEN in url]
    assert TOKEN not in pane(page).locator("body").evaluate(KEPT)
    assert TOKEN not in str(page.evaluate("app.data"))


def test_settings(app: Open, site: str) -> None:
    page = app(address="nonsense")
    expect(page.get_by_role("status")).to_contain_text("The address of the server is none")
    page.evaluate("app.tab.display()")
    page.get_by_label("Address").fill(site)
    page.get_by_label("Address").press("Enter")
    page.evaluate("app.tab.hide()")
    expect(pane(page).get_by_role("heading", level=1)).to_have_text("Hollin Reach")
    assert page.evaluate("app.data.address") == site
    # Nothing is changed: what the pane shows stays.
    pane(page).locator("body").evaluate("() => { document.title = 'kept'; }")
    page.evaluate("app.tab.display()")
    page.evaluate("app.tab.hide()")
    page.wait_for_timeout(500)
    assert pane(page).locator("body").evaluate("() => document.title") == "kept"


HOSTILE: list[dict[str, Any]] = [
    {"notehop": "constructor"},
    {"notehop": "link", "note": NOTE, "path": ["Hubs/Home.md"]},
    {"notehop": "link", "note": NOTE, "path": "Hubs/None.md"},
    {"notehop": "link", "note": NOTE, "path": "../../etc/passwd"},
    {"notehop": "link", "note": "Another.md", "path": "Hubs/Home.md"},
    {"notehop": "open", "path": {"toString": 1}, "line": 1, "at": "", "tab": False},
    {"notehop": "cite", "path": "Hubs/Home.md", "heading": "", "quote": "x" * 3000},
    {"notehop": "web", "url": "file:///etc/passwd"},
]


def test_messages_of_others_are_not_heard(app: Open) -> None:
    page = app()
    expect(pane(page).get_by_role("heading", level=1)).to_have_text("Hollin Reach")
    # The plugin, from the window itself: the right words from the wrong place.
    page.evaluate("(own) => postMessage({notehop: 'link', note: own, path: 'Hubs/Home.md'}, '*')", NOTE)
    # From the frame: the right place, and no words of its list.
    for message in HOSTILE:
        pane(page).locator("body").evaluate(
            "(_, [said, to]) => parent.postMessage(said, to)", [message, HERE]
        )
    # The pane, from its own window, which is not the app.
    pane(page).locator("body").evaluate("() => postMessage({notehop: 'theme', theme: 'dark'}, '*')")
    page.wait_for_timeout(300)
    assert text(page) == "One line.\n"
    assert page.evaluate("app.opened") == []
    assert pane(page).locator("html").get_attribute("data-theme") == "light"


def test_the_stub_is_what_the_plugin_uses() -> None:
    """`tools/check_obsidian.py` holds the list to the interface, and this stub and plugin to the list."""
    listed = json.loads((Path(__file__).parent / "obsidian_members.json").read_text())
    names = {re.match(r"\w+", one)[0] for members in listed.values() for one in members}
    plugin = (PLUGIN / "main.js").read_text()
    assert {name for name in names if not re.search(rf"\b{name}\b", plugin)} == set()
    stub = FILES["/stub.js"][1].partition("window.start")[0]
    defined = set(re.findall(r"^  (?:async )?(\w+)\(.*\) \{", stub, re.MULTILINE))
    own = {"trigger", "show", "named", "constructor"}
    assert defined - own - names == set()
    used = set(re.findall(r"\b(?:app|workspace|vault|editor|leaf|file)\.(\w+)", plugin))
    assert used - names - {"length", "map"} == set()


def test_the_pane_outside_the_app(window: BrowserContext, site: str, tmp_path: Path) -> None:
    """In a tab it asks for nothing; in the frame of another page a browser does not show it."""
    page = window.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/pane")
    expect(page.get_by_text("This is the side pane of Obsidian")).to_be_visible()
    assert not [url for url in asked if "/static/" not in url and not url.endswith("/pane")]
    assert_accessible(page)
    (tmp_path / "index.html").write_text(f"<iframe src='{site}/pane'></iframe>")
    serve = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        with page.expect_event("requestfailed", timeout=10_000) as failed:
            page.goto(f"http://localhost:{elsewhere.server_port}/")
        elsewhere.shutdown()
    assert "ERR_BLOCKED_BY_RESPONSE" in str(failed.value.failure)
