"""Named points between two writes, at which a test can end the process.

An index must outlive a crash anywhere. What stands at a point says what has just been written.
"""

from __future__ import annotations

from collections.abc import Callable

hook: Callable[[str], None] | None = None
"""Called with the name of each point that a run passes; None outside of tests."""


def point(name: str) -> None:
    """Pass the point of this name."""
    if hook is not None:
        hook(name)
