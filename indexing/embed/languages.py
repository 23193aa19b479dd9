"""Which languages an embedding model reads, as its maker declares them.

Touches: model (reads its files).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from notehop.config.errors import ModelError
from notehop.indexing.embed.bundled import BUNDLED_NAMES
from notehop.indexing.embed.locate import model_folder
from notehop.indexing.embed.multilingual import MULTILINGUAL_NAME

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings

_CARD = "README.md"
_CARD_BYTES = 200_000
_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_MANY = frozenset({"multilingual", "mul"})


def languages_read(settings: EmbeddingSettings) -> frozenset[str] | None:
    """Return the languages that the model in force reads.

    :returns: ISO 639 codes; None where it reads very many (multilingual-e5-small was trained on a
        hundred), its files do not say, or they are not here.
    """
    return _read(settings.model)


def reads(model: Collection[str] | None, language: str) -> bool:
    """Whether a model reads a language.

    :param model: what :func:`languages_read` returned.
    :param language: a code of :data:`notehop.indexing.tokens.LANGUAGES`.
    """
    return model is None or language in model


@lru_cache(maxsize=16)
def _read(model: str) -> frozenset[str] | None:
    if model in BUNDLED_NAMES:
        return frozenset({"en"})
    if model == MULTILINGUAL_NAME:
        return None
    try:
        folder = model_folder(model)
    except ModelError:
        return None
    return declared_languages(folder / _CARD)


def declared_languages(card: Path) -> frozenset[str] | None:
    """Return the languages that a model card declares in its front matter (``language``).

    :returns: the codes without regions; None if it declares none, or `multilingual`.
    """
    try:
        with card.open("rb") as stream:
            text = stream.read(_CARD_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    found = _FRONT_MATTER.match(text)
    if found is None:
        return None
    try:
        said = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return None
    languages = said.get("language") if isinstance(said, dict) else None
    # YAML takes Norwegian's `no` for a no.
    codes = {"no" if one is False else _code(one) for one in _listed(languages)}
    return None if not codes or codes & _MANY else frozenset(codes)


def _listed(languages: Any) -> list[Any]:
    if languages is None:
        return []
    return languages if isinstance(languages, list) else [languages]


def _code(said: Any) -> str:
    return re.split(r"[-_]", str(said).strip().lower(), maxsplit=1)[0]
