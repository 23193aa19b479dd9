"""What /openapi.json says is enough for the generators people use: their clients work as made."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import create_app
from tests.support.serving import serving

pytestmark = pytest.mark.model

QUESTION = "What is the timeline of Hollin Reach?"


@pytest.fixture(scope="module")
def url(demo: tuple[Path, Path]) -> Iterator[str]:
    vault, index = demo
    with serving(create_app(open_vault(vault, index_dir=index))) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def document(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schema") / "openapi.json"
    with urllib.request.urlopen(f"{url}/openapi.json") as reply:
        path.write_bytes(reply.read())
    return path


def run(*command: str, cwd: Path) -> str:
    """What a program printed; it must succeed."""
    # The generators look for ruff beside the interpreter that runs them.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_client_of_openapi_python_client_asks(url: str, document: Path, tmp_path: Path) -> None:
    generate = "from openapi_python_client.cli import app; app(prog_name='generate')"
    said = run(
        *("-c", generate, "generate", "--path", str(document), "--meta", "none"),
        *("--output-path", str(tmp_path / "made_client")),
        cwd=tmp_path,
    )
    assert "Unable to" not in said, said
    program = f"""
from made_client import Client
from made_client.api.queries import query, search
from made_client.api.notes import read_note
from made_client.models import Answer, Filters, Problem, Query, SearchQuery
client = Client("{url}")
answer = query.sync(client=client, body=Query(query={QUESTION!r}, top_k=3))
assert isinstance(answer, Answer), answer
assert answer.answer and answer.sources, answer
found = search.sync(client=client, body=SearchQuery(query="", filters=Filters(type_="project")))
assert found.hits, found
refused = query.sync(client=client, body=Query(query=" "))
assert isinstance(refused, Problem) and refused.status == 422, refused
missing = read_note.sync("No such note", client=client)
assert isinstance(missing, Problem) and missing.type_.endswith("note-missing"), missing
print(answer.sources[0].path)
"""
    assert run("-c", program, cwd=tmp_path).strip().endswith(".md")


@pytest.mark.slow
def test_models_of_datamodel_code_generator_read_a_reply(url: str, document: Path, tmp_path: Path) -> None:
    run(
        *("-m", "datamodel_code_generator", "--input", str(document), "--output", "made_models.py"),
        *("--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel"),
        *("--target-python-version", "3.11", "--formatters", "builtin"),
        cwd=tmp_path,
    )
    named = list(json.loads(document.read_bytes())["components"]["schemas"])
    program = f"""
import json, urllib.request, made_models as made
body = made.Query(query={QUESTION!r}, top_k=3).model_dump_json(by_alias=True, exclude_unset=True)
request = urllib.request.Request(
    "{url}/query", body.encode(), {{"Content-Type": "application/json"}})
with urllib.request.urlopen(request) as reply:
    answer = made.Answer.model_validate_json(reply.read())
assert answer.answer and answer.sources
kinds = [name for name, kind in vars(made).items() if isinstance(kind, type)]
# A number behind the name of a schema tells that a class was made of it twice.
twice = [name for name in kinds if name[-1].isdigit() and name.rstrip("0123456789") in {named}]
assert not twice, twice
events = urllib.request.Request(
    "{url}/query/stream", body.encode(), {{"Content-Type": "application/json"}})
with urllib.request.urlopen(events) as reply:
    data = [line[6:] for line in reply.read().decode().splitlines() if line.startswith("data: ")]
told = [made.StreamEvent.model_validate_json(line).root for line in data]
assert isinstance(told[0], made.SourcesEvent) and isinstance(told[-1], made.DoneEvent), told
print(len(kinds))
"""
    assert int(run("-c", program, cwd=tmp_path)) < 150
