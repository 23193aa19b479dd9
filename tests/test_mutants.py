"""The faults that ``make mutants`` plants stand in the code as it is."""

import pytest

from tests.mutants import FAULTS, ROOT, answering


@pytest.mark.parametrize("file", sorted({file for file, _, _ in FAULTS}))
def test_each_fault_can_be_planted(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    stale = [old for one, old, _ in FAULTS if one == file and text.count(old) != 1]
    assert not stale, f"{file} does not hold these once; tests/mutants.yaml has to follow the code"
    assert any((ROOT / tests).exists() for tests in answering(file))
