"""What the command line prints where, and how it ends."""

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.commands import call, options
from tests.support.notes import write_notes
from tests.support.product import app
from tests.support.real_index import real_index
from tests.support.tables import rows


def told(result: Result, code: int) -> str:
    """The one message of a refusal; nothing else may be printed."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("error: ")
    return result.stderr


COMMANDS = [str(one.name) for one in app.registered_commands]


def test_no_command_shows_the_commands() -> None:
    assert len(COMMANDS) >= 14
    for name in COMMANDS:
        assert name in call("--help").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_common_options(name: str) -> None:
    shown = call(name, "--help").stdout
    for option in ("--vault", "--index-dir", "--config", "--debug"):
        assert option in shown
    # These two talk for as long as they run.
    assert ("--json" in shown) is (name not in ("chat", "mcp"))


def test_links_in_the_vault_around_the_current_folder(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (vault, vault / "people"):
        monkeypatch.chdir(folder)
        assert len(json.loads(call("links", "--json").stdout)) == 4
        assert len(json.loads(call("links", "Atlas", "--json").stdout)) == 2


@pytest.mark.parametrize(("arguments", "says"), rows(__file__, "usage_errors"))
def test_usage_errors(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("text\n")
    (tmp_path / "folder").mkdir()
    assert says in told(call(*arguments), 2)


@pytest.mark.model
@pytest.mark.parametrize("command", ["ask", "search"])
@pytest.mark.parametrize(
    ("query", "says"),
    [
        pytest.param(" ", "the query is empty", id="empty"),
        pytest.param("x" * 100_000, "10,000 is the most", id="long"),
    ],
)
def test_queries_that_cannot_be_run(command: str, query: str, says: str, indexed: tuple[Path, Path]) -> None:
    assert says in told(call(command, query, *options(*indexed)), 2)


@pytest.mark.parametrize("said", rows(__file__, "what_the_parser_refuses"))
def test_what_the_parser_refuses(said: str) -> None:
    result = call(*said.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage:" in result.stderr


def test_an_option_before_the_command_is_told_where_it_stands() -> None:
    assert "stand behind its name" in call("--vault", ".", "links").stderr
    assert "--vault" in call("chat", ".").stderr
    assert '"open tasks"' in call("tasks").stderr


@pytest.mark.parametrize(
    "arguments", [["ask", "q"], ["browse", "A"], ["status"], ["serve", "--no-watch", "--port", "0"]]
)
def test_a_missing_index_names_the_command_that_makes_it(
    arguments: list[str], vault: Path, tmp_path: Path
) -> None:
    where = ["--vault", str(vault), "--index-dir", str(tmp_path / "none")]
    assert shlex.join(["notehop", "index", *where]) in told(call(*arguments, *where), 1)


def test_an_unforeseen_error_is_one_line(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by zero\nmore")

    monkeypatch.setattr("notehop.app.services.links.list_links", fail)
    result = call("links", "--vault", vault)
    assert told(result, 1) == ("error: unexpected ZeroDivisionError: by zero; --debug shows the traceback\n")
    shown = call("links", "--vault", vault, "--debug")
    assert shown.exit_code == 1
    assert "Traceback" in shown.stderr
    assert "ZeroDivisionError" in shown.stderr


def test_ctrl_c(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("notehop.app.services.links.list_links", stop)
    result = call("links", "--vault", vault)
    assert (result.exit_code, result.stdout) == (130, "")


@pytest.mark.parametrize("said", rows(__file__, "an_empty_path_is_not_the_current_folder"))
def test_an_empty_path_is_not_the_current_folder(
    said: str, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(vault)
    result = call(*said.split(" "))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "path is empty" in result.stderr


def test_an_ambiguous_link_names_the_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "v" / name).mkdir(parents=True)
        (tmp_path / "v" / name / "Log.md").write_text("text\n")
    (tmp_path / "v" / "Here.md").write_text("[[Log]]\n")
    told = call("links", "--vault", tmp_path / "v").stdout
    assert "-> a/Log.md or b/Log.md  (link, ambiguous)" in told


def test_a_name_forges_no_line(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "a\n9 links: 9 resolved.md").write_text("[[b\nc]] [x](<b%0Ac.md>)\n")
    (tmp_path / "v" / "b\nc.md").write_text("text\n")
    (tmp_path / "v" / "gone\nerror: x.md").symlink_to("nowhere")
    result = call("links", "--vault", tmp_path / "v")
    assert result.stdout.startswith("a␊9 links: 9 resolved.md:2  ")
    assert "-> b␊c.md" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 link: 1 resolved"
    assert result.stderr.splitlines() == ["warning: gone␊error: x.md: symbolic link that leads nowhere"]


def test_a_terminal_is_never_told_what_to_do_by_a_note(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "a.md").write_text("[[x\x1bcowned\x07]] [[\u202etxt]]\n")
    shown = call("links", "--vault", tmp_path / "v").stdout
    assert not {"\x1b", "\x07", "\u202e"}.intersection(shown)
    assert "owned" in shown


@pytest.mark.model
def test_ask_shows_citations_and_then_connected_notes(indexed: tuple[Path, Path]) -> None:
    shown = call("ask", "When is the launch of Atlas?", "-k", "1", "--order", "rank", *options(*indexed))
    answer, citations = shown.stdout.split("\nCitations\n")
    assert "14 June 2027" in answer
    assert "[1]" in answer
    cited, connected = citations.split("\nConnected notes  context, not evidence\n")
    assert "[1] Atlas > Timeline  Atlas.md:7" in cited
    assert "[C1]" in connected
    assert "linked from source 1" in connected
    assert shown.stderr == ""


@pytest.mark.model
def test_a_search_shows_what_matched(tmp_path: Path) -> None:
    above = (
        "The ferry leaves at nine, and the deck is wet before that. Nobody waits for those who are late. " * 4
    )
    text = f"{above}\n\n- paint the rails\n- the varnish needs two days\n- oil the blocks\n"
    folder = write_notes(tmp_path / "vault", {"Jobs.md": text})
    real_index(folder, tmp_path / "index")
    for query in ("varnishing", "varnisch"):
        hit = call("search", query, *options(folder, tmp_path / "index")).stdout
        assert "the varnish needs two days" in hit
    assert "    The ferry leaves" in call("search", "nine", *options(folder, tmp_path / "index")).stdout


@pytest.mark.model
def test_notes_that_may_have_changed(indexed: tuple[Path, Path]) -> None:
    extra = indexed[0] / "New.md"
    extra.write_text("A new note.\n")
    try:
        shown = call("search", "sourdough", *options(*indexed))
    finally:
        extra.unlink()
    assert shown.stderr == ("warning: 1 note may have changed since the index was made; run: notehop index\n")


def test_an_exact_path_names_its_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a note of another case, a file that is none, and a folder from which a shell completes."""
    for name in ("Note", "note", "LICENSE"):
        (tmp_path / f"{name}.md").write_text(f"[[to {name}]]\n")
    (tmp_path / "LICENSE").write_text("Free.\n")
    monkeypatch.chdir(tmp_path)
    for name in ("Note", "note.md", "LICENSE"):
        assert f"to {name.removesuffix('.md')}" in call("links", name, "--vault", ".").output
