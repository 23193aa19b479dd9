"""A question about the whole vault is answered from its themes, where they are switched on."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.looks import Opened, assert_accessible, watched
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


def test_a_question_about_all_of_it(visit_themed: Callable[..., Opened]) -> None:
    page = visit_themed("").page
    page.get_by_label("Question").fill("What are the main themes of my vault?")
    page.get_by_label("Question").press("Enter")
    expect(page.locator(".answer[aria-busy=false]")).to_be_visible(timeout=30_000)
    expect(page.locator(".answer .heading").first).to_have_text(re.compile("Hollin Reach"))
    expect(page.locator("#cite-1")).to_have_class(re.compile("used"))
    assert_accessible(page)
