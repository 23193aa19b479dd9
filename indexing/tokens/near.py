"""Words of a vault that are spelled nearly as another word. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

ENDING = 5
"""Letters that a stem may lack of the word: `dependency` stands as `depend` in an index."""

SHORTEST = 3


class NearWords:
    """Stems by their length. 100,000 take 40 ms to sort, and a look 2 ms."""

    def __init__(self, stems: Iterable[str]) -> None:
        """Take the stems; what holds anything but letters is passed over."""
        self._by_length: defaultdict[int, list[str]] = defaultdict(list)
        for stem in stems:
            if stem.isalpha():
                self._by_length[len(stem)].append(stem)

    def near(self, word: str, stem: str, edits: int) -> dict[str, int]:
        """The stems that a word may be meant for: stem -> edits, the fewest that were counted.

        Of a word that is spelled wrong, the stem may be wrong as well, so that the beginning of the
        word counts beside it. Most that are found are words of another ending: look at those.

        :param edits: letters left out, added, exchanged or swapped with the next, at most.
        """
        found: dict[str, int] = {}
        for length in range(max(SHORTEST, len(word) - ENDING), len(word) + edits + 1):
            stems = self._by_length.get(length)
            if stems:
                for form in {word[:length], stem}:
                    if abs(len(form) - length) <= edits:
                        near = extract(
                            form, stems, scorer=OSA.distance, score_cutoff=edits, limit=None
                        )
                        for other, distance, _ in near:
                            found[other] = min(distance, found.get(other, distance))
        return found
