"""Short ways to parse a text and to say what was found, for the tests of this folder."""

from tests.support.product import CommentLinks, Note, parse_note, plain_text


def note_of(text: str, *, comment_links: CommentLinks = "inline") -> Note:
    return parse_note("folder/Here.md", text.encode(), comment_links=comment_links)


def plain(text: str) -> str:
    note = note_of(text)
    return plain_text(note, note.body_start, len(note.text))


def sentences(text: str) -> list[str]:
    return [link.sentence for link in note_of(text).links]
