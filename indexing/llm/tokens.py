"""How many tokens a language model takes a text for; nobody is asked, and nothing is loaded for it."""

from __future__ import annotations

from math import ceil
from string import ascii_letters

LETTERS_PER_TOKEN = 3.5
SPACES_PER_TOKEN = 8
BYTES_PER_TOKEN = 1.3
"""What a token holds at least: letters and spaces of ASCII, and bytes of other scripts; each digit
and each sign counts as a token. By the two tokenizers of OpenAI that come with LlamaIndex, no note
of 730 (prose, tables, code, lists of versions) has more tokens than this says; half of them have
0.67 to 0.91 as many. Smaller vocabularies take up to a sixth more, which is why it is no closer."""

_LETTERS = [letter.encode() for letter in ascii_letters]


def count_tokens(text: str) -> int:
    """Tokens of a text, rather too many."""
    plain = text.encode("ascii", "ignore")
    letters = sum(map(plain.count, _LETTERS))
    spaces = plain.count(b" ")
    signs = len(plain) - letters - spaces
    others = len(text.encode("utf-8", "surrogatepass")) - len(plain)
    return ceil(
        letters / LETTERS_PER_TOKEN + spaces / SPACES_PER_TOKEN + signs + others / BYTES_PER_TOKEN
    )
