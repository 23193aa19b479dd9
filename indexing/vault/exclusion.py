"""Which paths of a vault are kept out of the index, and the reason a person is shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from notehop.config.errors import VaultError

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
    """The pattern that is found in the paths a glob takes; see :func:`exclusion` for its signs.

    It never tries a sign twice: each ``*`` takes as little as it can and sticks to it. No other
    choice could match more, as what follows may only begin later. So a glob of nothing but stars
    takes no longer than any other.
    """
    anchored = "/" in glob.strip("/") or glob.startswith("/")
    signs = _signs(("" if anchored else "**/") + glob.strip("/"))
    deep = [0, *(at for at, sign in enumerate(signs) if sign in _DEEP), len(signs)]
    groups = [signs[start:end] for start, end in pairwise(deep)]
    if signs and signs[-1] == "**":
        groups, end = groups[:-1], ""
    else:
        end = r"(?:/|\Z)"
    taken = [_group(group, end if at == len(groups) - 1 else "") for at, group in enumerate(groups)]
    return re.compile(rf"\A{''.join(taken)}", re.IGNORECASE | re.DOTALL)


_DEEP = {"**/": "(?:.*?/)??", "**": ".*?"}
"""Wild cards that pass ``/``, as little as will do."""


def _signs(glob: str) -> list[str]:
    """Wild cards and what stands between them; of wild cards in a row, the one that says it all."""
    signs: list[str] = []
    for sign in re.split(r"((?:(?<=/)|^)\*\*/|\*\*|\*|\?)", glob):
        before = signs[-1] if signs else ""
        if sign == "**" and before in (*_DEEP, "*"):
            signs[-1] = sign
        elif sign and not (before == "**" and sign == "*") and not (before == sign == "**/"):
            signs.append(sign)
    return signs


def _group(signs: Sequence[str], end: str) -> str:
    """The expression of signs of which only the first may pass ``/``."""
    deep = _DEEP.get(signs[0], "") if signs else ""
    texts = [""]
    for sign in signs[1:] if deep else signs:
        if sign == "*":
            texts.append("")
        else:
            texts[-1] += "[^/]" if sign == "?" else re.escape(sign)
    texts[-1] += end
    body = texts[0] + "".join(f"(?>[^/]*?{text})" for text in texts[1:])
    return f"(?>{deep}{body})" if deep else body


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
