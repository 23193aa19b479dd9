"""The kinds of things that the doctor looks for, as they are named on the command line."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """A kind of findings; each can be asked for by itself."""

    INDEX = "index"
    UNRESOLVED = "unresolved"
    FRAGMENTS = "fragments"
    AMBIGUOUS = "ambiguous"
    CONFLICTS = "conflicts"
    WARNINGS = "warnings"
    LEFT_OUT = "left-out"
    DUPLICATES = "duplicates"
    ORPHANS = "orphans"
