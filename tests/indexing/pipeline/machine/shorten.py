"""Finds a short script that fails as a long one does: steps are left out while it still fails."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.indexing.pipeline.machine.following import Following, Step
from tests.support.product import LIMITS, Limits

_TRIES = 400
"""Scripts tried at most: each takes a second or less."""


def failure_of(script: Sequence[Step], *, limits: Limits = LIMITS) -> str | None:
    """What goes wrong when the steps are done and a run after them; None if nothing does.

    Edits that cannot be done, since a step before them was left out, are passed over.
    """
    with tempfile.TemporaryDirectory() as folder:
        following = Following(Path(folder), limits=limits)
        try:
            for name, *arguments in [*script, ("run",)]:
                try:
                    following.do(str(name), *arguments)
                except FileNotFoundError:
                    continue
        except Exception as exc:  # noqa: BLE001 (whatever it is, it is what is looked for)
            return f"{type(exc).__name__}: {exc}"
        finally:
            following.close()
    return None


def shortened(script: Sequence[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Leave out runs of steps, long ones first, as long as the rest fails (Zeller's ddmin).

    :param fails: asked at most some hundred times; what is left then need not be the shortest.
    """
    left, tries = list(script), 0
    size = max(1, len(left) // 2)
    while tries < _TRIES:
        at, found = 0, False
        while at < len(left):
            tries += 1
            without = left[:at] + left[at + size :]
            if fails(without):
                left, found = without, True
            else:
                at += size
        if size == 1 and not found:
            break
        size = max(1, size // 2)
    return left
