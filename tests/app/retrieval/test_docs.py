"""The example of docs/retrieval.md runs as it stands there, over a vault of four notes."""

import re
from pathlib import Path

import pytest

from tests.support.notes import write_notes
from tests.support.product import locate
from tests.support.real_index import real_index

PAGE = Path(__file__).parents[3] / "docs" / "retrieval.md"

NOTES = {
    "Bakery.md": "The bakery opens in May. The date hangs on the [[Oven]].",
    "Oven.md": "Delivery was promised for the end of April by the mason from Aachen.",
    "Garden.md": "Tomatoes want sun, and water in the evening.",
    "Reading.md": "A novel about the sea, half read.",
}


@pytest.mark.model
def test_the_example(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    vault = write_notes(tmp_path / "Notes", NOTES)
    index = locate(vault).layout.root
    assert index.is_relative_to(tmp_path)
    real_index(vault, index)

    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("source Bakery.md")
        assert {"Bakery.md", "Oven.md"} <= {line.split()[1] for line in lines} <= set(NOTES)
