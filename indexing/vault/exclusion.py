"""Which paths of a vault are kept out of the index, and the reason a person is shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from config.errors import VaultError

Exclusion = Callable[[str], str | None]
"""Path relative to the vault, with ``/`` -> reason, or None if the path is kept."""


def exclusion(globs: Sequence[str], ignore_filters: Sequence[str]) -> Exclusion:
    """Build the test for our own ``exclude`` globs and the app's ignore filters.

    A glob without ``/`` names a file or folder at any depth (``Templates``, ``*.excalidraw.md``);
    with ``/`` it stands from the vault's root (``private/**``, ``work/*/drafts``). ``*`` and ``?``
    stop at ``/``, ``**`` does not, and a match on a folder holds for all inside. An ignore filter
    is a prefix of the path (``Archive/``) or a regular expression between slashes (``/\\.draft/``),
    as in the app. All compare without case: when in doubt, a file is kept out.

    :raises VaultError: if a filter is no regular expression we can read.
    """
    rules = [
        *((glob_pattern(glob), f"excluded by the setting vault.exclude: {glob}") for glob in globs),
        *((_filter(text), f"excluded in the app's settings: {text}") for text in ignore_filters),
    ]

    def reason(path: str) -> str | None:
        for pattern, why in rules:
            if pattern.search(path):
                return why
        return None

    return reason


def glob_pattern(glob: str) -> re.Pattern[str]:
    """The pattern that is found in the paths a glob takes; see :func:`exclusion` for its signs."""
    anchored = "/" in glob.strip("/") or glob.startswith("/")
    body = "".join(_GLOB_PARTS.get(part, re.escape(part)) for part in _split(glob.strip("/")))
    return re.compile(rf"{'^' if anchored else '(?:^|/)'}{body}(?:/|$)", re.IGNORECASE | re.DOTALL)


_GLOB_PARTS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _split(glob: str) -> list[str]:
    return [part for part in re.split(r"(\*\*/|\*\*|\*|\?)", glob) if part]


_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


def _filter(text: str) -> re.Pattern[str]:
    if not (len(text) > 2 and text.startswith("/") and text.endswith("/")):
        return re.compile("^" + re.escape(text), re.IGNORECASE)
    try:
        # The app reads JavaScript's dialect; named groups are what differs in practice.
        return re.compile(_NAMED_GROUP.sub("(?P<", text[1:-1]), re.IGNORECASE)
    except re.error as exc:
        raise VaultError(
            f".obsidian/app.json: the excluded-files filter {text} is no regular expression "
            f"that can be read ({exc}); write it as a plain path or correct it in the app"
        ) from exc
