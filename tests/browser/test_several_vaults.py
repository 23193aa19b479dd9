"""The page and the side pane of a server of several vaults."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looks import Look, Opened, assert_accessible, assert_fits, watched
from tests.browser.stub_app import command, inside, open_app, pane
from tests.support.serving import serving

KITCHEN = {
    "Rye.md": "# Rye\nRye bread is baked on Sunday, says [[Oven]].\n",
    "Oven.md": "# Oven\nThe oven takes an hour. [[Rye]] comes first.\n",
}


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from tests.support.notes import write_notes
    from tests.support.real_index import real_index

    root = tmp_path_factory.mktemp("kitchen")
    vault = write_notes(root / "Kitchen", KITCHEN)
    real_index(vault, root / "index")
    return vault, root / "index"


@pytest.fixture(scope="module")
def two(demo: tuple[Path, Path], kitchen: tuple[Path, Path]) -> Iterator[str]:
    """A server of the demo vault and a small one."""
    from tests.support.product import Vaults, Workers, create_app, load_settings, open_vault, routes

    opened = [open_vault(vault, index_dir=index) for vault, index in (demo, kitchen)]
    workers = Workers(load_settings().server)
    vaults = Vaults({one.name: Vaults.of(one).first for one in opened})
    app = create_app(vaults, routers=(routes(workers.run),), workers=workers)
    with serving(app) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def visit_two(browser: Browser, two: str) -> Iterator[Callable[..., Opened]]:
    with watched(browser, two) as go:
        yield go


def switch(page: Page, to: str) -> None:
    """Go to another vault."""
    page.get_by_label("Vault").select_option(to)


def test_the_switch(visit_two: Callable[..., Opened], two: str, look: Look) -> None:
    page = visit_two("#/ask", look).page
    choice = page.get_by_label("Vault")
    expect(choice).to_be_visible()
    expect(choice.locator("option:checked")).to_have_text("Demo")
    expect(choice.locator("option")).to_have_text(["Demo", "Kitchen"])
    assert_accessible(page)
    assert_fits(page)

    page.goto(f"{two}/#/search?q=bread")
    switch(page, "Kitchen")
    expect(page.locator("#vault option:checked")).to_have_text("Kitchen")
    assert page.url == f"{two}/vaults/Kitchen/#/search?q=bread"
    cards = page.get_by_role("list", name="Results").locator(".card")
    expect(cards.first).to_contain_text("Rye")
    page.reload()
    expect(cards.first).to_contain_text("Rye")
    cards.first.get_by_role("link").first.click()
    note = page.get_by_role("complementary", name="Note")
    expect(note).to_contain_text("Kitchen")
    expect(note).to_contain_text("Rye bread is baked on Sunday")
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    expect(cards.first.get_by_role("link").first).to_be_focused()
    switch(page, "Demo")
    expect(page.locator("#vault option:checked")).to_have_text("Demo")
    assert page.url == f"{two}/#/search?q=bread"


@pytest.mark.parametrize("by", ["name", "folder"])
def test_the_pane_asks_the_vault_that_is_open(
    browser: Browser, two: str, kitchen: tuple[Path, Path], by: str
) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 700})
    context.set_default_timeout(20_000)
    page = open_app(context, kitchen[0], two, name="Kitchen" if by == "name" else "Elsewhere")
    folder = str(kitchen[0]) if by == "folder" else "/another/machine/Kitchen"
    page.evaluate("(folder) => { app.vault.adapter.getBasePath = () => folder; }", folder)
    page.evaluate("app.workspace.show('Oven.md')")
    command(page, "related")
    expect(pane(page).get_by_role("heading", level=1)).to_have_text("Oven")
    expect(pane(page).get_by_role("list", name="Related notes")).to_contain_text("Rye")
    assert_accessible(inside(page))
    context.unroute_all(behavior="ignoreErrors")
    context.close()
