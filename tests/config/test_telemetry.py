"""No library tells its maker anything, whatever the environment said."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.product import SWITCHES


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("notehop.config", None),
        ("notehop.config", "0"),
        ("notehop.app", "0"),
        ("notehop.indexing.embed.door", "0"),
    ],
)
def test_it_is_off_before_a_library_is_loaded(module: str, said: str | None) -> None:
    given = {name: said for name in SWITCHES if said is not None}
    kept = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    tells = (
        f"import sys, os; sys.modules['onnxruntime'] = None; import {module}, notehop.config.errors\n"
        f"print({{name: os.environ[name] for name in {list(SWITCHES)}}})"
    )
    told = subprocess.run(
        [sys.executable, "-c", tells],
        env={**kept, **given},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == str(SWITCHES)
