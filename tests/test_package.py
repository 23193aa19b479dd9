"""What a wheel holds, and that it lives beside packages of other people that are named as its folders."""

import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.support.real_index import lend_query_model

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "indexing", "config")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "checkout"
    for name in ("notehop", *FOLDERS):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(sources)], check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel is installed in, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's project: an ``app`` without ``__init__.py``, a ``config.py``, an ``indexing``."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.py").write_text("NAME = 'mine'\n")
    (tmp_path / "config.py").write_text("NAME = 'my settings'\n")
    (tmp_path / "indexing").mkdir()
    (tmp_path / "indexing" / "__init__.py").write_text("NAME = 'my index'\n")
    vault = tmp_path / "Notes"
    vault.mkdir()
    (vault / "Tide.md").write_text("High water is at [[Noon]].\n")
    (vault / "Noon.md").write_text("The middle of the day.\n")
    return tmp_path


def environment(installed: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # The libraries without what .pth files add: an editable install would put the checkout there.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    path = os.pathsep.join([".", str(installed), *libraries])
    return {**kept, "PYTHONPATH": path}


def run(project: Path, installed: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=project,
        env=environment(installed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_holds_one_package_with_its_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"notehop"}
    for data in ("py.typed", "config/default.toml", "app/web/static/index.html", "app/obsidian/main.js"):
        assert f"notehop/{data}" in names
    assert "notehop/app/demo/vault/Projects/Hollin Reach/Hollin Reach.md" in names


def test_it_is_imported_beside_packages_of_the_same_names(project: Path, installed: Path) -> None:
    program = (
        "import app.main, config, indexing, notehop\n"
        "from notehop import NotehopError, index_vault, open_vault\n"
        "print(app.main.NAME, config.NAME, indexing.NAME, notehop.__file__)\n"
    )
    out = run(project, installed, "-c", program)
    assert out.startswith("mine my settings my index ")
    assert str(installed) in out


def test_the_command_runs_there(project: Path, installed: Path) -> None:
    for program in ([str(installed / "bin" / "notehop")], ["-m", "notehop"]):
        assert "2 notes, 1 link" in run(project, installed, *program, "doctor", "--vault", "Notes")
    assert "VAULT" in run(project, installed, "-m", "notehop.indexing", "--help")


@pytest.mark.slow
@pytest.mark.model
def test_it_indexes_answers_and_serves_the_page(project: Path, installed: Path) -> None:
    command = str(installed / "bin" / "notehop")
    where = ["--vault", "Notes", "--index-dir", "index"]
    lend_query_model(project / "Notes", project / "index")
    assert "2 notes" in run(project, installed, command, "index", *where)
    assert "Tide" in run(project, installed, command, "ask", "When is high water?", *where)
    with subprocess.Popen(
        [sys.executable, "-S", command, "serve", "--no-watch", "--port", "0", *where],
        cwd=project,
        env=environment(installed),
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stderr is not None
            url = server.stderr.readline().split(" at ")[1].split(" ")[0]
            with urllib.request.urlopen(url, timeout=30) as page:
                assert b"<html" in page.read()
        finally:
            server.kill()


def installed_python(version: str) -> str | None:
    """A Python of this version that runs: on the path, or one of pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [shutil.which(f"python{version}"), *sorted(root.glob(f"versions/{version}.*/bin/python"))]
    for one in filter(None, found):
        if subprocess.run([one, "--version"], capture_output=True, check=False).returncode == 0:
            return str(one)
    return None


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_other_versions_read_the_sources(version: str) -> None:
    """Compiling warns of what a version no longer takes; running takes its libraries too."""
    python = installed_python(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    files = [str(file) for name in ("notehop", *FOLDERS) for file in (ROOT / name).rglob("*.py")]
    program = "import sys\nfor f in sys.argv[1:]: compile(open(f, encoding='utf-8').read(), f, 'exec')"
    command = [python, "-W", "error", "-c", program, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_old_name_of_a_checkout_says_the_new_one() -> None:
    program = "from app import open_vault; import notehop; print(open_vault.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "open_vault\n"
    assert "from notehop import open_vault" in done.stderr
