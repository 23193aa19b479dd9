"""The table of the product's insides holds what tests and tools import, and no more."""

import re
from pathlib import Path

from tests.support import product

ROOT = Path(__file__).parents[2]
IMPORTED = re.compile(
    r"from tests\.support\.product import (?:\(([^)]+)\)|([\w, ]+))|\bproduct\.(\w+)"
)
"""Of a file, or of a program that a test writes down."""


def test_every_name_of_the_table_is_imported() -> None:
    said = [
        " ".join(found)
        for folder in ("tests", "tools")
        for file in (ROOT / folder).rglob("*.py")
        for found in IMPORTED.findall(file.read_text(encoding="utf-8"))
    ]
    assert sorted(product.names() - set(re.findall(r"\w+", " ".join(said)))) == []
