"""What notes of the machine say: strategies for texts, and small edits of one."""

import re
from unicodedata import normalize

from hypothesis import strategies as st

NAMES = (
    *("Tide", "tide", "Wall", "Ewe Point", "ewe point", "High Water", "Log 1.5"),
    *(normalize("NFC", "Ébauche"), normalize("NFD", "Ébauche"), "🌊 Flut", "潮汐", "Tide.md"),
    *(" Wall", "a", "b"),
)
"""Few, so that they meet: of each other's spelling, of aliases, of folders."""

ALIASES = ("High Water", "tide", "Wall", "HW", "a/Tide", "the wall", "Ebbe", "plan.png", "é́")
FOLDERS = ("", "a", "A", "a/b", "Tide", "c d", "🌊", "Archive", "Archive/old", "Wall.md")
ATTACHMENTS = ("plan.png", "Plan.PNG", "Tide.pdf", "Wall", "data.csv", "note.txt")

TARGETS = (
    *("Tide", "tide", "Wall", "Ewe Point", "High Water", "HW", "Ebbe", "Log 1.5", "🌊 Flut"),
    *("潮汐", normalize("NFC", "Ébauche"), normalize("NFD", "Ébauche"), "the wall", "é́"),
    *("a/Tide", "A/Tide", "a/b/Wall", "c d/Tide", "b/Wall", "Tide/Wall", "Archive/Tide", "🌊/Tide"),
    *("/Tide", "./Wall", "../Tide", "../../Wall", "./b/Tide", "/a/Tide", "..", "../..", "./.", "."),
    *("Tide.md", "Wall.md", "Tide.md.md", "Wall.md/Tide", " Wall", "Tide ", "a/", "", "Nowhere"),
    *("plan.png", "Plan.png", "a/plan.png", "Tide.pdf", "data.csv", "note.txt"),
)
OFTEN = ("Tide", "Wall", "Ewe Point", "High Water", "HW", "a", "a/Tide", "plan.png")
"""Targets that many links share, so that one edit moves several."""

FRAGMENTS = (*("", "", "#Later", "#Part", "#Later#Part", "#^mark", "#^other", "#Deep one", "#", "#page=2"),)

WORDS = (
    *("the", "sea", "wall", "holds", "while", "bram", "measures", "spring"),
    *("tides", "at", "ewe", "point", "before", "winter", "storms"),
)

BLOCKS = (
    "# Later",
    "## Part",
    "### Deep one",
    "A line of its own ^mark",
    "- first\n- second with #sea/tide ^other\n- third",
    "Nothing leads from here.",
    "> [!note] Said\n> A quote on walls.",
    "```\n[[Tide]] in code\n```",
    "%%[[Wall]] in a comment%%",
    "潮汐和堤坝的笔记。",
    "| a | b |\n|---|---|\n| one | two |",
    "Naïve café, foo_bar 2026.4.10.",
)
LINKS = (
    "See [[{0}{1}]] for the tides.",
    "Bram wrote [[{0}{1}|the wall]]. It holds.",
    "![[{0}{1}]]",
    "A [note](<{0}.md{1}>) on it.",
    "Twice [[{0}]], and [[{0}{1}]] again.",
    "- item with ![[{0}|300]]",
    "# On [[{0}]]",
    "An [image](<{0}>) here.",
)

targets = st.one_of(st.sampled_from(OFTEN), st.sampled_from(OFTEN), st.sampled_from(TARGETS))
names = st.one_of(st.sampled_from(NAMES[:6]), st.sampled_from(NAMES))
folders = st.one_of(st.sampled_from(("", "a", "a/b")), st.sampled_from(FOLDERS))
aliases = st.sampled_from(ALIASES)

prose = st.lists(st.sampled_from(WORDS), min_size=3, max_size=40).map(" ".join)
_links = st.builds(str.format, st.sampled_from(LINKS), targets, st.sampled_from(FRAGMENTS))
blocks = st.one_of(*(_links, _links, _links), *(st.sampled_from(BLOCKS), st.sampled_from(BLOCKS[:5])), prose)
"""One paragraph, heading or list."""

_HEADS = (
    "aliases: [{alias}]",
    "tags: [sea, wall/old]",
    "title: {alias}",
    "type: log",
    "created: 2024-02-03",
    "modified: 2024-05-06T07:08:09",
    'up: "[[{target}]]"',
    'near:\n  - "[[{target}#Later]]"\n  - plain',
)
_heads = st.lists(
    st.builds(
        lambda line, alias, target: line.format(alias=alias, target=target),
        st.sampled_from(_HEADS),
        aliases,
        targets,
    ),
    max_size=3,
    unique_by=lambda line: line.partition(":")[0],
)


def _text(head: list[str], body: list[str]) -> str:
    front = "---\n" + "".join(f"{line}\n" for line in head) + "---\n" if head else ""
    return front + "\n\n".join(body) + ("\n" if len(body) % 2 else "")


texts = st.builds(_text, _heads, st.lists(blocks, min_size=2, max_size=8))
"""A whole note."""

_FRONT = re.compile(r"\A---\r?\n(.*?)^---\r?\n", re.DOTALL | re.MULTILINE)

_TARGET = re.compile(r"\[\[([^\[\]|#]+)")


def targets_of(text: str) -> list[str]:
    """The targets of the wikilinks in a text, as written, that could be the path of a note."""
    found = {match[1].removesuffix(".md") for match in _TARGET.finditer(text)}
    return sorted(one for one in found if not set(one.split("/")) & {"", ".", ".."})


def with_property(text: str, key: str, value: str | None) -> str:
    """The text with one line of front matter set, or without it; a head that ends empty goes."""
    found = _FRONT.match(text)
    body = text[found.end() :] if found else text
    lines = found[1].splitlines() if found else []
    kept = [line for line in lines if not line.startswith(f"{key}:")]
    if value is not None:
        kept.append(f"{key}: {value}")
    return "---\n" + "".join(f"{line}\n" for line in kept) + f"---\n{body}" if kept else body


def property_of(text: str, key: str) -> str | None:
    """What stands behind a key of the front matter, on its line."""
    found = _FRONT.match(text)
    for line in found[1].splitlines() if found else ():
        if line.startswith(f"{key}:"):
            return line.partition(":")[2].strip()
    return None


def with_block(text: str, at: int, block: str | None) -> str:
    """The text with one paragraph replaced, taken out (None) or, behind the last, added."""
    found = _FRONT.match(text)
    start = found.end() if found else 0
    parts = text[start:].split("\n\n")
    at %= len(parts) + 1
    parts[at : at + 1] = [] if block is None else [block]
    return text[:start] + "\n\n".join(parts)
