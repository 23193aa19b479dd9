"""From the bytes of a note to its text, whatever the bytes are. Pure."""

from __future__ import annotations

import codecs


def decode(path: str, data: bytes) -> tuple[str, list[str]]:
    r"""Return the text of a note and the warnings about its encoding.

    UTF-8 with or without byte-order mark, or UTF-16 with one; bytes that are no text become U+FFFD
    and one warning names the first. Line ends (``\r\n``, ``\r``) become ``\n``: a vault that is
    synchronised between systems keeps its chunks.
    """
    warnings: list[str] = []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
        warnings.append(f"{path}:1: the file is UTF-16, which the app does not read; save as UTF-8")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            # Positions count from behind the mark that "utf-8-sig" drops: same line either way.
            line = data.count(b"\n", 0, exc.start) + 1
            text = data.decode("utf-8-sig", errors="replace")
            warnings.append(
                f"{path}:{line}: bytes that are not UTF-8 were replaced; save the note as UTF-8"
            )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, warnings
