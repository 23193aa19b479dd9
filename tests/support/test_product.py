"""The table of the product's insides holds what tests import, and no more."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support import product

TESTS = Path(__file__).parents[1]


def imported() -> set[str]:
    """Names that files of tests import from the table."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in TESTS.rglob("*.py"))
    return {
        alias.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == product.__name__
        for alias in node.names
    }


def test_every_name_of_the_table_is_imported_by_a_test() -> None:
    assert sorted(product.names() - imported()) == []
