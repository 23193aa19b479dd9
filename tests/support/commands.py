"""The command line in this process."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from tests.support.product import app


def options(vault: Path, index: Path) -> list[str]:
    """The options that name a vault and the folder of its index."""
    return ["--vault", str(vault), "--index-dir", str(index)]


def call(*words: object, **how: Any) -> Result:
    """A command as it ends; ``how`` as :meth:`CliRunner.invoke` takes it."""
    return CliRunner().invoke(app, [str(word) for word in words], **how)


def printed(*words: object, **how: Any) -> str:
    """What a command that succeeds prints."""
    done = call(*words, **how)
    assert done.exit_code == 0, done.output
    return done.stdout


def not_here(*_: object) -> None:
    """Stands in for the work that a running server has to do."""
    raise AssertionError("the command did the work itself")
