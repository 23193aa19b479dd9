"""The Model Context Protocol: the vault as tools and resources for agents, over two transports.

The SDK is not imported here: it takes a second to load, and most commands do without it. Standard
output is kept for the protocol: whatever else is printed goes to standard error.

Touches: terminal.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors that the protocol is read from and written to."""

    read: int
    write: int


def take_over() -> Wire:
    """Move standard input and output away from everybody else in this process.

    By descriptor, since native libraries and child processes know nothing of ``sys.stdout``.
    """
    sys.stdout.flush()
    # Duplicates are not inherited by child processes.
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire
