"""A browser, the servers that it talks to, and pages that forgive no error."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen
from playwright.sync_api import Browser, sync_playwright
from pydantic import PrivateAttr

from tests.browser.find_browser import find_browser
from tests.browser.looks import LOOKS, Look, Opened, watched
from tests.support.processes import notehop_serve
from tests.support.scripted_llm import ScriptedLLM
from tests.support.serving import serving

WITHOUT = "WITHOUT_BROWSER"
"""Set it to leave these tests out, on a machine that has no browser and shall have none."""

NO_BROWSER = "no Chromium or Chrome: run `make browser`, or name one with CHROMIUM=PATH"

FLAGS = (
    "--no-sandbox",  # root in a container has none; the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
)

TOKEN = "only-for-the-tests-of-the-page"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests last: Playwright keeps an event loop running, which others cannot have."""
    here = Path(__file__).parent
    ours = [item for item in items if item.path.is_relative_to(here)]
    items.sort(key=lambda item: item.path.is_relative_to(here))
    missing = f"{WITHOUT} is set" if os.environ.get(WITHOUT) else NO_BROWSER
    if missing != NO_BROWSER or find_browser() is None:
        for item in ours:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of all tests; each test has a profile of its own in it."""
    found = find_browser()
    assert found
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def site(demo: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of ``notehop serve`` over the demo vault, as users start it."""
    home = tmp_path_factory.mktemp("home")
    with notehop_serve(*demo, HOME=str(home)) as (url, process):
        yield url
        process.terminate()
        said = process.stderr.read()  # up to its end; behind the block the pipe is closed
    assert "Traceback" not in said


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Callable[..., Opened]]:
    """Open the page at an address, in a look; what goes wrong in it fails the test."""
    with watched(browser, site) as go:
        yield go


@pytest.fixture(
    params=[
        pytest.param(look, id=name, marks=() if name == "light" else pytest.mark.slow)
        for name, look in LOOKS.items()
    ]
)
def look(request: pytest.FixtureRequest) -> Look:
    """Light, dark and a phone."""
    found: Look = request.param
    return found


class SlowLLM(ScriptedLLM):
    """Says its words one by one, each when it may; without leave it waits."""

    _leave: threading.Semaphore = PrivateAttr(default_factory=lambda: threading.Semaphore(0))
    _said: list[str] = PrivateAttr(default_factory=list)

    def let(self, words: int) -> None:
        for _ in range(words):
            self._leave.release()

    @property
    def said(self) -> list[str]:
        return self._said

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> CompletionResponseGen:
        self._asked.append(prompt)
        text = ""
        for word in self.says.split(" "):
            if not self._leave.acquire(timeout=20):
                return
            text += f"{word} "
            self._said.append(word)
            yield CompletionResponse(text=text, delta=f"{word} ")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A vault of notes that would do harm if anything of them ran, and its index."""
    from tests.support.real_index import real_index

    root = tmp_path_factory.mktemp("hostile")
    vault = root / "Hostile <b>vault"
    (vault / ".obsidian").mkdir(parents=True)
    for name, text in HOSTILE.items():
        (vault / name).write_text(text, encoding="utf-8")
    real_index(vault, root / "index")
    return vault, root / "index"


HOSTILE = {
    "Trap <img src=x onerror=alert(1)>.md": (
        "---\naliases: ['<script>window.harmed=1</script>']\ntags: ['x<svg/onload=alert(1)>']\n"
        "---\n"
        "# The trap <script>window.harmed=1</script>\n"
        "A trap for otters <img src=x onerror='window.harmed=1'> and "
        "<svg onload='window.harmed=1'></svg> leads to [[Bait]].\n\n"
        "[click](javascript:window.harmed=1) "
        "[data](data:text/html,<script>window.harmed=1</script>) "
        "![tracking](http://192.0.2.1/pixel.png) "
        "[run](obsidian://advanced-uri?commandid=app:reload) <style>body{display:none}</style> "
        "{{constructor.constructor('window.harmed=1')()}} ${1+1}\n\n"
        "[a]: javascript:window.harmed=1\n\n[x][a] <iframe src='http://192.0.2.1/'></iframe>"
        " <a href='#' onclick='window.harmed=1'>pull</a> <form action='http://192.0.2.1/'>\n"
    ),
    "Bait.md": (
        'The bait lies behind the trap for otters. "><script>window.harmed=1</script> '
        "Back to [[Trap <img src=x onerror=alert(1)>|<img src=x onerror=window.harmed=1>]].\n"
    ),
}


@pytest.fixture(scope="session")
def slow() -> SlowLLM:
    return SlowLLM(says="Otters know the **trap** [1] and its bait [C1] , and not [19] .")


@pytest.fixture(scope="session")
def guarded(hostile: tuple[Path, Path], slow: SlowLLM) -> Iterator[str]:
    """A server with a token and a language model, over the hostile vault."""
    from tests.support.product import Workers, create_app, load_settings, open_vault, routes

    vault, index = hostile
    opened = open_vault(vault, index_dir=index, llm=slow)
    workers = Workers(load_settings().server)
    page = routes(workers.run)
    app = create_app(opened, tokens=(TOKEN,), routers=(page,), workers=workers)
    with serving(app) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def visit_guarded(browser: Browser, guarded: str) -> Iterator[Callable[..., Opened]]:
    with watched(browser, guarded) as go:
        yield go
