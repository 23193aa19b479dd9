"""The examples of docs/http.md work as they stand."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.product import create_app, locate, open_place
from tests.support.serving import serving

pytestmark = pytest.mark.model

PAGE = (Path(__file__).parents[3] / "docs" / "http.md").read_text(encoding="utf-8")
HOME = "127.0.0.1:8765"

EXAMPLES = [
    example.strip()
    for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    for example in re.split(r"^(?=curl )", block, flags=re.MULTILINE)
    if HOME in example
]


@pytest.fixture(scope="module")
def home(demo: tuple[Path, Path]) -> Iterator[str]:
    """Where the demo vault is served: ``HOST:PORT``."""
    folder, index = demo
    before = set(folder.rglob("*"))
    opened = open_place(locate(folder, index_dir=index))
    with serving(create_app(opened)) as port:
        opened.warm()
        yield f"127.0.0.1:{port}"
    for path in sorted(set(folder.rglob("*")) - before, reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def test_every_route_has_an_example() -> None:
    routes = set(re.findall(r"`(?:POST|GET) (/[a-z/]+)", PAGE))
    # It takes a setting of its own.
    routes -= {"/themes"}
    shown = "\n".join(EXAMPLES)
    assert routes >= {"/query", "/query/stream", "/notes/", "/capture"}
    assert {route for route in routes if f"{HOME}{route}" not in shown} <= {"/health"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.split(HOME)[1][:24].strip())
def test_an_example_works(home: str, demo: tuple[Path, Path], example: str) -> None:
    given = example.replace(HOME, home).replace("/vaults/work/", f"/vaults/{demo[0].name}/")
    done = subprocess.run(
        ["bash", "-euc", f"{given} --fail"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    if "/stream" in example:
        assert re.findall(r"^event: (\w+)", done.stdout, re.MULTILINE)[-1] == "done"
    else:
        assert json.loads(done.stdout)
