"""What a follower says: a line, or a JSON document a line, for each change that it took in.

Touches: terminal.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TextIO

from notehop.indexing.report import Report, Update
from notehop.indexing.shown import on_one_line, printable


def line_teller(stream: TextIO) -> Callable[[Update | str], None]:
    """Say it to people."""

    def told(what: Update | str) -> None:
        text = update_line(what) if isinstance(what, Update) else what
        clock = time.strftime("%H:%M:%S")
        stream.write(f"{clock} {printable(on_one_line(text))}\n")
        stream.flush()

    return told


def json_teller(stream: TextIO) -> Callable[[Update | str], None]:
    """Say it to programs: ``{"update": {…}}`` or ``{"message": "…"}``."""

    def told(what: Update | str) -> None:
        said = {"update": asdict(what)} if isinstance(what, Update) else {"message": what}
        stream.write(json.dumps(said, ensure_ascii=False) + "\n")
        stream.flush()

    return told


def report_line(stream: TextIO, report: Report) -> None:
    """Say to programs what the run came to that a follower began with: ``{"report": {…}}``."""
    stream.write(json.dumps({"report": report.as_json()}, ensure_ascii=False) + "\n")
    stream.flush()


def update_line(update: Update) -> str:
    """``1 changed, 2 moved: 120 notes, generation 7, in 0.12 s``."""
    counts = {
        "added": update.added,
        "changed": update.changed,
        "moved": update.moved,
        "deleted": update.deleted,
    }
    did = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (
        f"{did or 'files looked at'}: {update.notes:,} notes, generation {update.generation}, "
        f"in {update.seconds.get('total', 0.0):.2f} s"
    )
