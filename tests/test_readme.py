"""README and pages say what the product does: generated parts are current, examples run as written."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.product import demo_vault

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON_PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README + PYTHON_PAGE, re.DOTALL)
SHELL = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
NOTEHOP = Path(sys.executable).with_name("notehop")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo vault as ``Notes``, indexed as the README says."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(demo_vault(), folder / "Notes")
    (first,) = [block for block in SHELL if "notehop index" in block]
    done = shell(folder, first)
    assert done.returncode == 0, done.stderr
    assert "Citations" in done.stdout
    return folder


def environment(folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "PATH": f"{NOTEHOP.parent}:/usr/bin:/bin",
        "PYTHONWARNINGS": "default",
        "LC_ALL": "C.UTF-8",
    }


def shell(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euc", text],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_generated_parts_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_a_python_example_runs(home: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=home,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ".md" in done.stdout


@pytest.mark.slow
@pytest.mark.model
def test_the_session_shown_is_what_the_demo_prints(home: Path) -> None:
    shown = re.search(r"demo:begin -->\n```text\n\$ (.+?)\n(.+?)```\n<!-- demo:end", README, re.DOTALL)
    assert shown is not None
    assert f"{shown[1]} --vault $(DEMO)" in (ROOT / "Makefile").read_text(encoding="utf-8")
    printed = shell(home, f"{shown[1]} --vault Notes").stdout
    assert unwrapped(printed) == unwrapped(shown[2])


def unwrapped(text: str) -> str:
    """The text on one line, without similarities: their last digit depends on the processor."""
    return re.sub(r"\b0\.\d\d\b", "#", " ".join(text.split()))


def test_the_map_names_what_is_there() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:app|indexing|config)/[\w/]+(?:\.\w+)?", page))
    assert len(named) > 40
    assert not [one for one in named if not (ROOT / one).exists() and "NAME" not in one]
