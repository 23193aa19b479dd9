"""The example of docs/retrieval.md runs as it stands there, over a vault of four notes."""

import re
from pathlib import Path

import pytest

from tests.support.product import Indexer, IndexLayout, index_dir_for, load_settings
from tests.support.real_index import lend_query_model

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
    vault = tmp_path / "Notes"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / name).write_text(text, encoding="utf-8")
    settings = load_settings(vault=vault)
    layout = IndexLayout(index_dir_for(vault, settings.index.dir))
    assert layout.root.is_relative_to(tmp_path)
    lend_query_model(vault, layout.root)
    Indexer(vault, settings, layout).run()

    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("source Bakery.md")
        assert {"Bakery.md", "Oven.md"} <= {line.split()[1] for line in lines} <= set(NOTES)
