"""The summary that the owner of a note wrote. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OWN_SUMMARY = ("summary", "description", "abstract", "excerpt")
"""Properties in which people sum a note up, the first of them that says something."""


def has_own_summary(front_matter: Mapping[str, Any]) -> bool:
    """Whether a note sums itself up: nobody else need do so then."""
    said = {str(key).lower(): value for key, value in front_matter.items()}
    return any(isinstance(said.get(key), str) and said[key].strip() for key in OWN_SUMMARY)
