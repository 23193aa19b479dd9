"""Rows of a test that stand in a file of data beside it: ``facts.yaml`` beside ``test_facts.py``."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml


def rows(file: str, name: str) -> list[Any]:
    """The values of each case of a test, for ``pytest.mark.parametrize``.

    :param file: ``__file__`` of the test; the rows are a list, or named.
    """
    found = table(file, name)
    if isinstance(found, dict):
        return [pytest.param(*values, id=id_) for id_, values in found.items()]
    return [pytest.param(*values) for values in found]


def table(file: str, name: str) -> Any:
    """What stands under a name in the file of data beside a test."""
    test = Path(file)
    return read_yaml(test.with_name(test.stem.removeprefix("test_") + ".yaml"))[name]


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of C, where there is one: the tables are read whenever tests are collected."""


@cache
def read_yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), LOADER)
