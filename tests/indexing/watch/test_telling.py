"""What a follower says to programs: one JSON document a line."""

from __future__ import annotations

import io
import json

from notehop.indexing.report import Report, Update
from notehop.indexing.watch.telling import json_teller, report_line


def test_each_line_is_a_document_that_says_what_it_is() -> None:
    out = io.StringIO()
    report_line(
        out, Report(vault="/v", index_dir="/i", generation=1, notes=2, chunks=3, warnings=("ä\nb",))
    )
    told = json_teller(out)
    told(Update(generation=2, wrote=True, notes=2, changed=1))
    told("two\nlines")
    report, update, message = map(json.loads, out.getvalue().splitlines())
    assert report["report"]["warnings"] == ["ä\nb"]
    assert update["update"]["changed"] == 1
    assert message == {"message": "two\nlines"}
