"""How the page is looked at, what it must not do meanwhile, and what a check of it says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Frame, Page, Request, Response, expect


@dataclass(frozen=True, slots=True)
class Look:
    """A size of the window and a theme."""

    width: int = 1280
    height: int = 860
    theme: Literal["light", "dark"] = "light"
    touch: bool = False


LOOKS = {"light": Look(), "dark": Look(theme="dark"), "phone": Look(width=390, height=844, touch=True)}


@dataclass(slots=True)
class Opened:
    """A page, and what went wrong in it. ``allowed`` are errors that a test provokes."""

    page: Page
    base: str
    wrong: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def at(self, address: str) -> Page:
        self.page.goto(f"{self.base}/{address}")
        return self.page

    def allow(self, *errors: str) -> None:
        """Errors that hold one of these are meant to happen."""
        self.allowed.extend(errors)

    def check(self) -> None:
        wrong = [one for one in self.wrong if not any(part in one for part in self.allowed)]
        assert not wrong, "\n".join(wrong)


@contextmanager
def watched(browser: Browser, base: str) -> Iterator[Callable[..., Opened]]:
    """A function that opens pages; at the end all of them must have gone without an error."""
    contexts: list[BrowserContext] = []
    opened: list[Opened] = []

    def go(address: str = "", look: Look = LOOKS["light"], **options: Any) -> Opened:
        context = browser.new_context(
            viewport={"width": look.width, "height": look.height},
            color_scheme=look.theme,
            has_touch=look.touch,
            is_mobile=look.touch,
            locale="en-GB",
            **options,
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        one = Opened(context.new_page(), base)
        _watch(one)
        opened.append(one)
        one.at(address)
        return one

    yield go
    for context in contexts:
        context.close()
    for one in opened:
        one.check()


def _watch(opened: Opened) -> None:
    page, wrong = opened.page, opened.wrong

    def request(asked: Request) -> None:
        if not asked.url.startswith((opened.base, "data:")):
            wrong.append(f"asked of another host: {asked.url}")

    def failed(asked: Request) -> None:
        # The page ends requests itself: on Stop, and when a view is left.
        if asked.failure != "net::ERR_ABORTED":
            wrong.append(f"failed: {asked.url}: {asked.failure}")

    def response(got: Response) -> None:
        if got.status >= 400:
            wrong.append(f"status {got.status}: {got.url}")

    page.on("console", lambda told: wrong.append(f"console {told.type}: {told.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", request)
    page.on("requestfailed", failed)
    page.on("response", response)


def asked(page: Page) -> Page:
    """The page, once the question that came with its address is asked: that takes its user."""
    expect(page.get_by_text("Press Enter to ask it").first).to_be_visible()
    page.get_by_label("Question", exact=True).press("Enter")
    return page


def assert_accessible(page: Page | Frame) -> None:
    """Find nothing against the rules of axe-core: WCAG A and AA, and good practice."""
    results = Axe().run(page, options={"resultTypes": ["violations"]})
    assert results.violations_count == 0, results.generate_report()


def assert_fits(page: Page) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"the page is {wide} px wider than the window"
