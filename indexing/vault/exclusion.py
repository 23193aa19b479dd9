"""Which paths of a vault are kept out of the index, and the reason a person is shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import thread_time

from notehop.config.errors import VaultError

Exclusion = Callable[[str], str | None]
"""Path relative to the vault, with ``/`` -> reason, or None if the path is kept."""


MAX_FILTERS = 1_000
MAX_FILTER_CHARS = 2_000
"""Of the app's settings, which somebody else may have written."""

FILTER_SECONDS = 1.0
PATH_SECONDS = 0.001
"""What one ignore filter may take: at once, and for a path on average. An ordinary one takes a
microsecond; one that tries all ways to match takes years."""


def exclusion(
    globs: Sequence[str], ignore_filters: Sequence[str], *, filter_seconds: float = FILTER_SECONDS
) -> Exclusion:
    """Build the test for our own ``exclude`` globs and the app's ignore filters.

    A glob without ``/`` names a file or folder at any depth (``Templates``, ``*.excalidraw.md``);
    with ``/`` it stands from the vault's root (``private/**``, ``work/*/drafts``). ``*`` and ``?``
    stop at ``/``, ``**`` does not, and a match on a folder holds for all inside. An ignore filter
    is a prefix of the path (``Archive/``) or a regular expression between slashes (``/\\.draft/``),
    as in the app. All compare without case: when in doubt, a file is kept out.

    :param filter_seconds: what a filter may take on top of a millisecond a path.
    :raises VaultError: if a filter is no regular expression we can read, or there are too many;
        later, by the test itself, if one takes too long: what it keeps out is then not known.
    """
    if len(ignore_filters) > MAX_FILTERS:
        raise VaultError(
            f".obsidian/app.json: {len(ignore_filters):,} excluded-files filters, at most "
            f"{MAX_FILTERS:,} are read; remove some in the app"
        )
    ours, theirs = "excluded by the setting vault.exclude: ", "excluded in the app's settings: "
    rules: list[tuple[Callable[[str], object], str]] = [
        *((glob_pattern(glob).search, ours + glob) for glob in globs),
        *((_filter(text, filter_seconds), theirs + text) for text in ignore_filters),
    ]
    return lambda path: next((why for matches, why in rules if matches(path)), None)


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


_NOT_OF_JAVASCRIPT = re.compile(r"\\.|\(\?(?!:|=|!|<|[a-z-]+[:)])", re.DOTALL)
"""Groups that only other dialects have: calls and recursion, which take memory without end."""


def _filter(text: str, seconds: float) -> Callable[[str], object]:
    if not (len(text) > 2 and text.startswith("/") and text.endswith("/")):
        return re.compile("^" + re.escape(text), re.IGNORECASE).search
    import regex  # seldom needed, and slow to load

    try:
        if len(text) > MAX_FILTER_CHARS:
            raise ValueError(f"more than {MAX_FILTER_CHARS:,} characters")
        strange = [found for found in _NOT_OF_JAVASCRIPT.findall(text) if found.startswith("(")]
        if strange:
            raise ValueError(f"{strange[0]} is not of the app's dialect")
        # The app writes a group's name that is said again in another way; the rest is alike.
        pattern = regex.compile(re.sub(r"\\k<(\w+)>", r"(?P=\1)", text[1:-1]), regex.IGNORECASE)
    except (ValueError, regex.error, RecursionError) as exc:
        reason = "nested too deeply" if isinstance(exc, RecursionError) else exc
        raise VaultError(
            f".obsidian/app.json: the excluded-files filter {_quoted(text)} is no regular "
            f"expression that can be read ({reason}); write it as a plain path or correct it in "
            "the app"
        ) from exc
    left = seconds

    def matches(path: str) -> object:
        nonlocal left
        begun = thread_time()
        try:
            found = pattern.search(path, timeout=seconds)
        except TimeoutError:
            found, left = None, -1.0
        left = min(seconds, left + PATH_SECONDS - (thread_time() - begun))
        if left < 0:
            raise VaultError(
                f".obsidian/app.json: the excluded-files filter {_quoted(text)} takes too long "
                f"(at {_quoted(path)}), so the files that it excludes are not known; write it "
                "without repetitions of repetitions, or as a plain path, in the app"
            )
        return found

    return matches


def _quoted(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
