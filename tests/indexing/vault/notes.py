"""A note of a text, for the tests of this folder."""

from tests.support.product import CommentLinks, Note, parse_note


def note_of(text: str, *, comment_links: CommentLinks = "inline") -> Note:
    return parse_note("folder/Here.md", text.encode(), comment_links=comment_links)
