"""What an index is built with: the fingerprint that the settings ask for."""

from __future__ import annotations

from typing import Any

from notehop.config import Settings
from notehop.indexing.embed.identity import model_identity
from notehop.indexing.nodes.chunker import CHUNKER
from notehop.indexing.tokens.tokenizer import RULES


def expected_fingerprint(settings: Settings) -> dict[str, Any]:
    """Return the fingerprint that the settings ask for; None where ``auto`` leaves it open.

    :raises ModelError: if the model is not on this machine.
    """
    language = settings.lexical.language
    return {
        **model_identity(settings.embedding),
        "chunker": CHUNKER,
        "max_tokens": settings.chunking.max_tokens,
        "min_tokens": settings.chunking.min_tokens,
        "tokenizer": RULES,
        "language": None if language == "auto" else language,
        "comment_links": settings.vault.comment_links,
    }
