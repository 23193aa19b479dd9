"""Faults planted one at a time in a copy of the product, to see that the suite turns red.

    make mutants                  all of them
    make mutants ONLY=stores      those whose file or line holds one of these texts

Each is run against the tests of its package, quick ones first, until one of them fails. What is
missed is listed at the end, and the exit code is 1 if more than three are. A fault whose text is
gone from its file, or stands there twice, is an error: mutants.yaml has to follow the code.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PATIENCE = 900
"""Seconds that the tests of one folder may take before a fault counts as one that hangs."""

MEMORY = 8 << 30
SURROUNDINGS = {"PYTHONDONTWRITEBYTECODE": "", "HYPOTHESIS_PROFILE": "mutants"}
PACKAGES = ("notehop", "app", "indexing", "config")
COPIED = (*PACKAGES, "tests", "tools", "docs", "deploy", "pyproject.toml", "README.md")

TABLE = yaml.safe_load((ROOT / "tests" / "mutants.yaml").read_text(encoding="utf-8"))
FAULTS = [(file, old, new) for file, planted in TABLE["faults"].items() for old, new in planted.items()]


def answering(file: str) -> list[str]:
    """The tests that answer for a file."""
    return next(tests for part, tests in TABLE["tests"].items() if f"{file}/".startswith(f"{part}/"))


def caught(copy: Path, fault: tuple[str, str, str], slow: bool) -> str | None:
    """The first test that fails with a fault, None if all pass."""
    file, old, new = fault
    path = copy / file
    whole = path.read_text(encoding="utf-8")
    if whole.count(old) != 1:
        raise SystemExit(f"{file}: {old!r} stands there {whole.count(old)} times")
    path.write_text(whole.replace(old, new), encoding="utf-8")
    try:
        for tests in answering(file):
            if not (copy / tests).exists():
                continue
            failed = _failed(copy, tests, slow)
            if failed is not None:
                return failed
        return None
    finally:
        path.write_text(whole, encoding="utf-8")


def _failed(copy: Path, tests: str, slow: bool) -> str | None:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", tests]
    with subprocess.Popen(
        [*command, *(() if slow else ("-m", "not slow"))],
        cwd=copy,
        env={**os.environ, **SURROUNDINGS, "PYTHONPATH": str(copy)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=_bounded,
    ) as running:
        try:
            printed, _ = running.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            return f"{tests}: not done after {PATIENCE} s"
    if running.returncode in (0, 5):
        return None
    lines = printed.splitlines()
    found = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return found[0].split(" - ")[0] if found else f"{tests}: exit code {running.returncode}"


def _bounded() -> None:
    """A fault that takes memory without end fails, instead of the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def main() -> int:
    """Plant them, and say what was caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", default=[""], help="a text in the file's path or the line")
    parser.add_argument("--slow", action="store_true", help="run the slow tests too")
    given = parser.parse_args()
    faults = [fault for fault in FAULTS if any(one in "\t".join(fault[:2]) for one in given.only)]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        if (ROOT / ".cache").is_dir():
            (copy / ".cache").symlink_to(ROOT / ".cache")
        for fault in faults:
            begun = time.monotonic()
            found = caught(copy, fault, given.slow)
            if found is None:
                missed.append(fault)
            took = time.monotonic() - begun
            said = found or "MISSED"
            sys.stdout.write(f"{took:6.0f} s  {fault[0]}: {fault[1]!r}\n          {said}\n")
            sys.stdout.flush()
    sys.stdout.write(f"caught {len(faults) - len(missed)} of {len(faults)}\n")
    return len(missed) > 3


if __name__ == "__main__":
    raise SystemExit(main())
