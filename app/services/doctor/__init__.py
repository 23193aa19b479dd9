"""The kinds of what a doctor looks for; :mod:`notehop.app.services.doctor.vault` looks."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """A kind of findings; each can be asked for by itself."""

    INDEX = "index"
    UNRESOLVED = "unresolved"
    FRAGMENTS = "fragments"
    AMBIGUOUS = "ambiguous"
    WARNINGS = "warnings"
    LEFT_OUT = "left-out"
    ORPHANS = "orphans"
