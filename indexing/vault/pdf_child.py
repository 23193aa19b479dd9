"""Extracts the text of a PDF, in a process of its own: whatever the file does, only that process ends.

A script: limits as arguments, the file on standard input; a line of JSON for each page on standard
output. Who started it ends it in time. Imports nothing of notehop.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO

MEMORY = 2_000_000_000  # bytes that a file may take up while it is read


def extract(data: bytes, pages: int, characters: int) -> Iterator[dict[str, object]]:
    """The text of each page that is within the limits.

    :returns: ``total``, or the ``problem`` of the file; of each page its ``text``, or its ``problem``;
        last ``stopped``, the limit that was met, or empty.
    """
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(BytesIO(data))
        encrypted = reader.is_encrypted and not reader.decrypt("")
        total = 0 if encrypted else len(reader.pages)
    except DependencyError:
        encrypted, total = True, 0
    except Exception as exc:  # noqa: BLE001 (a parser of anything raises anything)
        yield {"problem": f"it is damaged ({_named(exc)}); save it anew"}
        return
    if encrypted:
        yield {"problem": "it is encrypted; save a copy without a password"}
        return
    yield {"total": total}
    left = characters
    for number in range(min(total, pages)):
        if left <= 0:
            yield {"stopped": f"they have more than {characters:,} characters"}
            return
        try:
            text = reader.pages[number].extract_text()[:left]
        except Exception as exc:  # noqa: BLE001 (one page must not take the others with it)
            yield {"problem": _named(exc)}
        else:
            left -= len(text)
            yield {"text": text}
    yield {"stopped": f"no file is read further than page {pages:,}" if total > pages else ""}


def _named(exc: Exception) -> str:
    return f"{type(exc).__name__}: {' '.join(str(exc).split())[:200]}"


def main() -> None:
    pages, characters, seconds = map(int, sys.argv[1:])
    with suppress(ImportError, ValueError, OSError):  # where the system has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        # Should it outlive who started it:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    logging.disable(logging.CRITICAL)
    for one in extract(sys.stdin.buffer.read(), pages, characters):
        # At once: should this process be ended, what it has read by then counts.
        sys.stdout.write(f"{json.dumps(one)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
