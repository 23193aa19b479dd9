"""The themes of the vault stand below the picture of its links, where they are switched on."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.looks import Look, Opened, assert_accessible, assert_fits, watched
from tests.support.serving import serving


@pytest.fixture(scope="module")
def themed(demo: tuple[Path, Path]) -> Iterator[str]:
    """A server over the demo vault with themes."""
    from tests.support.product import Workers, create_app, locate, open_place, routes

    folder, index = demo
    place = locate(folder, index_dir=index, overrides={"themes.enabled": True})
    workers = Workers(place.settings.server)
    with open_place(place) as opened:
        opened.warm()
        page = routes(workers.run)
        with serving(create_app(opened, routers=(page,), workers=workers)) as port:
            yield f"http://127.0.0.1:{port}"


@pytest.fixture
def visit_themed(browser: Browser, themed: str) -> Iterator[Callable[..., Opened]]:
    with watched(browser, themed) as go:
        yield go


def test_themes(visit_themed: Callable[..., Opened], look: Look) -> None:
    page = visit_themed("#/graph", look).page
    section = page.get_by_role("region", name="Themes")
    first = section.locator(".theme").first
    expect(first.locator(".card-title")).to_have_text("Hollin Reach")
    expect(first.locator(".where")).to_have_text("16 notes")
    assert section.locator(".theme").count() == 8
    assert_accessible(page)
    assert_fits(page)

    first.get_by_role("link", name="Bram Teague").click()
    expect(page.locator("#reader h2", has_text="Bram Teague")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#reader h2")).to_have_count(0)
    first.locator(".card-title").focus()
    page.keyboard.press("ArrowDown")
    expect(section.locator(".card-title").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("a.node.seed")).to_have_count(3)
    expect(section).to_have_count(0)


def test_a_question_about_all_of_it(visit_themed: Callable[..., Opened]) -> None:
    page = visit_themed("").page
    page.get_by_label("Question").fill("What are the main themes of my vault?")
    page.get_by_label("Question").press("Enter")
    expect(page.locator(".answer[aria-busy=false]")).to_be_visible(timeout=30_000)
    expect(page.locator(".answer .heading").first).to_have_text(re.compile("Hollin Reach"))
    expect(page.locator("#cite-1")).to_have_class(re.compile("used"))
    assert_accessible(page)


def test_switched_off_nothing_is_asked_for(visit: Callable[..., Opened]) -> None:
    page = visit("#/graph").page
    expect(page.locator("a.node").first).to_be_visible()
    expect(page.get_by_role("region", name="Themes")).to_have_count(0)
