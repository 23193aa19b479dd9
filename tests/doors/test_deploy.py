"""The files in ``deploy/``: what they say to notehop and to Chroma is what those understand."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.support.chroma_run import chroma_program
from tests.support.commands import printed
from tests.support.product import load_settings

DEPLOY = Path(__file__).parents[2] / "deploy"

SERVICES: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]

OURS = ("writer", "reader-1", "reader-2")


def filled_in(value: str) -> str:
    """A value as compose hands it on: variables by their default, or a word."""
    return re.sub(r"\$\{\w+(?::([-?])([^}]*))?\}", lambda m: m[2] if m[1] == "-" else "word", value)


@pytest.mark.parametrize("name", OURS)
def test_what_notehop_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = SERVICES[name]
    printed(*service["command"], "--help")
    for variable, value in service["environment"].items():
        monkeypatch.setenv(variable, filled_in(value))
    settings = load_settings()
    addresses = (settings.catalog.url, settings.chroma.url)
    hosts = [str(urlsplit(address).hostname) for address in addresses]
    assert hosts == ["postgres", "chroma"]
    assert set(hosts) <= set(settings.privacy.allow_hosts) & SERVICES.keys()
    assert settings.vectors.engine == "chroma"
    if "serve" in service["command"]:
        # It listens for other machines.
        assert settings.server.token is not None


def test_what_chroma_is_told() -> None:
    service = SERVICES["chroma"]
    asked = [chroma_program(), *service["command"], "--help"]
    assert subprocess.run(asked, capture_output=True, check=False).returncode == 0


def test_the_proxy_asks_readers_by_a_name_that_they_answer_for() -> None:
    said = (DEPLOY / "Caddyfile").read_text()
    [readers] = re.findall(r"reverse_proxy (.*) \{", said)
    assert readers.split() == [f"{name}:8765" for name in OURS[1:]]
    assert re.search(r"health_headers \{\s+Host localhost\s+\}", said)


def test_every_variable_that_compose_needs_is_in_the_example() -> None:
    needed = set(re.findall(r"\$\{(\w+):\?", json.dumps(SERVICES)))
    example = (DEPLOY / "env.example").read_text()
    assert needed <= set(re.findall(r"^(\w+)=", example, re.MULTILINE))
