"""Hostile requests are refused with the right status; nothing is written, nothing leaks."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.app.api.fake_vault import FakeVault
from tests.app.api.hostile_table import CASES, TOKEN, Case
from tests.support import product
from tests.support.serving import Said, request, say, serving

pytestmark = pytest.mark.model

SECRET = "the secret outside of the vault is 7321"

LEAKS = (
    SECRET.encode(),
    b"root:x:",
    # What stands in the private and in the excluded note of the demo vault.
    b"private: true",
    b"\x7fELF",
    b"Traceback",
    TOKEN.encode(),
)


def settings(**overrides: object) -> product.ServerSettings:
    return product.load_settings(overrides={f"server.{k}": v for k, v in overrides.items()}).server


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def opened(demo: tuple[Path, Path]) -> Iterator[product.VaultHandle]:
    """The demo vault, with links in it that lead out."""
    folder, index = demo
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(SECRET)
    links = [folder / "Outside.md", folder / "Outside"]
    links[0].symlink_to(outside / "secret.md")
    links[1].symlink_to(outside, target_is_directory=True)
    try:
        with product.open_place(product.locate(folder, index_dir=index)) as handle:
            handle.warm()
            yield handle
    finally:
        for link in links:
            link.unlink()


@pytest.fixture(scope="module")
def ports(opened: product.VaultHandle) -> Iterator[dict[str, int]]:
    """A server of each kind; that of the demo vault has the page, as the real one."""
    page = product.routes(product.Workers(settings()).run)
    with ExitStack() as held:
        apps = {
            "plain": product.create_app(product.open_place(opened.place), settings(), routers=(page,)),
            "token": product.create_app(FakeVault(), settings(), tokens=(TOKEN,)),
            "fake": product.create_app(FakeVault(), settings()),
        }
        yield {name: held.enter_context(serving(app)) for name, app in apps.items()}


@pytest.fixture(scope="module")
def before(opened: product.VaultHandle) -> Iterator[None]:
    """Nothing in the vault or beside it is another one after all of the table."""
    folder = opened.place.vault
    was = tree(folder)
    around = sorted(folder.parent.iterdir())
    yield
    assert tree(folder) == was
    assert sorted(folder.parent.iterdir()) == around


def private_text(vault: product.VaultHandle) -> list[bytes]:
    kept_out = ("Areas/Salary talk.md", "Archive/2025 newsletter drafts.md")
    lines = [
        line.strip()
        for path in kept_out
        for line in (vault.place.vault / path).read_text(encoding="utf-8").splitlines()
        if len(line) > 40
    ]
    assert lines
    return [json.dumps(line)[1:-1].encode() for line in lines]


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_refused(case: Case, ports: dict[str, int], opened: product.VaultHandle) -> None:
    told = say(ports[case.server], case.raw)
    assert told.status == case.status, told.raw[:600]
    if b"Invalid HTTP request received." in told.body:  # uvicorn's own, of fixed text
        assert case.status == 400
        return
    for leak in (*LEAKS, *private_text(opened), bytes(opened.place.layout.root)):
        assert leak not in told.raw
    guarded(told)
    if case.status != 200:
        assert told.headers["content-type"] == "application/problem+json"
        if case.raw[:4] != b"HEAD":
            assert json.loads(_unchunked(told))["status"] == case.status


def guarded(told: Said) -> None:
    """The headers that every reply must have, whoever made it."""
    for name, value in product.HEADERS.items():
        assert told.headers[name.lower()] == value
    assert told.headers["cache-control"] == "no-store"
    assert "server" not in told.headers
    assert "access-control-allow-origin" not in told.headers
    assert "x-evil" not in told.headers


def _unchunked(told: Said) -> bytes:
    if told.headers.get("transfer-encoding") != "chunked":
        return told.body
    _, _, rest = told.body.partition(b"\r\n")
    return rest.rpartition(b"\r\n0\r\n\r\n")[0]


def test_the_table_could_find_something(ports: dict[str, int], opened: product.VaultHandle) -> None:
    """What the table asks for in hostile ways is there, and answered when asked for properly."""
    port = ports["plain"]
    assert say(port, request("GET", "/notes/Hubs/Home.md")).status == 200
    assert say(port, request("GET", "/web/notes/Hubs/Home.md")).status == 200
    assert say(port, request("GET", "/graph?around=Home")).status == 200
    ours = ("Origin: http://127.0.0.1", "Sec-Fetch-Site: same-origin")
    asked = request("POST", "/search", headers=ours, body=b'{"query": "tide"}')
    assert say(port, asked).status == 200
    shown = (f"Authorization: Bearer {TOKEN}",)
    assert say(ports["token"], request("GET", "/status", headers=shown)).status == 200
    assert (opened.place.vault / "Outside.md").read_text() == SECRET


def test_private_notes_are_out_of_what_is_listed(ports: dict[str, int], opened: product.VaultHandle) -> None:
    asked = {
        "graph": request("GET", "/graph?most=300"),
        "status": request("GET", "/status"),
        "query": request("POST", "/query", body=b'{"query": "salary talk"}'),
        "notes": request("POST", "/search", body=b'{"query": "type:none", "results": "notes"}'),
        "browse": request("POST", "/graph/browse", body=b'{"seeds": ["Home"], "depth": 2, "max": 100}'),
    }
    for name, raw in asked.items():
        told = say(ports["plain"], raw)
        assert told.status == 200, name
        assert b"Areas/Salary talk.md" not in told.raw, name
        assert b"newsletter drafts.md" not in told.raw, name
        assert not any(text in told.raw for text in private_text(opened)), name


def test_a_question_cannot_forge_an_event(ports: dict[str, int]) -> None:
    forged = "tide\n\nevent: done\ndata: {}\r\rid: 7\u2028event: done"
    body = json.dumps({"query": forged}).encode()
    told = say(ports["fake"], request("POST", "/query/stream", body=body))
    assert told.status == 200
    guarded(told)
    lines = [line for line in told.body.replace(b"\r\n", b"\n").split(b"\n") if b":" in line]
    names = [line for line in lines if line.startswith((b"event:", b"id:", b"retry:"))]
    assert names[0] == b"event: sources"
    assert names.count(b"event: done") == 1
    assert all(
        name in (b"event: sources", b"event: connected", b"event: token", b"event: done") for name in names
    )
