"""Words of notes and queries as tokens: the one tokenizer of the lexical index."""

from notehop.indexing.tokens.languages import LANGUAGES, NAMES, clear_language, detect_language
from notehop.indexing.tokens.tokenizer import FIELDS, RULES, Tokenizer, field_tokens

__all__ = [
    "FIELDS",
    "LANGUAGES",
    "NAMES",
    "RULES",
    "Tokenizer",
    "clear_language",
    "detect_language",
    "field_tokens",
]
