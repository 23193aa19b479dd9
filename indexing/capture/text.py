"""The text of a captured note: what was said, below properties that YAML can be read from. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from notehop.config.errors import QueryError
from notehop.indexing.shown import on_one_line
from notehop.indexing.vault.front_matter import read_front_matter
from notehop.indexing.vault.properties import TAG_CHARACTERS, is_tag

_NOT_IN_A_TAG = re.compile(rf"(?:(?!{TAG_CHARACTERS}).)+", re.DOTALL)
_NOT_IN_YAML = re.compile("[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.2 does not call printable (5.1), and its line breaks."""

_BREAK = re.compile("\r\n|\r")


def note_text(text: str, *, title: str | None, tags: Sequence[str], now: datetime) -> str:
    """The note of a text, with its properties.

    A text that has properties itself keeps them as they are: ``created`` and ``title`` are added
    where they are absent, and tags as a last line where it has some.

    :param title: to be kept as a property; None where the name of the file says it.
    :param tags: as :func:`tag_names` gives them.
    """
    text = _clean(text).strip("\n").rstrip() + "\n"
    own = read_front_matter("", text)
    added = [] if "created" in own.values else [f"created: {now.strftime('%Y-%m-%dT%H:%M:%S')}"]
    if title is not None and "title" not in own.values:
        added.append(f"title: {_quoted(title)}")
    if not own.end and own.broken is None:
        return f"---\n{_properties([*added, *_tags(tags)])}---\n\n{text}"
    tagged = own.broken is not None or "tags" in own.values or "tag" in own.values
    more = _properties([*added, *([] if tagged else _tags(tags))])
    below = f"\n{' '.join(f'#{tag}' for tag in tags)}\n" if tags else ""
    opening, rest = text.split("\n", 1)
    whole = f"{opening}\n{more}{rest}{below if tagged else ''}"
    # What cannot be read as it is, or with more in it, is left as it is: it may say `private`.
    return text + below if read_front_matter("", whole).broken is not None else whole


def says_something(text: str) -> bool:
    """Whether anything is left of a text that a file can hold."""
    return bool(_clean(text).strip())


def tag_names(tags: Iterable[str]) -> list[str]:
    """The tags as the app takes them, without ``#``, each once; blanks become hyphens.

    :raises QueryError: for one that is no tag to the app.
    """
    named: dict[str, str] = {}
    for tag in tags:
        words = "-".join(_NOT_IN_YAML.sub(" ", _clean(tag)).strip().removeprefix("#").split())
        name = _NOT_IN_A_TAG.sub("", words).strip("/-")
        if not is_tag(name):
            raise QueryError(
                f"{on_one_line(tag)[:80]!r} can be no tag; a tag has letters, digits, - or _, / "
                "between those nested in each other, and not digits alone"
            )
        named.setdefault(name.casefold(), name)
    return list(named.values())


def _properties(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _tags(tags: Sequence[str]) -> list[str]:
    return ["tags:", *(f"  - {_quoted(tag)}" for tag in tags)] if tags else []


def _quoted(value: str) -> str:
    """A text as a YAML scalar in double quotes: JSON's strings are YAML's."""
    one_line = " ".join(_NOT_IN_YAML.sub(" ", _clean(value)).split())
    return json.dumps(one_line, ensure_ascii=False)


def _clean(text: str) -> str:
    """The text with plain line ends, as it can be encoded, without NUL, which ends a text in C."""
    plain = _BREAK.sub("\n", text.removeprefix("\ufeff")).replace("\0", "")
    return plain.encode("utf-8", "replace").decode()
