"""Makes the pictures in docs/images, of the page and of the side pane: python -m tools.pictures"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import FLAGS
from tests.browser.find_browser import find_browser
from tests.browser.stub_app import ROOT, command, open_app, pane
from tests.support.processes import notehop_serve
from tests.support.product import demo_vault
from tests.support.real_index import real_index

IMAGES = ROOT / "docs" / "images"
NOTES = {"related": "Projects/Hollin Reach/Hollin Reach.md", "suggest": "Projects/Resilience Fund Bid.md"}
QUESTION = "Who is Odile?"
ON_THE_PAGE = "What is the timeline of Hollin Reach?"


def of_the_page(browser: Browser, address: str, look: str) -> None:
    context = browser.new_context(
        viewport={"width": 1240, "height": 900}, device_scale_factor=1.25, color_scheme=look
    )
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Question").fill(ON_THE_PAGE)
    page.get_by_label("Question").press("Enter")
    page.locator(".answer[aria-busy=false]").wait_for()
    page.locator(".card.connected").first.wait_for()
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    taken(page, f"page-{look}.png")
    context.close()


def of_the_pane(browser: Browser, vault: Path, address: str, tab: str, look: str) -> None:
    context = browser.new_context(
        viewport={"width": 340, "height": 640}, device_scale_factor=1.5, color_scheme=look, has_touch=True
    )
    page = open_app(context, vault, address, dark=look == "dark")
    page.evaluate("(path) => app.workspace.show(path)", NOTES.get(tab, NOTES["related"]))
    command(page, tab)
    shown = pane(page)
    if tab == "ask":
        shown.get_by_label("Question").fill(QUESTION)
        shown.get_by_label("Question").press("Enter")
        shown.locator(".answer[aria-busy=false]").wait_for()
    shown.locator(".card").first.wait_for()
    shown.locator("body").evaluate("() => document.activeElement.blur()")
    taken(page, f"pane-{tab}-{look}.png")
    context.close()


def taken(page: Page, name: str) -> None:
    page.wait_for_timeout(500)  # texts are rendered after the cards
    picture = Image.open(BytesIO(page.screenshot()))
    # A page has few colours: a palette of them takes a third.
    picture.quantize(128).save(IMAGES / name, optimize=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        vault = Path(shutil.copytree(demo_vault(), Path(folder) / "Demo"))
        real_index(vault, Path(folder) / "index")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        with notehop_serve(vault, Path(folder) / "index") as (address, _):
            for look in ("light", "dark"):
                for tab in ("related", "suggest", "ask"):
                    of_the_pane(browser, vault, address, tab, look)
                of_the_page(browser, address, look)
        browser.close()


if __name__ == "__main__":
    main()
