"""The targets of the wikilinks of a text, for those who need no more. Pure."""

from __future__ import annotations

from notehop.indexing.vault.body import read_body
from notehop.indexing.vault.front_matter import read_front_matter
from notehop.indexing.vault.lines import Lines
from notehop.indexing.vault.model import LinkSyntax
from notehop.indexing.vault.parse import property_links


def extract_wiki_links(text: str) -> list[str]:
    """Return the targets of the wikilinks of a text, in order, each once.

    Of ``[[folder/Note#Heading|shown]]`` that is ``folder/Note``: aliases, headings and block refs
    are stripped, and ``[[#Heading]]``, which stays in its note, gives nothing. Embeds count, and so
    do properties that are wholly one link. Code, math, HTML and what lies between lines of
    ``%%`` hold no links.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front_matter = read_front_matter("", text)
    lines = Lines(text)
    body = read_body(text, lines, front_matter.end_line, comment_links="inline")
    links = [*property_links(text, front_matter), *body.links]
    targets = (link.target for link in links if link.syntax is LinkSyntax.WIKILINK)
    # What begins with "|" has no path, and leads nowhere in the app as here.
    return list(dict.fromkeys(name for name in targets if name and not name.startswith("|")))
