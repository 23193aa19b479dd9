"""A PDF as a note: the text of its pages, extracted in a process of its own."""

from __future__ import annotations

import errno
import hashlib
import json
import re
import signal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from notehop.indexing.vault.parts import Part, PartsRead, Unreadable

# Limits of one file; what lies within them is read, and a warning says what is left out.
MOST_PAGES = 2_000
MOST_CHARACTERS = 10_000_000
SECONDS = 60.0

STARTING = 2.0  # seconds that the process has beside, to start

INSTALL = "pip install 'notehop[pdf]'"

# Exit codes of a process that was ended with all of its group or service.
_STOPPED = tuple(-one for one in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", 1)))
_CONTROLS = re.compile(r"[^\S\n]+|[\x00-\x08\x0b-\x1f\x7f-\x9f]+")

# Hash and limit -> what was read, of the last few: a page that is turned is not read again.
_known: dict[tuple[bytes, int], PartsRead] = {}
_REMEMBERED = 4


@cache
def is_installed() -> bool:
    """Whether the extra ``pdf`` is there."""
    return find_spec("pypdf") is not None


def read_pdf(data: bytes, *, pages: int = MOST_PAGES, seconds: float = SECONDS) -> PartsRead:
    """Read a PDF: a part ``Page n`` for each page that has text.

    Nothing in it is taken for Markdown, and nothing is run.

    :param pages: that are read at most, in so many ``seconds``.
    :raises Unreadable: saying why: encrypted, damaged, without text, beyond a limit.
    :raises OSError: if the process cannot be started, or was stopped: it says nothing of the file.
    """
    key = hashlib.sha256(data).digest(), pages
    if key in _known:
        return _known[key]
    (first, *read), ended = _extract(data, pages, seconds)
    if "problem" in first:
        raise Unreadable(f"cannot be read: {first['problem']}")
    stopped = read.pop()["stopped"] if read and "stopped" in read[-1] else ended
    numbered = [*enumerate(read, start=1)]
    texts = [(number, _clean(one.get("text", ""))) for number, one in numbered]
    parts = [Part(((1, f"Page {number}"),), text) for number, text in texts if text]
    broken = [(number, one["problem"]) for number, one in numbered if "problem" in one]
    warnings = []
    if stopped:
        warnings.append(f"{len(read):,} of {first['total']:,} pages were read: {stopped}")
    if broken:
        number, reason = broken[0]
        others = f", the first of {len(broken):,}" if len(broken) > 1 else ""
        warnings.append(f"page {number:,} cannot be read ({reason}){others}; save it anew")
    if not parts:
        if len(read) > len(broken):
            scanned = "scanned, perhaps; a program for text recognition (OCR) adds it"
            warnings.insert(0, f"has no text on its {len(read):,} pages: {scanned}")
        raise Unreadable("; ".join(warnings))
    if len(_known) >= _REMEMBERED:
        _known.clear()
    _known[key] = parts, warnings
    return parts, warnings


def _extract(data: bytes, pages: int, seconds: float) -> tuple[list[dict[str, Any]], str]:
    """What the process said, line by line, and why it did not come to an end."""
    script = Path(__file__).with_name("pdf_child.py")
    limits = [str(pages), str(MOST_CHARACTERS), str(int(seconds) + 10)]
    try:
        # -P: the folder of the script is not where modules are looked for.
        done = subprocess.run(
            [sys.executable, "-P", str(script), *limits],
            input=data,
            capture_output=True,
            timeout=seconds + STARTING,
            check=False,
        )
        if done.returncode in _STOPPED:
            raise InterruptedError(errno.EINTR, "the process that read it was stopped")
        written = done.stdout
        ended = "reading it ended too soon, for want of memory, perhaps"
    except subprocess.TimeoutExpired as exc:
        written, ended = exc.stdout or b"", f"reading it took longer than {seconds:g} s"
    # The last line ends with a break, too, unless it was cut.
    said = [json.loads(line) for line in written.split(b"\n")[:-1]]
    return said or [{"problem": f"{ended}; print it to a new PDF"}], ended


def _clean(text: str) -> str:
    """The text of a page, its lines without blanks around them, and without control characters."""
    text = text.encode("utf-8", "replace").decode()
    lines = (_CONTROLS.sub(" ", line).strip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
