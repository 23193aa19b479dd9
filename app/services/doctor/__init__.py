"""What is to be mended in a vault, and whether its index is sound; no model is loaded.

Touches: vault-read, index (see :mod:`notehop.app.services.doctor.index`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from rapidfuzz.fuzz import ratio

from notehop.app.models import DoctorReport, Kept
from notehop.app.services.doctor.conflicts import conflict_copies
from notehop.app.services.doctor.index import check_index
from notehop.app.services.doctor.links import NEAR_FOR, ambiguous, fragments, orphans, unresolved
from notehop.app.services.doctor.names import duplicates
from notehop.app.services.kinds import Kind
from notehop.app.services.links import Survey, survey
from notehop.app.services.place import Place

_LONG_ENOUGH = 200
"""Characters from which two texts can be told to be nearly the same: templates are short."""

_TOO_LONG = 200_000
"""Characters above which they are not compared: it takes a second."""

_NEARLY = 90
"""Per cent of the characters that nearly equal texts share."""


def examine(
    place: Place, kinds: Collection[Kind] = tuple(Kind), near_for: int = NEAR_FOR
) -> DoctorReport:
    """Look for what is to be mended.

    :param kinds: what to look for.
    :param near_for: as in :func:`notehop.app.services.doctor.links.unresolved`.
    :raises VaultError: if the vault cannot be listed.
    """
    report = DoctorReport(vault=str(place.vault), name=place.name)
    if Kind.INDEX in kinds:
        report.index = check_index(place)
        report.broken = any(one.broken for one in report.index.findings)
    if not set(kinds) <= {Kind.INDEX}:
        _look_through(place, kinds, report, near_for)
    return report


def _look_through(
    place: Place, kinds: Collection[Kind], report: DoctorReport, near_for: int
) -> None:
    """Read the vault whole, and fill in what of it was asked for."""
    found = survey(place)
    report.notes, report.links = len(found.notes), len(found.links)
    if Kind.UNRESOLVED in kinds:
        report.unresolved = unresolved(found, near_for)
        report.near_misses_for = min(near_for, len(report.unresolved))
    if Kind.FRAGMENTS in kinds:
        report.fragments = fragments(found)
    if Kind.AMBIGUOUS in kinds:
        report.ambiguous = ambiguous(found)
    if Kind.CONFLICTS in kinds:
        report.conflicts = conflict_copies(
            [*found.notes, *found.others], _likeness(place.vault, found)
        )
    if Kind.DUPLICATES in kinds:
        report.duplicates = duplicates(found.notes)
    if Kind.WARNINGS in kinds:
        report.warnings = [said for note in found.notes.values() for said in note.warnings]
    if Kind.LEFT_OUT in kinds:
        report.failed = [Kept(path=path, reason=why) for path, why in found.failed]
        report.skipped = [Kept(path=path, reason=why) for path, why in found.skipped]
        report.passed_over = [Kept(path=path, reason=why) for path, why in found.passed_over]
    if Kind.ORPHANS in kinds:
        report.orphans = orphans(found)


def _likeness(vault: Path, found: Survey) -> Callable[[str, str], bool]:
    def alike(one: str, other: str) -> bool:
        notes = found.notes.get(one), found.notes.get(other)
        if notes[0] is None or notes[1] is None:
            return False
        try:
            texts = [(vault / path).read_text("utf-8", "replace") for path in (one, other)]
        except OSError:
            return False
        if notes[0].content_hash == notes[1].content_hash:
            return bool(texts[0].strip())
        if not all(_LONG_ENOUGH <= len(text) <= _TOO_LONG for text in texts):
            return False
        return ratio(*texts, score_cutoff=_NEARLY) >= _NEARLY

    return alike
