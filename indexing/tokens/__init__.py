"""Words of notes and queries as tokens: the one tokenizer of the lexical index."""

from notehop.indexing.tokens.tokenizer import Tokenizer

__all__ = ["Tokenizer"]
