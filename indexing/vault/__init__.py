"""The files of a vault and what a note holds; pure but for the walk over the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notehop.indexing.vault.wikilinks import extract_wiki_links

__all__ = ["extract_wiki_links"]


def __getattr__(name: str) -> object:
    """Load what is public here when it is first asked for: the Markdown parser takes its time."""
    if name == "extract_wiki_links":
        from notehop.indexing.vault.wikilinks import extract_wiki_links

        return extract_wiki_links
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
