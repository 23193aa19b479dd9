"""One server, or one agent's, for several vaults: each by its name, with its own token, and one model."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import onnxruntime
import pytest

from notehop import open_vault
from tests.app.mcp.agent import agent
from tests.app.mcp.test_stdio import Process
from tests.support.commands import call, not_here
from tests.support.notes import write_notes
from tests.support.processes import notehop_serve_all, running, until
from tests.support.product import Vaults, Workers, load_settings, locate, open_place
from tests.support.real_index import lend_query_model, real_index

pytestmark = pytest.mark.model

HOME = {
    "Bread.md": "# Sourdough\nFeed the starter every morning, and bake the bread on Sunday.\n",
    "Tide.md": "# Tide\nThe tide at the jetty is highest at noon. See [[Bread]].\n",
}
WORK = {
    "Budget.md": "# Budget\nThe budget of the ferry was signed by Odile in March.\n",
    "Ferry.md": "# Ferry\nThe ferry runs twice a day, and its [[Budget]] is small.\n",
}
MAIN = "main-token-of-the-server"
OWN = "own-token-of-the-work-vault"


@dataclass(frozen=True, slots=True)
class Three:
    """Two vaults that are indexed, one that is not, and the variables of who owns them."""

    home: Path
    work: Path
    bare: Path
    variables: dict[str, str]

    @property
    def given(self) -> list[str]:
        return [f"--vault={self.home}", f"--vault=work={self.work}", f"--vault={self.bare}"]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Three:
    root = tmp_path_factory.mktemp("three")
    vaults = [
        write_notes(root / name, notes) for name, notes in (("Home", HOME), ("At Work", WORK), ("Bare", HOME))
    ]
    variables = {"HOME": str(root), "XDG_DATA_HOME": str(root / "data")}
    with pytest.MonkeyPatch.context() as patched:
        for name, value in variables.items():
            patched.setenv(name, value)
        for vault in vaults:
            (root / "data" / "notehop").mkdir(parents=True, exist_ok=True)
            lend_query_model(vault, locate(vault).layout.root)
        for vault in vaults[:2]:
            real_index(vault, locate(vault).layout.root)
    return Three(*vaults, variables)


@pytest.fixture(scope="module")
def url(three: Three) -> Iterator[str]:
    tokens = {"NOTEHOP_SERVER__TOKEN": MAIN, "NOTEHOP_TOKEN_WORK": OWN}
    given = {**three.variables, **tokens}
    with notehop_serve_all(*three.given, "--no-watch", **given) as (found, _):
        until(lambda: ask(found, "/health/ready").status_code == 200)
        until(lambda: ask(found, "/vaults/work/health/ready").status_code == 200)
        yield found


def ask(url: str, path: str, body: dict[str, Any] | None = None, token: str | None = MAIN) -> httpx.Response:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    method = "GET" if body is None else "POST"
    return httpx.request(method, url + path, json=body, headers=headers, timeout=60)


def hits(reply: httpx.Response) -> list[str]:
    assert reply.status_code == 200, reply.text
    return [hit["path"] for hit in reply.json()["hits"]]


def test_each_answers_below_its_name_and_the_first_at_the_root(url: str) -> None:
    for below, note in (("", "Tide.md"), ("/vaults/Home", "Tide.md"), ("/vaults/work", "Ferry.md")):
        found = hits(ask(url, f"{below}/search", {"query": "tide ferry budget"}))
        assert found[0] == note
        assert set(found) <= set(WORK if "work" in below else HOME)
        health = ask(url, f"{below}/health").json()
        assert health["vault"] == ("At Work" if "work" in below else "Home")
    answer = ask(url, "/vaults/work/query", {"query": "Who signed the budget of the ferry?"}).json()
    assert "Odile" in answer["answer"]
    assert "vault=At%20Work&" in answer["citations"][0]["uri"], "as the app has it"
    assert ask(url, "/vaults/work/notes/Bread").status_code == 404
    page = ask(url, "/vaults/work/web/notes/Ferry.md").json()
    assert page["vault"] == "At Work"
    for path in ("/vaults/work/", "/vaults/work/pane", "/vaults/work/docs"):
        assert ask(url, path).headers["content-type"].startswith("text/html")
    document = ask(url, "/vaults/work/openapi.json").json()
    assert document["servers"] == [{"url": "/vaults/work"}]
    assert document["paths"] == ask(url, "/openapi.json").json()["paths"]


def test_one_that_cannot_be_opened_leaves_the_others(url: str, three: Three) -> None:
    told = ask(url, "/vaults").json()["vaults"]
    assert [one["name"] for one in told] == ["Home", "work", "Bare"]
    assert [one["default"] for one in told] == [True, False, False]
    assert told[1]["url"] == "/vaults/work"
    assert (told[1]["vault"], told[1]["folder"]) == ("At Work", str(three.work))
    refused = ask(url, "/vaults/Bare/search", {"query": "bread"})
    assert refused.status_code == 503
    assert refused.json()["type"] == "urn:notehop:problem:index-missing"
    assert ask(url, "/vaults/Bare/health/ready").status_code == 503
    assert ask(url, "/vaults/Bare/health/live").status_code == 200
    none = ask(url, "/vaults/Nowhere/search", {"query": "x"})
    assert (none.status_code, none.json()["type"]) == (404, "urn:notehop:problem:vault-missing")
    assert ask(url, "/vaults/work/vaults/work/status").status_code == 404
    elsewhere = {"X-Forwarded-For": "192.0.2.1", "Authorization": f"Bearer {MAIN}"}
    there = httpx.get(f"{url}/vaults", headers=elsewhere).json()["vaults"]
    assert not any(one["folder"] for one in there)
    assert str(three.bare.parent) not in json.dumps(there)


OPENED = {
    "/status": (True, False, False),
    "/vaults/Home/status": (True, False, False),
    "/vaults/work/status": (True, True, False),
    "/vaults/work/vaults": (True, True, False),
    "/vaults": (True, True, False),
    "/openapi.json": (True, False, False),
    "/vaults/work/openapi.json": (True, True, False),
    "/vaults/work/": (True, True, True),
    "/vaults/work/health": (True, True, True),
    "/static/app.js": (True, True, True),
}


@pytest.mark.parametrize("path", OPENED)
def test_a_token_of_one_vault_opens_that_alone(url: str, path: str) -> None:
    found = [ask(url, path, token=token).status_code for token in (MAIN, OWN, None)]
    assert found == [200 if opens else 401 for opens in OPENED[path]]


def test_a_token_of_one_vault_is_told_of_that_alone(url: str) -> None:
    assert [one["name"] for one in ask(url, "/vaults", token=OWN).json()["vaults"]] == ["work"]
    refused = ask(url, "/search", {"query": "tide"}, token=OWN)
    assert refused.json()["detail"].startswith("this token is of another vault")
    begin = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert ask(url, "/mcp", begin, token=OWN).status_code == 401
    assert ask(url, "/vaults/work/mcp", begin, token=OWN).status_code == 400, "let in: no session"


@pytest.mark.usefixtures("url")
def test_commands_find_the_server_of_their_vault(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in three.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("notehop.app.services.open_vault.open_place", not_here)
    for vault, note in ((three.home, "Tide.md"), (three.work, "Ferry.md")):
        given = ["search", "tide ferry budget", "--json", "--vault", str(vault), "--debug"]
        told = call(*given)
        assert told.exit_code == 0, told.output
        assert json.loads(told.stdout)["hits"][0]["path"] == note


@pytest.fixture
def both(three: Three, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vaults]:
    for name, value in three.variables.items():
        monkeypatch.setenv(name, value)
    with open_vault(three.home) as home, open_vault(three.work) as work:
        yield Vaults({"Home": Vaults.of(home).first, "work": Vaults.of(work).first})


def test_an_agent_names_a_vault(both: Vaults) -> None:
    from tests.support.product import make_server

    server = make_server(both, Workers(load_settings().server).run)
    with agent(server) as one:
        tools = one.do(one.client.list_tools).tools
        assert all(
            tool.input_schema["properties"]["vault"]
            == {"type": "string", "enum": ["Home", "work"], "default": "Home"}
            for tool in tools
        )
        assert "Tide.md" in one.reply("smart_search", query="tide")
        assert "Ferry.md" in one.reply("smart_search", query="ferry", vault="work")
        assert "signed by Odile" in one.reply("read_note", note="Budget", vault="work")
        refused = one.refusal("read_note", note="Budget")
        assert "Budget" in refused
        assert "one of Home, work" in one.refusal("ask", question="why?", vault="Other")


def test_an_agent_starts_a_process_for_several(three: Three) -> None:
    given = ["mcp", "--no-watch", *three.given[:2]]
    with running(given, **three.variables) as child:
        process = Process(child)  # type: ignore[arg-type]
        told = process.begin()
        assert "2 Obsidian vaults on their machine, named Home, work" in told["instructions"]
        call = {"name": "smart_search", "arguments": {"query": "ferry", "vault": "work"}}
        process.ask(2, "tools/call", call)
        reply, _ = process.read_to(2)
        assert "Ferry.md" in reply["result"]["content"][0]["text"]
        process.leave()


def test_one_model_is_in_memory(both: Vaults, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    real = onnxruntime.InferenceSession

    def counting(*given: Any, **more: Any) -> Any:
        loaded.append(given)
        return real(*given, **more)

    monkeypatch.setattr("onnxruntime.InferenceSession", counting)
    home, work = (open_place(vault.place) for vault in both.values())
    with work:
        with home:
            assert home.search("tide").hits[0].path == "Tide.md"
            assert work.search("ferry").hits[0].path == "Ferry.md"
        assert len(loaded) <= 1, "none, where a test before holds the same model"
        assert work.search("budget").hits


NAMES = [(["{home}", "{work}"], ["Home", "At Work"]), (["a={home}", "b={work}"], ["a", "b"])]


@pytest.mark.parametrize(("given", "names"), NAMES)
def test_names(three: Three, given: list[str], names: list[str]) -> None:
    from tests.support.product import locate_all

    named = [one.format(home=three.home, work=three.work) for one in given]
    assert [*locate_all(named)] == names
    listed = {"server.vaults": named}
    assert [*locate_all((), overrides=listed)] == names


WRONG = [
    (["--vault={home}", "--vault={home}"], "is the vault Home already"),
    (["--vault=x={home}", "--vault=x={work}"], "two vaults are named x"),
    (["--vault=a/b={home}"], "no name holds a slash"),
    (["--vault={home}", "--vault={work}", "--index-dir=/tmp/x"], "the folder of one index"),
    (["--vault={home}", "--vault=/no/such/folder"], "/no/such/folder"),
]


@pytest.mark.parametrize(("given", "says"), WRONG)
def test_what_makes_no_sense_is_refused(three: Three, given: list[str], says: str) -> None:
    words = [one.format(home=three.home, work=three.work) for one in given]
    told = call("serve", "--port", "0", *words)
    assert told.exit_code == 2, told.output
    assert says in told.stderr


def test_tokens_of_vaults_need_one_of_the_server(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_TOKEN_AT_WORK", OWN)
    told = call("serve", "--port", "0", f"--vault={three.work}")
    assert told.exit_code == 2
    assert "set NOTEHOP_SERVER__TOKEN" in told.stderr
    assert "passed over" not in told.stderr
    monkeypatch.setenv("NOTEHOP_SERVER__TOKEN", MAIN)
    monkeypatch.setenv("NOTEHOP_TOKEN_AT_WORK", "short")
    told = call("serve", "--port", "0", f"--vault={three.work}")
    assert "NOTEHOP_TOKEN_AT_WORK: a token has 16" in told.stderr


@pytest.mark.slow
def test_first_indexes_are_made_while_the_others_answer(three: Three) -> None:
    notes = three.bare / "New.md"
    with notehop_serve_all(*three.given[::2], **three.variables) as (url, _):
        assert hits(ask(url, "/search", {"query": "tide"}, None))[0] == "Tide.md"
        until(lambda: ask(url, "/vaults/Bare/search", {"query": "bread"}, None).status_code == 200)
        notes.write_text("# Otter\nAn otter sleeps below the jetty.\n", "utf-8")
        until(lambda: "New.md" in hits(ask(url, "/vaults/Bare/search", {"query": "otter"}, None)))
