"""Which texts go through the model together. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def even_width(size: int) -> int:
    """Round a width up by at most a sixteenth, so that passes of a vault have few widths.

    The libraries under torch prepare a kernel for each shape they meet and keep a thousand; with
    every width from 1 to 256 among them, a long run took a tenth more time, and half a gigabyte.
    """
    step = max(1, (1 << size.bit_length() - 1) >> 4) if size > 0 else 1
    return -(-size // step) * step


def thread_shares(threads: int, most: int) -> list[int]:
    """Divide all threads among passes that run at once, as evenly as can be.

    :param threads: at least 1.
    :param most: passes at once.
    """
    count = min(threads, most)
    return [threads // count + (at < threads % count) for at in range(count)]


def passes(sizes: Sequence[int], most_texts: int, most_tokens: int) -> list[list[int]]:
    """Put texts of like length together: a pass is as wide as its longest, and the rest is padding.

    Longest first, so that what does not fit into memory fails at once, and the last passes, for
    which one thread may wait for another, are short. The same texts always make the same passes:
    in bfloat16 the width of a pass changes the rounding.

    :param sizes: tokens of each text.
    :param most_texts: in a pass, at least 1.
    :param most_tokens: texts times :func:`even_width` of a pass; a longer text is alone.
    :returns: positions in ``sizes``, each in one pass; ties stand in order.
    """
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    found: list[list[int]] = []
    at = 0
    while at < len(order):
        fitting = most_tokens // max(1, even_width(sizes[order[at]]))
        count = max(1, min(most_texts, fitting))
        found.append(order[at : at + count])
        at += count
    return found
