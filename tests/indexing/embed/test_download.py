"""A hub model is fetched only when the settings allow it, and used offline ever after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.indexing.embed.conftest import embedding_settings
from tests.indexing.embed.fake_hub import NAME, Hub, running_hub


@pytest.fixture
def hub(make_model: Callable[..., Path]) -> Iterator[Hub]:
    folder = make_model(prompts={"query": "query: ", "passage": "passage: "})
    with running_hub() as server:
        server.files = {
            file.relative_to(folder).as_posix(): file.read_bytes()
            for file in folder.rglob("*")
            if file.is_file()
        }
        yield server


PROGRAM = """
import json, sys
from tests.support.product import EmbeddingSettings, ModelError, load_bulk

said = json.loads(sys.argv[1])
for allowed in (False, True, False, True):
    try:
        bulk = load_bulk(EmbeddingSettings(**(said | {"allow_download": allowed})))
        found = [bulk.card.name, bulk.card.prompts.passage, list(bulk.embed(["plan"]).shape)]
    except ModelError as error:
        found = str(error)
    print(json.dumps(found), flush=True)
    sys.stdin.readline()
"""


def loads(hub: Hub, tmp_path: Path) -> list[tuple[object, int]]:
    """What became of each of the four tries, and how many files the hub had sent until then."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    off = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    found = []
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, embedding_settings(NAME).model_dump_json()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**kept, **off, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")},
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for line in child.stdout:
            found.append((json.loads(line), len(hub.fetched)))
            child.stdin.write("\n")
            child.stdin.flush()
    assert child.returncode == 0
    return found


def test_fetched_once_then_offline(hub: Hub, tmp_path: Path) -> None:
    refused, fetched, offline, allowed = loads(hub, tmp_path)
    assert "embedding.allow_download = true" in str(refused[0])
    assert refused[1] == 0
    loaded = ([NAME, "passage: ", [1, 32]], len(hub.files))
    assert [fetched, offline, allowed] == [loaded] * 3


def test_files_that_are_not_what_the_hub_says_are_not_used(hub: Hub, tmp_path: Path) -> None:
    hub.lies = {name: data + b" " for name, data in hub.files.items()}
    for found, _ in loads(hub, tmp_path)[1::2]:
        assert "is not what" in str(found)
        assert "thrown away" in str(found)
