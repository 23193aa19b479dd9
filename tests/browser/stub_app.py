"""The app with the plugin in it, as far as its published interface goes, around a real server.

No browser here knows the app's scheme, so that it stands at another origin: the two places in which the
server names the app's are read with that one in its stead. What the server itself says is tested over HTTP.
"""

import json
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Frame, FrameLocator, Page, Route

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "app" / "obsidian"
HERE = "http://localhost:5"
THERE = "app://obsidian.md"

HOST = """<!doctype html><html lang="en"><head><title>App</title><link rel="stylesheet" href="/styles.css">
<style>body { margin: 0; display: flex; height: 100vh } #side { width: 100vw; height: 100% }
.view-content { height: 100% } h1 { position: absolute; clip-path: inset(50%) }</style></head>
<body><main id="side"><h1>App</h1></main><div id="settings"></div>
<script src="/stub.js"></script></body></html>"""

FILES = {
    "/": ("text/html", HOST),
    "/stub.js": ("text/javascript", (Path(__file__).parent / "obsidian_stub.js").read_text()),
    "/styles.css": ("text/css", (PLUGIN / "styles.css").read_text()),
}


def open_app(context: BrowserContext, vault: Path, address: str, **given: Any) -> Page:
    """The app over a vault with the plugin loaded, and no pane yet.

    :param address: of the server, in the plugin's settings.
    :param given: name, secrets, dark and data, for the stub.
    """

    def served(route: Route) -> None:
        kind, body = FILES[route.request.url.removeprefix(HERE)]
        route.fulfill(content_type=kind, body=body)

    def renamed(route: Route) -> None:
        reply = route.fetch()
        headers = {name: value.replace(THERE, HERE) for name, value in reply.headers.items()}
        route.fulfill(response=reply, headers=headers, body=reply.text().replace(THERE, HERE))

    def requested(url: str, headers: dict[str, str]) -> tuple[int, str]:
        try:
            reply = httpx.get(url, headers=headers)
        except httpx.ConnectError as exc:
            raise ConnectionError from exc
        return reply.status_code, reply.text

    context.route(f"{HERE}/**", served)
    context.route("**/pane", renamed)
    context.route("**/static/pane.js", renamed)
    page = context.new_page()
    page.expose_function("requested", requested)
    page.goto(f"{HERE}/")
    paths = [path.relative_to(vault).as_posix() for path in sorted(vault.rglob("*.md"))]
    page.evaluate(
        "(given) => start(given)",
        {
            "main": (PLUGIN / "main.js").read_text(),
            "manifest": json.loads((PLUGIN / "manifest.json").read_text()),
            "name": vault.name,
            "paths": paths,
            "data": {"address": address},
            "secrets": {},
            "dark": False,
            **given,
        },
    )
    return page


def command(page: Page, name: str) -> None:
    """What the command palette does."""
    page.evaluate("(name) => plugin.commands[name].callback()", name)


def pane(page: Page) -> FrameLocator:
    return page.frame_locator("iframe.notehop-frame")


def inside(page: Page) -> Frame:
    """The pane's own document, for what looks at documents."""
    return next(frame for frame in page.frames if frame.url.endswith("/pane"))
