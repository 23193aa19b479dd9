"""The demo: one person's vault, written for it, and the questions that it should answer."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def demo_vault() -> Path:
    """The folder of the demo vault, as installed with the package: copy it before writing to it."""
    return Path(str(files("notehop.app.demo") / "vault"))


def demo_questions() -> Path:
    """The YAML file of questions about the demo vault; its first lines say what the keys mean."""
    return Path(str(files("notehop.app.demo") / "questions.yaml"))
