"""Builds ``obsidian://`` links that open a note, at a heading where there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

_NOT_IN_A_FRAGMENT = re.compile(r"[#|^:%\[\]\\\s]+")


def open_uri(vault: str, path: str, headings: Sequence[str] = (), *, block: str = "") -> str:
    """Return the link that opens ``path`` of ``vault`` in the application.

    :param vault: the vault's name, which is the name of its folder.
    :param path: relative to the vault, with ``/``; kept with its extension, so that it is exact.
    :param headings: heading path, outermost first; characters that a link's fragment cannot hold
        become spaces, as the application does when it compares headings.
    :param block: id of a block, without ``^``; it is found without headings.
    """
    parts = [_NOT_IN_A_FRAGMENT.sub(" ", heading).strip() for heading in headings]
    fragment = [f"^{block}"] if block else [part for part in parts if part]
    target = "#".join([path, *fragment])
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(target, safe='')}"
