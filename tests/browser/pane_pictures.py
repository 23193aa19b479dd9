"""Makes the pictures of the side pane in docs/images: python -m tests.browser.pane_pictures"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import FLAGS
from tests.browser.find_browser import find_browser
from tests.browser.stub_app import ROOT, command, open_app, pane
from tests.support.processes import notehop_serve
from tests.support.product import demo_vault
from tests.support.real_index import real_index

IMAGES = ROOT / "docs" / "images"
NOTES = {
    "related": "Projects/Hollin Reach/Hollin Reach.md",
    "suggest": "Projects/Resilience Fund Bid.md",
}
QUESTION = "Who is Odile?"


def picture(browser: Browser, vault: Path, address: str, tab: str, *, dark: bool) -> None:
    look = "dark" if dark else "light"
    context = browser.new_context(
        viewport={"width": 340, "height": 640},
        device_scale_factor=1.5,
        color_scheme=look,
        has_touch=True,
    )
    page = open_app(context, vault, address, dark=dark)
    page.evaluate("(path) => app.workspace.show(path)", NOTES.get(tab, NOTES["related"]))
    command(page, tab)
    shown = pane(page)
    if tab == "ask":
        shown.get_by_label("Question").fill(QUESTION)
        shown.get_by_label("Question").press("Enter")
        shown.locator(".answer[aria-busy=false]").wait_for()
    shown.locator(".card").first.wait_for()
    shown.locator("body").evaluate("() => document.activeElement.blur()")
    page.wait_for_timeout(500)  # texts are rendered after the cards
    taken = Image.open(BytesIO(page.screenshot()))
    # A page has few colours: a palette of them takes a third.
    taken.quantize(128).save(IMAGES / f"pane-{tab}-{look}.png", optimize=True)
    context.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        vault = Path(shutil.copytree(demo_vault(), Path(folder) / "Demo"))
        real_index(vault, Path(folder) / "index")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        with notehop_serve(vault, Path(folder) / "index") as (address, _):
            for tab in ("related", "suggest", "ask"):
                for dark in (False, True):
                    picture(browser, vault, address, tab, dark=dark)
        browser.close()


if __name__ == "__main__":
    main()
